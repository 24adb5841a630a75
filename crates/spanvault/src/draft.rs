//! Spans that an agent runtime hands over one by one.

use serde_json::{Value, json};
use spanvault_types::{ContentHash, Position};

use crate::ids::SpanId;

/// A span on its way into a session: a message, a call or a result.
///
/// Its original is the JSON of one message in the shape of the Anthropic API, so that a recorded session reads
/// like an imported one; [`SpanDraft::message_json`] takes a message that the runtime has already.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanDraft {
    pub(crate) bytes: Vec<u8>,
}

impl SpanDraft {
    /// What the user said.
    pub fn user(text: impl Into<String>) -> Self {
        Self::of(&json!({"role": "user", "content": text.into()}))
    }

    /// What the agent said.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::of(&json!({"role": "assistant", "content": text.into()}))
    }

    /// A tool call without an id; its result is the next [`SpanDraft::tool_result`] of an unanswered call.
    pub fn tool_call(tool: impl Into<String>, args: Value) -> Self {
        Self::call(None, &tool.into(), args)
    }

    /// A tool call with the id that its result will name.
    pub fn tool_call_with_id(id: impl Into<String>, tool: impl Into<String>, args: Value) -> Self {
        Self::call(Some(&id.into()), &tool.into(), args)
    }

    fn call(id: Option<&str>, tool: &str, args: Value) -> Self {
        let mut block = json!({"type": "tool_use", "id": id, "name": tool});
        if let Some(fields) = block.as_object_mut() {
            fields.insert("input".to_owned(), args);
        }
        Self::of(&json!({"role": "assistant", "content": [block]}))
    }

    /// A tool's answer to the call with this id; the empty id answers the oldest open call.
    pub fn tool_result(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::result(&call_id.into(), &text.into(), false)
    }

    /// A tool's failure.
    pub fn tool_error(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::result(&call_id.into(), &text.into(), true)
    }

    fn result(call_id: &str, text: &str, is_error: bool) -> Self {
        let id = (!call_id.is_empty()).then_some(call_id);
        Self::of(&json!({
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}],
        }))
    }

    /// A whole message as JSON, in the shape of the Anthropic or the OpenAI chat API, kept byte for byte.
    pub fn message_json(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into() }
    }

    fn of(value: &Value) -> Self {
        Self { bytes: value.to_string().into_bytes() }
    }

    /// The bytes that will be the original.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The proof that a span is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The span.
    pub span: SpanId,
    /// The content hash of its original.
    pub hash: ContentHash,
    /// The log position up to which everything was durable when the span was recorded.
    pub durable: Position,
    /// The original.
    pub bytes: Vec<u8>,
}

impl Receipt {
    /// Whether the span survives a power cut. One that was recorded less durably does so later: once [`Vault::durable`]
    /// has reached it.
    ///
    /// [`Vault::durable`]: crate::Vault::durable
    pub const fn is_durable(&self) -> bool {
        self.durable.get() >= self.span.0.get()
    }
}
