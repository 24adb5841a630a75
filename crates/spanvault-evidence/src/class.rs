//! The evidential class of spans, and the class as the gate reads it.

use std::collections::HashMap;

use spanvault_types::{Call, EvidentialClass, Outcome, PartBody, Role, SpanContent};

use crate::{At, CallEffect, Effect, PairedCall, Registry, effect_of};

/// The class of a call and of its result. An opaque call is side-effecting unless it is a known check.
pub fn class_of_call(effect: &CallEffect) -> EvidentialClass {
    match effect.effect {
        Effect::Reads => EvidentialClass::Structured,
        Effect::Opaque if effect.is_check => EvidentialClass::Structured,
        Effect::Mutates | Effect::External | Effect::Opaque => EvidentialClass::SideEffecting,
    }
}

/// The class of every span of a record; `calls` is what [`crate::pair`] gave for it.
///
/// A result has the class of its call. One whose call is not in the record is read by the tool that it names,
/// and is side-effecting where it names none. What could not be read at all is side-effecting.
pub fn classes(spans: &[&SpanContent], calls: &[PairedCall], registry: &Registry) -> Vec<EvidentialClass> {
    let mut known = HashMap::with_capacity(calls.len() * 2);
    for paired in calls {
        let class = class_of_call(&paired.effect);
        known.insert(paired.call, class);
        if let Some(result) = paired.result {
            known.insert(result, class);
        }
    }
    let class_of = |span: usize, content: &SpanContent| {
        if !content.kind.was_parsed() {
            return EvidentialClass::SideEffecting;
        }
        content
            .parts
            .iter()
            .enumerate()
            .map(|(part, body)| match &body.body {
                // What a tool says outside a result is evidence of what it did.
                PartBody::Text(text) if content.role == Role::Tool || is_ledger(text) => {
                    EvidentialClass::Structured
                }
                PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) => {
                    EvidentialClass::Narrative
                }
                PartBody::Call(call) => {
                    let class = known.get(&At { span, part });
                    class.copied().unwrap_or_else(|| class_of_call(&effect_of(call, registry)))
                }
                PartBody::Result(outcome) => known
                    .get(&At { span, part })
                    .copied()
                    .unwrap_or_else(|| class_of_orphan(outcome, registry)),
            })
            .max()
            .unwrap_or(EvidentialClass::Narrative)
    };
    spans.iter().enumerate().map(|(span, content)| class_of(span, content)).collect()
}

/// The class of a result whose call is not in the record.
fn class_of_orphan(outcome: &Outcome, registry: &Registry) -> EvidentialClass {
    let Some(tool) = &outcome.tool else { return EvidentialClass::SideEffecting };
    let call = Call { id: None, tool: tool.clone(), args: serde_json::Value::Null };
    class_of_call(&effect_of(&call, registry))
}

/// Whether a message is one JSON object or array: a ledger that a program wrote, not words.
fn is_ledger(text: &str) -> bool {
    let text = text.trim();
    let framed =
        (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    framed && text.len() > 2 && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The class as the gate reads it: a narrative span that holds a detail (an atom, a denial) or a promise is
/// read as structured.
pub fn as_read_by_gate(class: EvidentialClass, holds_detail: bool, promises: bool) -> EvidentialClass {
    if holds_detail || promises { class.max(EvidentialClass::Structured) } else { class }
}

#[cfg(test)]
mod tests;
