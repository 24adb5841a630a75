//! Reads one item of the conversation as the model sees it.

use spanvault_types::{Outcome, Part, PartBody, Role, SpanContent};

use super::output;
use crate::blocks::{call, literal_part, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::stamp::Stamp;

/// How messages begin that the program puts into the user's mouth.
const INJECTED: [&str; 7] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "# AGENTS.md instructions",
];

pub(super) fn read(item: Raw<'_>, mut stamp: Stamp) -> SpanContent {
    let [kind, role, id] = item.fields(["type", "role", "id"]);
    stamp.event_key = usable_id(id);
    let kind = kind.and_then(|kind| kind.string());
    let role = role.and_then(|role| role.string());
    let said = match (kind.as_deref(), role.as_deref()) {
        (Some("message") | None, Some(role)) => Some(message(item, role)),
        (Some("agent_message"), _) => Some((Role::System, words(item))),
        (Some("reasoning"), _) => Some((Role::Assistant, reasoning(item))),
        (Some("function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call"), _) => {
            Some((Role::Assistant, vec![tool_call(item, kind.as_deref())]))
        }
        (Some("web_search_call" | "image_generation_call"), _) => {
            Some((Role::Assistant, provider_call(item, kind.as_deref())))
        }
        (Some(kind), _) if kind.ends_with("_output") || kind == "function_result" => {
            Some((Role::Tool, vec![answer(item)]))
        }
        _ => None,
    };
    match said {
        Some((role, parts)) => stamp.says(role, parts),
        None => stamp.meta(),
    }
}

fn words(item: Raw<'_>) -> Vec<Part> {
    let [content, message] = item.fields(["content", "message"]);
    said(content.or(message))
}

fn message(item: Raw<'_>, role: &str) -> (Role, Vec<Part>) {
    let parts = words(item);
    let is_injected = |part: &Part| matches!(&part.body, PartBody::Text(text) if INJECTED.iter().any(|start| text.trim_start().starts_with(start)));
    let role = match role {
        "assistant" => Role::Assistant,
        "user" if parts.first().is_some_and(is_injected) => Role::System,
        "user" => Role::User,
        _ => Role::System,
    };
    (role, parts)
}

/// What can be read of the agent's thinking; most of it is encrypted.
fn reasoning(item: Raw<'_>) -> Vec<Part> {
    let [summary, content] = item.fields(["summary", "content"]);
    let blocks = summary.into_iter().chain(content).flat_map(Raw::elements);
    let texts = blocks.filter_map(|block| block.field("text")).filter(Raw::is_string);
    let parts: Vec<_> = texts.map(|text| literal_part(text, PartBody::Thinking)).collect();
    if parts.is_empty() {
        vec![value_part(item, PartBody::Thinking("[encrypted]".to_owned()))]
    } else {
        parts
    }
}

fn tool_call(item: Raw<'_>, kind: Option<&str>) -> Part {
    let [call_id, id, name, function, arguments, input, action] =
        item.fields(["call_id", "id", "name", "function", "arguments", "input", "action"]);
    let name = name.or_else(|| function.and_then(|function| function.field("name")));
    let mut body = call(call_id.or(id), name, arguments.or(input).or(action));
    if let (PartBody::Call(made), None, Some(kind)) = (&mut body, name, kind) {
        kind.strip_suffix("_call").unwrap_or(kind).clone_into(&mut made.tool);
    }
    value_part(item, body)
}

/// A tool that the provider runs: the record of it is call and result in one, and of the result no more than
/// that it came.
fn provider_call(item: Raw<'_>, kind: Option<&str>) -> Vec<Part> {
    let [id, status, action, prompt] = item.fields(["id", "status", "action", "revised_prompt"]);
    let mut parts = vec![tool_call(item, kind)];
    if let (Some(Part { body: PartBody::Call(call), .. }), None, Some(prompt)) =
        (parts.first_mut(), action, prompt)
    {
        call.args = serde_json::Value::Object(
            std::iter::once(("revised_prompt".to_owned(), prompt.value())).collect(),
        );
    }
    let state = status.and_then(|status| status.string()).unwrap_or_default();
    if matches!(state.as_ref(), "completed" | "failed") {
        let answer = Outcome { is_error: Some(state == "failed"), ..outcome(usable_id(id)) };
        parts.push(result_part(item, status, answer));
    }
    parts
}

fn answer(item: Raw<'_>) -> Part {
    let [call_id, name, output, result, tools] =
        item.fields(["call_id", "name", "output", "result", "tools"]);
    let answer = Outcome { tool: usable_id(name), ..outcome(usable_id(call_id)) };
    output::part(item, output.or(result).or(tools), answer)
}
