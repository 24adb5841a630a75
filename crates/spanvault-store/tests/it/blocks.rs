//! Originals that are packed together: each is verified by itself, and goes by itself.

use spanvault_store::{Access, FreeOptions, Packing, Store, StoreError, VerifyDepth, Whereabouts};
use spanvault_types::{ContentHash, Position};

use crate::support::{Ledger, World, file, record};
use crate::tiers::{condemn, demote, free, positions, remove_all};

/// A vault whose originals are in one block, each of them noise, so that the block is as long as they are.
fn together(lens: &[usize]) -> (World, Store, Ledger) {
    let world = World::new().packing(Packing::Solid);
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, lens).unwrap();
    demote(&store, &positions(&ledger)).unwrap();
    free(&store).unwrap();
    (world, store, ledger)
}

fn pack(world: &World) -> (std::path::PathBuf, Vec<u8>) {
    let (path, _len) =
        world.disk.files().into_iter().find(|(path, _len)| path.starts_with(file("cold"))).unwrap();
    let bytes = world.disk.bytes(&path).unwrap();
    (path, bytes)
}

/// Where in a pack the bytes of an original are.
fn place_of(pack: &[u8], original: &[u8]) -> Option<u64> {
    pack.windows(original.len()).position(|window| window == original).map(|place| place as u64)
}

fn original(ledger: &Ledger, n: usize) -> &[u8] {
    &ledger.batches[0].originals[n].1
}

#[test]
fn i41_i55_the_bytes_of_a_reclaimed_original_leave_the_block_that_others_stay_in() {
    let (world, store, ledger) = together(&[300, 400, 0, 500, 600]);
    let all = positions(&ledger);
    condemn(&store, &all[1..4]).unwrap();
    remove_all(&store, &all[1..3]).unwrap();
    let freed = free(&store).unwrap();
    assert!(freed >= 416, "the bytes, and two names: {freed}");
    for store in [store, world.restarted().open(), world.restarted().read()] {
        let (_path, pack) = pack(&world);
        for (n, at) in all.iter().enumerate() {
            let is_gone = n == 1 || n == 2;
            let read = store.original(*at);
            assert_eq!(matches!(read, Err(StoreError::Reclaimed { .. })), is_gone, "{read:?}");
            assert!(is_gone || read.unwrap().bytes == original(&ledger, n));
        }
        assert_eq!(place_of(&pack, original(&ledger, 1)), None);
        let name = ContentHash::of(original(&ledger, 1));
        assert_eq!(place_of(&pack, &name.as_bytes()[..8]), None, "nor is it named");
        assert!(place_of(&pack, original(&ledger, 3)).is_some(), "that one is condemned only");
        let range = store.original_range(all[4], 100..140).unwrap();
        assert_eq!(range, original(&ledger, 4)[100..140]);
        assert!(store.verify(VerifyDepth::Data, &mut |_| ()).unwrap().is_sound());
    }
}

#[test]
fn i16_i19_damage_in_a_block_is_the_damage_of_the_originals_that_it_spoils_and_they_are_named() {
    let (world, store, ledger) = together(&[300, 400, 500]);
    drop(store);
    let all = positions(&ledger);
    let world = world.restarted();
    let (path, bytes) = pack(&world);
    world.disk.flip_bit(&path, place_of(&bytes, original(&ledger, 1)).unwrap() + 7, 3).unwrap();
    let store = world.read();
    for n in [0, 2] {
        assert_eq!(store.original(all[n]).unwrap().bytes, original(&ledger, n));
    }
    assert!(matches!(store.original(all[1]), Err(StoreError::Corrupt { at, .. }) if at == all[1]));
    assert_eq!(store.whereabouts(all[1]), Whereabouts::Corrupt);
    assert!(matches!(store.whereabouts(all[2]), Whereabouts::Cold { .. }));
    let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    let corrupt: Vec<Position> = report.corrupt.iter().map(|damage| damage.from).collect();
    assert_eq!((corrupt, report.packs.len()), (vec![all[1]], 1));
}

#[test]
fn i47_a_block_that_does_not_unpack_lets_nothing_go_and_is_reported() {
    let world = World::new().packing(Packing::Solid);
    let store = world.open();
    // Alike, so that they are packed.
    let words = |n: u64| format!("the same words again and again, {n} ").repeat(9);
    let all: Vec<_> = (0..3).map(|n| record(&store, n, words(n).as_bytes())).collect();
    demote(&store, &all).unwrap();
    free(&store).unwrap();
    condemn(&store, &all[..1]).unwrap();
    remove_all(&store, &all[..1]).unwrap();
    drop(store);
    let world = world.restarted();
    let (path, before) = pack(&world);
    // The head of the only block: a bit in it that has to be zero.
    world.disk.flip_bit(&path, 120, 3).unwrap();
    let (store, _report) = world.try_open(Access::Write).unwrap();
    let report = store.free_space(&mut store.lock().unwrap(), FreeOptions::default(), &mut |_| ()).unwrap();
    assert_eq!((report.packs, report.unreadable.len()), (0, 1), "{report:?}");
    assert_eq!(pack(&world).1.len(), before.len());
    assert!(matches!(store.original(all[0]), Err(StoreError::Reclaimed { .. })));
    for at in &all[1..] {
        assert!(matches!(store.original(*at), Err(StoreError::Corrupt { .. })));
    }
    let found = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    assert_eq!(found.corrupt.iter().map(|damage| damage.from).collect::<Vec<_>>(), all[1..]);
}

#[test]
fn originals_of_a_session_share_blocks_and_take_less_room_than_by_themselves() {
    let mut lens = Vec::new();
    for packing in [Packing::Single, Packing::Solid] {
        let world = World::new().packing(packing);
        let store = world.open();
        let words =
            |n: u64| format!("call {n} gave back exit status 0, as {} before it did", n * 7).repeat(3);
        let all: Vec<_> = (0..40).map(|n| record(&store, n, words(n).as_bytes())).collect();
        demote(&store, &all).unwrap();
        free(&store).unwrap();
        for (n, at) in (0..).zip(&all) {
            assert_eq!(store.original(*at).unwrap().bytes, words(n).into_bytes());
        }
        lens.push(pack(&world).1.len());
    }
    assert!(lens[1] * 2 < lens[0], "{lens:?}");
}
