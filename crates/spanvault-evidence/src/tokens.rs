//! An estimate of tokens: four bytes each. Never exact, and always called an estimate.

use serde_json::Value;
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
fn json_bytes(value: &Value) -> u64 {
    let mut bytes = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        bytes += match value {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => number.as_str().len(),
            Value::String(text) => string_bytes(text),
            Value::Array(items) => {
                open.extend(items);
                // The brackets, and a comma between two items.
                1 + items.len().max(1)
            }
            Value::Object(members) => {
                open.extend(members.values());
                // The braces, the colons, and the commas.
                let keys: usize = members.keys().map(|key| string_bytes(key) + 1).sum();
                1 + members.len().max(1) + keys
            }
        } as u64;
    }
    bytes
}

/// The length of a string as JSON: two quotes, and what its characters take, escaped where they have to be.
fn string_bytes(text: &str) -> usize {
    let is_escaped = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    // Most strings have none, which is told many bytes at a time.
    let blocks = text.as_bytes().chunks(128);
    let escaped = blocks.map(|block| block.iter().map(|byte| u8::from(is_escaped(byte))).sum::<u8>());
    if escaped.map(usize::from).sum::<usize>() == 0 {
        return 2 + text.len();
    }
    let more = |byte: u8| match byte {
        b'"' | b'\\' | 0x08..=0x0A | 0x0C | 0x0D => 1,
        0x00..=0x1F => 5,
        _ => 0,
    };
    2 + text.len() + text.bytes().map(more).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
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

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[ -~]{0,8}".prop_map(Value::String),
            any::<String>().prop_map(Value::String),
            "[ -~]{120,300}".prop_map(Value::String),
            "[\\x00-\\x22\\\\\\x7f]{0,8}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_length_of_a_value_is_that_of_its_json(value in values()) {
            prop_assert_eq!(json_bytes(&value), serde_json::to_string(&value).unwrap().len() as u64);
        }
    }
}
