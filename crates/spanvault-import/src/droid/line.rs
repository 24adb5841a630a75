//! Reads one line of Droid.

use spanvault_types::{Outcome, Part, PartBody, Role};

use crate::blocks::{call, is_words, literal_part, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;

/// How a result begins whose command failed; there is no flag.
const FAILED: &str = "Error: Command failed (exit code: ";

pub(super) fn read(line: Raw<'_>) -> Reading {
    let [kind, id, timestamp, message, role, text, session, session_snake, summary] = line.fields([
        "type",
        "id",
        "timestamp",
        "message",
        "role",
        "text",
        "sessionId",
        "session_id",
        "summaryText",
    ]);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    // The lines of a call and of its result share an id in the stream.
    let is_event = !matches!(kind.as_ref(), "tool_call" | "tool_result");
    let stamp = Stamp::new(timestamp, id.filter(|_| is_event));
    let said = match (kind.as_ref(), message) {
        ("message", Some(message)) if message.is_object() => {
            spoken(message.field("role"), message.field("content"))
        }
        ("message", _) => spoken(role, text),
        ("tool_call", _) => Some((Role::Assistant, vec![tool_call(line)])),
        ("tool_result", _) => Some((Role::Tool, vec![answer(line)])),
        ("error", Some(words)) => Some((Role::System, said(Some(words).filter(Raw::is_string)))),
        ("compaction_state", _) => summary
            .filter(is_words)
            .map(|summary| (Role::System, vec![literal_part(summary, PartBody::Summary)])),
        _ => None,
    };
    let content = match said {
        Some((role, parts)) => stamp.says(role, parts),
        None => stamp.meta(),
    };
    let named = if kind == "session_start" { id } else { session.or(session_snake) };
    Reading { content, session: usable_id(named) }
}

fn spoken(role: Option<Raw<'_>>, content: Option<Raw<'_>>) -> Option<(Role, Vec<Part>)> {
    let role = role?.string()?;
    let mut parts = said(content);
    let mut answers = false;
    for part in &mut parts {
        if let PartBody::Result(outcome) = &mut part.body {
            answers = true;
            complete(outcome);
        }
    }
    let role = match role.as_ref() {
        "assistant" => Role::Assistant,
        "user" if answers => Role::Tool,
        "user" => Role::User,
        _ => Role::System,
    };
    Some((role, parts))
}

fn complete(outcome: &mut Outcome) {
    if let Some(rest) = outcome.text.strip_prefix(FAILED) {
        outcome.exit_code = rest.split(')').next().and_then(|code| code.parse().ok());
        outcome.is_error = Some(true);
    }
}

fn tool_call(line: Raw<'_>) -> Part {
    let [call_id, id, name, tool, parameters] =
        line.fields(["toolCallId", "id", "toolName", "toolId", "parameters"]);
    value_part(line, call(call_id.or(id), name.or(tool), parameters))
}

fn answer(line: Raw<'_>) -> Part {
    let [call_id, id, name, tool, is_error, value, error] =
        line.fields(["toolCallId", "id", "toolName", "toolId", "isError", "value", "error"]);
    let printed = value.filter(Raw::is_object);
    let [stdout, stderr, code] =
        printed.map_or([None; 3], |value| value.fields(["stdout", "stderr", "exitCode"]));
    let outcome = Outcome {
        tool: usable_id(name.or(tool)),
        is_error: is_error.and_then(|flag| flag.boolean()),
        exit_code: code.and_then(|code| code.integer()),
        ..outcome(usable_id(call_id.or(id)))
    };
    // An object is the answer as a whole, unless all that it says is what a command printed.
    let complains = stderr.as_ref().is_some_and(is_words);
    let content = stdout.filter(|_| !complains).or(value).or(error.filter(Raw::is_string)).or(error);
    let mut part = result_part(line, content, outcome);
    if let PartBody::Result(outcome) = &mut part.body {
        complete(outcome);
    }
    part
}
