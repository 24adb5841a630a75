//! Hermes agent: a session as one document, with messages of the chat API.

#[cfg(test)]
mod tests;

use serde_json::Value;
use spanvault_types::{PartBody, SpanContent};

use crate::blocks::usable_id;
use crate::chat::{MESSAGES, read_message};
use crate::json::Raw;
use crate::marks::has_all;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::stamp::Stamp;
use crate::{Confidence, Head};

/// A session (`~/.hermes/sessions/*.json`).
pub(crate) struct Hermes;

impl ObjectFormat for Hermes {
    const NAME: &'static str = "agent_hermes";
    const LAYOUT: Layout = Layout::Document(MESSAGES);
    const SESSION_MEMBER: Option<&'static str> = Some("session_id");
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let is_session = |document: &Value| {
            has_all(document, &["session_id", "session_start"])
                || has_all(document, &["session_id", "platform", "messages"])
        };
        match head.document() {
            Some(document) if is_session(document) => Confidence::Certain,
            Some(_) | None => Confidence::No,
        }
    }

    fn read(message: Raw<'_>) -> Reading {
        Reading { content: read(message), session: None }
    }
}

fn read(message: Raw<'_>) -> SpanContent {
    let [role, tool, finish] = message.fields(["role", "tool_name", "finish_reason"]);
    let mut span = read_message(message);
    if role.and_then(|role| role.string()).as_deref() == Some("session_meta") {
        return Stamp { timestamp_ms: span.timestamp_ms, event_key: None }.meta();
    }
    let failed = finish.and_then(|reason| reason.string()).as_deref() == Some("error");
    for part in &mut span.parts {
        if let PartBody::Result(outcome) = &mut part.body {
            outcome.tool = outcome.tool.take().or_else(|| usable_id(tool));
            outcome.is_error = outcome.is_error.or(failed.then_some(true));
            outcome.exit_code = exit_code(&outcome.text);
        }
    }
    span
}

/// The exit code of an answer that is JSON text, as the terminal of this agent gives.
pub(crate) fn exit_code(text: &str) -> Option<i64> {
    let object = Raw::whole(text).ok().filter(Raw::is_object)?;
    object.field("exit_code")?.integer()
}
