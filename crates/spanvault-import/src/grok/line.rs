//! Reads one line of a Grok session.

use spanvault_types::{Outcome, Part, PartBody, Role};

use crate::blocks::{call, literal_part, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;

pub(super) fn read(line: Raw<'_>) -> Reading {
    let [kind, id, content, timestamp] = line.fields(["type", "id", "content", "timestamp"]);
    let stamp = Stamp::new(timestamp, id);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let (role, parts) = match kind.as_ref() {
        "user" => {
            // What the runtime put into the user's mouth says why it did.
            let role = if line.field("synthetic_reason").is_some() { Role::System } else { Role::User };
            (role, said(content))
        }
        "assistant" => (Role::Assistant, said_by_agent(line, content)),
        "reasoning" => (Role::Assistant, reasoning(line)),
        "tool_result" => {
            let [id, is_error] = line.fields(["tool_call_id", "is_error"]);
            let is_error = is_error.and_then(|flag| flag.boolean());
            (Role::Tool, vec![result_part(line, content, Outcome { is_error, ..outcome(usable_id(id)) })])
        }
        "backend_tool_call" => (Role::Assistant, line.field("kind").map(backend_call).unwrap_or_default()),
        "system" => (Role::System, said(content)),
        _ => return Reading { content: stamp.meta(), session: None },
    };
    Reading { content: stamp.says(role, parts), session: None }
}

fn said_by_agent(line: Raw<'_>, content: Option<Raw<'_>>) -> Vec<Part> {
    let mut parts = said(content);
    for entry in line.field("tool_calls").into_iter().flat_map(Raw::elements).filter(Raw::is_object) {
        let [id, name, arguments] = entry.fields(["id", "name", "arguments"]);
        parts.push(value_part(entry, call(id, name, arguments)));
    }
    parts
}

fn reasoning(line: Raw<'_>) -> Vec<Part> {
    let summary = line.field("summary");
    let texts = summary.into_iter().flat_map(Raw::elements).filter_map(|block| block.field("text"));
    texts.filter(Raw::is_string).map(|text| literal_part(text, PartBody::Thinking)).collect()
}

/// A tool that the provider runs: the record of it is call and result in one, and of the result no more than
/// that it came.
fn backend_call(kind: Raw<'_>) -> Vec<Part> {
    let [id, tool, action, status] = kind.fields(["id", "tool_type", "action", "status"]);
    let mut parts = vec![value_part(kind, call(id, tool, action))];
    let state = status.and_then(|status| status.string()).unwrap_or_default();
    if matches!(state.as_ref(), "completed" | "failed") {
        let is_error = Some(state == "failed");
        let answer = Outcome { tool: usable_id(tool), is_error, ..outcome(usable_id(id)) };
        parts.push(result_part(kind, status, answer));
    }
    parts
}
