//! Reads messages and responses of all providers.

use serde_json::{Value, json};
use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use crate::blocks::{
    arguments, call, content_parts, kind_of, literal_part, outcome, result_part, usable_id, value_part,
};
use crate::chat::read_message;
use crate::json::Raw;

/// Something that is no conversation.
pub(super) const fn meta() -> SpanContent {
    SpanContent {
        role: Role::System,
        kind: SpanKind::Meta,
        timestamp_ms: None,
        event_key: None,
        parts: Vec::new(),
    }
}

fn content(role: Role, parts: Vec<Part>) -> SpanContent {
    SpanContent { role, kind: kind_of(&parts), timestamp_ms: None, event_key: None, parts }
}

/// What is said without a message around it: a string, blocks, or an object that holds parts.
pub(super) fn words(value: Raw<'_>, role: Role) -> SpanContent {
    let mut parts = Vec::new();
    match value.field("parts") {
        Some(list) => parts.extend(list.elements().flat_map(google_part)),
        None if value.is_object() => parts.push(value_part(value, PartBody::Text(value.text().to_owned()))),
        None => content_parts(value, &mut parts),
    }
    content(role, parts)
}

/// An item of a conversation.
pub(super) fn read(item: Raw<'_>) -> SpanContent {
    let [role, kind, parts, blocks, text] = item.fields(["role", "type", "parts", "content", "text"]);
    if let Some(list) = parts.filter(Raw::is_array) {
        return spoken(role, list.elements().flat_map(google_part).collect());
    }
    let blocks = blocks.filter(Raw::is_array);
    if blocks.is_some_and(|blocks| blocks.elements().any(is_bedrock)) {
        return spoken(role, blocks.into_iter().flat_map(Raw::elements).flat_map(bedrock_block).collect());
    }
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    match (role, kind.as_ref()) {
        (None, "reasoning") => content(Role::Assistant, vec![reasoning(item)]),
        (None, "compaction" | "compaction_summary") => {
            let words = item.field("summary").and_then(|words| words.string());
            let words = words.map_or_else(|| format!("[{kind}]"), std::borrow::Cow::into_owned);
            content(Role::System, vec![value_part(item, PartBody::Summary(words))])
        }
        (None, kind) if kind.ends_with("_call") && !matches!(kind, "function_call" | "custom_tool_call") => {
            content(Role::Assistant, hosted_call(item, kind))
        }
        // A block of what is said beforehand.
        (None, "" | "text") if text.is_some() => words(text.unwrap_or(item), Role::System),
        _ => read_message(item),
    }
}

/// A model's answer.
pub(super) fn response(body: Raw<'_>) -> SpanContent {
    let [choices, candidates, output, role, error] =
        body.fields(["choices", "candidates", "output", "role", "error"]);
    let parts: Vec<Part> = if let Some(choices) = choices {
        choices
            .elements()
            .filter_map(|choice| choice.field("message"))
            .flat_map(|it| read(it).parts)
            .collect()
    } else if let Some(candidates) = candidates {
        let contents =
            candidates.elements().filter_map(|candidate| candidate.field("content")?.field("parts"));
        contents.flat_map(Raw::elements).flat_map(google_part).collect()
    } else if let Some(output) = output.filter(Raw::is_array) {
        output.elements().flat_map(|item| read(item).parts).collect()
    } else if let Some(message) = output.and_then(|output| output.field("message")) {
        return read(message);
    } else if role.is_some() {
        return read(body);
    } else if let Some(error) = error {
        let words = PartBody::Text(error.text().to_owned());
        return content(Role::System, vec![value_part(error, words)]);
    } else {
        return meta();
    };
    content(Role::Assistant, parts)
}

fn spoken(role: Option<Raw<'_>>, parts: Vec<Part>) -> SpanContent {
    let role = role.and_then(|role| role.string()).unwrap_or_default();
    let answers = parts.iter().any(|part| matches!(part.body, PartBody::Result(_)));
    let role = match role.as_ref() {
        "assistant" | "model" => Role::Assistant,
        "system" => Role::System,
        _ if answers => Role::Tool,
        _ => Role::User,
    };
    content(role, parts)
}

/// What a model thought, as far as it is shown.
fn reasoning(item: Raw<'_>) -> Part {
    let [summary, shown] = item.fields(["summary", "content"]);
    let texts = [summary, shown].into_iter().flatten().flat_map(Raw::elements);
    let words: Vec<_> = texts.filter_map(|text| text.text_field("text")).collect();
    let words = if words.is_empty() { "[reasoning]".to_owned() } else { words.join("\n") };
    value_part(item, PartBody::Thinking(words))
}

/// A call that the provider carried out itself, with what came of it as far as it is shown.
fn hosted_call(item: Raw<'_>, kind: &str) -> Vec<Part> {
    let [id, name, args, output, error, code] =
        item.fields(["id", "name", "arguments", "output", "error", "code"]);
    let [action, queries, results, outputs, result, status] =
        item.fields(["action", "queries", "results", "outputs", "result", "status"]);
    let tool = name.and_then(|name| name.string());
    let tool = tool.map_or_else(|| kind.trim_end_matches("_call").to_owned(), std::borrow::Cow::into_owned);
    let args = match (args, code, action, queries) {
        (Some(args), ..) => arguments(Some(args)),
        (None, Some(code), ..) => json!({ "code": code.value() }),
        (None, None, Some(action), _) => action.value(),
        (None, None, None, Some(queries)) => json!({ "queries": queries.value() }),
        (None, None, None, None) => Value::Object(serde_json::Map::new()),
    };
    let id = usable_id(id);
    let mut parts = vec![value_part(item, PartBody::Call(Call { id: id.clone(), tool, args }))];
    let failed = error.is_some() || status.and_then(|status| status.string()).as_deref() == Some("failed");
    if let Some(told) = error.or(output).or(results).or(outputs).or(result) {
        let mut text = String::new();
        if let Some(words) = told.string() {
            text.push_str(&words);
        } else if told.is_array() {
            let shown = told.elements().map(|entry| {
                let [logs, words] = entry.fields(["logs", "text"]);
                let words = logs.or(words).and_then(|words| words.string());
                words.map_or_else(|| entry.text().to_owned(), std::borrow::Cow::into_owned)
            });
            text = shown.collect::<Vec<_>>().join("\n");
        } else {
            text.push_str(told.text());
        }
        let told = Outcome { text, is_error: failed.then_some(true), ..outcome(id) };
        parts.push(value_part(item, PartBody::Result(told)));
    }
    parts
}

/// A part of a message of Google's API.
fn google_part(part: Raw<'_>) -> Vec<Part> {
    let [text, thought, called, response, code, ran] = part.fields([
        "text",
        "thought",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
    ]);
    if let Some(text) = text.filter(Raw::is_string) {
        let thought = thought.is_some_and(|flag| flag.is_true());
        return vec![literal_part(text, if thought { PartBody::Thinking } else { PartBody::Text })];
    }
    if let Some(called) = called {
        let [id, name, args] = called.fields(["id", "name", "args"]);
        return vec![value_part(called, call(id, name, args))];
    }
    if let Some(response) = response {
        let [id, name, value] = response.fields(["id", "name", "response"]);
        let failed = value.and_then(|value| value.field("error")).map(|_| true);
        let only = value.and_then(|value| {
            let mut members = value.members();
            let (name, only) = members.next()?;
            let plain = matches!(name.as_ref(), "return_value" | "result" | "output" | "error");
            (plain && members.next().is_none()).then_some(only)
        });
        let told = only.filter(Raw::is_string).or(value);
        let text = told
            .map(|told| told.string().map_or_else(|| told.text().to_owned(), std::borrow::Cow::into_owned));
        let told = Outcome {
            tool: usable_id(name),
            text: text.unwrap_or_default(),
            is_error: failed,
            ..outcome(usable_id(id))
        };
        return vec![value_part(response, PartBody::Result(told))];
    }
    if let Some(code) = code {
        let args = code.value();
        let call = Call { id: None, tool: "code_execution".to_owned(), args };
        return vec![value_part(code, PartBody::Call(call))];
    }
    if let Some(ran) = ran {
        let [status, output] = ran.fields(["outcome", "output"]);
        let failed = status.and_then(|status| status.string()).is_some_and(|status| status != "OUTCOME_OK");
        let told =
            Outcome { tool: Some("code_execution".to_owned()), is_error: Some(failed), ..outcome(None) };
        return vec![result_part(ran, output, told)];
    }
    let Some((name, _)) = part.members().find(|(name, _)| name != "thoughtSignature") else {
        return Vec::new();
    };
    vec![value_part(part, PartBody::Text(format!("[{name}]")))]
}

/// Whether a block is one of Bedrock's: these have no type, and one member that says what they are.
fn is_bedrock(block: Raw<'_>) -> bool {
    let [kind, text, used, result, reasoning] =
        block.fields(["type", "text", "toolUse", "toolResult", "reasoningContent"]);
    kind.is_none() && (text.is_some() || used.is_some() || result.is_some() || reasoning.is_some())
}

fn bedrock_block(block: Raw<'_>) -> Vec<Part> {
    let [text, used, result, reasoning] = block.fields(["text", "toolUse", "toolResult", "reasoningContent"]);
    if let Some(text) = text.filter(Raw::is_string) {
        return vec![literal_part(text, PartBody::Text)];
    }
    if let Some(used) = used {
        let [id, name, input] = used.fields(["toolUseId", "name", "input"]);
        return vec![value_part(used, call(id, name, input))];
    }
    if let Some(result) = result {
        let [id, told, status] = result.fields(["toolUseId", "content", "status"]);
        let shown = told.into_iter().flat_map(Raw::elements).map(|entry| {
            let [text, value] = entry.fields(["text", "json"]);
            let words = text.and_then(|text| text.string()).map(std::borrow::Cow::into_owned);
            let name = || entry.members().next().map(|(name, _)| format!("[{name}]")).unwrap_or_default();
            words.or_else(|| value.map(|value| value.text().to_owned())).unwrap_or_else(name)
        });
        let text = shown.collect::<Vec<_>>().join("\n");
        let failed = status.and_then(|status| status.string()).map(|status| status == "error");
        let told = Outcome { text, is_error: failed, ..outcome(usable_id(id)) };
        return vec![value_part(result, PartBody::Result(told))];
    }
    if let Some(reasoning) = reasoning {
        let words = reasoning.field("reasoningText").and_then(|text| text.field("text"));
        return match words.filter(Raw::is_string) {
            Some(words) => vec![literal_part(words, PartBody::Thinking)],
            None => vec![value_part(reasoning, PartBody::Thinking("[reasoningContent]".to_owned()))],
        };
    }
    let name = block.members().next().map(|(name, _)| format!("[{name}]")).unwrap_or_default();
    vec![value_part(block, PartBody::Text(name))]
}
