//! Reads one message of a chat API.

use spanvault_types::{Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use crate::blocks::{
    call, content_parts, is_words, kind_of, literal_part, outcome, result_part, usable_id, value_part,
};
use crate::json::Raw;
use crate::time::timestamp_ms;

/// Reads a message. Its parts come in the order of the talk: thinking, words, calls.
///
/// An object that is no message is kept without parts, as [`SpanKind::Meta`].
pub(crate) fn read(message: Raw<'_>) -> SpanContent {
    let [role, kind, timestamp] = message.fields(["role", "type", "timestamp"]);
    let role = role.and_then(|role| role.string());
    let kind = kind.and_then(|kind| kind.string());
    let (role, parts) = match (role.as_deref(), kind.as_deref()) {
        (Some("tool" | "function"), _) => (Role::Tool, vec![tool_message(message)]),
        (Some(role), _) => spoken(message, role),
        (None, Some("function_call" | "custom_tool_call")) => (Role::Assistant, vec![call_item(message)]),
        (None, Some("function_call_output" | "custom_tool_call_output")) => {
            (Role::Tool, vec![result_item(message)])
        }
        (None, _) => return meta(timestamp),
    };
    SpanContent {
        role,
        kind: kind_of(&parts),
        timestamp_ms: timestamp.and_then(timestamp_ms),
        event_key: None,
        parts,
    }
}

fn meta(timestamp: Option<Raw<'_>>) -> SpanContent {
    SpanContent {
        role: Role::System,
        kind: SpanKind::Meta,
        timestamp_ms: timestamp.and_then(timestamp_ms),
        event_key: None,
        parts: Vec::new(),
    }
}

fn spoken(message: Raw<'_>, role: &str) -> (Role, Vec<Part>) {
    let [content, reasoning, refusal, calls, legacy_call] =
        message.fields(["content", "reasoning_content", "refusal", "tool_calls", "function_call"]);
    let mut parts = Vec::new();
    if let Some(words) = reasoning.filter(is_words) {
        parts.push(literal_part(words, PartBody::Thinking));
    }
    if let Some(content) = content.filter(|content| content.is_array() || is_words(content)) {
        content_parts(content, &mut parts);
    }
    if let Some(words) = refusal.filter(is_words) {
        parts.push(literal_part(words, PartBody::Text));
    }
    if let Some(calls) = calls {
        parts.extend(calls.elements().filter(Raw::is_object).map(call_entry));
    }
    if let Some(legacy) = legacy_call.filter(Raw::is_object) {
        let [name, args] = legacy.fields(["name", "arguments"]);
        parts.push(value_part(legacy, call(None, name, args)));
    }
    let role = match role {
        "assistant" | "model" => Role::Assistant,
        "user" | "human" if parts.iter().any(|part| matches!(part.body, PartBody::Result(_))) => Role::Tool,
        "user" | "human" => Role::User,
        _ => Role::System,
    };
    (role, parts)
}

/// One entry of `tool_calls`: name and arguments stand in its `function`, or beside the id.
pub(crate) fn call_entry(entry: Raw<'_>) -> Part {
    let [id, function, custom, name, arguments, args] =
        entry.fields(["id", "function", "custom", "name", "arguments", "args"]);
    let body = match (function, custom) {
        (Some(function), _) if function.is_object() => {
            let [name, arguments] = function.fields(["name", "arguments"]);
            call(id, name, arguments)
        }
        (Some(function), _) => call(id, Some(function), args.or(arguments)),
        (None, Some(custom)) => {
            let [name, input] = custom.fields(["name", "input"]);
            call(id, name, input)
        }
        (None, None) => call(id, name, arguments.or(args)),
    };
    value_part(entry, body)
}

/// A message of a tool.
fn tool_message(message: Raw<'_>) -> Part {
    let [id, name, content, is_error, error] =
        message.fields(["tool_call_id", "name", "content", "is_error", "error"]);
    // `error` is a flag in some dialects and the words of the error in others.
    let is_error =
        is_error.or(error).and_then(|flag| flag.boolean().or_else(|| is_words(&flag).then_some(true)));
    let silent = content.is_none_or(|content| content.is_string() && !is_words(&content));
    let content = if silent { error.filter(is_words).or(content) } else { content };
    result_part(message, content, Outcome { tool: usable_id(name), is_error, ..outcome(usable_id(id)) })
}

/// A call that is an item of its own.
fn call_item(item: Raw<'_>) -> Part {
    let [id, name, arguments, input] = item.fields(["call_id", "name", "arguments", "input"]);
    value_part(item, call(id, name, arguments.or(input)))
}

/// A result that is an item of its own.
fn result_item(item: Raw<'_>) -> Part {
    let [id, output] = item.fields(["call_id", "output"]);
    result_part(item, output, outcome(usable_id(id)))
}
