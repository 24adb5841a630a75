//! Crashes at every call, in many ways, and calls that fail.

use spanvault_env::{CallKind, Count, Fault, ScheduledFault, Survival};
use spanvault_store::{Access, StoreError, VerifyDepth};

use crate::support::{Ledger, World, every};

/// Segments of a few batches, so that the script seals some.
fn world() -> World {
    World::new().with_segments_of(1_500)
}

/// A short life: single commits, batches, group commits, a long body, two reopenings.
fn script(world: &World, ledger: &mut Ledger) -> Result<(), StoreError> {
    let (store, _report) = world.try_open(Access::Write)?;
    ledger.commit(&store, &[5])?;
    ledger.commit(&store, &[300, 0, 40])?;
    ledger.append(&store, &[20])?;
    ledger.append(&store, &[700])?;
    ledger.ack(&store)?;
    drop(store);
    let (store, _report) = world.try_open(Access::Write)?;
    ledger.commit(&store, &[10, 10, 10])?;
    ledger.append(&store, &[400])?;
    ledger.append(&store, &[3_000, 1])?;
    ledger.append(&store, &[400])?;
    ledger.ack(&store)?;
    drop(store);
    let (store, _report) = world.try_open(Access::Write)?;
    ledger.commit(&store, &[64])?;
    ledger.commit(&store, &[64])
}

/// How often the script calls the disk to change something.
fn script_changes() -> u64 {
    let world = world();
    script(&world, &mut Ledger::default()).unwrap();
    world.disk.count(Count::Changes)
}

fn survivals() -> impl Iterator<Item = Survival> {
    [Survival::All, Survival::Nothing].into_iter().chain((0..5).map(Survival::Seeded))
}

/// Reopens, compares with the ledger, writes on, and verifies.
fn recovers(world: &World, ledger: &mut Ledger) {
    let (store, report) = world.try_open(Access::Write).unwrap();
    assert!(report.is_sound(), "{report:?}");
    ledger.check(&store);
    ledger.commit(&store, &[33, 900]).unwrap();
    ledger.check(&store);
    let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn i1_i6_i7_a_power_cut_at_any_call_loses_nothing_acknowledged_and_no_half_batch() {
    let mut states = 0;
    for nth in 1..=script_changes() {
        let world = world();
        world.disk.cut_power(Count::Changes, nth);
        let mut ledger = Ledger::default();
        drop(script(&world, &mut ledger));
        for survival in survivals() {
            let after = world.on(world.disk.crash(survival));
            let mut ledger = ledger.clone();
            if nth % 2 == 0
                && let Ok((reader, report)) = after.try_open(Access::Read)
            {
                assert!(report.is_sound(), "{report:?}");
                ledger.clone().check(&reader);
            }
            recovers(&after, &mut ledger);
            states += 1;
        }
    }
    assert!(states > 400, "{states} crash states");
}

#[test]
fn i6_whichever_sectors_of_a_batch_arrive_it_is_whole_or_not_there() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[200]).unwrap();
    ledger.append(&store, &[700, 500]).unwrap();
    ledger.append(&store, &[900]).unwrap();
    let units = world.disk.unsynced();
    assert!((6..=10).contains(&units), "{units} units");
    let mut lengths = std::collections::BTreeSet::new();
    for mask in 0..1_u64 << units {
        let after = world.on(world.disk.crash(Survival::Subset(mask)));
        for access in [Access::Read, Access::Write] {
            let (store, report) = after.try_open(access).unwrap();
            assert!(report.is_sound(), "{mask:b}: {report:?}");
            ledger.clone().check(&store);
            lengths.insert(store.head().position);
        }
    }
    assert_eq!(lengths.len(), 3, "none, one or both: {lengths:?}");
}

#[test]
fn i13_a_reopening_that_is_cut_itself_can_be_done_again() {
    for nth in (1..=script_changes()).step_by(every(5)) {
        let world = world();
        world.disk.cut_power(Count::Changes, nth);
        let mut ledger = Ledger::default();
        drop(script(&world, &mut ledger));
        for (seed, first) in survivals().enumerate().step_by(every(3)) {
            for again in 1.. {
                let after = world.on(world.disk.crash(first));
                after.disk.cut_power(Count::Changes, again);
                let reopened = after.try_open(Access::Write).is_ok();
                let second = Survival::Seeded(seed as u64 * 100 + again);
                recovers(&after.on(after.disk.crash(second)), &mut ledger.clone());
                if reopened {
                    break;
                }
            }
        }
    }
}

#[test]
fn i7_a_process_that_ends_without_a_word_leaves_all_that_it_wrote() {
    for nth in 1..=script_changes() {
        let world = world();
        world.disk.cut_power(Count::Changes, nth);
        let mut ledger = Ledger::default();
        drop(script(&world, &mut ledger));
        let after = world.restarted();
        recovers(&after, &mut ledger);
        // What the reopening acknowledged by serving it is durable from then on.
        recovers(&after.on(after.disk.crash(Survival::Nothing)), &mut ledger);
    }
}

/// Fails the calls of the script one after the other, and checks what every caller was told.
fn fail_each(fault: Fault, sticky: bool, seed: u64) {
    for nth in (1 + seed % 3..).step_by(every(3)) {
        let world = world();
        let scheduled = ScheduledFault::any(fault, nth);
        world.disk.fail(if sticky { scheduled.sticky() } else { scheduled });
        let mut ledger = Ledger::default();
        let failed = script(&world, &mut ledger);
        world.disk.mend();
        if failed.is_ok() && !sticky && nth > world.disk.count(Count::Calls) {
            return;
        }
        let after = match (nth + nth / 3 + seed) % 3 {
            0 => world.disk.restart(),
            1 => world.disk.crash(Survival::Seeded(nth)),
            _ => world.disk.crash(Survival::Nothing),
        };
        let after = world.on(after);
        recovers(&after, &mut ledger);
        recovers(&after.on(after.disk.crash(Survival::Nothing)), &mut ledger);
        if sticky && failed.is_ok() {
            return;
        }
    }
}

#[test]
fn i8_an_io_error_at_any_call_loses_nothing_acknowledged() {
    fail_each(Fault::Io, false, 1);
    fail_each(Fault::Io, true, 2);
}

#[test]
fn i8_a_short_write_at_any_call_loses_nothing_acknowledged() {
    fail_each(Fault::ShortWrite, false, 3);
}

#[test]
fn i8_a_sync_that_drops_pages_is_never_taken_as_success() {
    fail_each(Fault::SyncDrops, false, 4);
    fail_each(Fault::SyncDrops, true, 5);
}

#[test]
fn i9_a_full_disk_at_any_call_loses_nothing_acknowledged() {
    fail_each(Fault::NoSpace, false, 6);
    fail_each(Fault::NoSpace, true, 7);
}

#[test]
fn i8_after_a_failed_sync_nothing_is_acknowledged_until_the_vault_is_reopened() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[10]).unwrap();
    world.disk.fail(ScheduledFault::new(Fault::SyncDrops, CallKind::Sync, 1));
    // Longer than a sector: a later write to the same one would carry it along.
    assert!(matches!(ledger.commit(&store, &[5_000]), Err(StoreError::Io { action: "sync", .. })));
    assert!(matches!(ledger.ack(&store), Err(StoreError::Poisoned)), "a retried sync is no success");
    assert!(matches!(store.lock(), Err(StoreError::Poisoned)));
    assert!(store.is_poisoned());
    drop(store);
    let store = world.open();
    ledger.check(&store);
    ledger.commit(&store, &[30]).unwrap();
    ledger.check(&world.on(world.disk.crash(Survival::Nothing)).open());
}

#[test]
fn i9_a_write_that_finds_no_space_is_undone_and_the_store_goes_on() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[10]).unwrap();
    world.disk.set_capacity(Some(world.disk.used_bytes() + 100));
    let before = ledger.clone();
    assert!(matches!(ledger.commit(&store, &[5_000]), Err(StoreError::NoSpace { .. })));
    ledger = before;
    assert!(!store.is_poisoned());
    ledger.check(&store);
    world.disk.set_capacity(None);
    ledger.commit(&store, &[5_000]).unwrap();
    ledger.check(&world.on(world.disk.crash(Survival::Nothing)).open());
}

/// A batch that is written with several calls: short bodies, some of a few kilobytes, one longer than a call.
const LONG_BATCH: &[usize] =
    &[0, 5, 400_000, 3_071, 3_072, 700_000, 5_000, 2_500_000, 1, 300_000, 300_000, 4_096, 900_000];

#[test]
fn i6_i7_a_batch_of_many_writes_is_whole_or_not_there() {
    let calls = {
        let world = World::new();
        let store = world.open();
        let before = world.disk.count(Count::Changes);
        let mut ledger = Ledger::default();
        ledger.commit(&store, LONG_BATCH).unwrap();
        ledger.check(&store);
        world.disk.count(Count::Changes) - before
    };
    assert!(calls > 6, "{calls} calls");
    for nth in 1..=calls {
        let world = World::new();
        let store = world.open();
        world.disk.cut_power(Count::Changes, nth);
        let mut ledger = Ledger::default();
        drop(ledger.commit(&store, LONG_BATCH));
        for survival in [Survival::All, Survival::Nothing, Survival::Seeded(nth)] {
            recovers(&world.on(world.disk.crash(survival)), &mut ledger.clone());
        }
    }
}

#[test]
fn i9_a_batch_of_many_writes_that_finds_no_space_is_undone() {
    for room in [100, 300_000, 1_500_000, 4_000_000] {
        let world = World::new();
        let store = world.open();
        let mut ledger = Ledger::default();
        ledger.commit(&store, &[10]).unwrap();
        let used = world.disk.used_bytes();
        world.disk.set_capacity(Some(used + room));
        let before = ledger.clone();
        assert!(matches!(ledger.commit(&store, LONG_BATCH), Err(StoreError::NoSpace { .. })));
        ledger = before;
        assert_eq!(world.disk.used_bytes(), used);
        ledger.check(&store);
        world.disk.set_capacity(None);
        ledger.commit(&store, LONG_BATCH).unwrap();
        ledger.check(&world.on(world.disk.crash(Survival::Nothing)).open());
    }
}
