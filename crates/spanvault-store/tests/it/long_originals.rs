//! Long originals in the cold tier: what they share is there once, and a part of one can be had without the rest.

use spanvault_store::{FreeOptions, Store, StoreError, VerifyDepth, Whereabouts};
use spanvault_types::Position;

use crate::support::{World, bytes_of, record};
use crate::tiers::{condemn, remove_all};

/// Records with words of their own around the same two images.
fn records(count: u64) -> Vec<Vec<u8>> {
    let images = [bytes_of(1_000, 400 << 10), bytes_of(1_001, 300 << 10)];
    (0..count)
        .map(|n| {
            let words = |m: u64| bytes_of(10 * n + m, 700 + 13 * usize::try_from(n).unwrap());
            [&words(1)[..], &images[0], &words(2), &images[1], &words(3)].concat()
        })
        .collect()
}

fn demoted(world: &World, records: &[Vec<u8>]) -> (Store, Vec<Position>) {
    let store = world.open();
    let at: Vec<_> = (0..).zip(records).map(|(ordinal, bytes)| record(&store, ordinal, bytes)).collect();
    let report = store.demote(&mut store.lock().unwrap(), &at, &mut |_| ()).unwrap();
    assert_eq!((report.demoted, report.packs.len()), (records.len() as u64, 1));
    free(&store);
    (store, at)
}

fn free(store: &Store) {
    let report = store.free_space(&mut store.lock().unwrap(), FreeOptions::default(), &mut |_| ()).unwrap();
    assert!(report.unreadable.is_empty(), "{report:?}");
}

fn pack_bytes(world: &World) -> u64 {
    let packs = world.disk.files().into_iter();
    packs.filter(|(path, _)| path.extension().is_some_and(|kind| kind == "pack")).map(|(_, len)| len).sum()
}

#[test]
fn an_image_that_recurs_in_many_records_is_stored_once_and_each_record_comes_back_whole() {
    let world = World::new();
    let records = records(24);
    let (store, at) = demoted(&world, &records);
    let whole: usize = records.iter().map(Vec::len).sum();
    let unique = (700 << 10) + whole - 24 * (700 << 10);
    let packed = pack_bytes(&world);
    // What stands around an image shares a piece with its ends.
    assert!(
        packed < unique as u64 + 24 * 3 * (40 << 10),
        "{packed} of {whole}, of which {unique} are unique"
    );
    for store in [store, world.restarted().open()] {
        for (at, bytes) in at.iter().zip(&records) {
            assert!(matches!(store.whereabouts(*at), Whereabouts::Cold { .. }));
            assert_eq!(store.original(*at).unwrap().bytes, *bytes);
        }
        assert!(store.verify(VerifyDepth::Data, &mut |_| ()).unwrap().is_sound());
    }
}

/// As a message has it: words, an image in base64, words.
fn message(n: u64, image: &[u8]) -> Vec<u8> {
    let words = |m: u64| format!("said {} before and after {}", n * 7 + m, "the image ".repeat(20));
    [
        b"{\"text\":\"",
        words(1).as_bytes(),
        b"\",\"data\":\"",
        image,
        b"\",\"text\":\"",
        words(2).as_bytes(),
        b"\"}",
    ]
    .concat()
}

#[test]
fn sixty_images_in_five_hundred_records_take_no_more_than_a_twentieth_over_what_is_in_them_once() {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let encoded = |n: u64| {
        let bytes = bytes_of(2_000 + n, (20 << 10) + 700 * usize::try_from(n).unwrap());
        bytes.into_iter().map(|byte| DIGITS[usize::from(byte % 64)]).collect::<Vec<u8>>()
    };
    let images: Vec<Vec<u8>> = (0..60).map(encoded).collect();
    let records: Vec<Vec<u8>> =
        (0..500).map(|n| message(n, &images[usize::try_from(n % 60).unwrap()])).collect();
    let world = World::new();
    let (store, at) = demoted(&world, &records);
    let of_images: usize = images.iter().map(Vec::len).sum();
    let unique = of_images + (0..500).map(|n| message(n, b"").len()).sum::<usize>();
    let packed = pack_bytes(&world);
    assert!(packed * 100 <= unique as u64 * 105, "{packed} of {unique}");
    for (at, bytes) in at.iter().zip(&records) {
        assert_eq!(store.original(*at).unwrap().bytes, *bytes);
    }
}

#[test]
fn a_part_of_a_long_original_is_read_without_the_rest() {
    let world = World::new();
    let records = records(3);
    let (store, at) = demoted(&world, &records);
    let len = records[1].len() as u64;
    for range in
        [0..10, 500_000..500_100, 300_000..420_000, len - 5..len, len - 5..len + 9, len..len + 1, 7..7]
    {
        let end = usize::try_from(range.end).unwrap().min(records[1].len());
        let wanted = &records[1][usize::try_from(range.start).unwrap()..end];
        assert_eq!(store.original_range(at[1], range).unwrap(), wanted);
    }
    // What is not in pieces is read whole, and cut.
    let hot = record(&store, 9, b"a short one");
    assert_eq!(store.original_range(hot, 2..7).unwrap(), b"short");
    assert!(matches!(store.original_range(Position::new(999), 0..1), Err(StoreError::NotFound { .. })));
}

#[test]
fn i16_a_damaged_piece_is_never_served_and_costs_the_originals_that_have_it() {
    let world = World::new();
    let mut records = records(2);
    records.push(bytes_of(7_000, 300 << 10));
    let (store, at) = demoted(&world, &records);
    drop(store);
    let (pack, len) = world
        .disk
        .files()
        .into_iter()
        .find(|(path, _)| path.extension().is_some_and(|kind| kind == "pack"))
        .unwrap();
    // The last original lies behind what the other two share.
    world.disk.flip_bit(&pack, len - (200 << 10), 3).unwrap();
    let store = world.restarted().open();
    for (at, bytes) in at.iter().zip(&records).take(2) {
        assert_eq!(store.original(*at).unwrap().bytes, *bytes);
    }
    assert!(matches!(store.original(at[2]), Err(StoreError::Corrupt { .. })));
    let bytes = &records[2];
    for from in (0..300 << 10).step_by(8 << 10) {
        // Each piece by itself is right or refused.
        if let Ok(part) = store.original_range(at[2], from..from + 1_000) {
            let from = usize::try_from(from).unwrap();
            assert_eq!(part, bytes[from..(from + 1_000).min(bytes.len())]);
        }
    }
    let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    assert_eq!((report.corrupt.len(), report.packs.len()), (1, 1), "{report:?}");
}

#[test]
fn a_piece_stays_as_long_as_an_original_that_has_it() {
    let world = World::new();
    let records = records(4);
    let (store, at) = demoted(&world, &records);
    let before = pack_bytes(&world);
    condemn(&store, &at[..3]).unwrap();
    remove_all(&store, &at[..3]).unwrap();
    free(&store);
    assert!(pack_bytes(&world) < before, "the words of the others are gone");
    for store in [store, world.restarted().open()] {
        assert_eq!(store.original(at[3]).unwrap().bytes, records[3]);
        assert!(matches!(store.original(at[0]), Err(StoreError::Reclaimed { .. })));
        assert!(matches!(store.original_range(at[0], 0..9), Err(StoreError::Reclaimed { .. })));
        assert!(store.verify(VerifyDepth::Data, &mut |_| ()).unwrap().is_sound());
    }
    let world = world.restarted();
    let store = world.open();
    condemn(&store, &at[3..]).unwrap();
    remove_all(&store, &at[3..]).unwrap();
    free(&store);
    assert_eq!(pack_bytes(&world), 0);
}
