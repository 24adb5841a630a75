//! Keys of which a sidecar has the beginning, and what the frames say of them.

use std::path::Path;

use spanvault_env::Env;
use spanvault_types::key::original_prefix;
use spanvault_types::{ContentHash, Event};

use super::*;
use crate::sidecar;
use crate::{Access, StoreOptions};

/// Three originals in a sealed segment.
fn sealed() -> (Env, Arc<spanvault_env::SimDisk>, Vec<Position>) {
    let (env, disk, _clock) = Env::simulated(5);
    let (store, _report) = open(&env);
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    let positions = (0..3_u8).map(|n| batch.push(Event::GapStored, Some(vec![n; 40]))).collect();
    writer.commit(batch).unwrap();
    writer.seal().unwrap();
    (env, disk, positions)
}

fn open(env: &Env) -> (Store, crate::OpenReport) {
    let options = StoreOptions { reserve_bytes: 0, ..StoreOptions::default() };
    Store::open(env.clone(), Path::new("/vault"), Access::Write, options).unwrap()
}

fn hash(n: u8) -> ContentHash {
    ContentHash::of(&[n; 40])
}

#[test]
fn a_key_of_which_the_sidecar_has_the_beginning_is_put_together_from_its_frame() {
    let (env, disk, positions) = sealed();
    let (store, _report) = open(&env.with_disk(disk.restart()));
    for (n, at) in (0..).zip(&positions) {
        let wanted = [(original(&hash(n)), *at)];
        for len in [4, 8, 9, 17, 32] {
            let prefix = original_prefix(&hash(n).as_bytes()[..len]);
            assert_eq!(store.scan(&prefix).unwrap(), wanted, "the first {len} bytes");
            assert_eq!(store.scan_last(&prefix).unwrap(), Some(wanted[0].clone()));
        }
        assert_eq!(store.original_named(&hash(n)).unwrap().unwrap().bytes, [n; 40]);
        let mut near = *hash(n).as_bytes();
        near[20] ^= 1;
        let near = ContentHash::from_bytes(near);
        assert!(store.scan(&original(&near)).unwrap().is_empty(), "it only begins so");
        assert!(store.original_named(&near).unwrap().is_none());
    }
    assert_eq!(store.scan(&original_prefix(&[])).unwrap().len(), 3);
}

#[test]
fn i12_a_sidecar_that_leads_a_hash_to_another_frame_makes_nobody_find_it_there() {
    let (env, disk, positions) = sealed();
    let (store, _report) = open(&env.with_disk(disk.restart()));
    let view = store.view();
    let (segment, _until) = view.sealed().next().unwrap();
    let lie = Entry { key: ShortKey::new(&original(&hash(9))).unwrap(), at: positions[0].get() };
    let mut map = store
        .with_index(segment, u64::MAX, |index| match index {
            Index::Sidecar(sidecar, file) => sidecar.load(&*file()?),
            Index::Scanned(_) => Err(Unusable::Damaged),
        })
        .unwrap();
    map.keys.extend([lie]);
    let bytes = sidecar::encode(&map, &segment.head, &store.key);
    let path = store.layout.sidecar(segment.number());
    drop(view);
    drop(store);
    let disk = disk.restart();
    disk.put(&path, &bytes).unwrap();
    let (store, _report) = open(&env.with_disk(disk));
    assert!(store.scan(&original(&hash(9))).unwrap().is_empty());
    assert!(store.original_named(&hash(9)).unwrap().is_none());
    assert_eq!(store.original_named(&hash(0)).unwrap().unwrap().at, positions[0]);
}

#[test]
fn i16_an_original_whose_name_was_damaged_behind_the_sidecar_is_found_and_found_to_be_damaged() {
    let (env, disk, positions) = sealed();
    let (store, _report) = open(&env.with_disk(disk.restart()));
    let located = store.locate(positions[1]).unwrap();
    let (offset, path) = (located.slot.offset, store.layout.segment(located.segment));
    drop(located);
    drop(store);
    // The head, the event, the salt, the hash in its first and in its last byte.
    for byte in [3, 42, 50, 61, 90] {
        let disk = disk.restart();
        disk.flip_bit(&path, offset + byte, 2).unwrap();
        let (store, _report) = open(&env.with_disk(disk));
        let by_hash = original(&hash(1));
        assert_eq!(store.scan(&by_hash).unwrap(), [(by_hash.clone(), positions[1])], "byte {byte}");
        match store.original_named(&hash(1)) {
            Ok(found) => assert_eq!(found.unwrap().bytes, [1; 40], "byte {byte}"),
            Err(error) => assert!(matches!(error, StoreError::Corrupt { .. }), "byte {byte}: {error:?}"),
        }
        let by_prefix = store.scan(&by_hash[..6]).unwrap();
        assert_eq!(by_prefix.len(), 1, "byte {byte}");
        assert_eq!(by_prefix[0].1, positions[1]);
        assert!(store.original_named(&hash(2)).unwrap().is_some(), "its neighbour is served");
    }
}
