//! What was asked for of one call.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Number, Value, json};
use spanvault_evidence::{At, Fate, FateReading, exit_code_of, is_empty_result};
use spanvault_import::is_stub;
use spanvault_types::Outcome;

use super::answer::MissingReason;
use super::doubt::Doubt;
use super::equality::json_equal;
use super::get::{Get, JsonPlace};
use super::plan::Getter;
use super::reading::{CallAnswer, ReadCall, Reading, Slot};
use super::seek::Extracted;
use super::settle::VALUES_MAX;

/// What `getter` asks for of a call, and where in the text of the result it stands.
pub(super) fn extract(
    getter: &Getter,
    reading: &Reading,
    read: &ReadCall,
) -> (Extracted, Option<Range<usize>>) {
    let Some(call) = reading.call(read.call) else { return (Extracted::Nothing, None) };
    match &getter.get {
        Get::Exists | Get::Count | Get::Spans | Get::Paths | Get::Quote | Get::Value => {
            (Extracted::NotAsked, None)
        }
        Get::Args => (Extracted::Value(call.args.clone()), None),
        Get::Arg(name) => (found(call.args.get(name).cloned()), None),
        Get::Fate => (fate(reading, read), None),
        Get::Result
        | Get::ResultJson(_)
        | Get::ResultRegex(_)
        | Get::ResultNumber
        | Get::ResultExitCode
        | Get::ResultEmpty => match &read.answer {
            CallAnswer::InDoubt(unseen) => (in_doubt(reading, unseen, Value::Null), None),
            CallAnswer::None(_fate) => (Extracted::Nothing, None),
            CallAnswer::Result { at, .. } => match reading.outcome(*at) {
                None => (Extracted::Nothing, None),
                Some(outcome) if is_stub(outcome) => of_stub(getter, reading, *at, outcome),
                Some(outcome) if getter.get == Get::ResultEmpty => {
                    (Extracted::Value(is_empty_result(call, outcome).into()), None)
                }
                Some(outcome) => of_outcome(getter, outcome),
            },
        },
    }
}

fn of_outcome(getter: &Getter, outcome: &Outcome) -> (Extracted, Option<Range<usize>>) {
    let text = outcome.text.as_str();
    match (&getter.get, &getter.pattern) {
        (Get::Result, _) => (Extracted::Value(text.into()), None),
        (Get::ResultJson(place), _) => (found(json_at(text, place)), None),
        (Get::ResultExitCode, _) => (found(exit_code_of(outcome).map(Value::from)), None),
        (Get::ResultNumber, _) => number(text),
        (Get::ResultRegex(_), Some(pattern)) => {
            let matches = pattern.captures_iter(text).filter_map(|captures| match captures.len() {
                1 => captures.get(0),
                _with_groups => captures.get(1),
            });
            only(matches.map(|found| (found.range(), Value::from(found.as_str()))))
        }
        _not_of_an_outcome => (Extracted::NotAsked, None),
    }
}

/// What a stub says: that there was a result, and its status where the record gives one; never what is in it.
fn of_stub(getter: &Getter, reading: &Reading, at: At, stub: &Outcome) -> (Extracted, Option<Range<usize>>) {
    let known = match (&getter.get, stub.exit_code) {
        (Get::ResultEmpty, _) => Some(false.into()),
        (Get::ResultExitCode, status) => status.map(Value::from),
        _of_its_text => None,
    };
    if let Some(known) = known {
        return (Extracted::Value(known), None);
    }
    let doubts = reading.spans.get(at.span).map(|span| Doubt::of(span, MissingReason::Stub));
    (Extracted::InDoubt { doubts: doubts.into_iter().collect(), known: Value::Null }, None)
}

fn found(value: Option<Value>) -> Extracted {
    value.map_or(Extracted::Nothing, Extracted::Value)
}

fn in_doubt(reading: &Reading, unseen: &[usize], known: Value) -> Extracted {
    Extracted::InDoubt { doubts: doubts_about(reading, unseen).collect(), known }
}

/// The spans at `unseen` as doubts: what cannot be seen, or may be meant as well as others.
pub(super) fn doubts_about(reading: &Reading, unseen: &[usize]) -> impl Iterator<Item = Doubt> {
    unseen.iter().filter_map(|at| {
        let span = reading.spans.get(*at)?;
        Some(match reading.slot(*at)? {
            Slot::Unseen { reason, tombstone } => Doubt::unseen(span, *reason, *tombstone),
            Slot::Seen(_) => Doubt::of(span, MissingReason::Ambiguous),
            Slot::WithoutWords | Slot::NoConversation | Slot::Skipped => {
                Doubt::of(span, MissingReason::Missing)
            }
        })
    })
}

fn fate(reading: &Reading, read: &ReadCall) -> Extracted {
    let said = |fate: &FateReading, result: Value| {
        let mut said = Map::new();
        said.insert("issued".to_owned(), true.into());
        said.insert("outcome".to_owned(), fate.fate.as_str().into());
        if !fate.executed {
            said.insert("executed".to_owned(), false.into());
        }
        said.insert("result".to_owned(), result);
        Value::Object(said)
    };
    match &read.answer {
        CallAnswer::Result { at, fate } => {
            let whole = reading.outcome(*at).filter(|outcome| !is_stub(outcome));
            let text = whole.map(|outcome| outcome.text.as_str());
            Extracted::Value(said(fate, text.into()))
        }
        CallAnswer::None(fate) => Extracted::Value(said(fate, Value::Null)),
        CallAnswer::InDoubt(unseen) => {
            let known = json!({ "issued": true, "outcome": Fate::Unknown.as_str(), "result": null });
            in_doubt(reading, unseen, known)
        }
    }
}

fn json_at(text: &str, place: &JsonPlace) -> Option<Value> {
    let document: Value = serde_json::from_str(text).ok()?;
    match place {
        JsonPlace::Pointer(pointer) => document.pointer(pointer).cloned(),
        JsonPlace::Field(name) => document.as_object()?.get(name).cloned(),
    }
}

/// The only one of `values`, which may repeat; of several different ones, these.
fn only(values: impl Iterator<Item = (Range<usize>, Value)>) -> (Extracted, Option<Range<usize>>) {
    let mut distinct: Vec<(Range<usize>, Value)> = Vec::new();
    for (range, value) in values {
        if distinct.len() < VALUES_MAX && !distinct.iter().any(|(_range, known)| json_equal(known, &value)) {
            distinct.push((range, value));
        }
    }
    match (distinct.pop(), distinct.is_empty()) {
        (None, _) => (Extracted::Nothing, None),
        (Some((range, value)), true) => (Extracted::Value(value), Some(range)),
        (Some(last), false) => {
            distinct.push(last);
            (Extracted::Several(distinct.into_iter().map(|(_range, value)| value).collect()), None)
        }
    }
}

/// The only number in a text. Digits that are part of a longer word are none.
fn number(text: &str) -> (Extracted, Option<Range<usize>>) {
    #[expect(clippy::expect_used, reason = "the pattern is fixed and compiled in a test")]
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?").expect("a valid pattern")
    });
    let in_word = |character: char| character.is_alphanumeric() || character == '_';
    only(NUMBER.find_iter(text).filter_map(|found| {
        let before = text[..found.start()].chars().next_back();
        let after = text[found.end()..].chars().next();
        if before.is_some_and(|c| in_word(c) || c == '.') || after.is_some_and(in_word) {
            return None;
        }
        let digits = found.as_str().trim_start_matches('+').replace(',', "");
        Some((found.range(), Value::Number(json_number(&digits)?)))
    }))
}

/// A number with leading zeros taken off, as JSON wants it.
fn json_number(digits: &str) -> Option<Number> {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let trimmed = digits.trim_start_matches('0');
    let zero = if trimmed.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
    format!("{sign}{zero}{trimmed}").parse().ok()
}
