//! T20: bugs are planted one by one, and the model histories (T1) or the simulation (T2) have to find each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use spanvault::types::planted::{Bug, plant};
use spanvault_testkit::{history, reliability, small_world};

use crate::number;
use crate::simulation::Simulation;
use crate::twin::{Look, Twin};

const BUGS: [Bug; 21] = [
    Bug::NoSync,
    Bug::AckBeforeSync,
    Bug::NoDirSync,
    Bug::PackNotSynced,
    Bug::SyncRetried,
    Bug::TornBatchKept,
    Bug::BytesBeforeTombstone,
    Bug::ShortestRetention,
    Bug::DueAtTheInstant,
    Bug::WallClock,
    Bug::HighWaterClock,
    Bug::SuspectTrusted,
    Bug::PermitWithoutLeases,
    Bug::HoldIgnored,
    Bug::HoldWithoutRescue,
    Bug::UnknownNeedsNothing,
    Bug::DemandOnWhatIsGone,
    Bug::NoGrace,
    Bug::OpenIgnored,
    Bug::WordsOnly,
    Bug::RefusalNotLogged,
];

/// Which suite finds a planted bug, and after how many of its runs.
fn found_by(bug: Option<Bug>) -> Option<(&'static str, u64)> {
    plant(bug);
    let found = by_histories().map(|runs| ("T1", runs)).or_else(|| Some(("T2", by_simulations()?)));
    plant(None);
    found
}

fn by_histories() -> Option<u64> {
    let mut runner = TestRunner::deterministic();
    let random =
        (0..number(30, 200)).map(|_n| history(40).new_tree(&mut runner).expect("a history").current());
    let small = small_world();
    let small: Vec<_> = small.histories(1).collect();
    let mut runs = 0;
    small.into_iter().chain(random).find_map(|ops| {
        runs += 1;
        let walk = AssertUnwindSafe(|| Twin::new(runs).walk(&ops, Look::Step));
        catch_unwind(walk).is_err().then_some(runs)
    })
}

fn by_simulations() -> Option<u64> {
    (0..number(8, 40)).find_map(|seed| {
        let run = || Simulation::new(seed).and_then(|mut simulation| simulation.run(300));
        let came = catch_unwind(AssertUnwindSafe(run));
        (!matches!(came, Ok(Ok(())))).then_some(seed + 1)
    })
}

#[test]
fn every_planted_bug_is_found() {
    // A panic is what is wanted here: thousands of them would only hide the one that counts.
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_panic| {}));
    let healthy = found_by(None);
    let mut found = Vec::new();
    for bug in BUGS {
        let by = found_by(Some(bug));
        println!("{bug:?}: {by:?}");
        found.push((bug, by));
    }
    std::panic::set_hook(loud);
    assert_eq!(healthy, None, "without a bug the same runs find nothing");
    let caught = found.iter().filter(|(_bug, by)| by.is_some()).count();
    reliability("t20_planted_bugs_found", caught, BUGS.len());
    let missed: Vec<Bug> = found.iter().filter(|(_bug, by)| by.is_none()).map(|(bug, _by)| *bug).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}
