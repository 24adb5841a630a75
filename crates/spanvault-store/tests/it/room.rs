//! Room that is written ahead of the log: nobody ever takes it for part of the log, or the log for part of it.

use spanvault_env::{CallKind, Count, Fault, ScheduledFault, Survival};
use spanvault_store::{Access, StoreError, VerifyDepth};

use crate::support::{Ledger, World, every, file};

/// Short commits, one after the other: from the fourth on there is room.
const COMMIT: &[usize] = &[4_096, 300];

fn world() -> World {
    World::new().with_segments_of(100_000)
}

fn log_len(world: &World, number: u64) -> u64 {
    world.disk.bytes(&file(&format!("log/{number:08}.log"))).unwrap().len() as u64
}

/// Enough of them to make room several times, with a long one between, a reopening, and a segment that is sealed.
fn script(world: &World, ledger: &mut Ledger) -> Result<(), StoreError> {
    let (store, _report) = world.try_open(Access::Write)?;
    for _commit in 0..9 {
        ledger.commit(&store, COMMIT)?;
    }
    ledger.append(&store, COMMIT)?;
    ledger.commit(&store, &[70_000])?;
    for _commit in 0..5 {
        ledger.commit(&store, COMMIT)?;
    }
    drop(store);
    let (store, _report) = world.try_open(Access::Write)?;
    for _commit in 0..5 {
        ledger.commit(&store, COMMIT)?;
    }
    Ok(())
}

/// Reopens, compares with the ledger, writes on, and verifies.
fn recovers(world: &World, ledger: &mut Ledger) {
    if let Ok((reader, report)) = world.try_open(Access::Read) {
        assert!(report.is_sound(), "{report:?}");
        ledger.clone().check(&reader);
    }
    let (store, report) = world.try_open(Access::Write).unwrap();
    assert!(report.is_sound(), "{report:?}");
    ledger.check(&store);
    for _commit in 0..5 {
        ledger.commit(&store, COMMIT).unwrap();
    }
    ledger.check(&store);
    let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn commits_that_find_room_leave_the_length_as_it_is() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    let mut lens = Vec::new();
    for _commit in 0..60 {
        let changes = world.disk.count(Count::Changes);
        ledger.commit(&store, COMMIT).unwrap();
        assert_eq!(world.disk.count(Count::Changes) - changes, 3, "one write, one sync, and the hint");
        lens.push(log_len(&world, 1));
    }
    let grew = lens.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!(grew < 12, "{grew} of 60 commits made the file longer: {lens:?}");
    ledger.check(&store);
}

#[test]
fn a_vault_that_was_closed_ends_with_its_last_frame() {
    let world = World::new();
    let mut ledger = Ledger::default();
    let store = world.open();
    for _commit in 0..6 {
        ledger.commit(&store, COMMIT).unwrap();
    }
    let with_room = log_len(&world, 1);
    let killed = world.restarted();
    drop(store);
    assert!(log_len(&world, 1) < with_room);
    let (_store, report) = world.restarted().try_open(Access::Read).unwrap();
    assert_eq!(report.torn_bytes, 0);

    // One that was killed does not, and the next writer cuts it.
    let (store, report) = killed.try_open(Access::Write).unwrap();
    assert!(report.is_sound() && report.torn_bytes > 0, "{report:?}");
    assert_eq!(log_len(&killed, 1), log_len(&world, 1));
    ledger.check(&store);
}

#[test]
fn a_sealed_segment_ends_with_its_last_frame() {
    let world = world();
    let mut ledger = Ledger::default();
    let store = world.open();
    for _commit in 0..50 {
        ledger.commit(&store, COMMIT).unwrap();
    }
    for number in 1..=2 {
        let bytes = world.disk.bytes(&file(&format!("log/{number:08}.log"))).unwrap();
        assert!(bytes.len() <= 100_000);
        assert!(!bytes.ends_with(&[0; 64]), "segment {number} ends with zeros");
    }
    ledger.check(&store);
}

#[test]
fn i67_a_reader_beside_the_writer_sees_what_is_written_over_the_room() {
    let world = world();
    let mut ledger = Ledger::default();
    let store = world.open();
    for _commit in 0..4 {
        ledger.commit(&store, COMMIT).unwrap();
    }
    let reader = world.read();
    for _commit in 0..40 {
        ledger.commit(&store, COMMIT).unwrap();
        reader.refresh().unwrap();
        ledger.clone().check(&reader);
        assert!(reader.damage().is_empty());
    }
}

#[test]
fn i1_i6_i7_a_power_cut_at_any_call_takes_the_room_and_nothing_acknowledged() {
    let changes = {
        let world = world();
        script(&world, &mut Ledger::default()).unwrap();
        world.disk.count(Count::Changes)
    };
    for nth in (1..=changes).step_by(every(2)) {
        let world = world();
        world.disk.cut_power(Count::Changes, nth);
        let mut ledger = Ledger::default();
        drop(script(&world, &mut ledger));
        for survival in
            [Survival::All, Survival::Nothing, Survival::Seeded(nth), Survival::Seeded(nth + 1_000)]
        {
            recovers(&world.on(world.disk.crash(survival)), &mut ledger.clone());
        }
        recovers(&world.restarted(), &mut ledger);
    }
}

#[test]
fn i8_i9_a_call_that_fails_beside_the_room_loses_nothing_acknowledged() {
    for (seed, fault) in
        [Fault::Io, Fault::ShortWrite, Fault::SyncDrops, Fault::NoSpace].into_iter().enumerate()
    {
        for nth in (1 + seed as u64..).step_by(every(4)) {
            let world = world();
            world.disk.fail(ScheduledFault::any(fault, nth));
            let mut ledger = Ledger::default();
            let failed = script(&world, &mut ledger);
            world.disk.mend();
            let all_passed = failed.is_ok() && nth > world.disk.count(Count::Calls);
            let after = world.on(if nth % 2 == 0 {
                world.disk.restart()
            } else {
                world.disk.crash(Survival::Nothing)
            });
            recovers(&after, &mut ledger);
            if all_passed {
                break;
            }
        }
    }
}

#[test]
fn i9_where_there_is_no_space_for_room_commits_go_on_without() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    for _commit in 0..3 {
        ledger.commit(&store, COMMIT).unwrap();
    }
    // The next one would make room; there is space for itself and one more.
    let before = world.disk.used_bytes();
    world.disk.set_capacity(Some(before + 12_000));
    ledger.commit(&store, COMMIT).unwrap();
    ledger.commit(&store, COMMIT).unwrap();
    let full = ledger.clone();
    assert!(matches!(ledger.commit(&store, COMMIT), Err(StoreError::NoSpace { .. })));
    ledger = full;
    ledger.check(&store);
    world.disk.set_capacity(None);
    world.disk.fail(ScheduledFault::new(Fault::NoSpace, CallKind::Write, 1));
    assert!(ledger.clone().commit(&store, COMMIT).is_err());
    ledger.commit(&store, COMMIT).unwrap();
    ledger.check(&world.on(world.disk.crash(Survival::Nothing)).open());
}
