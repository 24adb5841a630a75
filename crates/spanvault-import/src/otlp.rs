//! Traces of generative AI in `OpenTelemetry`'s JSON: one export, or one a line.
//!
//! A trace's span is one original. The history that each model call repeats is left out by what the span itself
//! shows: of the messages that were put in, those after the agent's last one are new, and those that came out.
//! A span that only holds others, or repeats what they say, is no conversation.

mod attributes;
mod span;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::document::{LineNames, Step};
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// Spans with the attributes of `OpenTelemetry`'s `GenAI` conventions, or of `OpenInference`.
pub(crate) struct OtlpGenAi;

impl ObjectFormat for OtlpGenAi {
    const NAME: &'static str = "otlp_genai";
    const LAYOUT: Layout = Layout::DocumentLines(
        &[&[
            Step::Member("resourceSpans"),
            Step::Each,
            Step::Member("scopeSpans"),
            Step::Each,
            Step::Member("spans"),
            Step::Each,
        ]],
        LineNames::Place,
    );

    fn recognise(head: &Head<'_>) -> Confidence {
        let scopes = head.first_value().and_then(|document| document.get("resourceSpans"));
        if !scopes.is_some_and(Value::is_array) {
            return Confidence::No;
        }
        let of_genai =
            ["\"gen_ai.", "\"llm.", "\"openinference."].iter().any(|mark| head.text().contains(mark));
        if of_genai { Confidence::Certain } else { Confidence::Possible }
    }

    fn read(object: Raw<'_>) -> Reading {
        span::read(object)
    }
}
