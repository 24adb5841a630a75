//! Hot, cold and gone: at no instant less than one good copy or a tombstone.

use std::collections::BTreeSet;

use spanvault_env::{Count, Fault, ScheduledFault, Survival};
use spanvault_gate::{
    ClockTrust, LockEpoch, RemovalPermit, RemovalView, Stage, StoreState, VaultState, permit_removal,
};
use spanvault_store::{
    Access, BodyState, FreeOptions, Packing, Removal, Store, StoreError, VerifyDepth, Whereabouts, Writer,
};
use spanvault_types::codec::Seat;
use spanvault_types::{
    Actor, Condemned, ContentHash, Event, EvidentialClass, Expiry, HoldPlaced, Position, Rescued, Scope,
    StoreTime, Ttl, key,
};

use crate::support::{Ledger, World, every, file, span};

/// What the gate permits of an original that nothing rests on.
fn permit(writer: &Writer<'_>, original: Position) -> RemovalPermit {
    let instant = StoreTime::from_ms;
    let state = VaultState {
        now: instant(1_000_000_000),
        clock: ClockTrust::Trusted,
        store: StoreState::Ok,
        policy: Ok(Position::ZERO),
        revision: writer.revision(),
    };
    let view = RemovalView {
        original,
        stage: Ok(Stage::Condemned { since: instant(2_000) }),
        grace: Ok(Ttl::from_ms(1_000).unwrap()),
        retention: Ok(Expiry::At(instant(1_000))),
        leases: Ok(Vec::new()),
        demands: Ok(Vec::new()),
        holds: Ok(Vec::new()),
        live: Ok(Vec::new()),
        cited_by: Ok(Vec::new()),
    };
    permit_removal(LockEpoch::new(writer.epoch()), &state, &view).unwrap()
}

fn removal(writer: &Writer<'_>, original: Position) -> Removal {
    Removal { permit: permit(writer, original), class: EvidentialClass::Structured }
}

pub(crate) fn condemn(store: &Store, originals: &[Position]) -> Result<Position, StoreError> {
    let mut writer = store.lock()?;
    let mut batch = writer.begin();
    let condemned = Condemned { originals: originals.to_vec(), at: StoreTime::from_ms(2_000) };
    batch.push(Event::Condemned(condemned), None);
    writer.commit(batch)
}

#[expect(clippy::disallowed_methods, reason = "the store's own tests of what the ban protects")]
fn remove(
    store: &Store,
    writer: &mut Writer<'_>,
    removals: Vec<Removal>,
) -> Result<Vec<Position>, StoreError> {
    store.remove(writer, removals)
}

pub(crate) fn rescue(store: &Store, originals: &[Position]) {
    let is_condemned = |at: &&Position| matches!(store.whereabouts(**at), Whereabouts::Condemned { .. });
    let originals: Vec<_> = originals.iter().filter(is_condemned).copied().collect();
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    batch.push(Event::Rescued(Rescued { originals, by: Position::ZERO }), None);
    writer.commit(batch).unwrap();
}

pub(crate) fn remove_all(store: &Store, originals: &[Position]) -> Result<Vec<Position>, StoreError> {
    let mut writer = store.lock()?;
    let removals = originals.iter().map(|at| removal(&writer, *at)).collect();
    remove(store, &mut writer, removals)
}

pub(crate) fn demote(store: &Store, originals: &[Position]) -> Result<u64, StoreError> {
    Ok(store.demote(&mut store.lock()?, originals, &mut |_| ())?.demoted)
}

pub(crate) fn free(store: &Store) -> Result<u64, StoreError> {
    let report = store.free_space(&mut store.lock()?, FreeOptions::default(), &mut |_| ())?;
    assert!(report.unreadable.is_empty(), "{report:?}");
    Ok(report.bytes_freed)
}

pub(crate) fn positions(ledger: &Ledger) -> Vec<Position> {
    ledger.batches.iter().flat_map(|batch| batch.originals.iter().map(|(at, _)| *at)).collect()
}

fn log_bytes(world: &World) -> u64 {
    let files = world.disk.files().into_iter();
    files.filter(|(path, _)| path.extension().is_some_and(|kind| kind == "log")).map(|(_, len)| len).sum()
}

fn is_sound(store: &Store) -> bool {
    let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    assert!(report.is_sound() && report.sidecars.is_empty(), "{report:?}");
    true
}

#[test]
fn i44_a_demoted_original_reads_from_its_pack_once_the_log_has_let_it_go() {
    let world = World::new().with_segments_of(3_000);
    let store = world.open();
    let mut ledger = Ledger::default();
    for _ in 0..12 {
        ledger.commit(&store, &[500, 100]).unwrap();
    }
    let all = positions(&ledger);
    assert!(store.whereabouts(all[0]) == Whereabouts::Hot);
    let report = store.demote(&mut store.lock().unwrap(), &all[..20], &mut |_| ()).unwrap();
    assert_eq!((report.demoted, report.packs.len(), report.bytes_before), (20, 1, 6_000));
    let cold = Whereabouts::Cold { pack: report.packs[0] };
    assert!(all[..20].iter().all(|at| store.whereabouts(*at) == cold));
    assert!(matches!(store.frame(all[0]).unwrap().body, BodyState::Hot { .. }), "until space is freed");
    let again = store.demote(&mut store.lock().unwrap(), &all[..20], &mut |_| ()).unwrap();
    assert_eq!((again.demoted, again.skipped.len()), (0, 20));

    let before = log_bytes(&world);
    let freed = free(&store).unwrap();
    assert!(freed >= 6_000 && log_bytes(&world) + freed <= before + 400, "{freed}");
    for store in [store, world.restarted().open(), world.restarted().read()] {
        assert_eq!(store.frame(all[0]).unwrap().body, BodyState::Dropped { len: 500 });
        assert!(store.frame(all[0]).unwrap().hash.is_some(), "it is still found by its hash");
        assert!(all[20..].iter().all(|at| store.whereabouts(*at) == Whereabouts::Hot));
        ledger.check_originals(&store);
        assert!(is_sound(&store));
    }
}

#[test]
fn i41_a_reclaimed_original_is_unreachable_at_once_and_its_tombstone_stays() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[4_000, 300, 20]).unwrap();
    let all = positions(&ledger);
    let hash = store.frame(all[0]).unwrap().hash.unwrap();
    demote(&store, &all[1..2]).unwrap();
    condemn(&store, &all[..2]).unwrap();
    assert!(matches!(store.whereabouts(all[0]), Whereabouts::Condemned { .. }));
    ledger.check_originals(&store);
    let tombstones = remove_all(&store, &all[..2]).unwrap();
    let gone = |store: &Store| {
        for (at, tombstone) in all.iter().zip(&tombstones) {
            assert_eq!(store.whereabouts(*at), Whereabouts::Reclaimed { tombstone: *tombstone });
            let read = store.original(*at);
            assert!(matches!(read, Err(StoreError::Reclaimed { tombstone: by, .. }) if by == *tombstone));
        }
        let tombstone = store.frame(tombstones[0]).unwrap();
        assert_eq!((tombstone.hash, tombstone.body), (Some(hash), BodyState::None));
        let Event::Reclaimed(record) = &tombstone.event else { panic!("{tombstone:?}") };
        assert_eq!((record.original.at, record.bytes), (all[0], 4_000));
        assert_eq!(tombstone.commitment, Some(record.original.commitment));
        assert_eq!(store.frame(all[0]).unwrap().commitment, Some(record.original.commitment));
        assert_eq!(store.scan(&key::original(&hash)).unwrap(), [(key::original(&hash), all[0])]);
    };
    gone(&store);
    assert!(free(&store).unwrap() >= 4_000);
    assert_eq!(free(&store).unwrap(), 0, "what is freed is freed once");
    for store in [store, world.restarted().open(), world.restarted().read()] {
        gone(&store);
        assert_eq!(store.original(all[2]).unwrap().bytes, ledger.batches[0].originals[2].1);
        let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
        assert!(report.is_sound() && report.originals == 1, "{report:?}");
    }
    let bytes = &ledger.batches[0].originals[0].1[100..200];
    for (path, _) in world.disk.files() {
        let content = world.disk.bytes(&path).unwrap();
        assert!(!content.windows(100).any(|window| window == bytes), "left in {}", path.display());
    }
}

#[test]
fn a_permit_from_another_lock_removes_nothing() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[100, 100]).unwrap();
    let all = positions(&ledger);
    condemn(&store, &all).unwrap();
    let stale = removal(&store.lock().unwrap(), all[0]);
    let mut writer = store.lock().unwrap();
    let good = removal(&writer, all[1]);
    assert!(matches!(remove(&store, &mut writer, vec![good, stale]), Err(StoreError::StalePermit { .. })));

    let early = removal(&writer, all[0]);
    let mut batch = writer.begin();
    let rescued = Rescued { originals: vec![all[0]], by: Position::ZERO };
    batch.push(Event::Rescued(rescued), None);
    writer.commit(batch).unwrap();
    assert!(matches!(remove(&store, &mut writer, vec![early]), Err(StoreError::StalePermit { .. })));
    let rescued = removal(&writer, all[0]);
    assert!(matches!(remove(&store, &mut writer, vec![rescued]), Err(StoreError::NotCondemned { .. })));
    let twice = vec![removal(&writer, all[1]), removal(&writer, all[1])];
    assert!(matches!(remove(&store, &mut writer, twice), Err(StoreError::StalePermit { .. })));
    drop(writer);
    ledger.check_originals(&store);

    remove_all(&store, &all[1..]).unwrap();
    assert!(matches!(remove_all(&store, &all[1..]), Err(StoreError::Reclaimed { .. })));
}

#[test]
fn i44_a_damaged_hot_copy_is_served_from_the_pack_and_a_damaged_pack_keeps_the_hot_one() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[1_000]).unwrap();
    let at = positions(&ledger)[0];
    demote(&store, &[at]).unwrap();
    drop(store);

    let log = file("log/00000001.log");
    for byte in [168 + 2, 168 + 400] {
        let damaged = world.restarted();
        damaged.disk.flip_bit(&log, byte, 2).unwrap();
        let (store, _report) = damaged.try_open(Access::Read).unwrap();
        assert_eq!(store.original(at).unwrap().bytes, ledger.batches[0].originals[0].1, "byte {byte}");
        assert!(matches!(store.whereabouts(at), Whereabouts::Cold { .. }));
        assert!(!store.damage().is_empty());
    }

    let world = world.restarted();
    let (pack, _) = world
        .disk
        .files()
        .into_iter()
        .find(|(path, _)| path.ends_with("cold") || path.extension().is_some_and(|kind| kind == "pack"))
        .unwrap();
    world.disk.flip_bit(&pack, 200, 1).unwrap();
    let store = world.open();
    assert_eq!(free(&store).unwrap(), 0, "the only good copy stays");
    ledger.check_originals(&store);
    assert_eq!(store.whereabouts(at), Whereabouts::Hot);
    assert_eq!(demote(&store, &[at]).unwrap(), 1, "and can be demoted once more");
    assert!(free(&store).unwrap() > 900);
    ledger.check_originals(&store);
}

/// The file and the first byte of the frame at `at`, and how long its event is.
fn frame_at(world: &World, at: Position) -> (std::path::PathBuf, u64, u64) {
    let frame = world.restarted().read().frame(at).unwrap();
    let seat = Seat { at, commitment: &|| frame.commitment };
    let event = frame.event.encode(&seat).unwrap();
    let logs = world.disk.files().into_iter().map(|(path, _)| path);
    logs.filter(|path| path.extension().is_some_and(|kind| kind == "log"))
        .find_map(|path| {
            let log = world.disk.bytes(&path).unwrap();
            let found = log.windows(event.len()).position(|window| window == event)?;
            Some((path, found as u64 - 40, event.len() as u64))
        })
        .unwrap()
}

/// The record that has this key.
fn record_of(world: &World, table: key::Table, first: Position) -> Position {
    world.restarted().read().scan_last(&key::key(table, &[first])).unwrap().unwrap().1
}

/// A vault whose three originals are in a pack alone, the first of them reclaimed; its tombstone and the pack.
fn only_cold() -> (World, Ledger, Position, u64) {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[900, 400, 500]).unwrap();
    let all = positions(&ledger);
    let report = store.demote(&mut store.lock().unwrap(), &all, &mut |_| ()).unwrap();
    free(&store).unwrap();
    condemn(&store, &all[..1]).unwrap();
    let tombstone = remove_all(&store, &all[..1]).unwrap()[0];
    drop(store);
    (world.restarted(), ledger, tombstone, report.packs[0])
}

fn without_sidecars(world: &World) -> World {
    let world = world.restarted();
    for (path, _) in world.disk.files() {
        if path.extension().is_some_and(|kind| kind == "idx") {
            world.disk.put(&path, b"").unwrap();
        }
    }
    world
}

#[test]
fn i17_a_damaged_record_of_a_demotion_costs_no_original_that_its_pack_has() {
    let (world, ledger, tombstone, pack) = only_cold();
    let all = positions(&ledger);
    let demotion = record_of(&world, key::Table::Pack, Position::new(pack));
    let (path, start, event_len) = frame_at(&world, demotion);
    for byte in start..start + 40 + event_len {
        for damaged in [world.restarted(), without_sidecars(&world)] {
            damaged.disk.flip_bit(&path, byte, u8::try_from(byte % 8).unwrap()).unwrap();
            let (store, _report) = damaged.try_open(Access::Write).unwrap();
            let gone = store.original(all[0]);
            assert!(matches!(gone, Err(StoreError::Reclaimed { tombstone: by, .. }) if by == tombstone));
            for (at, bytes) in &ledger.batches[0].originals[1..] {
                assert_eq!(store.original(*at).unwrap().bytes, *bytes, "byte {byte}");
                assert_eq!(store.original_range(*at, 10..20).unwrap(), bytes[10..20]);
                assert_eq!(store.whereabouts(*at), Whereabouts::Cold { pack });
            }
            let found = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
            assert_eq!((found.corrupt.len(), found.missing.len()), (1, 0), "byte {byte}: {found:?}");
            assert!(free(&store).is_ok());
            assert_eq!(store.original(all[1]).unwrap().bytes, ledger.batches[0].originals[1].1);
        }
    }
}

#[test]
fn i17_a_damaged_record_that_condemned_originals_costs_none_of_them_and_lets_none_of_them_go() {
    let world = World::new().with_segments_of(900);
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[90, 40, 50]).unwrap();
    let all = positions(&ledger);
    condemn(&store, &all).unwrap();
    for _ in 0..4 {
        ledger.commit(&store, &[300]).unwrap();
    }
    drop(store);
    let (path, start, event_len) = frame_at(&world, record_of(&world, key::Table::Fate, all[0]));
    for byte in start..start + 40 + event_len {
        for damaged in [world.restarted(), without_sidecars(&world)] {
            damaged.disk.flip_bit(&path, byte, u8::try_from(byte % 8).unwrap()).unwrap();
            let store = damaged.open();
            ledger.check_originals(&store);
            assert!(all.iter().all(|at| store.whereabouts(*at) == Whereabouts::Hot), "byte {byte}");
            let removed = remove_all(&store, &all);
            assert!(matches!(removed, Err(StoreError::NotCondemned { .. })), "byte {byte}: {removed:?}");
            condemn(&store, &all).unwrap();
            assert_eq!(remove_all(&store, &all).unwrap().len(), 3, "after another grace, by another record");
        }
    }
}

#[test]
fn i17_a_record_that_may_be_a_tombstone_is_never_passed_by_on_the_second_way_to_a_pack() {
    let (world, ledger, tombstone, pack) = only_cold();
    let all = positions(&ledger);
    let demotion = record_of(&world, key::Table::Pack, Position::new(pack));
    let found = [frame_at(&world, demotion), frame_at(&world, tombstone)];
    let world = without_sidecars(&world);
    for (path, start, _event_len) in found {
        world.disk.flip_bit(&path, start + 45, 1).unwrap();
    }
    let (store, _report) = world.try_open(Access::Read).unwrap();
    for at in &all {
        let read = store.original(*at);
        assert!(matches!(read, Err(StoreError::Corrupt { at: by, .. }) if by == tombstone), "{read:?}");
        assert!(!store.whereabouts(*at).is_retrievable());
    }
}

/// What a reader of cold originals gives of each original, asked in order.
fn cold_bodies(store: &Store, ledger: &Ledger) -> Vec<Option<Vec<u8>>> {
    let mut cold = store.cold_bodies();
    let originals = ledger.batches.iter().flat_map(|batch| &batch.originals);
    originals.map(|(at, bytes)| cold.read(*at, &ContentHash::of(bytes))).collect()
}

#[test]
fn i2_cold_originals_one_after_the_other_are_what_single_reads_give_or_nothing() {
    PACKINGS.into_iter().for_each(reads_as_single_reads_do);
}

fn reads_as_single_reads_do(packing: Packing) {
    let world = World::new().with_segments_of(3_000).packing(packing);
    let store = world.open();
    let mut ledger = Ledger::default();
    for _ in 0..12 {
        ledger.commit(&store, &[500, 100, 40]).unwrap();
    }
    let all = positions(&ledger);
    for some in [&all[..10], &all[10..25]] {
        demote(&store, some).unwrap();
    }
    free(&store).unwrap();
    condemn(&store, &all[4..9]).unwrap();
    let _tombstones = remove_all(&store, &all[5..8]).unwrap();
    let plainly_cold = |n: usize| n < 25 && !(5..8).contains(&n);
    let check = |store: &Store| {
        for (n, found) in cold_bodies(store, &ledger).into_iter().enumerate() {
            assert_eq!(found.is_some(), plainly_cold(n), "{n}");
            assert_eq!(found, store.original(all[n]).ok().map(|original| original.bytes).filter(|_| n < 25));
        }
    };
    check(&store);
    free(&store).unwrap();
    check(&store);
    let mut cold = store.cold_bodies();
    assert_eq!(cold.read(all[0], &ContentHash::of(b"other bytes")), None);
    assert!(cold.read(all[20], &store.original(all[20]).unwrap().hash).is_some());
    assert!(cold.read(all[3], &store.original(all[3]).unwrap().hash).is_some(), "in any order");
    drop(cold);
    drop(store);

    let world = world.restarted();
    let packs = world.disk.files().into_iter().filter(|(path, _len)| path.starts_with(file("cold")));
    for (pack, len) in packs.collect::<Vec<_>>() {
        for byte in (0..len).step_by(23) {
            let damaged = world.restarted();
            damaged.disk.flip_bit(&pack, byte, u8::try_from(byte % 8).unwrap()).unwrap();
            let store = damaged.read();
            let found = cold_bodies(&store, &ledger);
            let lost = (0..25).filter(|n| plainly_cold(*n) && found[*n].is_none()).count();
            // What does not pack is stored as it is, so not even in a block one byte costs several.
            assert!(lost <= 1, "{lost} lost by byte {byte}");
            let originals = ledger.batches.iter().flat_map(|batch| &batch.originals);
            for (found, (at, bytes)) in found.iter().zip(originals) {
                assert!(found.as_ref().is_none_or(|found| found == bytes), "{at}, byte {byte}");
            }
        }
    }
}

#[test]
fn i17_a_pack_with_a_damaged_entry_still_lets_the_reclaimed_ones_go() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[3_000, 400, 500]).unwrap();
    let all = positions(&ledger);
    demote(&store, &all).unwrap();
    free(&store).unwrap();
    condemn(&store, &all[..1]).unwrap();
    remove_all(&store, &all[..1]).unwrap();
    drop(store);
    let world = world.restarted();
    let pack = |(path, len): (std::path::PathBuf, u64)| path.starts_with(file("cold")).then_some((path, len));
    let (path, before) = world.disk.files().into_iter().find_map(pack).unwrap();
    let bytes = world.disk.bytes(&path).unwrap();
    let wanted = &ledger.batches[0].originals[1].1;
    let at = bytes.windows(400).position(|window| window == wanted.as_slice()).unwrap();
    world.disk.flip_bit(&path, at as u64 + 9, 3).unwrap();
    let store = world.open();
    let freed = free(&store).unwrap();
    assert!((3_000..3_030).contains(&freed), "and its name, and what of the index spoke of it: {freed}");
    assert_eq!(world.disk.bytes(&path).unwrap().len() as u64 + freed, before);
    assert!(matches!(store.original(all[1]), Err(StoreError::Corrupt { .. })));
    assert_eq!(store.original(all[2]).unwrap().bytes, ledger.batches[0].originals[2].1);
}

#[test]
fn readers_beside_a_rewrite_go_on() {
    let world = World::new().with_segments_of(2_000);
    let store = world.open();
    let mut ledger = Ledger::default();
    for _ in 0..10 {
        ledger.commit(&store, &[300, 400]).unwrap();
    }
    let all = positions(&ledger);
    let early = world.read();
    ledger.check_originals(&early);
    let late = world.read();
    demote(&store, &all[..15]).unwrap();
    free(&store).unwrap();
    // One has its files open, the other finds other files than it knows; both saw the log before the demotion.
    ledger.check_originals(&early);
    for (at, bytes) in ledger.batches.iter().flat_map(|batch| &batch.originals) {
        match late.original(*at) {
            Ok(original) => assert_eq!(original.bytes, *bytes),
            Err(error) => assert!(matches!(error, StoreError::Missing { .. }), "{error}"),
        }
    }
    for reader in [&early, &late] {
        reader.refresh().unwrap();
        ledger.check_originals(reader);
        assert_eq!(reader.frames(Position::ZERO).filter(Result::is_err).count(), 0);
        assert!(reader.damage().is_empty(), "{:?}", reader.damage());
    }
}

/// What the one who runs the script knows of the originals.
#[derive(Debug, Clone, Default)]
struct Outside {
    ledger: Ledger,
    /// Handed to a removal.
    removing: BTreeSet<Position>,
    /// Their removal was acknowledged.
    removed: BTreeSet<Position>,
}

impl Outside {
    fn remove(&mut self, store: &Store, originals: &[Position]) -> Result<(), StoreError> {
        condemn(store, originals)?;
        self.removing.extend(originals);
        remove_all(store, originals)?;
        self.removed.extend(originals);
        Ok(())
    }

    /// One good copy or a tombstone, of every original; removals whole or not at all.
    fn check(&self, store: &Store) {
        let mut undecided = BTreeSet::new();
        for (at, bytes) in
            self.ledger.batches.iter().filter(|batch| batch.acked).flat_map(|batch| &batch.originals)
        {
            match store.original(*at) {
                Ok(original) => {
                    assert!(!self.removed.contains(at), "{at} came back");
                    assert_eq!(original.bytes, *bytes);
                    undecided.extend(self.removing.contains(at).then_some("there"));
                }
                Err(StoreError::Reclaimed { tombstone, .. }) => {
                    assert!(self.removing.contains(at), "{at} is gone");
                    assert_eq!(store.frame(tombstone).unwrap().hash, Some(ContentHash::of(bytes)));
                    undecided.extend((!self.removed.contains(at)).then_some("gone"));
                }
                Err(error) => panic!("{at}: {error}"),
            }
        }
        assert!(undecided.len() <= 1, "half a removal");
    }
}

fn script(world: &World, outside: &mut Outside) -> Result<(), StoreError> {
    let (store, _report) = world.try_open(Access::Write)?;
    for _ in 0..5 {
        outside.ledger.commit(&store, &[150, 40, 300])?;
    }
    let all = positions(&outside.ledger);
    demote(&store, &all[..6])?;
    free(&store)?;
    outside.remove(&store, &all[4..9])?;
    drop(store);
    let (store, _report) = world.try_open(Access::Write)?;
    free(&store)?;
    demote(&store, &all[9..])?;
    free(&store).map(drop)
}

const PACKINGS: [Packing; 2] = [Packing::Single, Packing::Solid];

fn world(packing: Packing) -> World {
    World::new().with_segments_of(1_500).packing(packing)
}

/// Reopens after whatever happened, checks, brings the work to its end, and checks that nothing is left over.
fn recovers(world: &World, outside: &Outside) {
    let (store, report) = world.try_open(Access::Write).unwrap();
    assert!(report.is_sound(), "{report:?}");
    outside.check(&store);
    let living: Vec<_> =
        positions(&outside.ledger).into_iter().filter(|at| store.whereabouts(*at).is_retrievable()).collect();
    rescue(&store, &living);
    demote(&store, &living).unwrap();
    free(&store).unwrap();
    outside.check(&store);
    assert!(is_sound(&store));
    let pack_of = |at: &Position| {
        let Whereabouts::Cold { pack } = store.whereabouts(*at) else { panic!("{at} is not cold") };
        file(&format!("cold/{pack:016x}.pack"))
    };
    let packs: BTreeSet<_> = living.iter().map(pack_of).collect();
    for (path, _) in world.disk.files() {
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        let left_over = kind == "tmp" || (kind == "pack" && !packs.contains(&path));
        assert!(!left_over, "{} is left over", path.display());
    }
}

#[test]
fn i41_i44_i50_a_power_cut_at_any_call_leaves_one_good_copy_or_a_tombstone() {
    PACKINGS.into_iter().for_each(survives_power_cuts);
}

fn survives_power_cuts(packing: Packing) {
    let whole = world(packing);
    script(&whole, &mut Outside::default()).unwrap();
    let changes = whole.disk.count(Count::Changes);
    assert!(changes > 100, "{changes}");
    let survivals =
        [Survival::Nothing, Survival::All, Survival::Seeded(1), Survival::Seeded(2), Survival::Seeded(3)];
    for nth in (1..=changes).step_by(every(5)) {
        let world = world(packing);
        world.disk.cut_power(Count::Changes, nth);
        let mut outside = Outside::default();
        drop(script(&world, &mut outside));
        for survival in survivals {
            recovers(&world.on(world.disk.crash(survival)), &outside);
        }
    }
}

#[test]
fn i8_i44_a_call_that_fails_leaves_one_good_copy_or_a_tombstone() {
    for (fault, packing) in
        [Fault::Io, Fault::NoSpace, Fault::SyncDrops].into_iter().zip(PACKINGS.into_iter().cycle())
    {
        for nth in (1..).step_by(every(21)) {
            let world = world(packing);
            world.disk.fail(ScheduledFault::any(fault, nth));
            let mut outside = Outside::default();
            let failed = script(&world, &mut outside);
            world.disk.mend();
            recovers(&world.restarted(), &outside);
            recovers(&world.on(world.disk.crash(Survival::Seeded(nth))), &outside);
            if failed.is_ok() && nth > world.disk.count(Count::Calls) {
                break;
            }
        }
    }
}

#[test]
fn i9_on_a_full_disk_a_removal_commits_and_space_comes_back() {
    let mut world = World::new().with_segments_of(40_000);
    world.options.reserve_bytes = 64 << 10;
    let store = world.open();
    let mut ledger = Ledger::default();
    for _ in 0..40 {
        ledger.commit(&store, &[3_000]).unwrap();
    }
    world.disk.set_capacity(Some(world.disk.used_bytes()));
    // What was written ahead is there still, and not for long.
    for _ in 0..40 {
        let before = ledger.clone();
        if let Err(error) = ledger.commit(&store, &[3_000]) {
            assert!(matches!(error, StoreError::NoSpace { .. }), "{error}");
            ledger = before;
        }
    }
    let before = ledger.clone();
    assert!(matches!(ledger.commit(&store, &[3_000]), Err(StoreError::NoSpace { .. })));
    ledger = before;
    let all = positions(&ledger);
    condemn(&store, &all[..30]).unwrap();
    remove_all(&store, &all[..30]).unwrap();
    assert!(free(&store).unwrap() >= 90_000);
    assert_eq!(store.reserve_bytes(), 64 << 10, "the reserve is back");
    ledger.commit(&store, &[3_000]).unwrap();
    drop(store);
    let store = world.restarted().open();
    assert!(all[..30].iter().all(|at| matches!(store.original(*at), Err(StoreError::Reclaimed { .. }))));
    assert!(all[30..].iter().all(|at| store.original(*at).is_ok()));
    assert!(is_sound(&store));
}

#[test]
fn i9_whatever_is_left_of_the_disk_reads_and_holds_go_on_and_nothing_is_lost() {
    for free in (0..8_192_u64).step_by(every(2) * 256) {
        let mut world = World::new().with_segments_of(3_000);
        world.options.reserve_bytes = 128 << 10;
        let mut ledger = Ledger::default();
        let store = world.open();
        ledger.commit(&store, &[500, 400]).unwrap();
        world.disk.set_capacity(Some(world.disk.used_bytes() + free));
        for _ in 0..10 {
            let before = ledger.clone();
            match ledger.commit(&store, &[500, 400]) {
                Ok(()) => {}
                Err(StoreError::NoSpace { .. }) => ledger = before,
                Err(error) => panic!("with {free} bytes left: {error}"),
            }
        }
        drop(store);
        let world = world.restarted();
        let (store, report) = world.try_open(Access::Write).unwrap();
        assert!(report.is_sound(), "{report:?}");
        for hold in 0..3 {
            let mut writer = store.lock().unwrap();
            let mut batch = writer.begin();
            let held = HoldPlaced { scope: Scope::All, originals: Vec::new(), by: Actor::default() };
            batch.push(Event::HoldPlaced(held), None);
            assert!(writer.commit(batch).is_ok(), "hold {hold} with {free} bytes left");
        }
        ledger.check_originals(&store);
        assert!(store.verify(VerifyDepth::Data, &mut |_| ()).unwrap().is_sound());
        drop(store);
        ledger.check_originals(&world.on(world.disk.crash(Survival::Nothing)).read());
    }
}

#[test]
fn i17_a_rewrite_carries_damage_over_and_frees_the_rest() {
    let world = World::new().with_segments_of(4_000);
    let store = world.open();
    let mut ledger = Ledger::default();
    for _ in 0..8 {
        ledger.commit(&store, &[400, 500]).unwrap();
    }
    let all = positions(&ledger);
    demote(&store, &all[..2]).unwrap();
    drop(store);
    // The head of one frame and the event of another, neither of them demoted.
    let world = world.restarted();
    let log = file("log/00000001.log");
    let bytes = world.disk.bytes(&log).unwrap();
    let body = |at: usize| {
        let wanted = &ledger.batches[at / 2].originals[at % 2].1;
        bytes.windows(wanted.len()).position(|window| window == wanted.as_slice()).unwrap() as u64
    };
    let event_len =
        span(all[2], 2, &ledger.batches[1].originals[0].1).encode(&Seat::bare(all[2])).unwrap().len() as u64;
    world.disk.flip_bit(&log, body(2) - 48 - event_len - 30, 1).unwrap();
    world.disk.flip_bit(&log, body(3) - 60, 1).unwrap();
    let (store, _report) = world.try_open(Access::Write).unwrap();
    let unreadable = |store: &Store| {
        (1..=store.head().position.get())
            .filter(|seq| store.frame(Position::new(*seq)).is_err())
            .collect::<Vec<_>>()
    };
    let lost = unreadable(&store);
    assert_eq!(lost.len(), 2);
    let freed = store.free_space(&mut store.lock().unwrap(), FreeOptions::default(), &mut |_| ()).unwrap();
    assert!(freed.segments == 1 && freed.bytes_freed >= 900, "{freed:?}");
    for store in [store, world.restarted().try_open(Access::Read).unwrap().0] {
        assert_eq!(unreadable(&store), lost, "neither mended nor hidden");
        for (at, bytes) in ledger.batches.iter().flat_map(|batch| &batch.originals) {
            let hash = key::original(&ContentHash::of(bytes));
            assert_eq!(store.scan(&hash).unwrap(), [(hash, *at)], "still found by its hash");
            match store.original(*at) {
                Ok(original) => assert_eq!(original.bytes, *bytes),
                Err(StoreError::Corrupt { .. }) => assert!(lost.contains(&at.get())),
                Err(error) => panic!("{at}: {error}"),
            }
        }
    }
}
