//! What holds for every view, whatever is in it.

use proptest::collection::vec;
use proptest::prelude::*;
use spanvault_gate::{
    ClockTrust, CompactionRequest, Decision, DemandView, ExpiryMode, Known, LeaseView, LiveMark, LockEpoch,
    OriginalView, Presence, Reading, Refusal, RemovalView, SpanView, Stage, StoreState, Unknown, VaultState,
    decide_compaction, decide_condemn, decide_removal, kept_until, needed_until, permit_compaction,
    permit_removal,
};
use spanvault_types::{
    AdmissionFault, ContentHash, EvidentialClass, Expiry, Horizon, Mode, Position, Reason, StoreTime, WayOut,
};

use crate::views::{
    class, demand, expiry, instant, lease, mark, original, position, removal, request, span, state,
};

const LOCK: LockEpoch = LockEpoch::new(1);

// --- one more thing that speaks against it ---

fn add<T>(to: &mut Known<Vec<T>>, one: T) {
    if let Ok(list) = to {
        list.push(one);
    }
}

/// What a view can be made worse with.
#[derive(Debug, Clone)]
struct Extra {
    hold: Position,
    demand: DemandView,
    lease: LeaseView,
    mark: LiveMark,
    class: EvidentialClass,
    original: OriginalView,
}

prop_compose! {
    fn extra()(
        hold in position(), demand in demand(), lease in lease(), mark in mark(), class in class(), original in original(),
    ) -> Extra {
        Extra { hold, demand, lease, mark, class, original }
    }
}

/// One of the changes that can only speak against a compaction.
fn worsen(
    which: u8,
    extra: &Extra,
    state: &mut VaultState,
    request: &mut CompactionRequest,
    span: &mut SpanView,
) {
    match which {
        0 => add(&mut span.live, extra.mark),
        1 => span.live = Err(Unknown),
        2 => span.originals = Err(Unknown),
        3 => add(&mut span.originals, extra.original.clone()),
        4 => state.clock = ClockTrust::Suspect,
        5 => state.store = StoreState::Poisoned,
        6 => state.store = StoreState::NoSpace,
        7 => state.policy = Err(Unknown),
        8 => request.mode = ExpiryMode::Check,
        9 => request.summary.admission = Err(AdmissionFault::Unrelated),
        10 => request.summary.unnamed = Err(Unknown),
        11 => request.summary.unnamed = request.summary.unnamed.map(|unnamed| unnamed + 1),
        _ => {
            if let Ok([first, ..]) = span.originals.as_deref_mut() {
                worsen_original(which, extra, first);
            }
        }
    }
}

const CHANGES: u8 = 24;

fn worsen_original(which: u8, extra: &Extra, original: &mut OriginalView) {
    match which {
        12 => add(&mut original.holds, extra.hold),
        13 => add(&mut original.demands, extra.demand),
        14 => original.cited = false,
        15 => original.presence = original.presence.map(|_presence| Presence::Condemned),
        16 => {
            original.reading =
                original.reading.map(|read| Reading { class: read.class.max(extra.class), ..read });
        }
        17 => original.reading = original.reading.map(|read| Reading { atom: true, ..read }),
        18 => original.reading = Err(Unknown),
        19 => original.presence = Err(Unknown),
        20 => original.retention = Err(Unknown),
        21 => original.leases = Err(Unknown),
        22 => original.demands = Err(Unknown),
        _ => original.holds = Err(Unknown),
    }
}

/// One of the changes that can only speak against a removal.
fn worsen_removal(which: u8, extra: Extra, state: &mut VaultState, view: &mut RemovalView) {
    match which {
        0 => add(&mut view.leases, extra.lease),
        1 => add(&mut view.demands, extra.demand),
        2 => add(&mut view.holds, extra.hold),
        3 => add(&mut view.live, extra.mark),
        4 => view.leases = Err(Unknown),
        5 => view.demands = Err(Unknown),
        6 => view.holds = Err(Unknown),
        7 => view.live = Err(Unknown),
        8 => view.cited_by = Err(Unknown),
        9 => view.stage = Err(Unknown),
        10 => view.grace = Err(Unknown),
        11 => view.retention = Err(Unknown),
        12 => state.clock = ClockTrust::Suspect,
        13 => state.policy = Err(Unknown),
        _ => state.store = StoreState::Poisoned,
    }
}

const REMOVAL_CHANGES: u8 = 15;

fn well_formed(refusal: &Refusal) {
    let (reasons, ways_out) = (refusal.reasons(), refusal.ways_out());
    assert!(!reasons.is_empty() && !ways_out.is_empty(), "{refusal:?}");
    assert!(reasons.windows(2).all(|pair: &[Reason]| pair[0] < pair[1]), "sorted, each once: {refusal:?}");
    assert!(ways_out.windows(2).all(|pair: &[WayOut]| pair[0] < pair[1]), "sorted, each once: {refusal:?}");
}

fn reversed<T>(list: &mut Known<Vec<T>>) {
    if let Ok(list) = list {
        list.reverse();
    }
}

fn at(state: &VaultState, ms: u64) -> VaultState {
    VaultState { now: StoreTime::from_ms(ms), ..*state }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i22_the_gate_answers_everything_and_i30_its_refusals_are_well_formed(
        state in state(), request in request(), span in span(), removal in removal(),
    ) {
        if let Decision::Refuse(refusal) = decide_compaction(&state, &request, &span) {
            well_formed(&refusal);
        }
        if let Decision::Refuse(refusal) = decide_removal(&state, &removal) {
            well_formed(&refusal);
        }
        if let Decision::Refuse(refusal) = decide_condemn(&state, &removal) {
            well_formed(&refusal);
        }
    }

    #[test]
    fn i30_the_order_in_which_a_view_was_read_changes_nothing(
        state in state(), request in request(), span in span(), removal in removal(),
    ) {
        let mut other = span.clone();
        reversed(&mut other.live);
        reversed(&mut other.originals);
        for original in other.originals.iter_mut().flatten() {
            reversed(&mut original.leases);
            reversed(&mut original.demands);
            reversed(&mut original.holds);
        }
        prop_assert_eq!(decide_compaction(&state, &request, &span), decide_compaction(&state, &request, &other));

        let mut other = removal.clone();
        reversed(&mut other.live);
        reversed(&mut other.leases);
        reversed(&mut other.demands);
        reversed(&mut other.holds);
        prop_assert_eq!(decide_condemn(&state, &removal), decide_condemn(&state, &other));
        prop_assert_eq!(decide_removal(&state, &removal), decide_removal(&state, &other));
    }

    #[test]
    fn one_more_reason_never_turns_a_refused_compaction_into_a_permit(
        state in state(), request in request(), span in span(), extra in extra(), changes in vec(0..CHANGES, 1..4),
    ) {
        let (mut worse_state, mut worse_request, mut worse_span) = (state, request, span.clone());
        for which in changes {
            worsen(which, &extra, &mut worse_state, &mut worse_request, &mut worse_span);
        }
        let before = decide_compaction(&state, &request, &span);
        let after = decide_compaction(&worse_state, &worse_request, &worse_span);
        prop_assert!(before.is_permit() || !after.is_permit(), "{:?} became {:?}", before, after);
        if let (Some(before), Some(after)) = (before.terms(), after.terms()) {
            prop_assert!(
                !(before.mode == Mode::Substitution && after.mode == Mode::PointerRewrite),
                "what could not be pointed to can be now"
            );
        }
    }

    #[test]
    fn one_more_reason_never_turns_a_refused_removal_into_a_permit(
        state in state(), view in removal(), extra in extra(), which in 0..REMOVAL_CHANGES,
    ) {
        let (mut worse_state, mut worse) = (state, view.clone());
        worsen_removal(which, extra, &mut worse_state, &mut worse);
        prop_assert!(decide_removal(&state, &view).is_permit() || !decide_removal(&worse_state, &worse).is_permit());
        prop_assert!(decide_condemn(&state, &view).is_permit() || !decide_condemn(&worse_state, &worse).is_permit());
    }

    #[test]
    fn i5_time_that_goes_on_never_takes_a_removal_back_and_time_that_lags_never_makes_one(
        state in state(), view in removal(), earlier in instant(), later in instant(),
    ) {
        let (earlier, later) = (earlier.min(later), earlier.max(later));
        let early = decide_removal(&at(&state, earlier), &view);
        let late = decide_removal(&at(&state, later), &view);
        prop_assert!(!early.is_permit() || late.is_permit());
    }

    #[test]
    fn a_longer_retention_never_makes_a_removal(state in state(), view in removal(), longer in expiry()) {
        let kept_longer = RemovalView { retention: view.retention.map(|retention| retention.max(longer)), ..view.clone() };
        prop_assert!(decide_removal(&state, &view).is_permit() || !decide_removal(&state, &kept_longer).is_permit());
    }

    #[test]
    fn i33_i35_what_may_go_is_strictly_past_its_floor(state in state(), view in removal()) {
        if decide_removal(&state, &view).is_permit() {
            let floor = kept_until(
                view.retention.unwrap(), &view.leases.unwrap(), &view.demands.unwrap(), &view.holds.unwrap(),
            );
            prop_assert!(floor.is_past(state.now));
        }
    }

    #[test]
    fn a_refusal_of_removal_passes_at_the_instant_that_it_names_and_not_before(state in state(), view in removal()) {
        let wait = |refusal: &Refusal| {
            refusal.ways_out().iter().find_map(|way| if let WayOut::Wait { until } = way { Some(*until) } else { None })
        };
        if let Decision::Refuse(refusal) = decide_condemn(&state, &view) {
            match wait(&refusal) {
                Some(Expiry::At(then)) => {
                    prop_assert!(decide_condemn(&at(&state, then.as_ms()), &view).is_permit());
                    prop_assert!(!decide_condemn(&at(&state, then.as_ms() - 1), &view).is_permit());
                }
                never => {
                    prop_assert_eq!(never, Some(Expiry::Never));
                    prop_assert!(!decide_condemn(&at(&state, u64::MAX), &view).is_permit());
                }
            }
        }
        if let (Decision::Refuse(refusal), Ok(Stage::Condemned { .. })) = (decide_removal(&state, &view), view.stage) {
            match wait(&refusal) {
                Some(Expiry::At(then)) => {
                    prop_assert!(decide_removal(&at(&state, then.as_ms()), &view).is_permit());
                    prop_assert!(!decide_removal(&at(&state, then.as_ms() - 1), &view).is_permit());
                }
                never => {
                    prop_assert_eq!(never, Some(Expiry::Never));
                    prop_assert!(!decide_removal(&at(&state, u64::MAX), &view).is_permit());
                }
            }
        }
    }

    #[test]
    fn i21_a_pointer_rewrite_leases_every_need_that_is_left_and_nothing_else(
        state in state(), request in request(), span in span(),
    ) {
        let Decision::Permit(terms) = decide_compaction(&state, &request, &span) else { return Ok(()) };
        if terms.mode == Mode::Substitution {
            prop_assert!(terms.leases.is_empty());
            return Ok(());
        }
        let mut needed = Vec::new();
        for original in span.originals.unwrap() {
            for demand in original.demands.unwrap() {
                let need = needed_until(demand.horizon, original.reach);
                let over = matches!(need, Horizon::Until(end) if end < state.now);
                if !over || state.clock == ClockTrust::Suspect {
                    needed.push((original.original, need, demand.demand));
                }
            }
        }
        let mut leased: Vec<_> = terms
            .leases
            .iter()
            .flat_map(|lease| lease.demands.iter().map(|&demand| (lease.original, lease.until, demand)))
            .collect();
        needed.sort_unstable();
        needed.dedup();
        leased.sort_unstable();
        leased.dedup();
        prop_assert_eq!(leased, needed);
    }

    #[test]
    fn spans_planned_with_one_mode_are_permitted_together(
        state in state(), request in request(), spans in vec(span(), 1..5),
    ) {
        for mode in [Mode::PointerRewrite, Mode::Substitution] {
            let planned: Vec<SpanView> = spans
                .iter()
                .filter(|span| decide_compaction(&state, &request, span).terms().is_some_and(|terms| terms.mode == mode))
                .cloned()
                .collect();
            // Honesty is asked of the summary as a whole as soon as one of its spans is more than narrative.
            if planned.is_empty() || request.summary.unnamed != Ok(0) {
                continue;
            }
            let permit = permit_compaction(LOCK, &state, &request, &planned, ContentHash::of(b"summary"));
            prop_assert!(permit.is_ok_and(|permit| permit.mode() == mode));
        }
    }

    #[test]
    fn i28_a_set_is_permitted_only_if_each_of_its_spans_is(
        state in state(), request in request(), spans in vec(span(), 1..4),
    ) {
        let each = spans.iter().all(|span| decide_compaction(&state, &request, span).is_permit());
        let together = permit_compaction(LOCK, &state, &request, &spans, ContentHash::of(b"summary"));
        prop_assert!(each || together.is_err());
    }

    #[test]
    fn a_permit_and_a_plan_rest_on_the_same_predicate(state in state(), request in request(), span in span(), view in removal()) {
        let plan = decide_compaction(&state, &request, &span);
        match permit_compaction(LOCK, &state, &request, &[span], ContentHash::of(b"summary")) {
            Ok(permit) => prop_assert_eq!(Some(permit.mode()), plan.terms().map(|terms| terms.mode)),
            Err(refusal) => prop_assert_eq!(Some(&refusal.all), plan.refusal()),
        }
        let plan = decide_removal(&state, &view);
        match permit_removal(LOCK, &state, &view) {
            Ok(_permit) => prop_assert!(plan.is_permit()),
            Err(refusal) => prop_assert_eq!(Some(&refusal), plan.refusal()),
        }
    }
}
