//! Reads one entry of a pi session.

use spanvault_types::{Outcome, Part, PartBody, Role};

use crate::Kept;
use crate::blocks::{block_part, call, literal_part, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;
use crate::time::timestamp_ms;
use serde_json::{Map, Value};

/// What the user runs with a leading exclamation mark.
const TYPED_BASH: &str = "!bash";
/// How the shell tool ends what it says of a command that failed.
const EXITED: &str = "Command exited with code ";

pub(super) fn read(entry: Raw<'_>) -> Reading {
    let [kind, id, timestamp, message, summary, content] =
        entry.fields(["type", "id", "timestamp", "message", "summary", "content"]);
    let mut stamp = Stamp::new(timestamp, id);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let said = match (kind.as_ref(), message, summary) {
        ("message", Some(message), _) => {
            stamp.timestamp_ms =
                stamp.timestamp_ms.or_else(|| message.field("timestamp").and_then(timestamp_ms));
            spoken(message)
        }
        ("compaction", _, Some(summary)) if summary.is_string() => Some(summarised(summary)),
        // It tells of a branch that was left, and replaces nothing of this one.
        ("branch_summary", _, Some(summary)) => Some((Role::System, said(Some(summary)))),
        ("custom_message", _, _) => Some((Role::System, said(content))),
        _ => None,
    };
    let content = match said {
        Some((role, parts)) => stamp.says(role, parts),
        None => stamp.meta(),
    };
    Reading { content, session: if kind == "session" { usable_id(id) } else { None } }
}

/// Which entries a compaction kept: those from the one that it names, by place or by id, on.
pub(super) fn kept(entry: Raw<'_>) -> Kept {
    let [index, id] = entry.fields(["firstKeptEntryIndex", "firstKeptEntryId"]);
    let index = index.and_then(|index| index.integer()).and_then(|index| u64::try_from(index).ok());
    match (usable_id(id), index) {
        (Some(id), _) => Kept::FromEvent(id),
        (None, Some(index)) => Kept::FromIndex(index),
        (None, None) => Kept::Nothing,
    }
}

fn summarised(summary: Raw<'_>) -> (Role, Vec<Part>) {
    (Role::System, vec![literal_part(summary, PartBody::Summary)])
}

fn spoken(message: Raw<'_>) -> Option<(Role, Vec<Part>)> {
    let [role, content, summary] = message.fields(["role", "content", "summary"]);
    Some(match role?.string()?.as_ref() {
        "assistant" => said_by_agent(message, content),
        "toolResult" => (Role::Tool, vec![answer(message, content)]),
        "bashExecution" => (Role::User, typed(message)),
        "user" => (Role::User, said(content)),
        _ => match summary.filter(Raw::is_string) {
            Some(summary) => summarised(summary),
            None => (Role::System, said(content)),
        },
    })
}

/// A message of the agent. One that broke off may be empty; what the provider said then are the runtime's words.
fn said_by_agent(message: Raw<'_>, content: Option<Raw<'_>>) -> (Role, Vec<Part>) {
    let mut parts = said(content.filter(Raw::is_string));
    for block in content.into_iter().flat_map(Raw::elements).filter(Raw::is_object) {
        parts.push(match block.text_field("type").as_deref() {
            Some("toolCall") => {
                let [id, name, arguments] = block.fields(["id", "name", "arguments"]);
                value_part(block, call(id, name, arguments))
            }
            _ => block_part(block),
        });
    }
    match message.field("errorMessage").filter(|words| parts.is_empty() && words.is_string()) {
        Some(error) => (Role::System, vec![literal_part(error, PartBody::Text)]),
        None => (Role::Assistant, parts),
    }
}

fn answer(message: Raw<'_>, content: Option<Raw<'_>>) -> Part {
    let [id, name, is_error] = message.fields(["toolCallId", "toolName", "isError"]);
    let is_error = is_error.and_then(|flag| flag.boolean());
    let mut part =
        result_part(message, content, Outcome { tool: usable_id(name), is_error, ..outcome(usable_id(id)) });
    if let PartBody::Result(outcome) = &mut part.body
        && is_error == Some(true)
    {
        outcome.exit_code = exit_code(&outcome.text);
    }
    part
}

/// The exit code in the words of the shell tool about a command that failed.
pub(crate) fn exit_code(text: &str) -> Option<i64> {
    text.trim_end().rsplit('\n').next()?.strip_prefix(EXITED)?.parse().ok()
}

/// A command that the user ran, with what came of it.
fn typed(message: Raw<'_>) -> Vec<Part> {
    let [command, output, code, cancelled] = message.fields(["command", "output", "exitCode", "cancelled"]);
    let Some(command) = command.and_then(|command| command.string()) else { return Vec::new() };
    let args = Value::Object(Map::from_iter([("command".to_owned(), Value::String(command.into_owned()))]));
    let typed = PartBody::Call(spanvault_types::Call { id: None, tool: TYPED_BASH.to_owned(), args });
    let is_error = cancelled.is_some_and(|flag| flag.is_true()).then_some(true);
    let exit_code = code.and_then(|code| code.integer());
    let answer = Outcome { tool: Some(TYPED_BASH.to_owned()), is_error, exit_code, ..outcome(None) };
    vec![value_part(message, typed), result_part(message, output, answer)]
}
