//! What holds after every history.

use proptest::prelude::*;
use spanvault_types::Expiry;

use super::*;
use crate::expect::Place;
use crate::generate::{history, small_world};
use crate::op::{DemandId, HoldId, OriginalId};

/// Runs a raw history; before and after each step that applies, calls `check`.
fn walk(ops: Vec<Op>, mut check: impl FnMut(&Model, &Op, &Expectation, &Model)) -> Model {
    let mut model = model();
    for op in ops {
        let op = model.resolve(op);
        let before = model.clone();
        let expected = model.apply(&op);
        check(&before, &op, &expected, &model);
    }
    model
}

fn floors(model: &Model) -> Vec<(OriginalId, Expiry)> {
    model.originals().map(|original| (original, model.kept_until(original))).collect()
}

fn is_reclaimed(model: &Model, original: OriginalId) -> bool {
    model.place(original) == Some(Place::Reclaimed)
}

/// Nothing but these may lower a floor: each is an act that ends a reason, and is logged (I4).
fn ends_a_reason(op: &Op) -> bool {
    matches!(op, Op::Withdraw { .. } | Op::Release { .. } | Op::AssumeAudit { .. } | Op::Declare { .. })
}

/// Where no rule made bytes due, the first rule does, and says from when.
fn is_a_first_rule(op: &Op, before: Expiry, after: Expiry, now: StoreTime) -> bool {
    matches!(op, Op::SetRetention(_))
        && before == Expiry::Never
        && after.instant().is_some_and(|end| end > now)
}

fn check_step(before: &Model, op: &Op, expected: &Expectation, after: &Model) {
    for (original, floor) in floors(before) {
        let now = after.kept_until(original);
        assert!(
            now >= floor || ends_a_reason(op) || is_a_first_rule(op, floor, now, after.now()),
            "I4: {op:?} lowered the floor of {original:?} from {floor:?} to {now:?}"
        );
        if is_reclaimed(after, original) && !is_reclaimed(before, original) {
            assert_eq!(*op, Op::Reclaim, "I37: only a reclaim run removes bytes");
            assert!(floor.is_past(before.now()), "I35: {floor:?} at {:?}", before.now());
            assert_eq!(before.place(original), Some(Place::Condemned), "I41");
            assert!(before.may_be_removed(original) && !before.is_clock_suspect(), "I39");
        }
        assert!(is_reclaimed(after, original) || !is_reclaimed(before, original), "what is gone stays gone");
    }
    assert!(after.now() >= before.now() || matches!(op, Op::PowerCut { .. }), "store time steps back");
    if matches!(
        expected,
        Expectation::NotApplicable | Expectation::Invalid | Expectation::Unsatisfiable { .. }
    ) {
        assert_eq!(floors(before), floors(after), "a refused step changes no floor");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i4_i35_i37_i39_i41_hold_in_every_step_of_a_long_history(ops in history(60)) {
        walk(ops, check_step);
    }

    #[test]
    fn the_same_history_leads_to_the_same_vault(ops in history(40)) {
        let one = walk(ops.clone(), |_, _, _, _| ());
        let other = walk(ops, |_, _, _, _| ());
        prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }

    #[test]
    fn i40_once_nothing_rests_on_it_everything_that_is_not_live_goes(ops in history(40)) {
        let mut model = walk(ops, |_, _, _, _| ());
        for demand in 0..model.demands.len() {
            model.apply(&Op::Withdraw { demand: DemandId(demand) });
        }
        for hold in 0..model.holds.len() {
            model.apply(&Op::Release { hold: HoldId(hold) });
        }
        let said_forever: Vec<bool> =
            model.originals().map(|original| model.retention(original) == Expiry::Forever).collect();
        run(&mut model, &[NOBODY_ASSUMED, keep_for(Length::Ms(DAY)), Op::ConfirmClock { ahead_ms: 1_000 * DAY }]);
        run(&mut model, &[Op::Reclaim, tick(10 * DAY), Op::Reclaim]);
        for original in model.originals() {
            let live = model.spans_of(original).any(|(span, _)| model.is_live(span));
            prop_assert!(is_reclaimed(&model, original) || live || said_forever[original.0]);
        }
    }
}

#[test]
fn every_history_of_two_steps_in_the_small_world_is_lawful() {
    let world = small_world();
    let mut histories = 0;
    for ops in world.histories(2) {
        walk(ops, check_step);
        histories += 1;
    }
    assert_eq!(histories, world.beginnings.len() * world.letters.len().pow(2));
}

#[test]
fn the_beginnings_of_the_small_world_lead_where_they_say() {
    let ends: Vec<Vec<Place>> = small_world()
        .beginnings
        .into_iter()
        .map(|ops| {
            let mut model = model();
            run(&mut model, &ops);
            model.originals().filter_map(|original| model.place(original)).collect()
        })
        .collect();
    let three = |place| vec![place; 3];
    assert_eq!(
        ends,
        [vec![], three(Place::Hot), three(Place::Hot), three(Place::Condemned), three(Place::Condemned)]
    );
    let mut ready = model();
    run(&mut ready, &small_world().beginnings[4]);
    assert!(ready.originals().all(|original| ready.may_be_removed(original)));
}

#[test]
fn random_histories_reach_everything_that_a_step_can_lead_to() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngSeed, TestRunner};

    let config = Config { rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..300 {
        let ops = history(60).new_tree(&mut runner).unwrap().current();
        walk(ops, |_, _, expected, _| {
            seen.insert(format!("{expected:?}").split(['(', ' ']).next().unwrap_or_default().to_owned());
            if let Expectation::Reclaimed(run) = expected {
                let lists = [
                    ("condemned", run.condemned.len()),
                    ("rescued", run.rescued.len()),
                    ("reclaimed", run.reclaimed.len()),
                    ("waiting", run.waiting.len()),
                    ("refused", run.refused.len()),
                ];
                seen.extend(lists.iter().filter(|(_, count)| *count > 0).map(|(name, _)| (*name).to_owned()));
            }
        });
    }
    let all = [
        "AlreadyGone",
        "Checkpointed",
        "Compacted",
        "Declared",
        "Demoted",
        "Done",
        "Held",
        "Invalid",
        "NotApplicable",
        "Reclaimed",
        "Recorded",
        "Unsatisfiable",
        "condemned",
        "reclaimed",
        "refused",
        "rescued",
        "waiting",
    ];
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), all);
}
