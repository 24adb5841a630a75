//! Hands the calls of a reading, and what may be calls, to a seeker.

use spanvault_evidence::{At, Effect};
use spanvault_types::{Part, PartBody};

use super::calls::{CallFilter, Judgement};
use super::doubt::Doubt;
use super::extract::{doubts_about, extract};
use super::get::Get;
use super::ground::Ground;
use super::kinds::{PartKind, may_hold};
use super::locate::Place;
use super::plan::Getter;
use super::reading::{CallAnswer, ReadCall, Reading};
use super::seek::{Depth, Exhibit, Extracted, Hit, Seeker};

/// Finds calls in a whole transcript.
pub(super) fn find_calls(filter: &CallFilter, getter: &Getter, ground: Ground<'_>, seeker: &mut Seeker) {
    let reading = ground.reading;
    let mut calls = reading.calls().iter().peekable();
    for candidate in ground.candidates() {
        while calls.next_if(|read| read.call.span < candidate.at).is_some() {}
        if let Some(doubt) = candidate.doubt() {
            if may_hold(candidate.span.kind, PartKind::Call) {
                seeker.doubt(doubt);
            }
            continue;
        }
        while let Some(read) = calls.next_if(|read| read.call.span == candidate.at) {
            match filter.judge(reading, read) {
                Judgement::No => {}
                Judgement::Doubtful { opaque, unseen } => {
                    seeker.doubts(if opaque { opaque_call(reading, read) } else { None });
                    seeker.doubts(doubts_about(reading, &unseen));
                }
                Judgement::Yes => {
                    seeker.hit(|depth| hit(filter, getter, ground, read, depth));
                    if getter.get == Get::Paths && read.effect.effect == Effect::Opaque {
                        seeker.doubts(opaque_call(reading, read));
                    }
                }
            }
        }
    }
}

fn opaque_call(reading: &Reading, read: &ReadCall) -> Option<Doubt> {
    Some(Doubt::Opaque {
        span: reading.spans.get(read.call.span)?.clone(),
        range: reading.part(read.call)?.range,
        tool: reading.call(read.call)?.tool.clone(),
    })
}

fn hit(filter: &CallFilter, getter: &Getter, ground: Ground<'_>, read: &ReadCall, depth: Depth) -> Hit {
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
            (Some(focus), PartBody::Result(outcome)) => Place::decoded(part, focus.clone(), &outcome.text),
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
