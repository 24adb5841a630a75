//! Reads one message, event or attachment of a log.

use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use crate::blocks::{literal_part, usable_id};
use crate::chat::read_message;
use crate::json::Raw;
use crate::time::timestamp_ms;

/// Errors of a call that kept it from being carried out.
const NOT_EXECUTED: [&str; 2] = ["approval", "parsing"];

pub(super) fn read(object: Raw<'_>) -> SpanContent {
    let [role, event, timestamp, id] = object.fields(["role", "event", "timestamp", "id"]);
    if role.is_some() && event.is_none() {
        let mut content = read_message(object);
        content.event_key = usable_id(id);
        complete(object, &mut content);
        return content;
    }
    // An attachment is a name with a text, and nothing beside it.
    let mut members = object.members();
    if let (Some((_hash, text)), None) = (members.next(), members.next())
        && text.is_string()
    {
        return SpanContent {
            role: Role::System,
            kind: SpanKind::Message,
            timestamp_ms: None,
            event_key: None,
            parts: vec![literal_part(text, PartBody::Text)],
        };
    }
    SpanContent {
        role: Role::System,
        kind: SpanKind::Meta,
        timestamp_ms: timestamp.and_then(timestamp_ms),
        event_key: None,
        parts: Vec::new(),
    }
}

/// Completes a tool's answer with its tool and its error.
fn complete(message: Raw<'_>, content: &mut SpanContent) {
    let [tool, error] = message.fields(["function", "error"]);
    for part in &mut content.parts {
        let PartBody::Result(outcome) = &mut part.body else { continue };
        outcome.tool = outcome.tool.take().or_else(|| usable_id(tool));
        let Some(error) = error.filter(Raw::is_object) else { continue };
        outcome.is_error = Some(true);
        let kind = error.text_field("type").unwrap_or_default();
        outcome.executed = NOT_EXECUTED.contains(&kind.as_ref()).then_some(false);
        if let Some(words) = error.field("message").filter(Raw::is_string)
            && outcome.text.is_empty()
        {
            let said = literal_part(words, PartBody::Text);
            if let PartBody::Text(text) = said.body {
                outcome.text = text;
                part.range = said.range;
                part.encoding = said.encoding;
            }
        }
    }
}
