//! Gemini CLI chats: one document that the program rewrites in place, or JSONL as newer versions write it.
//!
//! A tool call and its result stand in the same object, so a message is one span of both. What a message says
//! was written before its calls ran. A document that was rewritten shares no bytes by place with the earlier
//! one, only by content.

mod message;
mod outcome;
mod parts;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::document::Step;
use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

pub(crate) use outcome::complete as complete_outcome;
pub(crate) use parts::content_parts;

/// A chat that is one document (`~/.gemini/tmp/<project>/chats/session-*.json`), or what `/chat save` writes
/// (`~/.gemini/tmp/<project>/checkpoint-*.json`): the history as the API takes it, alone or in an object.
pub(crate) struct GeminiCli;

/// A chat with a message a line.
pub(crate) struct GeminiJsonl;

impl ObjectFormat for GeminiCli {
    const NAME: &'static str = "gemini_cli";
    const LAYOUT: Layout = Layout::Document(&[
        &[Step::Member("messages"), Step::Each],
        &[Step::Member("history"), Step::Each],
        &[Step::Each],
    ]);
    const SESSION_MEMBER: Option<&'static str> = Some("sessionId");
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(document) = head.document() else { return Confidence::No };
        let elements = |name: &str| document.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let is_checkpoint =
            document.as_array().is_some_and(|contents| contents.first().is_some_and(is_content));
        if has_all(document, &["sessionId", "projectHash", "messages"]) {
            Confidence::Certain
        } else if elements("messages").iter().any(is_message)
            || elements("history").iter().any(|message| has_all(message, &["role", "parts"]))
            || is_checkpoint
        {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(message: Raw<'_>) -> Reading {
        message::read(message)
    }
}

impl ObjectFormat for GeminiJsonl {
    const NAME: &'static str = "gemini_jsonl";
    const LAYOUT: Layout = Layout::Lines;
    // A message comes again when its tokens are counted, and as its calls end.
    const WRITES_AGAIN: bool = true;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(|line| {
            if has_all(line, &["sessionId", "projectHash"]) && line.get("messages").is_none() {
                Confidence::Certain
            } else if is_message(line) {
                Confidence::Likely
            } else {
                Confidence::No
            }
        })
    }

    fn read(line: Raw<'_>) -> Reading {
        message::read(line)
    }
}

/// A message as the API takes it, which is how a chat is kept that was saved with `/chat save`.
fn is_content(value: &Value) -> bool {
    matches!(text(value, "role"), "user" | "model") && value.get("parts").is_some_and(Value::is_array)
}

/// A message of the model, as only this program writes it.
fn is_message(value: &Value) -> bool {
    text(value, "type") == "gemini" && has_all(value, &["id", "content"])
}
