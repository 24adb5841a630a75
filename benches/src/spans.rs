//! Spans as agents have them: tool results of a given length, no two alike.

use spanvault::SpanDraft;

use crate::noise::Noise;

const WORDS: &[&str] = &[
    "request", "handler", "returns", "the", "value", "of", "a", "pool", "before", "timeout", "session",
    "writes", "config", "and", "reads", "index", "with", "error", "buffer", "while", "segment", "is", "open",
    "for", "client", "retry", "queue", "commit", "parse", "token", "field", "when", "empty", "result",
];

/// The originals of `count` tool results of about `bytes` bytes each.
pub fn originals(seed: u64, count: usize, bytes: usize) -> Vec<Vec<u8>> {
    let mut noise = Noise::new(seed);
    (0..count).map(|_n| draft(&mut noise, bytes).as_bytes().to_vec()).collect()
}

/// One tool result whose original has about `bytes` bytes.
pub fn draft(noise: &mut Noise, bytes: usize) -> SpanDraft {
    SpanDraft::tool_result("", listing(noise, bytes.saturating_sub(100)))
}

/// About `bytes` bytes of lines such as a search or a compiler prints: paths, numbers, identifiers and words.
pub fn listing(noise: &mut Noise, bytes: usize) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes + 100);
    while text.len() < bytes {
        let (module, line, id) = (noise.below(400), noise.below(2_000), noise.next());
        // Writing to a string cannot fail.
        let _written = write!(text, "src/module_{module}/handler.rs:{line}: {id:016x}");
        for _word in 0..6 {
            text.push(' ');
            text.push_str(noise.one_of(WORDS));
        }
        text.push('\n');
    }
    text
}
