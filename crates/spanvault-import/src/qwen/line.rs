//! Reads one line of a Qwen Code session.

use spanvault_types::{Part, PartBody, Role};

use crate::blocks::{is_words, literal_part, usable_id};
use crate::gemini::{complete_outcome, content_parts};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;

pub(super) fn read(line: Raw<'_>) -> Reading {
    let [kind, subtype, uuid, timestamp, session, message, payload, result] = line.fields([
        "type",
        "subtype",
        "uuid",
        "timestamp",
        "sessionId",
        "message",
        "systemPayload",
        "toolCallResult",
    ]);
    let mut stamp = Stamp::new(timestamp, uuid);
    // A message that comes in pieces is several lines of one uuid, each with a time of its own.
    if let (Some(key), Some(time)) = (&mut stamp.event_key, stamp.timestamp_ms) {
        *key = format!("{key}@{time}");
    }
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let subtype = subtype.and_then(|subtype| subtype.string()).unwrap_or_default();
    let said = match kind.as_ref() {
        "user" => {
            let role = if subtype == "notification" { Role::System } else { Role::User };
            Some((role, words(message)))
        }
        "assistant" => Some((Role::Assistant, words(message))),
        "tool_result" => Some((Role::Tool, answers(message, result))),
        "system" if subtype == "chat_compression" => summary(payload).map(|parts| (Role::System, parts)),
        _ => None,
    };
    let content = match said {
        Some((role, parts)) => stamp.says(role, parts),
        None => stamp.meta(),
    };
    Reading { content, session: usable_id(session) }
}

fn words(message: Option<Raw<'_>>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(content) = message.and_then(|message| message.field("parts")) {
        content_parts(content, &mut parts);
    }
    parts
}

/// The results of a line, whose fate stands beside the message.
fn answers(message: Option<Raw<'_>>, result: Option<Raw<'_>>) -> Vec<Part> {
    let [status, id] = result.map_or([None; 2], |result| result.fields(["status", "callId"]));
    let status = status.and_then(|status| status.string()).unwrap_or_default();
    let mut parts = words(message);
    for part in &mut parts {
        if let PartBody::Result(outcome) = &mut part.body {
            outcome.call_id = outcome.call_id.take().or_else(|| usable_id(id));
            complete_outcome(outcome, &status);
        }
    }
    parts
}

/// The summary that a compression put in the place of what came before: the first words of the new history.
fn summary(payload: Option<Raw<'_>>) -> Option<Vec<Part>> {
    let first = payload?.field("compressedHistory")?.elements().next()?;
    let texts = first.field("parts")?.elements().filter_map(|part| part.field("text")).filter(is_words);
    let parts: Vec<_> = texts.map(|text| literal_part(text, PartBody::Summary)).collect();
    (!parts.is_empty()).then_some(parts)
}
