//! Reads one message of a Gemini CLI chat.

use spanvault_types::{Part, PartBody, Role};

use super::outcome::{complete, complete_without_status};
use super::parts::{answer, content_parts};
use crate::blocks::{call, literal_part, outcome, result_part, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;

pub(super) fn read(message: Raw<'_>) -> Reading {
    let [kind, role, id, timestamp, ts, content, parts, thoughts, calls, session] = message.fields([
        "type",
        "role",
        "id",
        "timestamp",
        "ts",
        "content",
        "parts",
        "thoughts",
        "toolCalls",
        "sessionId",
    ]);
    let stamp = Stamp::new(timestamp.or(ts), id);
    let session = usable_id(session);
    let Some(kind) = kind.or(role).and_then(|kind| kind.string()) else {
        return Reading { content: stamp.meta(), session };
    };
    let role = match kind.as_ref() {
        "user" => Role::User,
        "gemini" | "model" => Role::Assistant,
        _ => Role::System,
    };
    let mut said = Vec::new();
    said.extend(thoughts.into_iter().flat_map(Raw::elements).filter_map(thought));
    if let Some(content) = content.or(parts) {
        content_parts(content, &mut said);
    }
    for part in &mut said {
        if let PartBody::Result(outcome) = &mut part.body {
            complete_without_status(outcome);
        }
    }
    for entry in calls.into_iter().flat_map(Raw::elements).filter(Raw::is_object) {
        let [id, name, args] = entry.fields(["id", "name", "args"]);
        said.push(value_part(entry, call(id, name, args)));
        said.extend(answer_to(entry));
    }
    // The API has no role for tools: their answers come as the user's.
    let answers = said.iter().any(|part| matches!(part.body, PartBody::Result(_)));
    let role = if role == Role::User && answers { Role::Tool } else { role };
    let is_silent = said.is_empty() && role == Role::System;
    let content = if is_silent { stamp.meta() } else { stamp.says(role, said) };
    Reading { content, session }
}

/// A thought, of which the subject stands above the words.
fn thought(entry: Raw<'_>) -> Option<Part> {
    let [subject, description] = entry.fields(["subject", "description"]);
    match (subject.filter(Raw::is_string), description.filter(Raw::is_string)) {
        (Some(subject), Some(description)) => {
            let words = format!("{}\n{}", subject.string()?, description.string()?);
            Some(value_part(entry, PartBody::Thinking(words)))
        }
        (subject, description) => Some(literal_part(subject.or(description)?, PartBody::Thinking)),
    }
}

/// What came of a call, where it has ended.
fn answer_to(entry: Raw<'_>) -> Option<Part> {
    let [id, name, result, status, display] =
        entry.fields(["id", "name", "result", "status", "resultDisplay"]);
    let status = status.and_then(|status| status.string()).unwrap_or_default();
    let has_ended = matches!(status.as_ref(), "success" | "error" | "cancelled");
    let mut answers = result
        .into_iter()
        .flat_map(Raw::elements)
        .filter_map(|part| part.field("functionResponse"))
        .map(answer);
    let mut part = match answers.next() {
        Some(part) => part,
        None if has_ended => result_part(entry, display.filter(Raw::is_string), outcome(usable_id(id))),
        None => return None,
    };
    let PartBody::Result(outcome) = &mut part.body else { return None };
    outcome.call_id = usable_id(id);
    outcome.tool = usable_id(name);
    complete(outcome, &status);
    Some(part)
}
