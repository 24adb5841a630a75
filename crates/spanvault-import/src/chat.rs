//! Messages of chat APIs: a JSON array of them, or an object that holds one as `messages`.
//!
//! The dialects of OpenAI (chat and Responses) and Anthropic are read alike, since transcripts mix them.

mod message;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::document::Step;
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{CHAT_JSON, Confidence, Head};

pub(crate) use message::{call_entry, read as read_message};

/// The ways down to the messages of one conversation.
pub(crate) const MESSAGES: &[&[Step]] = &[&[Step::Each], &[Step::Member("messages"), Step::Each]];

/// One conversation of any chat API.
pub(crate) struct ChatJson;

impl ObjectFormat for ChatJson {
    const NAME: &'static str = CHAT_JSON;
    const LAYOUT: Layout = Layout::Document(MESSAGES);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let talks = head.document().is_some_and(|document| messages_of(document).iter().any(is_message));
        if talks { Confidence::Possible } else { Confidence::No }
    }

    fn read(message: Raw<'_>) -> Reading {
        Reading { content: read_message(message), session: None }
    }
}

/// The messages of a conversation, as far as the sketch of it shows them.
pub(crate) fn messages_of(document: &Value) -> &[Value] {
    let messages = document.get("messages").unwrap_or(document);
    messages.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The role is enough: the content may lie beyond the head.
fn is_message(value: &Value) -> bool {
    const ROLES: [&str; 8] =
        ["system", "developer", "user", "human", "assistant", "model", "tool", "function"];
    value.get("role").and_then(Value::as_str).is_some_and(|role| ROLES.contains(&role))
}
