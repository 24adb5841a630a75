//! An estimate of tokens: four bytes each. Never exact, and always called an estimate.

use std::io;

use spanvault_types::{PartBody, SpanContent};

/// The estimated tokens of `bytes` bytes of text.
pub const fn tokens_of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// The estimated tokens of what a model reads in a span: text, thinking, calls and results, not envelopes.
pub fn tokens_of_span(content: &SpanContent) -> u64 {
    content.parts.iter().map(|part| tokens_of_bytes(readable_bytes(&part.body))).sum()
}

fn readable_bytes(body: &PartBody) -> u64 {
    match body {
        PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => text.len() as u64,
        PartBody::Result(outcome) => outcome.text.len() as u64,
        PartBody::Call(call) => call.tool.len() as u64 + json_bytes(&call.args),
    }
}

/// The length of `value` as JSON, without writing it anywhere.
fn json_bytes(value: &serde_json::Value) -> u64 {
    struct Count(u64);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        // Counting cannot fail, and a value in memory can always be written as JSON.
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use spanvault_types::{ByteRange, Call, Encoding, Part, Role, SpanKind};

    use super::*;

    #[test]
    fn only_what_a_model_reads_is_counted_and_every_part_rounds_up() {
        let part =
            |body| Part { range: ByteRange { start: 0, end: 9_000 }, encoding: Encoding::JsonValue, body };
        let content = SpanContent {
            role: Role::Assistant,
            kind: SpanKind::ToolCall,
            timestamp_ms: None,
            event_key: None,
            parts: vec![
                part(PartBody::Text("12345".into())),
                part(PartBody::Call(Call {
                    id: None,
                    tool: "ls".into(),
                    args: serde_json::json!({"p": "/x"}),
                })),
            ],
        };
        assert_eq!(tokens_of_span(&content), 2 + 3);
    }
}
