//! From what was found and what is in doubt to an answer.

use serde_json::Value;
use spanvault_types::Position;

use super::answer::{Answer, Evidence, Missing, MissingReason, Verdict, range_of, span_id};
use super::coverage::Ledger;
use super::doubt::{Doubts, Listed, missing};
use super::equality::json_equal;
use super::get::Get;
use super::originals::{AskSpan, Originals};
use super::plan::{Pick, Plan};
use super::seek::{Exhibit, Extracted, Hit, Sought};

/// The most spans that are named as those that an ambiguous question may mean.
const AMBIGUOUS_MAX: usize = 100;

/// The most different values that are shown where a question does not say which one it means.
pub(super) const VALUES_MAX: usize = 20;

/// An answer before its evidence is looked up.
struct Draft {
    verdict: Verdict,
    value: Value,
    proof: Vec<Hit>,
    left_off: u64,
    doubts: Vec<Doubts>,
    ambiguous: Vec<Missing>,
}

impl Draft {
    fn new(verdict: Verdict, value: impl Into<Value>, proof: Vec<Hit>, doubts: Vec<Doubts>) -> Self {
        Self { verdict, value: value.into(), proof, left_off: 0, doubts, ambiguous: Vec::new() }
    }

    /// Present if `found`, else absent with `nothing`, unless a doubt could change it.
    fn unless_doubtful(found: bool, value: impl Into<Value>, proof: Vec<Hit>, doubts: Doubts) -> Self {
        let verdict = match (doubts.is_empty(), found) {
            (false, _) => Verdict::Insufficient,
            (true, true) => Verdict::Present,
            (true, false) => Verdict::Absent,
        };
        Self::new(verdict, value, proof, vec![doubts])
    }

    fn ambiguous(value: Value, candidates: Vec<Hit>, doubts: Vec<Doubts>) -> Self {
        let named = candidates
            .iter()
            .take(AMBIGUOUS_MAX)
            .filter_map(|hit| hit.proof.last())
            .map(|exhibit| missing(&exhibit.span, MissingReason::Ambiguous, None))
            .collect();
        Self { ambiguous: named, ..Self::new(Verdict::Insufficient, value, candidates, doubts) }
    }
}

/// Makes the answer to `plan` of what its searches found.
pub(super) fn settle<O: Originals + ?Sized>(
    plan: Plan,
    ledger: Ledger,
    sought: Vec<Sought>,
    originals: &O,
) -> Result<Answer, O::Error> {
    let mut sought = sought.into_iter();
    let draft = match (sought.next(), sought.next()) {
        (Some(first), Some(second)) => order(first, second),
        (Some(only), None) => single(&plan.get.get, only),
        (None, _) => Draft::new(Verdict::Insufficient, Value::Null, Vec::new(), Vec::new()),
    };
    let mut listed = Listed::default();
    draft.doubts.into_iter().for_each(|doubts| listed.add(doubts));
    let complete = listed.missing.is_empty() && listed.opaque.is_empty() && listed.left_off == 0;
    listed.missing.extend(draft.ambiguous);
    let mut evidence = Vec::new();
    let mut held = Held::default();
    for exhibit in draft.proof.iter().flat_map(|hit| &hit.proof) {
        let shown = held.show(exhibit, originals)?;
        if evidence.last() != Some(&shown) {
            evidence.push(shown);
        }
    }
    Ok(Answer {
        answer: draft.verdict,
        partial: draft.verdict == Verdict::Insufficient && !draft.value.is_null(),
        value: draft.value,
        evidence,
        evidence_left_off: draft.left_off,
        coverage: ledger.finish(plan.asked, complete, listed),
    })
}

/// The bytes of the last original that a place was looked up in.
#[derive(Default)]
struct Held(Option<(Position, Option<Vec<u8>>)>);

impl Held {
    fn show<O: Originals + ?Sized>(
        &mut self,
        exhibit: &Exhibit,
        originals: &O,
    ) -> Result<Evidence, O::Error> {
        let span = &exhibit.span;
        let bytes = if exhibit.place.needs_bytes() { self.bytes(span, originals)? } else { None };
        Ok(Evidence {
            span: span_id(span.span),
            hash: span.hash.to_string(),
            source: span.source.to_string(),
            record: span.record.to_string(),
            index: span.index,
            range: range_of(exhibit.place.resolve(bytes)),
        })
    }

    fn bytes<O: Originals + ?Sized>(
        &mut self,
        span: &AskSpan,
        originals: &O,
    ) -> Result<Option<&[u8]>, O::Error> {
        if self.0.as_ref().is_none_or(|(held, _bytes)| *held != span.original) {
            self.0 = Some((span.original, originals.bytes(span)?));
        }
        Ok(self.0.as_ref().and_then(|(_held, bytes)| bytes.as_deref()))
    }
}

fn single(get: &Get, sought: Sought) -> Draft {
    let found = sought.is_found();
    let left_off = match sought.pick {
        Pick::All | Pick::Only => sought.hits - sought.kept.len() as u64,
        Pick::Nth(_) | Pick::Ends => 0,
    };
    let draft = match get {
        Get::Exists if found => Draft::new(Verdict::Present, true, sought.kept, vec![sought.doubts]),
        Get::Exists => {
            let value = if sought.doubts.is_empty() { Value::Bool(false) } else { Value::Null };
            Draft::unless_doubtful(false, value, Vec::new(), sought.doubts)
        }
        Get::Count => Draft::unless_doubtful(found, sought.hits, sought.kept, sought.doubts),
        Get::Spans => Draft::unless_doubtful(found, ids(&sought.spans), sought.kept, sought.doubts),
        Get::Paths => {
            let paths: Vec<String> = sought.paths.into_iter().collect();
            let proof = if paths.is_empty() { Vec::new() } else { sought.kept };
            Draft::unless_doubtful(!paths.is_empty(), paths, proof, sought.doubts)
        }
        Get::Quote | Get::Value if sought.pick == Pick::Only => words(sought),
        Get::Args
        | Get::Arg(_)
        | Get::Result
        | Get::ResultJson(_)
        | Get::ResultRegex(_)
        | Get::ResultNumber
        | Get::ResultExitCode
        | Get::ResultEmpty
        | Get::Fate
        | Get::Quote
        | Get::Value => one(sought),
    };
    Draft { left_off, ..draft }
}

fn ids(spans: &[Position]) -> Vec<String> {
    spans.iter().map(|span| span_id(*span)).collect()
}

/// Words that were asked for without saying which: all that were found must be the same.
fn words(sought: Sought) -> Draft {
    if sought.values_differ {
        return Draft::ambiguous(values_of(&sought.kept), sought.kept, vec![sought.doubts]);
    }
    let value = sought.kept.first().and_then(|hit| value_of(&hit.extracted)).unwrap_or_default();
    Draft::unless_doubtful(!sought.kept.is_empty(), value, sought.kept, sought.doubts)
}

/// Something of one call, or of the n-th words.
fn one(sought: Sought) -> Draft {
    if !sought.is_found() {
        return Draft::unless_doubtful(false, Value::Null, Vec::new(), sought.doubts);
    }
    if sought.pick == Pick::Only && sought.hits > 1 {
        return Draft::ambiguous(values_of(&sought.kept), sought.kept, vec![sought.doubts]);
    }
    let mut doubts = sought.doubts;
    let extracted = sought.kept.first().map(|hit| hit.extracted.clone());
    match extracted {
        None | Some(Extracted::NotAsked | Extracted::Nothing) => {
            Draft::unless_doubtful(false, Value::Null, sought.kept, doubts)
        }
        Some(Extracted::Value(value)) => Draft::unless_doubtful(true, value, sought.kept, doubts),
        Some(Extracted::Several(values)) => Draft::ambiguous(values.into(), sought.kept, vec![doubts]),
        Some(Extracted::InDoubt { doubts: about, known }) => {
            doubts.extend(about);
            Draft::new(Verdict::Insufficient, known, sought.kept, vec![doubts])
        }
    }
}

/// The different values of some hits, as far as they were read, in source order.
fn values_of(hits: &[Hit]) -> Value {
    let mut distinct: Vec<Value> = Vec::new();
    for value in hits.iter().filter_map(|hit| value_of(&hit.extracted)) {
        if distinct.len() < VALUES_MAX && !distinct.iter().any(|known| json_equal(known, &value)) {
            distinct.push(value);
        }
    }
    distinct.into()
}

fn value_of(extracted: &Extracted) -> Option<Value> {
    match extracted {
        Extracted::Value(value) => Some(value.clone()),
        Extracted::InDoubt { known, .. } => Some(known.clone()),
        Extracted::NotAsked | Extracted::Nothing | Extracted::Several(_) => None,
    }
}

/// Whether what `first` found came before what `second` found.
fn order(first: Sought, second: Sought) -> Draft {
    let surely_absent = |side: &Sought| !side.is_found() && side.doubts.is_empty();
    if surely_absent(&first) || surely_absent(&second) {
        return Draft::new(Verdict::Absent, false, [first.kept, second.kept].concat(), Vec::new());
    }
    let certain = first.doubts.is_empty() && second.doubts.is_empty();
    let order = precedes(&first, &second);
    let proof = [first.kept, second.kept].concat();
    let doubts = vec![first.doubts, second.doubts];
    match order {
        Some(order) if certain => Draft::new(Verdict::Present, order, proof, doubts),
        _undecided if !certain => Draft::new(Verdict::Insufficient, Value::Null, proof, doubts),
        _undecided => Draft::ambiguous(Value::Null, proof, doubts),
    }
}

/// Whether all hits of `first` stand before all of `second` (true), or none before any (false).
///
/// Places in different transcripts are compared by time, and only where each side is one hit.
fn precedes(first: &Sought, second: &Sought) -> Option<bool> {
    let (a, b) = (ends(first)?, ends(second)?);
    let transcript = a.0.spot.transcript;
    if [a.1, b.0, b.1].iter().all(|hit| hit.spot.transcript == transcript) {
        return match (a.1.spot < b.0.spot, a.0.spot < b.1.spot) {
            (true, _) => Some(true),
            (false, false) => Some(false),
            (false, true) => None,
        };
    }
    let alone = a.0.spot == a.1.spot && b.0.spot == b.1.spot;
    let (before, after) = (a.0.timestamp_ms?, b.0.timestamp_ms?);
    (alone && before != after).then_some(before < after)
}

fn ends(sought: &Sought) -> Option<(&Hit, &Hit)> {
    sought.is_found().then_some(())?;
    match sought.pick {
        Pick::Nth(_) => Some((sought.kept.first()?, sought.kept.first()?)),
        Pick::All | Pick::Only | Pick::Ends => Some((sought.kept.first()?, sought.kept.last()?)),
    }
}
