//! Flipped bits, cut files, lost sidecars: never other bytes, never silent absence.

use std::path::{Path, PathBuf};

use spanvault_store::{Access, OpenReport, Store, StoreError, VerifyDepth, Whereabouts};
use spanvault_types::{ContentHash, Position, key};

use crate::support::{Ledger, World, dir, every, file, in_turn, sealed_vault};

fn originals(ledger: &Ledger) -> impl Iterator<Item = &(Position, Vec<u8>)> {
    ledger.batches.iter().flat_map(|batch| &batch.originals)
}

fn last(ledger: &Ledger) -> Position {
    ledger.batches.last().unwrap().commit
}

/// How many positions cannot be read; each says so by a typed error, and whatever reads is right.
fn unreadable(store: &Store, ledger: &Ledger) -> usize {
    assert!(store.head().position >= last(ledger), "the log became shorter without a word");
    for (at, bytes) in originals(ledger) {
        match store.original(*at) {
            Ok(original) => assert_eq!(original.bytes, *bytes, "other bytes at {at}"),
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => {
                assert!(matches!(store.whereabouts(*at), Whereabouts::Corrupt | Whereabouts::Missing));
            }
            Err(error) => panic!("{at} was acknowledged, and now: {error}"),
        }
        let by_hash = key::original(&ContentHash::of(bytes));
        let found = store.scan(&by_hash).unwrap();
        assert!(found.contains(&(by_hash, *at)) || !store.damage().is_empty(), "silently absent: {at}");
    }
    let readable = |seq: &u64| {
        let at = Position::new(*seq);
        match store.frame(at) {
            Ok(frame) => frame.hash.is_none() || store.original(at).is_ok(),
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => false,
            Err(error) => panic!("{at} was acknowledged, and now: {error}"),
        }
    };
    (1..=last(ledger).get()).filter(|seq| !readable(seq)).count()
}

/// Writes go on behind the damage, under positions that were never used.
fn goes_on(world: &World, ledger: &Ledger) {
    let (store, _report) = world.try_open(Access::Write).unwrap();
    let lost = unreadable(&store, ledger);
    let mut more = Ledger::default();
    more.commit(&store, &[7, 700]).unwrap();
    assert!(more.batches[0].originals[0].0 > last(ledger));
    drop(store);
    let (store, report) = world.restarted().try_open(Access::Write).unwrap();
    assert!(report.lost_tail.is_none(), "once it is known, the log goes on behind it");
    assert_eq!(unreadable(&store, ledger), lost, "damage does not spread");
    more.check(&store);
}

fn files(world: &World) -> Vec<(PathBuf, u64)> {
    world.disk.files().into_iter().filter(|(path, _)| !path.ends_with("LOCK")).collect()
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log")
}

fn verified(store: &Store) -> bool {
    let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    report.is_sound() && report.sidecars.is_empty()
}

#[test]
fn i16_i17_any_flipped_bit_is_found_and_costs_one_frame_at_most() {
    let (world, ledger) = sealed_vault();
    let mut flips = 0;
    for (path, len) in files(&world) {
        for byte in 0..len {
            if path.ends_with("ACKED") && !(byte < 16 || byte >= len - 16) {
                continue; // Between its two slots nothing is read.
            }
            flips += 1;
            let damaged = world.restarted();
            damaged.disk.flip_bit(&path, byte, u8::try_from(byte % 8).unwrap()).unwrap();
            let (store, report) = damaged.try_open(Access::Read).unwrap();
            let lost = unreadable(&store, &ledger);
            assert!(lost <= 1, "{} byte {byte} costs {lost} frames", path.display());
            if !in_turn(byte, 6) {
                continue;
            }
            if is_log(&path) {
                assert!(!verified(&store), "{} byte {byte} went unnoticed", path.display());
            } else {
                assert_eq!(lost, 0, "{} byte {byte}", path.display());
                let shown = report.stamp_damaged || !verified(&store);
                assert!(shown || path.ends_with("ACKED"), "{} byte {byte} went unnoticed", path.display());
            }
            if in_turn(byte, 36) {
                goes_on(&damaged.restarted(), &ledger);
            }
        }
    }
    assert!(flips > 4_000, "{flips} flips");
}

#[test]
fn i16_every_truncation_of_a_segment_is_reported() {
    let (world, ledger) = sealed_vault();
    for (path, len) in files(&world).into_iter().filter(|(path, _)| is_log(path)) {
        for cut in (len.saturating_sub(4_096)..len).step_by(every(5)) {
            let damaged = world.restarted();
            let mut bytes = damaged.disk.bytes(&path).unwrap();
            bytes.truncate(usize::try_from(cut).unwrap());
            damaged.disk.put(&path, &bytes).unwrap();
            let (store, report) = damaged.try_open(Access::Read).unwrap();
            assert!(!report.is_sound(), "{} cut to {cut}: {report:?}", path.display());
            assert!(unreadable(&store, &ledger) >= 1);
            assert!(!verified(&store));
            if in_turn(cut, 16) {
                goes_on(&damaged.restarted(), &ledger);
            }
        }
    }
}

#[test]
fn i16_a_segment_that_is_gone_is_reported_and_the_others_are_served() {
    let (world, ledger) = sealed_vault();
    let logs: Vec<_> = files(&world).into_iter().filter(|(path, _)| is_log(path)).collect();
    assert!(logs.len() >= 3);
    for (path, _) in logs {
        let damaged = world.restarted();
        damaged.env.disk.remove(&path).unwrap();
        let (store, report) = damaged.try_open(Access::Read).unwrap();
        assert!(!report.is_sound(), "{} is gone: {report:?}", path.display());
        let lost = unreadable(&store, &ledger);
        assert!((2..12).contains(&lost), "{lost}");
        assert!(!verified(&store));
        goes_on(&damaged.restarted(), &ledger);
    }
}

#[test]
fn i16_zeroed_and_swapped_blocks_are_found() {
    let (world, ledger) = sealed_vault();
    let logs: Vec<_> = files(&world).into_iter().filter(|(path, _)| is_log(path)).collect();
    for (path, len) in &logs {
        for start in (0..*len).step_by(128) {
            let at = usize::try_from(start).unwrap();
            let zeroed = world.restarted();
            let mut bytes = zeroed.disk.bytes(path).unwrap();
            let end = (at + 512).min(bytes.len());
            bytes[at..end].fill(0);
            zeroed.disk.put(path, &bytes).unwrap();
            let (store, _report) = zeroed.try_open(Access::Read).unwrap();
            unreadable(&store, &ledger);
            assert!(!verified(&store), "{} zeroed from {start}", path.display());
            goes_on(&zeroed.restarted(), &ledger);

            // A misdirected write: a block of one segment lands in another, at the same offset.
            let swapped = world.restarted();
            let other = swapped.disk.bytes(&logs[0].0).unwrap();
            let mut bytes = swapped.disk.bytes(path).unwrap();
            let end = (at + 256).min(bytes.len()).min(other.len());
            if path == &logs[0].0 || at >= end {
                continue;
            }
            bytes[at..end].copy_from_slice(&other[at..end]);
            swapped.disk.put(path, &bytes).unwrap();
            let (store, _report) = swapped.try_open(Access::Read).unwrap();
            unreadable(&store, &ledger);
            assert!(!verified(&store), "{} overwritten from {start}", path.display());
        }
    }
}

fn sidecars(world: &World) -> Vec<PathBuf> {
    let all = files(world).into_iter().map(|(path, _)| path);
    all.filter(|path| path.extension().is_some_and(|extension| extension == "idx")).collect()
}

#[test]
fn i12_sidecars_that_are_gone_swapped_or_foreign_change_no_answer() {
    let (world, mut ledger) = sealed_vault();
    let (other, _) = sealed_vault();
    let indexes = sidecars(&world);
    assert!(indexes.len() >= 2);
    let spoil: [&dyn Fn(&World); 4] = [
        &|world| indexes.iter().for_each(|path| world.env.disk.remove(path).unwrap()),
        &|world| {
            let swapped = world.disk.bytes(&indexes[1]).unwrap();
            world.disk.put(&indexes[0], &swapped).unwrap();
        },
        &|world| {
            for path in &indexes {
                // Of the same name and the same positions, but of another vault.
                let foreign = World::seeded(8).with_segments_of(900);
                let store = foreign.open();
                Ledger::default().commit(&store, &[30, 0]).unwrap();
                let bytes = other.disk.bytes(path).unwrap();
                world.disk.put(path, &bytes[..bytes.len() - 1]).unwrap();
            }
        },
        &|world| indexes.iter().for_each(|path| world.disk.put(path, b"").unwrap()),
    ];
    for spoil in spoil {
        let spoiled = world.restarted();
        spoil(&spoiled);
        let (store, report) = spoiled.try_open(Access::Read).unwrap();
        assert!(report.is_sound() && !report.unindexed.is_empty(), "{report:?}");
        ledger.check(&store);
        drop(store);

        let (store, _report) = spoiled.try_open(Access::Write).unwrap();
        ledger.check(&store);
        store.rebuild_sidecars(&mut |_| ()).unwrap();
        ledger.check(&store);
        assert!(verified(&store));
        drop(store);
        for path in &indexes {
            assert_eq!(
                spoiled.disk.bytes(path).unwrap(),
                world.disk.bytes(path).unwrap(),
                "rebuilt as it was"
            );
        }
        let (_store, report) = spoiled.restarted().try_open(Access::Read).unwrap();
        assert_eq!(report, OpenReport::default());
    }
}

#[test]
fn i16_a_sidecar_that_is_written_again_still_finds_what_is_damaged() {
    let (world, ledger) = sealed_vault();
    let (at, bytes) = &ledger.batches[1].originals[0];
    let hash = key::original(&ContentHash::of(bytes));
    let mut logs = files(&world).into_iter().filter(|(path, _)| is_log(path));
    let (path, offset) = logs
        .find_map(|(path, _)| {
            let log = world.disk.bytes(&path).unwrap();
            Some((path, log.windows(bytes.len()).position(|window| window == bytes.as_slice())? as u64))
        })
        .unwrap();
    world.disk.flip_bit(&path, offset - 60, 4).unwrap();
    world.disk.flip_bit(&path, offset + 1, 4).unwrap();
    let (store, _report) = world.try_open(Access::Write).unwrap();
    store.rebuild_sidecars(&mut |_| ()).unwrap();
    drop(store);
    let (store, report) = world.restarted().try_open(Access::Read).unwrap();
    assert!(report.unindexed.is_empty());
    assert_eq!(store.scan(&hash).unwrap(), [(hash, *at)]);
    assert!(matches!(store.original(*at), Err(StoreError::Corrupt { .. })));
}

#[test]
fn i17_a_copy_of_the_log_inside_a_body_is_never_taken_for_the_log() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[10, 20, 30]).unwrap();
    let log = world.disk.bytes(&file("log/00000001.log")).unwrap();
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    let copy = crate::support::push_span(&mut batch, 90, &log);
    writer.commit(batch).unwrap();
    drop(writer);
    ledger.commit(&store, &[40]).unwrap();
    drop(store);

    let (store, _report) = world.restarted().try_open(Access::Read).unwrap();
    assert_eq!(store.original(copy).unwrap().bytes, log);
    let damaged = world.restarted();
    // The head of the frame that holds the copy: from here on the scanner looks inside.
    damaged.disk.flip_bit(&file("log/00000001.log"), log.len() as u64, 0).unwrap();
    let (store, report) = damaged.try_open(Access::Write).unwrap();
    assert_eq!(report.damage.len(), 1);
    assert_eq!((report.damage[0].from, report.damage[0].to), (copy, copy));
    assert!(matches!(store.original(copy), Err(StoreError::Corrupt { .. })));
    for (at, bytes) in originals(&ledger) {
        assert_eq!(store.original(*at).unwrap().bytes, *bytes);
    }
}

#[test]
fn i16_damage_to_the_last_acknowledged_batch_is_told_from_a_torn_tail() {
    let (world, ledger) = sealed_vault();
    let (path, len) = files(&world).into_iter().rfind(|(path, _)| is_log(path)).unwrap();
    let damaged = world.restarted();
    damaged.disk.flip_bit(&path, len - 3, 1).unwrap();
    let (_store, report) = damaged.try_open(Access::Write).unwrap();
    assert_eq!((report.torn_bytes, report.damage.len()), (0, 1));

    // The same damage where nobody was told about the batch.
    let world = world.restarted();
    let (store, _) = world.try_open(Access::Write).unwrap();
    let mut told = ledger.clone();
    told.append(&store, &[50]).unwrap();
    drop(store);
    let (path, len) = files(&world).into_iter().rfind(|(path, _)| is_log(path)).unwrap();
    world.disk.flip_bit(&path, len - 3, 1).unwrap();
    let (store, report) = world.restarted().try_open(Access::Write).unwrap();
    assert!(report.is_sound() && report.torn_bytes > 0, "{report:?}");
    assert_eq!(store.head().position, last(&ledger));
}

#[test]
fn i16_without_the_hint_a_later_commit_still_tells_damage_from_a_torn_tail() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    for len in [100, 200, 300, 400] {
        ledger.commit(&store, &[len]).unwrap();
    }
    drop(store);
    let world = world.restarted();
    world.env.disk.remove(&dir().join("ACKED")).unwrap();
    world.disk.flip_bit(&file("log/00000001.log"), 168 + 50, 3).unwrap();
    let (store, report) = world.try_open(Access::Write).unwrap();
    assert!(report.hint_lost && report.torn_bytes == 0);
    assert_eq!(report.damage.len(), 1);
    assert_eq!(unreadable(&store, &ledger), 1);
}

/// Two futures of one vault, as a copied directory has them: the same frames in the same places, but for one original.
fn fork(acked: bool) -> [World; 2] {
    let world = World::new();
    let store = world.open();
    Ledger::default().commit(&store, &[100]).unwrap();
    drop(store);
    [1_u64, 2].map(|future| {
        let world = world.restarted();
        let store = world.open();
        let mut writer = store.lock().unwrap();
        let mut batch = writer.begin();
        crate::support::push_span(&mut batch, 1, &crate::support::bytes_of(future, 300));
        crate::support::push_span(&mut batch, 2, b"the same in both");
        let commit = writer.append(batch).unwrap();
        drop(writer);
        if acked {
            store.sync(commit).unwrap();
        }
        drop(store);
        world.restarted()
    })
}

/// Puts the first original of one future before the rest of the other.
fn splice(into: &World, from: &World) {
    let log = file("log/00000001.log");
    let (mut bytes, other) = (into.disk.bytes(&log).unwrap(), from.disk.bytes(&log).unwrap());
    let foreign = crate::support::bytes_of(2, 300);
    let end = other.windows(300).position(|window| window == foreign.as_slice()).unwrap() + 300;
    bytes[..end].copy_from_slice(&other[..end]);
    into.disk.put(&log, &bytes).unwrap();
}

#[test]
fn i6_frames_of_two_batches_do_not_make_one() {
    let [one, other] = fork(false);
    splice(&one, &other);
    let (store, report) = one.try_open(Access::Write).unwrap();
    assert!(report.torn_bytes > 0, "{report:?}");
    assert_eq!(store.head().position, Position::new(2));
}

#[test]
fn i60_a_frame_of_another_future_breaks_the_chain() {
    let [one, other] = fork(true);
    splice(&one, &other);
    let (store, _report) = one.try_open(Access::Read).unwrap();
    let report = store.verify(VerifyDepth::Structure, &mut |_| ()).unwrap();
    assert!(!report.chain_ok, "{report:?}");
}
