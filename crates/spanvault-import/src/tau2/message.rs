//! Reads one message of a simulation.

use spanvault_types::{Part, PartBody, Role, SpanContent};

use crate::blocks::{kind_of, usable_id};
use crate::chat::read_message;
use crate::json::Raw;

/// Reads a message; the id of a tool's message is the id of the call that it answers.
pub(super) fn read(message: Raw<'_>) -> SpanContent {
    let mut content = read_message(message);
    if content.role == Role::Tool {
        // The answers to several calls of one turn may come in one message.
        match message.field("tool_messages") {
            Some(answers) => {
                content.parts = answers.elements().flat_map(|answer| answered(answer)).collect();
                content.kind = kind_of(&content.parts);
            }
            None => content.parts = named(message, content.parts),
        }
    }
    content
}

/// What a tool's message says.
pub(super) fn answered(message: Raw<'_>) -> Vec<Part> {
    named(message, read_message(message).parts)
}

fn named(message: Raw<'_>, mut parts: Vec<Part>) -> Vec<Part> {
    for part in &mut parts {
        if let PartBody::Result(outcome) = &mut part.body {
            outcome.call_id = outcome.call_id.take().or_else(|| usable_id(message.field("id")));
        }
    }
    parts
}
