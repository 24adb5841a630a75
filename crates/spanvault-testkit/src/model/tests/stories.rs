//! Short histories whose outcome docs/INVARIANTS.md states.

use spanvault_types::{EvidentialClass, Expiry, Horizon, Mode, ReasonKind};

use super::super::REACH_MS;
use super::*;
use crate::expect::{Answer, Compaction, Place, Verdict};
use crate::op::{DemandId, HoldId, OriginalId, SpanId, SummaryId};

const ORIGINAL: OriginalId = OriginalId(0);
const SPAN: SpanId = SpanId(0);

fn at(ms: u64) -> Expiry {
    Expiry::At(StoreTime::from_ms(ms))
}

fn compacted(model: &mut Model, op: Op) -> Compaction {
    let expected = model.apply(&op);
    let Expectation::Compacted(compaction) = expected else {
        panic!("verdicts are expected, not {expected:?}")
    };
    compaction
}

fn verdicts(model: &mut Model, op: Op) -> Vec<Verdict> {
    compacted(model, op).verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

fn refuse(kinds: &[ReasonKind]) -> Verdict {
    Verdict::Refuse(kinds.iter().copied().collect())
}

const REWRITE: Verdict = Verdict::Permit(Mode::PointerRewrite);
const SUBSTITUTE: Verdict = Verdict::Permit(Mode::Substitution);

/// A fact that nobody needs any more and that was condemned an instant ago.
fn condemned() -> Model {
    let mut model = model();
    run(
        &mut model,
        &[record(FIRST, Content::Fact(0)), NOBODY_ASSUMED, keep_for(Length::Ms(DAY)), tick(DAY + 1)],
    );
    assert_eq!(reclaim(&mut model).condemned, [ORIGINAL]);
    model
}

// --- retention ---

#[test]
fn i4_without_a_rule_nothing_is_due_and_the_first_rule_counts_from_when_it_is_set() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), NOBODY_ASSUMED, tick(400 * DAY)]);
    assert_eq!(model.kept_until(ORIGINAL), Expiry::Never);
    assert_eq!(reclaim(&mut model), Reclaim::default());
    run(&mut model, &[keep_for(Length::Ms(DAY))]);
    assert_eq!(model.expires_at(ORIGINAL), at(START + 401 * DAY));
}

#[test]
fn i4_no_later_rule_shortens_what_was_given() {
    let mut model = model();
    let shorter = keep_for(Length::Ms(10 * DAY));
    run(&mut model, &[keep_for(Length::Ms(30 * DAY)), record(FIRST, Content::Fact(0)), shorter]);
    assert_eq!(model.expires_at(ORIGINAL), at(START + 30 * DAY));
    run(&mut model, &[record(FIRST, Content::Fact(1))]);
    assert_eq!(
        model.expires_at(OriginalId(1)),
        at(START + 10 * DAY),
        "the shorter rule holds for what comes after it"
    );
    run(&mut model, &[keep_for(Length::Forever), shorter]);
    assert_eq!(model.expires_at(ORIGINAL), Expiry::Forever);
}

#[test]
fn i33_shared_bytes_are_kept_as_long_as_the_longest_of_their_spans() {
    let mut model = model();
    let short = Rule { session: Some(FIRST), keep_for: Some(Length::Ms(DAY)), ..Rule::default() };
    let same = [record(FIRST, Content::Fact(0)), record(SECOND, Content::Fact(0))];
    run(&mut model, &same);
    run(&mut model, &[Op::SetRetention(short), NOBODY_ASSUMED]);
    assert_eq!(model.originals().count(), 1);
    assert_eq!(model.expires_at(ORIGINAL), Expiry::Never, "nothing made the second span's bytes due");
    let long = Rule { session: Some(SECOND), keep_for: Some(Length::Ms(5 * DAY)), ..Rule::default() };
    run(&mut model, &[Op::SetRetention(long)]);
    assert_eq!(model.expires_at(ORIGINAL), at(START + 5 * DAY));
}

#[test]
fn of_several_rules_in_force_the_most_specific_counts_and_a_later_one_only_lengthens() {
    let mut model = model();
    let of_class = |days| {
        let class = Some(EvidentialClass::Narrative);
        Op::SetRetention(Rule { class, keep_for: Some(Length::Ms(days * DAY)), ..Rule::default() })
    };
    run(&mut model, &[record(FIRST, Content::Words(0)), keep_for(Length::Ms(5 * DAY)), of_class(2)]);
    run(&mut model, &[record(FIRST, Content::Fact(0)), record(FIRST, Content::Change(1))]);
    let of_session = Rule { session: Some(FIRST), keep_for: Some(Length::Ms(DAY)), ..Rule::default() };
    run(&mut model, &[Op::SetRetention(of_session), record(FIRST, Content::Fact(1))]);
    let [words, fact, call, result, second_fact] = [0, 1, 2, 3, 4].map(|at| model.expires_at(OriginalId(at)));
    assert_eq!([words, call, result], [at(START + 5 * DAY); 3]);
    assert_eq!(
        fact,
        at(START + 2 * DAY),
        "its class is more specific than everything, and a day later shortens nothing"
    );
    assert_eq!(second_fact, at(START + DAY), "its session is more specific than its class");
}

#[test]
fn i34_zero_durations_are_refused_and_change_nothing() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0))]);
    let before = format!("{model:?}");
    let zeros = [
        keep_for(Length::Ms(0)),
        Op::SetRetention(Rule { grace_ms: Some(0), ..Rule::default() }),
        Op::SetRetention(Rule { hot_for: Some(Length::Ms(0)), ..Rule::default() }),
        demand(About::All, Length::Ms(0)),
        Op::AssumeAudit { for_ms: Some(0) },
    ];
    for op in zeros {
        assert_eq!(model.apply(&op), Expectation::Invalid);
    }
    assert_eq!(format!("{model:?}"), before);
}

// --- the assumed audit and explicit demands ---

#[test]
fn no_demand_declared_is_not_no_demand() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), keep_for(Length::Ms(DAY))]);
    assert_eq!(model.kept_until(ORIGINAL), at(START + 90 * DAY));
    run(&mut model, &[Op::AssumeAudit { for_ms: Some(10 * DAY) }]);
    assert_eq!(model.kept_until(ORIGINAL), at(START + 10 * DAY));
    run(&mut model, &[NOBODY_ASSUMED]);
    assert_eq!(model.kept_until(ORIGINAL), at(START + DAY));
}

#[test]
fn an_explicit_demand_replaces_the_assumed_audit_and_its_end_does_not_bring_it_back() {
    let mut model = model();
    run(
        &mut model,
        &[record(FIRST, Content::Fact(0)), record(SECOND, Content::Fact(1)), keep_for(Length::Ms(DAY))],
    );
    run(&mut model, &[demand(About::Session(FIRST), Length::Ms(3 * DAY))]);
    assert_eq!(model.kept_until(ORIGINAL), at(START + 3 * DAY));
    assert_eq!(model.kept_until(OriginalId(1)), at(START + 90 * DAY));
    run(&mut model, &[Op::Withdraw { demand: DemandId(0) }]);
    assert_eq!(model.kept_until(ORIGINAL), at(START + DAY));
}

#[test]
fn bytes_outside_the_scope_of_a_demand_keep_their_assumed_audit() {
    let mut model = model();
    run(
        &mut model,
        &[record(FIRST, Content::Fact(0)), record(SECOND, Content::Fact(0)), keep_for(Length::Ms(DAY))],
    );
    run(&mut model, &[demand(About::Session(FIRST), Length::Ms(3 * DAY))]);
    assert_eq!(model.kept_until(ORIGINAL), at(START + 90 * DAY));
}

#[test]
fn a_demand_on_a_session_covers_what_is_recorded_later() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), keep_for(Length::Ms(DAY))]);
    run(&mut model, &[demand(About::Session(FIRST), Length::Forever), record(FIRST, Content::Fact(1))]);
    assert_eq!(model.kept_until(OriginalId(1)), Expiry::Forever);
    run(&mut model, &[Op::Withdraw { demand: DemandId(0) }]);
    assert_eq!(model.kept_until(OriginalId(1)), at(START + DAY));
}

#[test]
fn i36_a_demand_on_what_is_partly_gone_is_unsatisfiable_and_leaves_no_part_of_a_promise() {
    let mut model = condemned();
    run(&mut model, &[record(FIRST, Content::Fact(1)), tick(DAY)]);
    assert_eq!(reclaim(&mut model).reclaimed, [ORIGINAL]);
    let floor = model.kept_until(OriginalId(1));
    let refused = Expectation::Unsatisfiable { gone: vec![ORIGINAL] };
    assert_eq!(model.apply(&demand(About::Session(FIRST), Length::Forever)), refused);
    assert_eq!(model.kept_until(OriginalId(1)), floor);
}

// --- compaction ---

#[test]
fn the_table_of_compaction_without_any_expiry() {
    let mut model = model();
    let promise = record(FIRST, Content::Promise(0));
    run(&mut model, &[record(FIRST, Content::Words(0)), record(FIRST, Content::Change(0)), promise]);
    let compaction = compacted(&mut model, COMPACT);
    let verdicts: Vec<Verdict> = compaction.verdicts.iter().map(|(_, verdict)| verdict.clone()).collect();
    assert_eq!(verdicts, [REWRITE, REWRITE, REWRITE, refuse(&[ReasonKind::OpenObligation])]);
    assert_eq!(compaction.summaries, [(SummaryId(0), vec![SpanId(0), SpanId(1), SpanId(2)])]);
    assert!(!model.is_verbatim(SPAN) && model.is_verbatim(SpanId(3)));
    // Kept, the promise is no longer open; carried by a checkpoint, neither.
    run(&mut model, &[record(FIRST, Content::Kept(0))]);
    assert_eq!(model.compaction_of(SpanId(3), false), REWRITE);
}

#[test]
fn what_a_checkpoint_carries_makes_a_span_live_no_more() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Promise(0))]);
    assert_eq!(model.apply(&Op::Checkpoint { session: FIRST }), Expectation::Checkpointed(vec![SPAN]));
    assert_eq!(verdicts(&mut model, COMPACT), [REWRITE]);
}

#[test]
fn no_call_is_parted_from_its_result() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Words(0)), record(FIRST, Content::Change(0))]);
    let keep_one = Op::Compact { session: FIRST, keep_last: 1, extend: false };
    assert_eq!(compacted(&mut model, keep_one).verdicts, [(SPAN, REWRITE)]);
}

#[test]
fn i24_an_expiry_before_the_need_refuses_evidence_and_extending_leases_it() {
    let mut model = model();
    run(
        &mut model,
        &[record(FIRST, Content::Fact(0)), record(FIRST, Content::Words(0)), keep_for(Length::Ms(DAY))],
    );
    let compaction = compacted(&mut model, COMPACT);
    let expected = [(SPAN, refuse(&[ReasonKind::ExpiresBeforeNeed])), (SpanId(1), SUBSTITUTE)];
    assert_eq!(compaction.verdicts, expected);
    assert_eq!(verdicts(&mut model, EXTEND), [REWRITE]);
    assert_eq!(model.expires_at(ORIGINAL), at(START + 90 * DAY + REACH_MS));
    assert_eq!(model.expires_at(OriginalId(1)), at(START + DAY), "a substitution leases nothing");
}

#[test]
fn i24_equality_passes_and_one_millisecond_less_refuses() {
    let reach = REACH_MS;
    for (short_by, verdict) in [(0, REWRITE), (1, refuse(&[ReasonKind::ExpiresBeforeNeed]))] {
        let mut model = model();
        let keep = keep_for(Length::Ms(90 * DAY + reach - short_by));
        run(&mut model, &[keep, record(FIRST, Content::Fact(0))]);
        assert_eq!(verdicts(&mut model, COMPACT), [verdict]);
    }
}

#[test]
fn i25_an_unknown_horizon_is_safe_only_without_an_expiry() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), demand(About::All, Length::Forever)]);
    let mut expiring = model.clone();
    assert_eq!(verdicts(&mut model, COMPACT), [REWRITE]);
    assert_eq!(model.leases[0].until, Horizon::Unknown);
    run(&mut expiring, &[keep_for(Length::Ms(1_000 * DAY))]);
    assert_eq!(verdicts(&mut expiring, EXTEND), [refuse(&[ReasonKind::ExpiresBeforeNeed])]);
}

#[test]
fn i27_a_hold_forbids_a_substitution_and_no_pointer_rewrite() {
    let mut model = model();
    let hold = Op::Hold { about: About::Session(FIRST) };
    run(&mut model, &[record(FIRST, Content::Words(0)), keep_for(Length::Ms(DAY)), hold]);
    let both = refuse(&[ReasonKind::ExpiresBeforeNeed, ReasonKind::Held]);
    assert_eq!(verdicts(&mut model, COMPACT), [both]);
    assert_eq!(verdicts(&mut model, EXTEND), [REWRITE]);
}

#[test]
fn a_lease_ends_with_the_last_demand_that_it_names() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), COMPACT, keep_for(Length::Ms(DAY))]);
    assert_eq!(model.leases.len(), 1, "the assumed audit counts as a demand");
    run(&mut model, &[demand(About::All, Length::Ms(2 * DAY))]);
    assert_eq!(model.leases.len(), 0, "it was replaced");
    run(&mut model, &[record(FIRST, Content::Fact(1)), EXTEND]);
    assert_eq!(model.expires_at(OriginalId(1)), at(START + 2 * DAY + REACH_MS));
    run(&mut model, &[Op::Withdraw { demand: DemandId(0) }]);
    assert_eq!(model.kept_until(OriginalId(1)), at(START + DAY));
}

#[test]
fn a_new_assumption_ends_the_leases_of_the_old_one() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), COMPACT, keep_for(Length::Ms(DAY))]);
    run(&mut model, &[Op::AssumeAudit { for_ms: Some(2 * DAY) }]);
    assert_eq!(model.kept_until(ORIGINAL), at(START + 2 * DAY));
}

#[test]
fn i39_a_suspect_clock_permits_nothing_that_rests_on_an_expiry() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), Op::JumpWall { ms: 360_000 }]);
    assert_eq!(
        verdicts(&mut model.clone(), COMPACT),
        [REWRITE],
        "without an expiry there is nothing to rest on"
    );
    run(&mut model, &[keep_for(Length::Ms(1_000 * DAY))]);
    assert_eq!(verdicts(&mut model, COMPACT), [refuse(&[ReasonKind::ClockUntrusted])]);
    run(&mut model, &[Op::ConfirmClock { ahead_ms: 0 }]);
    assert_eq!(verdicts(&mut model, COMPACT), [REWRITE]);
}

// --- removal ---

#[test]
fn i41_removal_takes_two_runs_and_a_full_grace_between_them() {
    let mut model = condemned();
    assert_eq!(model.place(ORIGINAL), Some(Place::Condemned));
    assert_eq!(model.answer(SPAN), Some(Answer::Exact));
    run(&mut model, &[tick(DAY - 1)]);
    assert_eq!(reclaim(&mut model).waiting, [ORIGINAL]);
    run(&mut model, &[tick(1)]);
    assert!(model.may_be_removed(ORIGINAL));
    assert_eq!(reclaim(&mut model).reclaimed, [ORIGINAL]);
    assert_eq!(model.place(ORIGINAL), Some(Place::Reclaimed));
    assert_eq!(model.answer(SPAN), Some(Answer::Insufficient));
}

#[test]
fn i35_an_original_is_due_strictly_after_its_floor() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), NOBODY_ASSUMED, keep_for(Length::Ms(DAY)), tick(DAY)]);
    assert_eq!(reclaim(&mut model), Reclaim::default());
    run(&mut model, &[tick(1)]);
    assert_eq!(reclaim(&mut model).condemned, [ORIGINAL]);
}

#[test]
fn i43_a_demand_or_a_hold_or_the_same_bytes_again_rescue_what_is_condemned() {
    let rescued = vec![ORIGINAL];
    let mut demanded = condemned();
    let expected = Expectation::Declared { demand: DemandId(0), rescued: rescued.clone() };
    assert_eq!(demanded.apply(&demand(About::All, Length::Ms(DAY))), expected);
    let mut held = condemned();
    let expected = Expectation::Held { hold: HoldId(0), rescued, gone: vec![] };
    assert_eq!(held.apply(&Op::Hold { about: About::Span(SPAN) }), expected);
    let mut again = condemned();
    run(&mut again, &[record(SECOND, Content::Fact(0))]);
    for mut model in [demanded, held, again] {
        assert_eq!(model.place(ORIGINAL), Some(Place::Hot));
        run(&mut model, &[tick(DAY)]);
        assert_eq!(reclaim(&mut model).reclaimed, []);
    }
}

#[test]
fn i37_after_the_last_reason_has_ended_a_full_grace_follows() {
    let mut model = condemned();
    run(&mut model, &[Op::Hold { about: About::Original(ORIGINAL) }, tick(100 * DAY)]);
    assert_eq!(reclaim(&mut model).refused, [(ORIGINAL, [ReasonKind::Held].into())]);
    run(&mut model, &[Op::Release { hold: HoldId(0) }]);
    assert_eq!(model.place(ORIGINAL), Some(Place::Hot));
    assert_eq!(reclaim(&mut model).condemned, [ORIGINAL]);
    assert_eq!(reclaim(&mut model).waiting, [ORIGINAL]);
}

#[test]
fn a_longer_rule_rescues_in_the_next_run() {
    let mut model = condemned();
    run(&mut model, &[keep_for(Length::Ms(10 * DAY)), tick(DAY)]);
    assert_eq!(reclaim(&mut model).rescued, [ORIGINAL]);
}

#[test]
fn i42_a_hold_after_the_tombstone_is_told_so() {
    let mut model = condemned();
    run(&mut model, &[tick(DAY)]);
    assert_eq!(reclaim(&mut model).reclaimed, [ORIGINAL]);
    let gone = Expectation::AlreadyGone { gone: vec![ORIGINAL] };
    assert_eq!(model.apply(&Op::Hold { about: About::Original(ORIGINAL) }), gone);
    assert_eq!(verdicts(&mut model, COMPACT), [Verdict::Unseen]);
    assert_eq!(model.apply(&record(FIRST, Content::Fact(0))), Expectation::NotApplicable);
}

#[test]
fn what_is_live_is_not_removed_however_long_it_has_expired() {
    let mut model = model();
    run(
        &mut model,
        &[record(FIRST, Content::Promise(0)), NOBODY_ASSUMED, keep_for(Length::Ms(DAY)), tick(2 * DAY)],
    );
    assert_eq!(reclaim(&mut model).refused, [(ORIGINAL, [ReasonKind::OpenObligation].into())]);
    run(&mut model, &[record(FIRST, Content::Kept(0))]);
    assert_eq!(reclaim(&mut model).condemned, [ORIGINAL]);
}

#[test]
fn i46_a_summary_keeps_nothing_and_is_no_longer_backed_once_its_originals_are_gone() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), NOBODY_ASSUMED, COMPACT, keep_for(Length::Ms(DAY))]);
    assert_eq!(model.is_backed(SummaryId(0)), Some(true));
    run(&mut model, &[tick(DAY + 1), Op::Reclaim, tick(DAY), Op::Reclaim]);
    assert_eq!(model.place(ORIGINAL), Some(Place::Reclaimed));
    assert_eq!(model.is_backed(SummaryId(0)), Some(false));
}

// --- tiers ---

#[test]
fn demotion_takes_what_is_past_its_hot_ttl_and_changes_no_floor() {
    let mut model = model();
    let hot = Rule { hot_for: Some(Length::Ms(DAY)), ..Rule::default() };
    run(&mut model, &[record(FIRST, Content::Fact(0)), Op::SetRetention(hot), tick(DAY)]);
    assert_eq!(model.apply(&Op::Demote { all: false }), Expectation::Demoted(vec![]));
    run(&mut model, &[tick(1)]);
    let floor = model.kept_until(ORIGINAL);
    assert_eq!(model.apply(&Op::Demote { all: false }), Expectation::Demoted(vec![ORIGINAL]));
    assert_eq!(model.place(ORIGINAL), Some(Place::Cold));
    assert_eq!(model.kept_until(ORIGINAL), floor);
    run(&mut model, &[record(FIRST, Content::Fact(1))]);
    assert_eq!(model.apply(&Op::Demote { all: true }), Expectation::Demoted(vec![OriginalId(1)]));
}

// --- the clock ---

#[test]
fn i5_neither_a_jump_of_the_wall_clock_nor_time_down_makes_anything_due() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), NOBODY_ASSUMED, keep_for(Length::Ms(DAY))]);
    run(&mut model, &[Op::JumpWall { ms: 315_360_000_000 }]);
    assert_eq!(reclaim(&mut model).condemned, []);
    assert!(model.is_clock_suspect());
    run(&mut model, &[Op::PowerCut { down_ms: 400 * DAY }]);
    assert!(!model.is_clock_suspect(), "a new boot ends suspicion");
    assert_eq!(model.now(), StoreTime::from_ms(START));
    assert_eq!(reclaim(&mut model).condemned, []);
    run(&mut model, &[Op::ConfirmClock { ahead_ms: 400 * DAY }]);
    assert_eq!(reclaim(&mut model).condemned, [ORIGINAL]);
}

#[test]
fn i39_with_a_suspect_clock_a_run_removes_nothing() {
    let mut model = condemned();
    run(&mut model, &[tick(DAY), Op::JumpWall { ms: -360_000 }]);
    let run = reclaim(&mut model);
    assert_eq!(
        run,
        Reclaim { refused: vec![(ORIGINAL, [ReasonKind::ClockUntrusted].into())], ..Reclaim::default() }
    );
    assert_eq!(model.place(ORIGINAL), Some(Place::Condemned));
}

#[test]
fn i39_a_drift_of_five_minutes_is_no_suspicion_and_one_that_was_seen_stays_one() {
    let mut model = model();
    let steps = |ms| [Op::JumpWall { ms }, Op::Reopen];
    run(&mut model, &steps(300_000));
    assert!(!model.is_clock_suspect());
    run(&mut model, &steps(1));
    assert!(model.is_clock_suspect());
    run(&mut model, &steps(-300_001));
    assert!(model.is_clock_suspect());
}

#[test]
fn a_store_time_is_adopted_only_if_it_is_lawful() {
    let mut model = model();
    run(&mut model, &[record(FIRST, Content::Fact(0)), tick(1_000)]);
    let now = |ms| StoreTime::from_ms(START + ms);
    assert_eq!(model.clone().adopt_clock(now(1_001), false).unwrap_err().invariant, "I5");
    assert_eq!(model.clone().adopt_clock(now(1_000), true).unwrap_err().invariant, "I39");
    model.adopt_clock(now(400), false).expect("a lag is lawful");
    assert_eq!(model.now(), now(400));
    run(&mut model, &[tick(100)]);
    assert_eq!(model.clone().adopt_clock(now(501), false).unwrap_err().invariant, "I5");
    run(&mut model, &[record(FIRST, Content::Fact(1))]);
    assert_eq!(model.adopt_clock(now(499), false).unwrap_err().invariant, "I1");
}
