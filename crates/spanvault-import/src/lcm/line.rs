//! Reads one row that was written as a line.

use spanvault_types::{Outcome, Part, PartBody, Role};

use super::part::{answers, content_of, said_by_parts};
use crate::Kept;
use crate::blocks::{is_words, literal_part, outcome, result_part, usable_id, value_part};
use crate::chat::call_entry;
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;
use crate::time::local_timestamp_ms;

/// What the names of sessions end with: the runtime's own transcript of a session has its name without it.
const SESSION_END: &str = "/lcm";

pub(super) fn read(line: Raw<'_>) -> Reading {
    let [table, session] = line.fields(["table", "session_id"]);
    let session = usable_id(session);
    match table.and_then(|table| table.string()).unwrap_or_default().as_ref() {
        "conversations" => {
            let id = line.field("conversation_id").map_or("", |id| id.text());
            let session = session.map(|session| format!("{session}{SESSION_END}/{id}"));
            Reading { content: stamp(line, "created_at", None).meta(), session }
        }
        "messages" if line.field("message_id").is_some() => Reading { content: message(line), session: None },
        "messages" => {
            let session = session.map(|session| format!("{session}{SESSION_END}"));
            Reading { content: message_of_hermes(line), session }
        }
        "summaries" => Reading { content: summary(line, "summary_id", "content"), session: None },
        "summary_nodes" => {
            let session = session.map(|session| format!("{session}{SESSION_END}"));
            Reading { content: summary(line, "node_id", "summary"), session }
        }
        _ => Reading { content: Stamp::default().meta(), session: None },
    }
}

/// Which records the summary replaced: the tables name them.
pub(super) fn kept(line: Raw<'_>) -> Kept {
    let [messages, parents, sources, of] = line.fields(["messages", "parents", "source_ids", "source_type"]);
    let mut replaced = Vec::new();
    let mut add = |list: Option<Raw<'_>>, of: &str| {
        replaced.extend(list.into_iter().flat_map(Raw::elements).filter_map(|id| key(of, Some(id))));
    };
    add(messages, MESSAGE);
    add(parents, SUMMARY);
    let sources = sources.and_then(|sources| sources.string());
    if let Some(Ok(list)) = sources.as_deref().map(Raw::whole) {
        let of_nodes = of.and_then(|of| of.string()).as_deref() == Some("nodes");
        add(Some(list), if of_nodes { SUMMARY } else { MESSAGE });
    }
    Kept::AllBut(replaced)
}

const MESSAGE: &str = "message";
const SUMMARY: &str = "summary";

/// The identity of a row by its id, which is a number or text.
fn key(of: &str, id: Option<Raw<'_>>) -> Option<String> {
    let id = id?;
    Some(match id.string() {
        Some(text) => format!("{of}/{text}"),
        None => format!("{of}/{}", id.integer()?),
    })
}

fn stamp(line: Raw<'_>, written: &str, event_key: Option<String>) -> Stamp {
    Stamp { timestamp_ms: line.field(written).and_then(local_timestamp_ms), event_key }
}

fn role_of(line: Raw<'_>) -> Role {
    match line.text_field("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::System,
    }
}

fn message(line: Raw<'_>) -> spanvault_types::SpanContent {
    let [id, content, parts] = line.fields(["message_id", "content", "parts"]);
    let role = role_of(line);
    let parts: Vec<Raw<'_>> = parts.into_iter().flat_map(Raw::elements).collect();
    let content = content.filter(is_words);
    let said = if role == Role::Tool {
        answers(line, &parts, content)
    } else {
        let mut said = said_by_parts(&parts);
        // The content is the text of the parts; where these have none, it is all that there is.
        if let Some(content) =
            content.filter(|_| !said.iter().any(|part| matches!(part.body, PartBody::Text(_))))
        {
            let first_call =
                said.iter().position(|part| matches!(part.body, PartBody::Call(_) | PartBody::Result(_)));
            said.insert(first_call.unwrap_or(said.len()), literal_part(content, PartBody::Text));
        }
        said
    };
    // Some APIs have no role for tools: their answers come as the user's.
    let answers = said.iter().any(|part| matches!(part.body, PartBody::Result(_)));
    let role = if role == Role::User && answers { Role::Tool } else { role };
    stamp(line, "created_at", key(MESSAGE, id)).says(role, said)
}

fn message_of_hermes(line: Raw<'_>) -> spanvault_types::SpanContent {
    let [id, content, call_id, tool, calls] =
        line.fields(["store_id", "content", "tool_call_id", "tool_name", "tool_calls"]);
    let role = role_of(line);
    let said = if role == Role::Tool {
        let answer = Outcome { tool: usable_id(tool), ..outcome(usable_id(call_id)) };
        let mut part = result_part(line, content, answer);
        if let PartBody::Result(outcome) = &mut part.body {
            outcome.exit_code = crate::hermes::exit_code(&outcome.text);
        }
        vec![part]
    } else {
        let words = content.filter(is_words).map(|content| literal_part(content, PartBody::Text));
        words.into_iter().chain(calls.into_iter().flat_map(calls_of)).collect()
    };
    stamp(line, "timestamp", key(MESSAGE, id)).says(role, said)
}

/// The calls of a list that is written as JSON text.
fn calls_of(literal: Raw<'_>) -> Vec<Part> {
    let list = content_of(literal);
    let Ok(list) = Raw::whole(&list) else { return Vec::new() };
    let entries = list.elements().filter(Raw::is_object);
    entries.map(|entry| value_part(literal, call_entry(entry).body)).collect()
}

fn summary(line: Raw<'_>, id: &str, text: &str) -> spanvault_types::SpanContent {
    let [id, text] = line.fields([id, text]);
    let stamp = stamp(line, "created_at", key(SUMMARY, id));
    match text.filter(Raw::is_string) {
        Some(text) => stamp.says(Role::System, vec![literal_part(text, PartBody::Summary)]),
        None => stamp.meta(),
    }
}
