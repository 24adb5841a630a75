//! The model and the gate were written apart. Here they judge the same states.

use std::collections::BTreeSet;

use proptest::prelude::*;
use spanvault_gate::{
    ClockTrust, CompactionRequest, Decision, DemandView, ExpiryMode, LeaseView, LiveMark, OriginalView,
    Presence, Reach, Reading, RemovalView, SpanView, Stage, StoreState, SummaryView, VaultState,
    decide_compaction, decide_condemn, decide_removal,
};
use spanvault_types::{ByteRange, DemandRef, Position, ReasonKind, Ttl, TtlRule};

use super::super::{Need, Stage as ModelStage};
use super::*;
use crate::expect::Verdict;
use crate::generate::{history, small_world};
use crate::op::{OriginalId, SpanId};

fn position(at: usize) -> Position {
    Position::new(1 + at as u64)
}

fn demand_ref(need: Need) -> DemandRef {
    match need {
        Need::Assumed => DemandRef::Assumed,
        Need::Declared(demand) => DemandRef::Declared(position(demand.0)),
    }
}

fn state(model: &Model) -> VaultState {
    VaultState {
        now: model.now(),
        clock: if model.is_clock_suspect() { ClockTrust::Suspect } else { ClockTrust::Trusted },
        store: StoreState::Ok,
        policy: Ok(Position::ZERO),
        revision: Position::ZERO,
    }
}

fn leases(model: &Model, original: OriginalId) -> Vec<LeaseView> {
    let mine = model.leases.iter().filter(|lease| lease.original == original);
    mine.map(|lease| LeaseView {
        given_by: Position::ZERO,
        until: lease.until,
        demands: lease.needs.iter().map(|&need| demand_ref(need)).collect(),
    })
    .collect()
}

fn demands(model: &Model, original: OriginalId) -> Vec<DemandView> {
    let needs = model.needs_of(original).into_iter();
    needs.map(|(need, horizon)| DemandView { demand: demand_ref(need), horizon }).collect()
}

fn holds(model: &Model, original: OriginalId) -> Vec<Position> {
    model.holds_of(original).into_iter().map(|hold| position(hold.0)).collect()
}

fn live(model: &Model, spans: impl Iterator<Item = SpanId>) -> Vec<LiveMark> {
    let mark = LiveMark::Obligation { range: ByteRange { start: 0, end: 1 } };
    spans.filter(|&span| model.is_live(span)).map(|_span| mark).collect()
}

fn removal_view(model: &Model, original: OriginalId) -> RemovalView {
    RemovalView {
        original: position(original.0),
        stage: Ok(match model.originals[original.0].stage {
            ModelStage::Kept => Stage::Kept,
            ModelStage::Condemned { since } => Stage::Condemned { since },
            ModelStage::Gone => Stage::Gone,
        }),
        grace: Ok(Ttl::from_ms(model.grace_ms).unwrap()),
        retention: Ok(model.retention(original)),
        leases: Ok(leases(model, original)),
        demands: Ok(demands(model, original)),
        holds: Ok(holds(model, original)),
        live: Ok(live(model, model.spans_of(original).map(|(span, _)| span))),
        cited_by: Ok(vec![]),
    }
}

fn span_view(model: &Model, id: SpanId) -> SpanView {
    let span = &model.spans[id.0];
    let original = span.original;
    let view = OriginalView {
        original: position(original.0),
        reading: Ok(Reading {
            class: span.content.class(),
            atom: matches!(span.content, Content::Fact(_)),
            denial: false,
            promise: matches!(span.content, Content::Promise(_)),
        }),
        cited: true,
        presence: Ok(match model.originals[original.0].stage {
            ModelStage::Kept => Presence::HotVerified,
            ModelStage::Condemned { .. } => Presence::Condemned,
            ModelStage::Gone => Presence::Reclaimed,
        }),
        reach: Reach::LOCAL,
        retention: Ok(model.retention(original)),
        leases: Ok(leases(model, original)),
        demands: Ok(demands(model, original)),
        holds: Ok(holds(model, original)),
    };
    SpanView { span: position(id.0), live: Ok(live(model, [id].into_iter())), originals: Ok(vec![view]) }
}

fn kinds<T>(decision: &Decision<T>) -> BTreeSet<ReasonKind> {
    decision.refusal().map(|refusal| refusal.kinds().into_iter().collect()).unwrap_or_default()
}

/// Asks both about every original and every span; how often the gate permitted, by question.
fn agree(model: &Model) -> [usize; 4] {
    let state = state(model);
    let mut permitted = [0; 4];
    for original in model.originals() {
        let view = removal_view(model, original);
        let condemn = decide_condemn(&state, &view);
        assert_eq!(kinds(&condemn), model.against_condemning(original), "{original:?} of {model:?}");
        let removal = decide_removal(&state, &view);
        assert_eq!(removal.is_permit(), model.may_be_removed(original), "{original:?} of {model:?}");
        permitted[0] += usize::from(condemn.is_permit());
        permitted[1] += usize::from(removal.is_permit());
    }
    let modes = [ExpiryMode::Check, ExpiryMode::Extend { budget: TtlRule::Forever }];
    for (span, mode) in model.spans().flat_map(|span| modes.map(|mode| (span, mode))) {
        let extend = mode != ExpiryMode::Check;
        let request = CompactionRequest { mode, summary: SummaryView::FORESEEN };
        let decision = decide_compaction(&state, &request, &span_view(model, span));
        let verdict = match &decision {
            Decision::Permit(terms) => Verdict::Permit(terms.mode),
            Decision::Refuse(_) => Verdict::Refuse(kinds(&decision)),
        };
        let expected = model.compaction_of(span, extend);
        // The gate is asked here as if the words of what is gone were known, which no vault can know.
        assert!(
            verdict == expected || expected == Verdict::Unseen,
            "{span:?}, extend {extend}, of {model:?}"
        );
        permitted[2 + usize::from(extend)] += usize::from(decision.is_permit());
    }
    permitted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_gate_and_the_model_agree_after_every_step_of_a_long_history(ops in history(50)) {
        let mut model = model();
        for op in ops {
            let op = model.resolve(op);
            model.apply(&op);
            agree(&model);
        }
    }
}

#[test]
fn the_gate_and_the_model_agree_at_the_end_of_every_short_history() {
    let mut permitted = [0; 4];
    for ops in small_world().histories(2) {
        let mut model = model();
        for op in ops {
            model.apply(&op);
        }
        for (sum, count) in permitted.iter_mut().zip(agree(&model)) {
            *sum += count;
        }
    }
    assert!(
        permitted.iter().all(|&count| count > 100),
        "every question is answered with yes now and then: {permitted:?}"
    );
}
