//! Which result answers which call.
//!
//! A result that names its call answers that call. Where ids are missing, results answer calls in order (`by_order`);
//! where an id is used again, in order among the calls that share it. A result that names a call which is not in the
//! record answers nothing: the record starts after its call.

mod by_order;

use std::collections::{HashMap, VecDeque};

use spanvault_types::{Call, Outcome, PartBody, Role, SpanContent, SpanKind};

use self::by_order::Event;
use crate::{CallEffect, FateReading, Registry, effect_of, fate_of};

/// A part of a span of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The span, as an index into the record's spans.
    pub span: usize,
    /// The part of the span.
    pub part: usize,
}

/// A call with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedCall {
    /// The call.
    pub call: At,
    /// Its result, where there is one.
    pub result: Option<At>,
    /// Results of which one, or none, may be its own, where no id says so and order leaves it open. Empty where
    /// `result` is certain.
    pub rivals: Vec<At>,
    /// What it does.
    pub effect: CallEffect,
    /// What became of it.
    pub fate: FateReading,
}

/// Pairs the calls of one record with their results, in source order of the calls; `registry` knows the tools.
pub fn pair(spans: &[&SpanContent], registry: &Registry) -> Vec<PairedCall> {
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for (span, content) in spans.iter().enumerate() {
        for (part, body) in content.parts.iter().map(|part| &part.body).enumerate() {
            match body {
                PartBody::Call(call) => calls.push((At { span, part }, call)),
                PartBody::Result(outcome) => results.push((At { span, part }, outcome)),
                PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) => {}
            }
        }
    }
    let answers = answers(spans, &calls, &results);
    calls
        .into_iter()
        .zip(answers)
        .map(|((at, call), (answer, rivals))| {
            let result = answer.and_then(|index| results.get(index));
            PairedCall {
                call: at,
                result: result.map(|(at, _)| *at),
                rivals: rivals.into_iter().filter_map(|index| Some(results.get(index)?.0)).collect(),
                effect: effect_of(call, registry),
                fate: fate_of(call, result.map(|(_, outcome)| *outcome), registry),
            }
        })
        .collect()
}

/// For every call, the result that answers it, and the results that may be its own where order leaves that open.
fn answers(
    spans: &[&SpanContent],
    calls: &[(At, &Call)],
    results: &[(At, &Outcome)],
) -> Vec<(Option<usize>, Vec<usize>)> {
    let mut by_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let mut nameless: Vec<usize> = Vec::new();
    for (index, (_, call)) in calls.iter().enumerate() {
        match call.id.as_deref() {
            Some(id) => by_id.entry(id).or_default().push_back(index),
            None => nameless.push(index),
        }
    }
    let mut answers = vec![None; calls.len()];
    let mut answer = |call: usize, result: usize| {
        if let Some(slot) = answers.get_mut(call) {
            *slot = Some(result);
        }
    };
    let mut unnamed = Vec::new();
    for (index, (_, outcome)) in results.iter().enumerate() {
        match outcome.call_id.as_deref().map(|id| by_id.get_mut(id)) {
            // A repeated result of an answered call answers nothing more.
            Some(Some(waiting)) => {
                if let Some(call) = waiting.pop_front() {
                    answer(call, index);
                }
            }
            Some(None) | None => unnamed.push(index),
        }
    }
    let all_have_ids = nameless.is_empty();
    if all_have_ids {
        unnamed.retain(|index| !names_a_call(results, *index));
    }
    if unnamed.is_empty() {
        return answers.into_iter().map(|answer| (answer, Vec::new())).collect();
    }
    // Results without a usable id answer, in order, the calls without one; where every call has an id, those
    // that are still waiting.
    let waiting = if all_have_ids {
        let mut rest: Vec<usize> = by_id.into_values().flatten().collect();
        rest.sort_unstable();
        rest
    } else {
        nameless
    };
    let events = events(spans, calls, results, &waiting, &unnamed);
    let pairs = by_order::pair(events.into_iter(), calls, results);
    pairs.answered.into_iter().for_each(|(call, result)| answer(call, result));
    answers.into_iter().zip(by_order::rivals_of(calls.len(), pairs.contested)).collect()
}

/// The calls of `waiting`, the results of `unnamed`, and who spoke between them, in source order.
fn events(
    spans: &[&SpanContent],
    calls: &[(At, &Call)],
    results: &[(At, &Outcome)],
    waiting: &[usize],
    unnamed: &[usize],
) -> Vec<Event> {
    // By what was recorded of a span alone: words that can no longer be seen part rounds as they did.
    let words = spans.iter().enumerate().filter(|(_, content)| content.kind == SpanKind::Message);
    let words = words.map(|(span, content)| {
        let event = if content.role == Role::User { Event::Asked } else { Event::Said };
        (At { span, part: 0 }, event)
    });
    let calls = waiting.iter().filter_map(|index| Some((calls.get(*index)?.0, Event::Call(*index))));
    let results = unnamed.iter().filter_map(|index| Some((results.get(*index)?.0, Event::Result(*index))));
    let mut events: Vec<(At, Event)> = words.chain(calls).chain(results).collect();
    events.sort_by_key(|(at, _)| *at);
    events.into_iter().map(|(_, event)| event).collect()
}

fn names_a_call(results: &[(At, &Outcome)], index: usize) -> bool {
    results.get(index).is_some_and(|(_, outcome)| outcome.call_id.is_some())
}

#[cfg(test)]
mod tests;
