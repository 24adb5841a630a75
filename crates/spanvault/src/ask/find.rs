//! Goes through a reading and hands what it finds, and what it cannot tell, to a seeker.

use spanvault_evidence::{At, Atom, AtomKind, Effect, atoms};
use spanvault_types::{Part, PartBody, SpanContent, SpanKind};

use super::answer::MissingReason;
use super::calls::{CallFilter, Judgement};
use super::coverage::Ledger;
use super::doubt::Doubt;
use super::extract::{doubts_about, extract};
use super::get::Get;
use super::kinds::{PartKind, may_hold};
use super::locate::Place;
use super::originals::{AskSpan, Originals};
use super::plan::{Getter, Pick};
use super::reading::{CallAnswer, ReadCall, Reading, Slot};
use super::scope::Standing;
use super::seek::{Depth, Exhibit, Extracted, Hit, Seeker, Spot};
use super::text::{ByteSearch, Found, TextFilter, strings_of};

/// What a search goes through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) reading: &'a Reading,
    /// How each span stands to the scope.
    pub(super) standings: &'a [Standing],
    /// The number of the transcript.
    pub(super) transcript: usize,
}

impl Ground<'_> {
    fn in_scope(&self) -> impl Iterator<Item = (usize, &AskSpan, &Slot, Standing)> {
        self.reading
            .iter()
            .zip(self.standings)
            .map(|((at, span, slot), standing)| (at, span, slot, *standing))
            .filter(|(.., standing)| *standing != Standing::Out)
    }

    fn spot(&self, at: At, offset: usize) -> Spot {
        Spot { transcript: self.transcript, span: self.reading.before + at.span, part: at.part, offset }
    }
}

/// Finds calls.
pub(super) fn calls(filter: &CallFilter, getter: &Getter, ground: Ground<'_>, seeker: &mut Seeker) {
    let reading = ground.reading;
    let mut calls = reading.calls().iter().peekable();
    for (at, span, slot, standing) in ground.in_scope() {
        while calls.next_if(|read| read.call.span < at).is_some() {}
        if let Some(doubt) = unseen(span, slot, standing) {
            if may_hold(span.kind, PartKind::Call) {
                seeker.doubt(doubt);
            }
            continue;
        }
        while let Some(read) = calls.next_if(|read| read.call.span == at) {
            match filter.judge(reading, read) {
                Judgement::No => {}
                Judgement::Doubtful { opaque, unseen } => {
                    seeker.doubts(if opaque { opaque_call(reading, read) } else { None });
                    seeker.doubts(doubts_about(reading, &unseen));
                }
                Judgement::Yes => {
                    let gathers_paths = getter.get == Get::Paths;
                    seeker.hit(|depth| call_hit(filter, getter, ground, read, depth));
                    if gathers_paths && read.effect.effect == Effect::Opaque {
                        seeker.doubts(opaque_call(reading, read));
                    }
                }
            }
        }
    }
}

/// Why a span in scope cannot be judged.
fn unseen(span: &AskSpan, slot: &Slot, standing: Standing) -> Option<Doubt> {
    match (slot, standing) {
        (Slot::Unseen { reason, tombstone }, _) => Some(Doubt::unseen(span, *reason, *tombstone)),
        (_, Standing::Untimed) => Some(Doubt::of(span, MissingReason::Untimed)),
        (Slot::Skipped, _) => Some(Doubt::of(span, MissingReason::Missing)),
        (Slot::Seen(_), _) => None,
    }
}

fn opaque_call(reading: &Reading, read: &ReadCall) -> Option<Doubt> {
    Some(Doubt::Opaque {
        span: reading.spans.get(read.call.span)?.clone(),
        range: reading.part(read.call)?.range,
        tool: reading.call(read.call)?.tool.clone(),
    })
}

fn call_hit(filter: &CallFilter, getter: &Getter, ground: Ground<'_>, read: &ReadCall, depth: Depth) -> Hit {
    let reading = ground.reading;
    let (extracted, focus) = match depth {
        Depth::Place => (Extracted::NotAsked, None),
        Depth::Value => extract(getter, reading, read),
    };
    let exhibit = |at: At, place: &dyn Fn(&Part) -> Place| {
        Some(Exhibit { span: reading.spans.get(at.span)?.clone(), place: place(reading.part(at)?) })
    };
    let mut proof = Vec::new();
    proof.extend(exhibit(read.call, &|part| Place::Exact(part.range)));
    if let CallAnswer::Result { at, .. } = &read.answer {
        proof.extend(exhibit(*at, &|part| match (&focus, &part.body) {
            (Some(focus), PartBody::Result(outcome)) => {
                decoded(part, Some(focus.clone()), outcome.text.get(focus.clone()).unwrap_or_default())
            }
            _whole => Place::Exact(part.range),
        }));
    }
    Hit {
        spot: ground.spot(read.call, 0),
        timestamp_ms: reading.spans.get(read.call.span).and_then(|span| span.timestamp_ms),
        proof,
        extracted,
        paths: if getter.get == Get::Paths { filter.paths(read).to_vec() } else { Vec::new() },
    }
}

fn decoded(part: &Part, range: Option<std::ops::Range<usize>>, words: &str) -> Place {
    Place::Decoded { part: part.range, encoding: part.encoding, range, words: words.to_owned() }
}

/// Finds words.
pub(super) fn text<O: Originals + ?Sized>(
    filter: &TextFilter,
    getter: &Getter,
    pick: Pick,
    ground: Ground<'_>,
    originals: &O,
    seeker: &mut Seeker,
    ledger: &mut Ledger,
) -> Result<(), O::Error> {
    for (at, span, slot, standing) in ground.in_scope() {
        let readable = matches!(slot, Slot::Seen(_)) && span.kind != SpanKind::Meta;
        if !readable && !filter.kinds.may_be_in(span.kind) {
            continue;
        }
        let unparsed = matches!(span.kind, SpanKind::Quarantined | SpanKind::TooLarge);
        if standing == Standing::Untimed {
            seeker.doubt(Doubt::of(span, MissingReason::Untimed));
        } else if filter.kinds.original {
            in_original(filter, ground, at, span, slot, originals, seeker, ledger)?;
        } else if let Slot::Seen(content) = slot {
            in_parts(filter, ground, at, span, content, seeker);
            if !filter.kinds.atoms.is_empty() {
                in_atoms(filter, ground, at, span, content, originals, seeker)?;
            }
        } else if let Some(doubt) = unseen(span, slot, standing) {
            let bytes = if unparsed { originals.bytes(span)? } else { None };
            let searched = bytes.map(|bytes| filter.search_bytes(&bytes));
            if searched.is_some() {
                ledger.in_scope(span, true);
            }
            let exists_is_enough = pick == Pick::All && matches!(getter.get, Get::Exists | Get::Spans);
            match searched {
                Some(ByteSearch::NotThere) => {}
                Some(ByteSearch::Found) if filter.kinds.all && exists_is_enough => {
                    seeker.hit(|_depth| whole_hit(ground, at, span));
                }
                Some(ByteSearch::Found | ByteSearch::Unclear) | None => seeker.doubt(doubt),
            }
        }
    }
    Ok(())
}

fn in_parts(
    filter: &TextFilter,
    ground: Ground<'_>,
    at: usize,
    span: &AskSpan,
    content: &SpanContent,
    seeker: &mut Seeker,
) {
    for (part_at, part) in content.parts.iter().enumerate() {
        if !filter.kinds.parts.contains(&PartKind::of(&part.body)) {
            continue;
        }
        let strings = strings_of(&part.body);
        let single = !matches!(part.body, PartBody::Call(_));
        let mut offset = 0;
        for string in strings {
            filter.search(string, |found| {
                seeker.hit(|_depth| {
                    let words = string.get(found.range.clone()).unwrap_or_default();
                    let range = single.then(|| found.range.clone());
                    let spot = ground.spot(At { span: at, part: part_at }, offset + found.range.start);
                    text_hit(spot, span, decoded(part, range, words), string, &found)
                });
            });
            offset += string.len() + 1;
        }
    }
}

fn in_atoms<O: Originals + ?Sized>(
    filter: &TextFilter,
    ground: Ground<'_>,
    at: usize,
    span: &AskSpan,
    content: &SpanContent,
    originals: &O,
    seeker: &mut Seeker,
) -> Result<(), O::Error> {
    let Some(bytes) = originals.bytes(span)? else {
        seeker.doubt(Doubt::of(span, MissingReason::Missing));
        return Ok(());
    };
    for atom in atoms(content, &bytes) {
        let part = content.parts.get(atom.part).map(|part| PartKind::of(&part.body));
        let searched_whole = part.is_some_and(|part| filter.kinds.parts.contains(&part));
        if searched_whole || !filter.kinds.atoms.contains(&atom.kind) {
            continue;
        }
        if let Some(value) = in_atom(filter, &atom) {
            let offset = usize::try_from(atom.range.start).unwrap_or(usize::MAX);
            let spot = ground.spot(At { span: at, part: atom.part }, offset);
            seeker.hit(|_depth| Hit {
                spot,
                timestamp_ms: span.timestamp_ms,
                proof: vec![Exhibit { span: span.clone(), place: Place::Exact(atom.range) }],
                extracted: Extracted::Value(value.into()),
                paths: Vec::new(),
            });
        }
    }
    Ok(())
}

/// What an atom gives as value, if the words stand in it, as it is written or in its normal form.
fn in_atom(filter: &TextFilter, atom: &Atom) -> Option<String> {
    let mut value = None;
    let normal = if atom.kind == AtomKind::Argument { "" } else { atom.normal.as_str() };
    for form in [atom.text.as_str(), normal] {
        filter.search(form, |found| {
            value.get_or_insert_with(|| form.get(found.value).unwrap_or_default().to_owned());
        });
    }
    value
}

#[expect(clippy::too_many_arguments, reason = "one step of a search, taken apart for reading")]
fn in_original<O: Originals + ?Sized>(
    filter: &TextFilter,
    ground: Ground<'_>,
    at: usize,
    span: &AskSpan,
    slot: &Slot,
    originals: &O,
    seeker: &mut Seeker,
    ledger: &mut Ledger,
) -> Result<(), O::Error> {
    let Some(bytes) = originals.bytes(span)? else {
        let gone =
            unseen(span, slot, Standing::In).unwrap_or_else(|| Doubt::of(span, MissingReason::Missing));
        seeker.doubt(gone);
        return Ok(());
    };
    ledger.in_scope(span, true);
    let text = String::from_utf8_lossy(&bytes);
    let exact = matches!(text, std::borrow::Cow::Borrowed(_));
    filter.search(&text, |found| {
        let spot = ground.spot(At { span: at, part: 0 }, found.range.start);
        let whole = range_of(0, span.bytes);
        let place = if exact { range_of(found.range.start as u64, found.range.end as u64) } else { whole };
        seeker.hit(|_depth| text_hit(spot, span, Place::Exact(place), &text, &found));
    });
    Ok(())
}

const fn range_of(start: u64, end: u64) -> spanvault_types::ByteRange {
    spanvault_types::ByteRange { start, end }
}

fn text_hit(spot: Spot, span: &AskSpan, place: Place, text: &str, found: &Found) -> Hit {
    Hit {
        spot,
        timestamp_ms: span.timestamp_ms,
        proof: vec![Exhibit { span: span.clone(), place }],
        extracted: Extracted::Value(text.get(found.value.clone()).unwrap_or_default().into()),
        paths: Vec::new(),
    }
}

fn whole_hit(ground: Ground<'_>, at: usize, span: &AskSpan) -> Hit {
    Hit {
        spot: ground.spot(At { span: at, part: 0 }, 0),
        timestamp_ms: span.timestamp_ms,
        proof: vec![Exhibit { span: span.clone(), place: Place::Exact(range_of(0, span.bytes)) }],
        extracted: Extracted::NotAsked,
        paths: Vec::new(),
    }
}
