//! An estimate of tokens: four bytes each. Never exact, and always called an estimate.

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
    let len = match body {
        PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => text.len(),
        PartBody::Result(outcome) => outcome.text.len(),
        PartBody::Call(call) => call.tool.len() + call.args.to_string().len(),
    };
    len as u64
}
