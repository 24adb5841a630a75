//! The rules of compaction one by one, with every particular of what they say.

use spanvault_gate::{
    ClockTrust, CompactionRequest, DemandView, ExpiryMode, LockEpoch, OriginalView, Presence, Reading,
    SpanView, StoreState, SummaryView, VaultState, decide_compaction, permit_compaction,
};
use spanvault_types::{
    AdmissionFault, ContentHash, DemandRef, EvidentialClass, Expiry, Horizon, Lease, Mode, Position, Reason,
    ReasonKind, StoreTime, TtlRule, WayOut,
};

use crate::world::{
    DEMAND, HOLD, LEASE, NEGATIVE, NOW, OBLIGATION, ORIGINAL, POLICY, REACH, REFERENCE, REVISION, USER, at,
    demand, lease, original, range, reading, reasons, request, span, span_of, ttl, until, vault, ways_out,
};

use EvidentialClass::{Narrative, SideEffecting, Structured};

const LOCK: LockEpoch = LockEpoch::new(7);

fn leases_of(original: OriginalView) -> Vec<Lease> {
    decide_compaction(&vault(), &request(), &span_of(original)).terms().expect("a permit").leases.clone()
}

fn numbered(span_number: u64, view: SpanView) -> SpanView {
    SpanView { span: Position::new(span_number), ..view }
}

// --- what a compaction is refused for ---

#[test]
fn i30_a_refusal_lists_every_reason_in_order_and_every_way_out() {
    let view = SpanView {
        live: Ok(vec![REFERENCE, NEGATIVE, OBLIGATION]),
        ..span_of(OriginalView {
            cited: false,
            presence: Ok(Presence::ColdStale),
            retention: Ok(at(NOW)),
            demands: Ok(vec![demand(until(NOW))]),
            ..original(SideEffecting)
        })
    };
    let state = VaultState { clock: ClockTrust::Suspect, store: StoreState::NoSpace, ..vault() };
    let summary = SummaryView { admission: Err(AdmissionFault::ErrorMessage), unnamed: Ok(2) };
    let decision = decide_compaction(&state, &CompactionRequest { summary, ..request() }, &view);
    assert_eq!(
        reasons(&decision),
        [
            Reason::NoPointer,
            Reason::NotRetrievable { original: ORIGINAL },
            Reason::ExpiresBeforeNeed {
                expires_at: at(NOW),
                needed_until: until(NOW + REACH),
                demand: DEMAND
            },
            Reason::OpenObligation { range: range() },
            Reason::UnabsorbedNegative { range: range() },
            Reason::DanglingReference { range: range(), used_by: USER },
            Reason::DishonestSummary { unnamed: 2 },
            Reason::SummaryNotAdmitted { why: AdmissionFault::ErrorMessage },
            Reason::ClockUntrusted,
            Reason::NoSpace,
        ]
    );
    assert_eq!(
        ways_out(&decision),
        [
            WayOut::PreserveVerbatim,
            WayOut::EmitHonestSummary,
            WayOut::ExtendRetention { until: until(NOW + REACH) },
            WayOut::Checkpoint,
            WayOut::Discharge,
            WayOut::WithdrawDemand { demand: DEMAND },
            WayOut::ConfirmClock,
            WayOut::Verify,
            WayOut::FreeSpace,
        ]
    );
}

#[test]
fn every_refused_span_may_stay_as_it_is() {
    let poisoned = VaultState { store: StoreState::Poisoned, ..vault() };
    let decision = decide_compaction(&poisoned, &request(), &span(Narrative));
    assert_eq!(reasons(&decision), [Reason::StorePoisoned]);
    assert_eq!(ways_out(&decision), [WayOut::PreserveVerbatim, WayOut::Reopen]);
}

#[test]
fn i22_narrative_with_a_verifiable_detail_in_it_is_read_as_structured() {
    let plain = reading(Narrative);
    assert_eq!(plain.read_as(), Narrative);
    assert_eq!(Reading { atom: true, ..plain }.read_as(), Structured);
    assert_eq!(Reading { denial: true, ..plain }.read_as(), Structured);
    assert_eq!(Reading { promise: true, ..plain }.read_as(), Structured);
    assert_eq!(Reading { atom: true, ..reading(SideEffecting) }.read_as(), SideEffecting);
}

#[test]
fn i24_equality_passes_and_one_millisecond_less_refuses() {
    let needed = NOW + REACH;
    let expiring = |expiry| {
        span_of(OriginalView {
            retention: Ok(at(expiry)),
            demands: Ok(vec![demand(until(NOW))]),
            ..original(Structured)
        })
    };
    for (expiry, permitted) in [(needed - 1, false), (needed, true), (needed + 1, true)] {
        let decision = decide_compaction(&vault(), &request(), &expiring(expiry));
        assert_eq!(decision.is_permit(), permitted, "expiry {expiry}");
    }
}

#[test]
fn i24_a_lease_that_runs_long_enough_is_an_expiry_like_any_other() {
    let leased_until = |ms| OriginalView {
        retention: Ok(at(NOW)),
        leases: Ok(vec![lease(until(ms))]),
        demands: Ok(vec![demand(until(NOW + 10))]),
        ..original(Structured)
    };
    let decide = |ms| decide_compaction(&vault(), &request(), &span_of(leased_until(ms)));
    assert!(decide(NOW + 10 + REACH).is_permit());
    let short = NOW + 10 + REACH - 1;
    assert_eq!(
        reasons(&decide(short)),
        [Reason::ExpiresBeforeNeed {
            expires_at: at(short),
            needed_until: until(NOW + 10 + REACH),
            demand: DEMAND
        }]
    );
}

#[test]
fn a_need_counts_until_its_reach_has_passed_and_not_longer() {
    let expired_while_needed_until = |horizon| {
        span_of(OriginalView {
            retention: Ok(at(1)),
            demands: Ok(vec![demand(until(horizon))]),
            ..original(Structured)
        })
    };
    let decide = |horizon| decide_compaction(&vault(), &request(), &expired_while_needed_until(horizon));
    assert_eq!(decide(NOW - REACH).refusal().unwrap().kinds(), [ReasonKind::ExpiresBeforeNeed]);
    let over = decide(NOW - REACH - 1);
    assert_eq!(over.terms().unwrap().leases, [], "nothing needs it any more, so nothing is leased");
}

#[test]
fn i34_a_horizon_at_the_end_of_time_is_as_good_as_unknown() {
    let view = |retention| {
        span_of(OriginalView {
            retention: Ok(retention),
            demands: Ok(vec![demand(until(u64::MAX))]),
            ..original(Structured)
        })
    };
    let decision = decide_compaction(&vault(), &request(), &view(at(u64::MAX)));
    assert_eq!(
        reasons(&decision),
        [Reason::ExpiresBeforeNeed {
            expires_at: at(u64::MAX),
            needed_until: Horizon::Unknown,
            demand: DEMAND
        }]
    );
    assert!(decide_compaction(&vault(), &request(), &view(Expiry::Never)).is_permit());
}

#[test]
fn i39_a_suspect_clock_refuses_only_what_rests_on_an_expiry() {
    let suspect = VaultState { clock: ClockTrust::Suspect, ..vault() };
    let view = |retention, demands: Vec<DemandView>| {
        span_of(OriginalView { retention: Ok(retention), demands: Ok(demands), ..original(SideEffecting) })
    };
    let decide = |view| decide_compaction(&suspect, &request(), &view);
    let needed = || vec![demand(until(NOW + 1))];
    assert!(decide(view(Expiry::Never, needed())).is_permit());
    assert!(decide(view(Expiry::Forever, needed())).is_permit());
    assert!(decide(view(at(NOW + 1), vec![])).is_permit());
    assert_eq!(reasons(&decide(view(at(u64::MAX), needed()))), [Reason::ClockUntrusted]);
}

#[test]
fn i39_a_suspect_clock_does_not_say_that_a_need_or_a_lease_is_over() {
    let suspect = VaultState { clock: ClockTrust::Suspect, ..vault() };
    let needed =
        OriginalView { retention: Ok(at(1)), demands: Ok(vec![demand(until(2))]), ..original(Structured) };
    let decision = decide_compaction(&suspect, &request(), &span_of(needed));
    assert_eq!(
        decision.refusal().unwrap().kinds(),
        [ReasonKind::ExpiresBeforeNeed, ReasonKind::ClockUntrusted]
    );
    let leased = OriginalView { cited: false, leases: Ok(vec![lease(until(2))]), ..original(Narrative) };
    let decision = decide_compaction(&suspect, &request(), &span_of(leased));
    assert_eq!(reasons(&decision), [Reason::NoPointer, Reason::ClockUntrusted]);
}

// --- extending ---

#[test]
fn an_extension_writes_the_lease_that_closes_the_gap_within_the_budget() {
    let view = span_of(OriginalView {
        retention: Ok(at(NOW)),
        demands: Ok(vec![demand(until(NOW + 10))]),
        ..original(Structured)
    });
    let within = |budget| {
        let mode = ExpiryMode::Extend { budget };
        decide_compaction(&vault(), &CompactionRequest { mode, ..request() }, &view)
    };
    assert!(!within(TtlRule::For(ttl(10 + REACH - 1))).is_permit());
    let closing = [Lease { original: ORIGINAL, until: until(NOW + 10 + REACH), demands: vec![DEMAND] }];
    for budget in [TtlRule::For(ttl(10 + REACH)), TtlRule::For(ttl(u64::MAX)), TtlRule::Forever] {
        let decision = within(budget);
        let terms = decision.terms().expect("a permit");
        assert_eq!((terms.mode, terms.leases.as_slice()), (Mode::PointerRewrite, closing.as_slice()));
    }
}

#[test]
fn i25_no_extension_closes_a_gap_of_unknown_width() {
    let view = span_of(OriginalView {
        retention: Ok(at(u64::MAX)),
        demands: Ok(vec![demand(Horizon::Unknown)]),
        ..original(Structured)
    });
    let mode = ExpiryMode::Extend { budget: TtlRule::Forever };
    let decision = decide_compaction(&vault(), &CompactionRequest { mode, ..request() }, &view);
    assert_eq!(decision.refusal().unwrap().kinds(), [ReasonKind::ExpiresBeforeNeed]);
    assert!(ways_out(&decision).contains(&WayOut::ExtendRetention { until: Horizon::Unknown }));
}

// --- leases ---

#[test]
fn i21_leases_run_to_the_need_of_the_demands_that_they_name() {
    let assumed = DemandRef::Assumed;
    let second = DemandRef::Declared(Position::new(8));
    let demands = vec![
        DemandView { demand: second, horizon: until(NOW + 20) },
        DemandView { demand: DEMAND, horizon: until(NOW + 10) },
        DemandView { demand: assumed, horizon: until(NOW + 20) },
        DemandView { demand: assumed, horizon: until(NOW + 20) },
    ];
    assert_eq!(
        leases_of(OriginalView { demands: Ok(demands), ..original(Structured) }),
        [
            Lease { original: ORIGINAL, until: until(NOW + 10 + REACH), demands: vec![DEMAND] },
            Lease { original: ORIGINAL, until: until(NOW + 20 + REACH), demands: vec![assumed, second] },
        ]
    );
}

#[test]
fn i21_without_a_demand_there_is_no_lease() {
    assert_eq!(leases_of(original(SideEffecting)), []);
}

#[test]
fn i25_an_unknown_horizon_without_an_expiry_is_leased_until_it_is_withdrawn() {
    for retention in [Expiry::Never, Expiry::Forever] {
        let view = OriginalView {
            retention: Ok(retention),
            demands: Ok(vec![demand(Horizon::Unknown)]),
            ..original(Structured)
        };
        let until_withdrawn = Lease { original: ORIGINAL, until: Horizon::Unknown, demands: vec![DEMAND] };
        assert_eq!(leases_of(view), [until_withdrawn]);
    }
}

#[test]
fn a_substitution_leases_nothing_because_it_was_checked_against_nothing() {
    let view =
        OriginalView { cited: false, demands: Ok(vec![demand(until(NOW + 10))]), ..original(Narrative) };
    let decision = decide_compaction(&vault(), &request(), &span_of(view));
    let terms = decision.terms().expect("a permit");
    assert_eq!((terms.mode, terms.leases.as_slice()), (Mode::Substitution, [].as_slice()));
}

// --- holds ---

#[test]
fn i27_a_hold_forbids_a_substitution_and_not_a_pointer_rewrite() {
    let held = OriginalView { holds: Ok(vec![HOLD]), ..original(Narrative) };
    let rewrite = decide_compaction(&vault(), &request(), &span_of(held.clone()));
    assert_eq!(rewrite.terms().expect("a permit").mode, Mode::PointerRewrite);
    let structured = OriginalView { holds: Ok(vec![HOLD]), ..original(SideEffecting) };
    assert!(decide_compaction(&vault(), &request(), &span_of(structured)).is_permit());

    let substitution =
        decide_compaction(&vault(), &request(), &span_of(OriginalView { cited: false, ..held }));
    assert_eq!(reasons(&substitution), [Reason::NoPointer, Reason::Held { hold: HOLD }]);
    assert_eq!(
        ways_out(&substitution),
        [WayOut::PreserveVerbatim, WayOut::EmitHonestSummary, WayOut::ReleaseHold { hold: HOLD }]
    );
}

#[test]
fn a_lease_forbids_a_substitution_until_it_has_ended() {
    let leased = |ms| {
        span_of(OriginalView { cited: false, leases: Ok(vec![lease(until(ms))]), ..original(Narrative) })
    };
    assert!(decide_compaction(&vault(), &request(), &leased(NOW - 1)).is_permit());
    let refused = decide_compaction(&vault(), &request(), &leased(NOW));
    assert_eq!(reasons(&refused), [Reason::NoPointer, Reason::Leased { lease: LEASE, until: until(NOW) }]);
    assert!(ways_out(&refused).contains(&WayOut::Wait { until: at(NOW + 1) }));
    assert!(ways_out(&refused).contains(&WayOut::WithdrawDemand { demand: DEMAND }));
}

// --- sets of spans, and their permit ---

#[test]
fn i28_the_strictest_class_of_the_set_governs_all_of_it() {
    let unpointed = || numbered(1, span_of(OriginalView { cited: false, ..original(Narrative) }));
    assert!(decide_compaction(&vault(), &request(), &unpointed()).is_permit());
    for class in [Structured, SideEffecting] {
        let set = [numbered(2, span(class)), unpointed()];
        let refusal = permit_compaction(LOCK, &vault(), &request(), &set, ContentHash::of(b"")).unwrap_err();
        assert_eq!(refusal.all.reasons(), [Reason::NoPointer]);
        assert_eq!(refusal.spans.len(), 1);
        assert_eq!(refusal.spans[0].0, Position::new(1));
    }
}

#[test]
fn i28_the_strictest_class_in_the_closure_of_one_span_governs_it() {
    let unpointed = OriginalView { cited: false, ..original(Narrative) };
    let view = SpanView { originals: Ok(vec![unpointed, original(SideEffecting)]), ..span(Narrative) };
    assert_eq!(reasons(&decide_compaction(&vault(), &request(), &view)), [Reason::NoPointer]);
}

#[test]
fn i27_one_substitution_makes_the_summary_the_only_survivor_of_all_its_spans() {
    let unpointed = numbered(1, span_of(OriginalView { cited: false, ..original(Narrative) }));
    let held = numbered(2, span_of(OriginalView { holds: Ok(vec![HOLD]), ..original(Narrative) }));
    let set = [unpointed, held];
    let refusal = permit_compaction(LOCK, &vault(), &request(), &set, ContentHash::of(b"")).unwrap_err();
    assert_eq!(refusal.all.reasons(), [Reason::Held { hold: HOLD }]);
    assert_eq!(refusal.spans.iter().map(|(span, _)| *span).collect::<Vec<_>>(), [Position::new(2)]);
}

#[test]
fn i29_a_permit_names_its_summary_spans_demands_policy_revision_and_lock() {
    let summary = ContentHash::of(b"the agent configured the application");
    let needed = OriginalView {
        demands: Ok(vec![demand(until(NOW + 10))]),
        retention: Ok(Expiry::Forever),
        ..original(Structured)
    };
    let set =
        [numbered(5, span_of(needed.clone())), numbered(3, span(Narrative)), numbered(5, span_of(needed))];
    let permit = permit_compaction(LOCK, &vault(), &request(), &set, summary).expect("a permit");
    assert_eq!(permit.epoch(), LOCK);
    assert_ne!(permit.epoch(), LockEpoch::new(8));
    assert_eq!(permit.summary(), summary);
    assert_eq!(permit.spans(), [Position::new(3), Position::new(5)]);
    assert_eq!(permit.mode(), Mode::PointerRewrite);
    assert_eq!(permit.revision(), REVISION);
    let leases = [Lease { original: ORIGINAL, until: until(NOW + 10 + REACH), demands: vec![DEMAND] }];
    assert_eq!(permit.leases(), leases);

    let record = permit.into_record();
    assert_eq!(record.revision, REVISION);
    assert_eq!(record.at, StoreTime::from_ms(NOW));
    assert_eq!(record.policy, POLICY);
    assert_eq!(record.leases, leases, "the record cannot be had without the leases (I21)");
}

#[test]
fn a_permit_for_no_spans_is_refused() {
    let refusal = permit_compaction(LOCK, &vault(), &request(), &[], ContentHash::of(b"")).unwrap_err();
    assert_eq!(refusal.all.reasons(), [Reason::SummaryNotAdmitted { why: AdmissionFault::NoSources }]);
    assert_eq!(refusal.spans, []);
}

#[test]
fn one_refused_span_refuses_the_set_and_is_named() {
    let live = numbered(4, SpanView { live: Ok(vec![OBLIGATION]), ..span(Structured) });
    let lost = numbered(2, span_of(OriginalView { presence: Ok(Presence::Missing), ..original(Structured) }));
    let set = [live, numbered(3, span(Structured)), lost];
    let refusal = permit_compaction(LOCK, &vault(), &request(), &set, ContentHash::of(b"")).unwrap_err();
    assert_eq!(refusal.all.kinds(), [ReasonKind::NotRetrievable, ReasonKind::OpenObligation]);
    let by_span: Vec<_> = refusal.spans.iter().map(|(span, why)| (span.get(), why.kinds())).collect();
    assert_eq!(by_span, [(2, vec![ReasonKind::NotRetrievable]), (4, vec![ReasonKind::OpenObligation])]);
}
