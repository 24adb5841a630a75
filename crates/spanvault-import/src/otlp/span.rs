//! Reads one span of a trace.

use serde_json::{Map, Value};
use spanvault_types::{Call, Encoding, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use super::attributes::{Attributes, value_of};
use crate::blocks::{kind_of, literal_part, outcome, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;

/// What a part says, by whom, and where it stands.
type Said<'a> = (Speaker, Raw<'a>, PartBody);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Agent,
    Other,
}

pub(super) fn read(span: Raw<'_>) -> Reading {
    let [trace, id, start, name] = span.fields(["traceId", "spanId", "startTimeUnixNano", "name"]);
    let attributes = Attributes::of(span);
    let kind = kind_of_span(&attributes, &name.and_then(|name| name.string()).unwrap_or_default());
    let failed = span.field("status").and_then(|status| status.field("code")).is_some_and(|code| {
        code.integer() == Some(2) || code.string().as_deref() == Some("STATUS_CODE_ERROR")
    });
    let (role, parts) = match kind {
        Kind::Model => model(&attributes),
        Kind::Tool => (Role::Tool, tool(span, &attributes, failed)),
        Kind::Other => (Role::System, Vec::new()),
    };
    let nanoseconds = start.and_then(|start| match start.string() {
        Some(text) => text.parse::<i64>().ok(),
        None => start.integer(),
    });
    let content = SpanContent {
        role,
        kind: if parts.is_empty() { SpanKind::Meta } else { kind_of(&parts) },
        timestamp_ms: nanoseconds.map(|nanoseconds| nanoseconds / 1_000_000),
        event_key: usable_id(id),
        parts,
    };
    let conversation = attributes.text(&["gen_ai.conversation.id", "session.id"]);
    let session = conversation.map(std::borrow::Cow::into_owned).filter(|name| !name.is_empty());
    Reading { content, session: session.or_else(|| usable_id(trace)) }
}

enum Kind {
    /// A call of a model.
    Model,
    /// A tool that was run.
    Tool,
    Other,
}

fn kind_of_span(attributes: &Attributes<'_>, name: &str) -> Kind {
    let operation = attributes.text(&["gen_ai.operation.name", "openinference.span.kind"]);
    match operation.as_deref() {
        Some("chat" | "generate_content" | "text_completion" | "LLM") => Kind::Model,
        Some("execute_tool" | "TOOL") => Kind::Tool,
        None if attributes.any("llm.output_messages.") || name.starts_with("chat ") => Kind::Model,
        None if attributes.any("gen_ai.tool.call.") => Kind::Tool,
        Some(_) | None => Kind::Other,
    }
}

/// A call of a model: what was new in what was put in, and what came out.
fn model(attributes: &Attributes<'_>) -> (Role, Vec<Part>) {
    let mut put_in = Vec::new();
    let mut came_out = Vec::new();
    if let Some(words) = attributes.get(&["gen_ai.system_instructions"]) {
        for part in value_of(words).as_array().into_iter().flatten() {
            put_in.extend(said(part, "system").map(|body| (Speaker::Other, words, body)));
        }
    }
    for (name, list) in [("gen_ai.input.messages", &mut put_in), ("gen_ai.output.messages", &mut came_out)] {
        if let Some(messages) = attributes.get(&[name]) {
            listed(messages, list);
        }
    }
    flattened(attributes, "llm.input_messages", &mut put_in);
    flattened(attributes, "llm.output_messages", &mut came_out);
    // What follows the agent's last words was not there when it was called the last time.
    let new = put_in.iter().rposition(|(speaker, ..)| *speaker == Speaker::Agent).map_or(0, |at| at + 1);
    let role = match (came_out.is_empty(), put_in.is_empty()) {
        (true, false) => Role::User,
        _ => Role::Assistant,
    };
    let parts = put_in.into_iter().skip(new).chain(came_out);
    (role, parts.map(|(_, place, body)| part_at(place, body)).collect())
}

/// A part at a literal that is its text, or in a larger value.
fn part_at(place: Raw<'_>, body: PartBody) -> Part {
    if matches!(body, PartBody::Text(_)) && place.is_string() {
        literal_part(place, PartBody::Text)
    } else {
        value_part(place, body)
    }
}

/// Adds messages that are written as one list: `[{"role", "parts": […]}]`.
fn listed<'a>(messages: Raw<'a>, list: &mut Vec<Said<'a>>) {
    for message in value_of(messages).as_array().into_iter().flatten() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let speaker = if role == "assistant" { Speaker::Agent } else { Speaker::Other };
        let parts = message.get("parts").or_else(|| message.get("content")).unwrap_or(&Value::Null);
        if let Value::String(text) = parts {
            list.push((speaker, messages, PartBody::Text(text.clone())));
        }
        let parts = parts.as_array().into_iter().flatten();
        list.extend(parts.filter_map(|part| Some((speaker, messages, said(part, role)?))));
    }
}

/// What a part of a message says.
fn said(part: &Value, role: &str) -> Option<PartBody> {
    let text = |names: &[&str]| names.iter().find_map(|name| part.get(name)).map(shown);
    let named =
        |name: &str| part.get(name).and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned);
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    Some(match kind {
        "tool_call" => PartBody::Call(Call {
            id: named("id"),
            tool: named("name").unwrap_or_default(),
            args: arguments(part.get("arguments")),
        }),
        "tool_call_response" => PartBody::Result(Outcome {
            tool: named("name"),
            text: text(&["response", "result", "content"]).unwrap_or_default(),
            ..outcome(named("id"))
        }),
        "reasoning" | "thinking" => PartBody::Thinking(text(&["content", "text"])?),
        _ if role == "tool" && kind == "text" => {
            PartBody::Result(Outcome { text: text(&["content", "text"])?, ..outcome(named("id")) })
        }
        _ => PartBody::Text(text(&["content", "text"]).unwrap_or_else(|| format!("[{kind}]"))),
    })
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Arguments as an object, also where they are written as JSON text.
fn arguments(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => match Raw::whole(text) {
            Ok(raw) if raw.is_object() => raw.value(),
            Ok(_) | Err(_) => Value::from(text.as_str()),
        },
        Some(Value::Null) | None => Value::Object(Map::new()),
        Some(value) => value.clone(),
    }
}

/// Adds messages whose members are names of their own: `llm.input_messages.0.message.role` …
fn flattened<'a>(attributes: &Attributes<'a>, list: &str, said: &mut Vec<Said<'a>>) {
    for message in attributes.entries(list) {
        let base = format!("{list}.{message}.message");
        let literal = |name: &str| attributes.literal(&[&format!("{base}.{name}")]);
        let role = literal("role").and_then(|role| role.string()).unwrap_or_default();
        let speaker = if role == "assistant" { Speaker::Agent } else { Speaker::Other };
        let answered = literal("tool_call_id");
        let mut words: Vec<Raw<'a>> = literal("content").into_iter().collect();
        if words.is_empty() {
            let contents = attributes.entries(&format!("{base}.contents"));
            words.extend(contents.filter_map(|at| literal(&format!("contents.{at}.message_content.text"))));
        }
        for words in words {
            let text = words.string().unwrap_or_default().into_owned();
            let body = if role == "tool" || answered.is_some() {
                PartBody::Result(Outcome { text, ..outcome(usable_id(answered)) })
            } else {
                PartBody::Text(text)
            };
            said.push((speaker, words, body));
        }
        for call in attributes.entries(&format!("{base}.tool_calls")) {
            let literal = |name: &str| literal(&format!("tool_calls.{call}.tool_call.{name}"));
            let Some(name) = literal("function.name") else { continue };
            let args = literal("function.arguments");
            let args_text = args.and_then(|args| args.string()).map(|text| Value::from(text.as_ref()));
            let body = PartBody::Call(Call {
                id: usable_id(literal("id")),
                tool: name.string().unwrap_or_default().into_owned(),
                args: arguments(args_text.as_ref()),
            });
            said.push((speaker, args.unwrap_or(name), body));
        }
    }
}

/// A tool that was run. With the id of its call it answers that; without one it could be any call, and what it says
/// is words, since the next call of the model is told the result.
fn tool(span: Raw<'_>, attributes: &Attributes<'_>, failed: bool) -> Vec<Part> {
    let put_in = attributes.literal(&["gen_ai.tool.call.arguments", "input.value"]);
    let came_out = attributes.literal(&["gen_ai.tool.call.result", "output.value"]);
    let Some(id) = usable_id(attributes.literal(&["gen_ai.tool.call.id", "tool_call.id"])) else {
        return put_in.into_iter().chain(came_out).map(|words| literal_part(words, PartBody::Text)).collect();
    };
    let message = span.field("status").and_then(|status| status.field("message")).filter(Raw::is_string);
    let words = came_out.or(message.filter(|_| failed));
    let told = Outcome {
        tool: attributes.text(&["gen_ai.tool.name", "tool.name"]).map(std::borrow::Cow::into_owned),
        text: words.and_then(|words| words.string()).unwrap_or_default().into_owned(),
        is_error: Some(failed),
        ..outcome(Some(id))
    };
    vec![match words {
        Some(words) => {
            let encoding = Encoding::JsonString;
            Part { range: words.range(), encoding, body: PartBody::Result(told) }
        }
        None => value_part(span, PartBody::Result(told)),
    }]
}
