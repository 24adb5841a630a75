//! Reads one item of what `codex exec --json` prints.
//!
//! A command begins with one line and ends with another, which both show it: the first is the call, the second
//! the result. What has no line of its own to begin with is call and result when it ends.

use serde_json::Value;
use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent};

use crate::blocks::{literal_part, outcome, result_part, usable_id, value_part};
use crate::json::Raw;
use crate::stamp::Stamp;

pub(super) fn read(item: Raw<'_>, has_ended: bool) -> SpanContent {
    let [kind, text, message] = item.fields(["type", "text", "message"]);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let stamp = Stamp::default();
    let words = |words: Option<Raw<'_>>, body: fn(String) -> PartBody| {
        words.filter(Raw::is_string).map(|words| literal_part(words, body)).into_iter().collect()
    };
    match (kind.as_ref(), has_ended) {
        ("agent_message", true) => stamp.says(Role::Assistant, words(text, PartBody::Text)),
        ("reasoning", true) => stamp.says(Role::Assistant, words(text, PartBody::Thinking)),
        ("error", true) => stamp.says(Role::System, words(message, PartBody::Text)),
        ("command_execution" | "mcp_tool_call" | "collab_tool_call", false) => {
            stamp.says(Role::Assistant, vec![call(item, &kind)])
        }
        ("command_execution" | "mcp_tool_call" | "collab_tool_call", true) => {
            stamp.says(Role::Tool, vec![answer(item, &kind)])
        }
        ("file_change" | "web_search", true) => {
            stamp.says(Role::Assistant, vec![call(item, &kind), answer(item, &kind)])
        }
        _ => stamp.meta(),
    }
}

/// The tool's name: that of an MCP tool as models see it.
fn tool_of(item: Raw<'_>, kind: &str) -> String {
    let [server, tool] = item.fields(["server", "tool"]);
    match (server.and_then(|server| server.string()), tool.and_then(|tool| tool.string())) {
        (Some(server), Some(tool)) => format!("mcp__{server}__{tool}"),
        (None, Some(tool)) => tool.into_owned(),
        (_, None) => kind.to_owned(),
    }
}

fn call(item: Raw<'_>, kind: &str) -> Part {
    let [id, arguments] = item.fields(["id", "arguments"]);
    let args = if let Some(arguments) = arguments {
        arguments.value()
    } else {
        let given = ["command", "changes", "query", "prompt"];
        let members = item.members().filter(|(name, _)| given.contains(&name.as_ref()));
        Value::Object(members.map(|(name, value)| (name.into_owned(), value.value())).collect())
    };
    value_part(item, PartBody::Call(Call { id: usable_id(id), tool: tool_of(item, kind), args }))
}

fn answer(item: Raw<'_>, kind: &str) -> Part {
    let [id, status, code, output, result, error] =
        item.fields(["id", "status", "exit_code", "aggregated_output", "result", "error"]);
    let state = status.and_then(|status| status.string()).unwrap_or_default();
    let is_declined = state == "declined";
    let answer = Outcome {
        tool: Some(tool_of(item, kind)),
        is_error: Some(is_declined || state == "failed" || error.is_some()),
        exit_code: code.and_then(|code| code.integer()),
        executed: is_declined.then_some(false),
        ..outcome(usable_id(id))
    };
    let [message] = error.map_or([None], |error| error.fields(["message"]));
    let [content] = result.map_or([None], |result| result.fields(["content"]));
    let content = output.or(message).or(content).or(error).or(result).or(status);
    result_part(item, content, answer)
}
