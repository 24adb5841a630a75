//! Training conversations, one a line, whose messages hold typed contents: `{"type":…, "value":…}`.
//!
//! Calls are JSON text without ids. A tool's message may answer several of them: it is then a JSON list that
//! names the tool of each answer.

#[cfg(test)]
mod tests;

use serde_json::Value;
use spanvault_types::{Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use crate::blocks::{kind_of, literal_part, outcome, value_part};
use crate::document::{LineNames, Step};
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::sharegpt::written_calls;
use crate::{Confidence, Head};

/// Conversations of typed messages, one a line.
pub(crate) struct MessagesTyped;

impl ObjectFormat for MessagesTyped {
    const NAME: &'static str = "messages_typed_jsonl";
    const LAYOUT: Layout =
        Layout::DocumentLines(&[&[Step::Member("messages"), Step::Each]], LineNames::LineAndPlace);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let messages =
            head.first_value().and_then(|document| document.get("messages")).and_then(Value::as_array);
        let typed = |message: &Value| {
            let contents = message.get("content").and_then(Value::as_array);
            let mut contents = contents.into_iter().flatten();
            message.get("role").is_some()
                && contents.any(|content| content.get("type").is_some() && content.get("value").is_some())
        };
        if messages.into_iter().flatten().any(typed) { Confidence::Certain } else { Confidence::No }
    }

    fn read(message: Raw<'_>) -> Reading {
        Reading { content: read_message(message), session: None }
    }
}

fn read_message(message: Raw<'_>) -> SpanContent {
    let [role, contents] = message.fields(["role", "content"]);
    let said = role.and_then(|role| role.string()).unwrap_or_default();
    let by_tool = matches!(said.as_ref(), "tool" | "observation");
    let mut parts = Vec::new();
    if let Some(words) = contents.filter(Raw::is_string) {
        parts.push(literal_part(words, if by_tool { told } else { PartBody::Text }));
    }
    for content in contents.into_iter().flat_map(Raw::elements) {
        let [kind, value] = content.fields(["type", "value"]);
        let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
        match (kind.as_ref(), value.filter(Raw::is_string)) {
            ("tool_call" | "function_call", Some(value)) => parts.extend(written_calls(value)),
            ("reasoning" | "thinking", Some(value)) => parts.push(literal_part(value, PartBody::Thinking)),
            (_, Some(value)) if by_tool => parts.extend(answers(value)),
            (_, Some(value)) => parts.push(literal_part(value, PartBody::Text)),
            (_, None) => parts.push(value_part(content, PartBody::Text(content.text().to_owned()))),
        }
    }
    let role = match said.as_ref() {
        "assistant" => Role::Assistant,
        "user" => Role::User,
        _ if by_tool => Role::Tool,
        _ => Role::System,
    };
    let kind = if contents.is_none() { SpanKind::Meta } else { kind_of(&parts) };
    SpanContent { role, kind, timestamp_ms: None, event_key: None, parts }
}

fn told(text: String) -> PartBody {
    PartBody::Result(Outcome { text, ..outcome(None) })
}

/// Whether a name may be a tool's, and not that of a file or of a person.
fn is_tool(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The answers that one text holds: a list of objects that each name their tool and its answer and say no more, or else the
/// whole text.
fn answers(literal: Raw<'_>) -> Vec<Part> {
    let text = literal.string().unwrap_or_default();
    let several = Raw::whole(&text).ok().filter(Raw::is_array).and_then(|list| {
        let answer = |entry: Raw<'_>| {
            let [id, tool, content] = entry.fields(["tool_call_id", "name", "content"]);
            let fields = 2 + usize::from(id.is_some());
            let tool = Some(tool?.string()?.into_owned()).filter(|tool| is_tool(tool));
            if tool.is_none() || entry.members().count() != fields {
                return None;
            }
            let content = content?;
            let text =
                content.string().map_or_else(|| content.text().to_owned(), std::borrow::Cow::into_owned);
            Some(PartBody::Result(Outcome { tool, text, ..outcome(None) }))
        };
        let answers: Option<Vec<PartBody>> = list.elements().map(answer).collect();
        answers.filter(|answers| !answers.is_empty())
    });
    match several {
        Some(answers) => answers.into_iter().map(|body| value_part(literal, body)).collect(),
        None => vec![literal_part(literal, told)],
    }
}
