//! T3: every short sequence of steps, cut at every change of the disk, with every subset of what was not synced.

use spanvault::Packing;
use spanvault_env::{Count, Survival};
use spanvault_testkit::reliability;

use crate::is_full;
use crate::script::{Act, Stage};

const ACTS: [Act; 6] = [Act::Record(1), Act::Record(2), Act::Compact, Act::Hold, Act::Demote, Act::Reclaim];

/// Sequences of `len` steps.
fn sequences(len: u32) -> impl Iterator<Item = Vec<Act>> {
    let count = ACTS.len();
    (0..count.pow(len)).map(move |number| (0..len).map(|n| ACTS[number / count.pow(n) % count]).collect())
}

/// Every subset where there are few units, some otherwise.
fn survivals(units: usize, seed: u64) -> Vec<Survival> {
    if units <= 4 {
        return (0..1 << units).map(Survival::Subset).collect();
    }
    let seeded = (0..4).map(|n| Survival::Seeded(seed * 4 + n));
    [Survival::All, Survival::Nothing].into_iter().chain(seeded).collect()
}

/// Cuts the last step of a sequence everywhere; gives the number of crash states.
fn cut(beginning: &Stage, sequence: &[Act]) -> u64 {
    let (last, before) = sequence.split_last().expect("not empty");
    let mut stage = beginning.with_disk(beginning.disk.restart());
    let vault = stage.open().unwrap();
    for act in before {
        stage.act(&vault, *act).unwrap();
    }
    drop(vault);
    let mut states = 0;
    for nth in 1.. {
        let mut trial = stage.with_disk(stage.disk.restart());
        let vault = trial.open().unwrap();
        trial.disk.cut_power(Count::Changes, nth);
        // An error is the power's; what was acknowledged before it went is in the ledger.
        drop(trial.act(&vault, *last));
        drop(vault);
        let is_over = trial.disk.is_powered();
        for survival in survivals(trial.disk.unsynced(), nth) {
            let mut after = trial.with_disk(trial.disk.crash(survival));
            after.look(&format!("{sequence:?}, cut at change {nth}, {survival:?}"));
            states += 1;
        }
        if is_over {
            return states;
        }
    }
    states
}

/// Vaults to begin with: one with two spans that are kept, one whose spans were condemned for a full grace, and one with a
/// span that was condemned so in a block of a pack, beside one that is held.
fn beginnings() -> [Stage; 3] {
    let begin = |packing, acts: &[Act]| {
        let mut stage = Stage::new(3).packing(packing);
        let vault = stage.open().unwrap();
        Stage::found(&vault).unwrap();
        for act in acts {
            stage.act(&vault, *act).unwrap();
        }
        drop(vault);
        stage
    };
    [
        begin(Packing::Single, &[Act::Record(0)]),
        begin(Packing::Single, &[Act::Record(0), Act::Wait, Act::Reclaim, Act::Wait]),
        begin(Packing::Solid, &[Act::Record(0), Act::Hold, Act::Demote, Act::Wait, Act::Reclaim, Act::Wait]),
    ]
}

#[test]
fn every_short_sequence_survives_every_cut() {
    let len_max = if is_full() { 3 } else { 1 };
    let mut states = 0;
    for beginning in &beginnings() {
        for sequence in (1..=len_max).flat_map(sequences) {
            states += cut(beginning, &sequence);
        }
    }
    reliability("t3_crash_states", states, 20_000);
}
