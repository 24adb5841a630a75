//! What every index must do, run on each of them.

use std::path::Path;

use proptest::prelude::*;
use spanvault_env::BootId;
use spanvault_types::key::{self, Table};
use spanvault_types::{ContentHash, Counts, Position};

use super::*;

fn at(n: u64) -> Position {
    Position::new(n)
}

fn applied(n: u64) -> Applied {
    let counts = Counts { originals: n, summaries: n / 7, citations: n / 3 };
    Applied { position: at(n), counts, chain: [7; 32], boot_id: Some(BootId([1; 16])) }
}

fn span(session: u64, ordinal: u64, position: u64) -> Entry {
    (key::key(Table::Span, &[at(session), at(ordinal)]), at(position))
}

/// Runs a check on each kind of index, empty.
fn on_each(check: impl Fn(&dyn Index)) {
    check(&MemoryIndex::new());
    let dir = tempfile::tempdir().unwrap();
    check(&SledIndex::create(&dir.path().join("index")).unwrap());
}

fn all(index: &dyn Index) -> Vec<Entry> {
    index.scan(b"", usize::MAX).unwrap()
}

#[test]
fn an_empty_index_has_followed_nothing() {
    on_each(|index| {
        assert_eq!(index.applied(), Applied::NOTHING);
        assert_eq!(all(index), []);
        index.apply(&[], applied(3)).unwrap();
        assert_eq!((index.applied(), all(index)), (applied(3), vec![]), "a batch may have no entries");
    });
}

#[test]
fn entries_come_back_by_prefix_in_order() {
    on_each(|index| {
        let entries = [span(2, 1, 30), span(1, 300, 20), span(1, 2, 10), span(1, 1, 40)];
        index.apply(&entries, applied(50)).unwrap();
        assert_eq!(index.applied(), applied(50));
        let session = key::key(Table::Span, &[at(1)]);
        assert_eq!(
            index.scan(&session, usize::MAX).unwrap(),
            [span(1, 1, 40), span(1, 2, 10), span(1, 300, 20)]
        );
        assert_eq!(index.scan(&session, 2).unwrap().len(), 2);
        assert_eq!(index.scan(&session, 0).unwrap(), []);
        assert_eq!(index.scan(&entries[0].0, 9).unwrap(), [span(2, 1, 30)]);
        assert_eq!(index.scan(&key::key(Table::Span, &[at(9)]), 9).unwrap(), []);
        assert_eq!(all(index).len(), 4);
    });
}

#[test]
fn a_key_leads_to_every_position_it_was_given_and_twice_is_once() {
    on_each(|index| {
        let original = key::original(&ContentHash::of(b"x"));
        index.apply(&[(original.clone(), at(9)), (original.clone(), at(300))], applied(300)).unwrap();
        index.apply(&[(original.clone(), at(2)), (original.clone(), at(9))], applied(301)).unwrap();
        let positions: Vec<_> =
            index.scan(&original, 9).unwrap().into_iter().map(|(_, at)| at.get()).collect();
        assert_eq!(positions, [2, 9, 300]);
        assert_eq!(index.scan(&key::original_prefix(&original[1..5]), 9).unwrap().len(), 3);
    });
}

#[test]
fn a_prefix_longer_than_a_key_does_not_reach_into_its_position() {
    on_each(|index| {
        let entry = span(1, 2, 3);
        index.apply(std::slice::from_ref(&entry), applied(3)).unwrap();
        let mut prefix = entry.0.clone();
        prefix.push(0);
        assert_eq!(index.scan(&prefix, 9).unwrap(), []);
    });
}

#[test]
fn pages_follow_each_other_without_a_gap() {
    on_each(|index| {
        let original = key::original(&ContentHash::of(b"x"));
        let mut entries: Vec<_> = (1..=25).map(|n| (original.clone(), at(n))).collect();
        entries.extend((1..=25).map(|n| span(1, n, n)));
        index.apply(&entries, applied(25)).unwrap();
        for prefix in [&b""[..], &original] {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = index.page(prefix, after.as_ref(), 7).unwrap();
                let Some(last) = page.last().cloned() else { break };
                seen.extend(page);
                after = Some(last);
            }
            assert_eq!(seen, index.scan(prefix, usize::MAX).unwrap());
        }
    });
}

#[test]
fn i14_a_key_that_is_no_key_is_refused_and_changes_nothing() {
    on_each(|index| {
        index.apply(&[span(1, 1, 1)], applied(1)).unwrap();
        for bad in [vec![], vec![0], vec![0, 5], vec![1; KEY_BYTES_MAX + 1]] {
            let result = index.apply(&[span(1, 2, 2), (bad, at(2))], applied(2));
            assert!(matches!(result, Err(IndexError::Key { .. })));
        }
        assert_eq!((index.applied(), all(index)), (applied(1), vec![span(1, 1, 1)]));
        index.apply(&[(vec![1; KEY_BYTES_MAX], at(2))], applied(2)).unwrap();
    });
}

#[test]
fn more_entries_than_a_batch_holds_are_all_there() {
    on_each(|index| {
        let entries: Vec<_> = (0..2_500).rev().map(|n| span(n % 3, n, n)).collect();
        index.apply(&entries, applied(2_500)).unwrap();
        let mut sorted = entries;
        sorted.sort();
        assert_eq!(all(index), sorted);
        assert_eq!(index.applied(), applied(2_500));
    });
}

#[test]
fn a_cleared_index_is_empty_and_usable() {
    on_each(|index| {
        index.apply(&[span(1, 1, 1)], applied(1)).unwrap();
        index.clear().unwrap();
        assert_eq!((index.applied(), all(index)), (Applied::NOTHING, vec![]));
        index.apply(&[span(1, 2, 2)], applied(2)).unwrap();
        assert_eq!((index.applied(), all(index)), (applied(2), vec![span(1, 2, 2)]));
    });
}

#[test]
fn closing_tells_how_far_it_followed() {
    let dir = tempfile::tempdir().unwrap();
    let indexes: [Box<dyn Index>; 2] =
        [Box::new(MemoryIndex::new()), Box::new(SledIndex::create(&dir.path().join("index")).unwrap())];
    for index in indexes {
        index.apply(&[span(1, 1, 1)], applied(1)).unwrap();
        assert_eq!(index.close().unwrap(), applied(1));
    }
}

#[test]
fn readers_and_the_writer_do_not_wait_for_each_other_for_ever() {
    on_each(|index| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 1..200 {
                    index.apply(&[span(1, n, n)], applied(n)).unwrap();
                }
            });
            for _ in 0..2 {
                scope.spawn(|| {
                    while index.applied().position < at(199) {
                        let seen = index.applied().position.get();
                        assert!(all(index).len() as u64 >= seen, "what was applied is seen");
                    }
                });
            }
        });
    });
}

fn entry() -> impl Strategy<Value = Entry> {
    let key = prop_oneof![
        (0..4_u64, 0..6_u64).prop_map(|(a, b)| key::key(Table::Span, &[at(a), at(b)])),
        (0..4_u8).prop_map(|n| key::original(&ContentHash::of(&[n]))),
        (0..300_u64).prop_map(|n| key::key(Table::Hold, &[at(n)])),
    ];
    (key, (0..400_u64).prop_map(at))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn both_indexes_answer_alike(
        batches in prop::collection::vec(prop::collection::vec(entry(), 0..40), 1..6),
        probe in entry(),
        cut in 0..20_usize,
        limit in 0..50_usize,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (memory, sled) = (MemoryIndex::new(), SledIndex::create(&dir.path().join("index")).unwrap());
        let prefix = &probe.0[..cut.min(probe.0.len())];
        for (n, batch) in (1..).zip(&batches) {
            memory.apply(batch, applied(n)).unwrap();
            sled.apply(batch, applied(n)).unwrap();
            prop_assert_eq!(memory.scan(prefix, limit).unwrap(), sled.scan(prefix, limit).unwrap());
            prop_assert_eq!(
                memory.page(prefix, Some(&probe), limit).unwrap(),
                sled.page(prefix, Some(&probe), limit).unwrap()
            );
            prop_assert_eq!(memory.applied(), sled.applied());
        }
        prop_assert_eq!(all(&memory), all(&sled));
    }
}

#[test]
fn i14_nothing_above_one_kibibyte_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    let index = SledIndex::create(&path).unwrap();
    index.apply(&[(vec![1; KEY_BYTES_MAX], at(2))], applied(2)).unwrap();
    drop(index);
    files::wait_until_released(&path).unwrap();
    let db = sled::open(&path).unwrap();
    assert_eq!(db.len(), 2);
    assert!(db.iter().all(|item| item.is_ok_and(|(key, value)| key.len() + value.len() < 1_024)));
}

#[test]
fn i82_the_files_are_readable_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    fn check(path: &Path) {
        for entry in std::fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let (mode, is_dir) = (entry.metadata().unwrap().permissions().mode(), entry.path().is_dir());
            assert_eq!(mode & 0o777, if is_dir { 0o700 } else { 0o600 }, "{}", entry.path().display());
            if is_dir {
                check(&entry.path());
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let index = SledIndex::create(&dir.path().join("index")).unwrap();
    check(dir.path());
    index.apply(&[span(1, 1, 1)], applied(1)).unwrap();
    Box::new(index).close().unwrap();
    check(dir.path());
}

#[test]
fn two_handles_to_one_directory_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    let _index = SledIndex::create(&path).unwrap();
    assert!(matches!(SledIndex::open(&path), Err(IndexError::InUse { .. })));
}
