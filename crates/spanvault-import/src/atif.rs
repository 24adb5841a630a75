//! ATIF trajectories: one document, or one a line, that holds the turns as `steps`.
//!
//! A step holds its calls and their results, which come in any order. Trajectories of sub-agents stand on lines
//! of their own, or inside the one that began them.

#[cfg(test)]
mod tests;

use serde_json::Value;
use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use crate::blocks::{
    call, content_parts, kind_of, literal_part, outcome, result_part, usable_id, value_part,
};
use crate::document::{LineNames, Step};
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::time::timestamp_ms;
use crate::{Confidence, Head};

/// Trajectories in the Agent Trajectory Interchange Format.
pub(crate) struct Atif;

impl ObjectFormat for Atif {
    const NAME: &'static str = "atif";
    const LAYOUT: Layout = Layout::DocumentLines(
        &[
            &[Step::Member("steps"), Step::Each],
            &[Step::Member("subagent_trajectories"), Step::Each, Step::Member("steps"), Step::Each],
        ],
        LineNames::Place,
    );
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let version = head
            .first_value()
            .and_then(|document| document.get("schema_version"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        if version.starts_with("ATIF") { Confidence::Certain } else { Confidence::No }
    }

    fn read(step: Raw<'_>) -> Reading {
        Reading { content: read_step(step), session: None }
    }
}

fn read_step(step: Raw<'_>) -> SpanContent {
    let [source, message, reasoning, calls, observation, timestamp, extra] = step.fields([
        "source",
        "message",
        "reasoning_content",
        "tool_calls",
        "observation",
        "timestamp",
        "extra",
    ]);
    let source = source.and_then(|source| source.string()).unwrap_or_default();
    let mut parts = Vec::new();
    let says = |raw: &Raw<'_>| raw.is_array() || (raw.is_string() && raw.text() != r#""""#);
    if let Some(words) = reasoning.filter(|words| words.is_string() && says(words)) {
        parts.push(literal_part(words, PartBody::Thinking));
    }
    if let Some(message) = message.filter(says) {
        content_parts(message, &mut parts);
    }
    parts.extend(calls.into_iter().flat_map(Raw::elements).filter(Raw::is_object).map(|entry| {
        let [id, name, args] = entry.fields(["tool_call_id", "function_name", "arguments"]);
        value_part(entry, with_raw_arguments(call(id, name, args), extra))
    }));
    let results = observation.and_then(|observation| observation.field("results"));
    parts.extend(results.into_iter().flat_map(|results| {
        results.elements().filter(Raw::is_object).map(move |result| answer(result, extra))
    }));
    let role = match source.as_ref() {
        "user" => Role::User,
        "agent" => Role::Assistant,
        _ => Role::System,
    };
    let kind = if source.is_empty() && parts.is_empty() { SpanKind::Meta } else { kind_of(&parts) };
    SpanContent { role, kind, timestamp_ms: timestamp.and_then(timestamp_ms), event_key: None, parts }
}

fn answer(result: Raw<'_>, extra: Option<Raw<'_>>) -> Part {
    let [id, content] = result.fields(["source_call_id", "content"]);
    let call_id = usable_id(id);
    let failed = call_id.as_deref().and_then(|id| note(extra, id)).and_then(|note| note.field("error"));
    result_part(result, content, Outcome { is_error: failed.map(|_| true), ..outcome(call_id) })
}

/// Arguments that were no JSON are `{}` in the step; the text that they were stands in a note beside it.
fn with_raw_arguments(body: PartBody, extra: Option<Raw<'_>>) -> PartBody {
    let PartBody::Call(call) = body else { return body };
    let empty = call.args.as_object().is_some_and(serde_json::Map::is_empty);
    let raw =
        call.id.as_deref().filter(|_| empty).and_then(|id| note(extra, id)?.text_field("arguments_raw"));
    match raw {
        Some(raw) => PartBody::Call(Call { args: Value::String(raw.into_owned()), ..call }),
        None => PartBody::Call(call),
    }
}

/// What a producer notes of a call in the step's `extra`.
fn note<'a>(extra: Option<Raw<'a>>, id: &str) -> Option<Raw<'a>> {
    extra?.members().find_map(|(_, notes)| notes.field("calls")?.field(id))
}
