//! `ShareGPT` conversations with tools: an array of objects, or one a line, that hold their turns as
//! `conversations`.
//!
//! A call is JSON text in a turn of its own; nothing but the order pairs it with the observation after it.

#[cfg(test)]
mod tests;

use serde_json::Value;
use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use crate::blocks::{arguments, kind_of, literal_part, outcome, value_part};
use crate::document::{LineNames, Step};
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// Conversations of `from` and `value`.
pub(crate) struct ShareGpt;

impl ObjectFormat for ShareGpt {
    const NAME: &'static str = "sharegpt";
    const LAYOUT: Layout = Layout::DocumentLines(
        &[
            &[Step::Each, Step::Member("conversations"), Step::Each],
            &[Step::Member("conversations"), Step::Each],
        ],
        LineNames::Place,
    );
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(document) = head.first_value() else { return Confidence::No };
        let turns = |conversation: &Value| {
            let turns = conversation.get("conversations").and_then(Value::as_array);
            turns.into_iter().flatten().any(|turn| turn.get("from").is_some())
        };
        let known = document.as_array().map_or_else(|| turns(document), |list| list.iter().any(turns));
        if known { Confidence::Certain } else { Confidence::No }
    }

    fn read(turn: Raw<'_>) -> Reading {
        Reading { content: read_turn(turn), session: None }
    }
}

fn read_turn(turn: Raw<'_>) -> SpanContent {
    let [from, value] = turn.fields(["from", "value"]);
    let from = from.and_then(|from| from.string()).unwrap_or_default();
    let value = value.filter(Raw::is_string);
    let (role, parts) = match (from.as_ref(), value) {
        ("function_call" | "tool_call", Some(value)) => (Role::Assistant, written_calls(value)),
        ("observation" | "tool" | "function_response", Some(value)) => {
            let observed = |text| PartBody::Result(Outcome { text, ..outcome(None) });
            (Role::Tool, vec![literal_part(value, observed)])
        }
        ("gpt" | "assistant" | "model" | "bot" | "chatgpt", value) => (Role::Assistant, words(value)),
        ("human" | "user", value) => (Role::User, words(value)),
        (_, value) => (Role::System, words(value)),
    };
    let kind = if parts.is_empty() && value.is_none() { SpanKind::Meta } else { kind_of(&parts) };
    SpanContent { role, kind, timestamp_ms: None, event_key: None, parts }
}

fn words(value: Option<Raw<'_>>) -> Vec<Part> {
    value.into_iter().map(|value| literal_part(value, PartBody::Text)).collect()
}

/// The calls that a string holds as JSON text: one object with `name` and `arguments`, or an array of them.
///
/// What is no such text is a call without a name whose arguments are the text, so that no call is lost.
pub(crate) fn written_calls(literal: Raw<'_>) -> Vec<Part> {
    let text = literal.string().unwrap_or_default();
    let written = |inner: Raw<'_>| {
        let [name, args, parameters] = inner.fields(["name", "arguments", "parameters"]);
        let tool = name?.string()?.into_owned();
        Some(Call { id: None, tool, args: arguments(args.or(parameters)) })
    };
    let calls: Option<Vec<Call>> = match Raw::whole(&text) {
        Ok(inner) if inner.is_array() => inner.elements().map(written).collect(),
        Ok(inner) => written(inner).map(|call| vec![call]),
        Err(_fault) => None,
    };
    let calls = calls.filter(|calls| !calls.is_empty());
    let unread =
        || vec![Call { id: None, tool: String::new(), args: Value::String(text.clone().into_owned()) }];
    let calls = calls.unwrap_or_else(unread);
    calls.into_iter().map(|call| value_part(literal, PartBody::Call(call))).collect()
}
