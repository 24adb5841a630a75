//! Reads one step of an Antigravity session.

use serde_json::Value;
use spanvault_types::{Outcome, Part, PartBody, Role, SpanContent};

use crate::blocks::{call, is_words, literal_part, outcome, result_part, said, value_part};
use crate::json::Raw;
use crate::stamp::Stamp;

/// The status of a step that has ended well.
const DONE: &str = "DONE";

/// How a command's step begins, by how it ended.
const SUCCEEDED: &str = "The command completed successfully.";
const EXITED: &str = "The command failed with exit code: ";

pub(super) fn read(step: Raw<'_>) -> SpanContent {
    let [kind, source, status, created, content, thinking, calls] =
        step.fields(["type", "source", "status", "created_at", "content", "thinking", "tool_calls"]);
    let stamp = Stamp::new(created, None);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let source = source.and_then(|source| source.string()).unwrap_or_default();
    let words = content.filter(is_words);
    match (kind.as_ref(), words) {
        ("PLANNER_RESPONSE", _) => {
            let thought = thinking.filter(is_words).map(|thought| literal_part(thought, PartBody::Thinking));
            let mut parts: Vec<Part> = thought.into_iter().collect();
            parts.extend(said(content));
            parts.extend(calls.into_iter().flat_map(Raw::elements).filter(Raw::is_object).map(tool_call));
            stamp.says(Role::Assistant, parts)
        }
        ("USER_INPUT", Some(_)) => stamp.says(Role::User, said(content)),
        ("CHECKPOINT", Some(words)) => stamp.says(Role::System, vec![literal_part(words, PartBody::Summary)]),
        (_, Some(_)) if source == "SYSTEM" || source.starts_with("USER") => {
            stamp.says(Role::System, said(content))
        }
        // A step that the model caused is what came of a call, also where there is nothing to say of it.
        (_, words) => {
            let state = status.and_then(|status| status.string()).unwrap_or_default();
            let ended = state == DONE || failed(&state);
            if words.is_none() && (source != "MODEL" || !ended) {
                return stamp.meta();
            }
            stamp.says(Role::Tool, vec![answer(step, words, &state)])
        }
    }
}

fn tool_call(entry: Raw<'_>) -> Part {
    let [name, args] = entry.fields(["name", "args"]);
    let mut body = call(None, name, args);
    if let PartBody::Call(call) = &mut body {
        unquote(&mut call.args);
    }
    value_part(entry, body)
}

/// Reads the arguments of which each is written as JSON text, as this program does: all of them or none.
fn unquote(args: &mut Value) {
    let Value::Object(members) = args else { return };
    let inner = |value: &Value| match value {
        Value::String(text) => Raw::whole(text).ok().map(|raw| raw.value()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(value.clone())
        }
    };
    let read: Option<Vec<Value>> = members.values().map(inner).collect();
    for (member, value) in members.values_mut().zip(read.unwrap_or_default()) {
        *member = value;
    }
}

fn answer(step: Raw<'_>, words: Option<Raw<'_>>, state: &str) -> Part {
    let answer = Outcome { is_error: failed(state).then_some(true), ..outcome(None) };
    let mut part = result_part(step, words, answer);
    if let PartBody::Result(outcome) = &mut part.body {
        outcome.exit_code = exit_code(&outcome.text);
    }
    part
}

fn failed(state: &str) -> bool {
    matches!(state, "ERROR" | "FAILED" | "CANCELED" | "CANCELLED")
}

fn exit_code(text: &str) -> Option<i64> {
    if text.starts_with(SUCCEEDED) {
        return Some(0);
    }
    text.lines().next()?.strip_prefix(EXITED)?.trim_end_matches('.').trim().parse().ok()
}
