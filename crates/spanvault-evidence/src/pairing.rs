//! Which result answers which call.
//!
//! A result that names its call answers that call. Where ids are missing, results answer calls in order; where
//! an id is used again, in order among the calls that share it. A result that names a call which is not in the
//! record answers nothing: the record starts after its call.

use std::collections::{HashMap, VecDeque};

use spanvault_types::{Call, Outcome, PartBody, SpanContent};

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
    let answers = answers(&calls, &results);
    calls
        .into_iter()
        .zip(answers)
        .map(|((at, call), answer)| {
            let result = answer.and_then(|index| results.get(index));
            PairedCall {
                call: at,
                result: result.map(|(at, _)| *at),
                effect: effect_of(call, registry),
                fate: fate_of(call, result.map(|(_, outcome)| *outcome), registry),
            }
        })
        .collect()
}

/// How many unanswered calls without id are looked at for one whose tool the result names.
const LOOK_AHEAD: usize = 64;

/// For every call, the result that answers it.
fn answers(calls: &[(At, &Call)], results: &[(At, &Outcome)]) -> Vec<Option<usize>> {
    let mut by_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let mut nameless: VecDeque<usize> = VecDeque::new();
    for (index, (_, call)) in calls.iter().enumerate() {
        match call.id.as_deref() {
            Some(id) => by_id.entry(id).or_default().push_back(index),
            None => nameless.push_back(index),
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
    if nameless.is_empty() && unnamed.iter().all(|index| names_a_call(results, *index)) {
        return answers;
    }
    // Results without a usable id answer, in order, the calls without one; where every call has an id, those
    // that are still waiting.
    let mut waiting = if nameless.is_empty() {
        let mut rest: Vec<usize> = by_id.into_values().flatten().collect();
        rest.sort_unstable();
        rest.into()
    } else {
        nameless
    };
    for index in unnamed {
        let Some((at, outcome)) = results.get(index) else { continue };
        if names_a_call(results, index) && calls.iter().all(|(_, call)| call.id.is_some()) {
            continue;
        }
        if let Some(call) = take_waiting(&mut waiting, calls, *at, outcome)
            && let Some(slot) = answers.get_mut(call)
        {
            *slot = Some(index);
        }
    }
    answers
}

fn names_a_call(results: &[(At, &Outcome)], index: usize) -> bool {
    results.get(index).is_some_and(|(_, outcome)| outcome.call_id.is_some())
}

/// Takes the waiting call that a result without id answers: one of its own span, else the first before it, of the tool
/// that the result names where one of that tool waits. What comes before all calls answers none: its own is not there.
fn take_waiting(
    waiting: &mut VecDeque<usize>,
    calls: &[(At, &Call)],
    result: At,
    outcome: &Outcome,
) -> Option<usize> {
    let matches = |wanted: &dyn Fn(&At, &Call) -> bool| {
        waiting
            .iter()
            .take(LOOK_AHEAD)
            .position(|call| calls.get(*call).is_some_and(|(at, call)| wanted(at, call)))
    };
    let place = matches(&|at, _| at.span == result.span && at.part < result.part)
        .or_else(|| {
            let tool = outcome.tool.as_deref()?;
            matches(&|at, call| *at < result && call.tool == tool)
        })
        .or_else(|| matches(&|at, _| *at < result))?;
    waiting.remove(place)
}

#[cfg(test)]
mod tests;
