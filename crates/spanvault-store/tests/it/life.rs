//! A vault from its making to its verification.

use spanvault_env::Count;
use spanvault_store::{Access, BodyState, StoreError, VerifyDepth, Whereabouts};
use spanvault_types::key::{self, Table};
use spanvault_types::{ContentHash, Counts, Event, Position, SourceOpened};

use crate::support::{World, bytes_of, dir, file, push_span, record, session, span};

#[test]
fn what_was_recorded_reads_back_verified() {
    let world = World::new();
    let store = world.open();
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    let opened = batch.push(session("run-42"), None);
    assert_eq!(opened, Position::new(1));
    let at = push_span(&mut batch, 0, b"hello");
    let gap = batch.push(Event::GapStored, Some(b"\n".to_vec()));
    let commit = writer.commit(batch).unwrap();
    assert_eq!((at, gap, commit), (Position::new(2), Position::new(3), Position::new(4)));
    assert_eq!(writer.revision(), commit);
    drop(writer);

    for store in [store, world.restarted().open()] {
        let original = store.original(at).unwrap();
        assert_eq!(
            (original.bytes.as_slice(), original.hash),
            (b"hello".as_slice(), ContentHash::of(b"hello"))
        );
        let frame = store.frame(at).unwrap();
        assert_eq!(frame.event, span(at, 0, b"hello"));
        assert_eq!((frame.hash, frame.body), (Some(ContentHash::of(b"hello")), BodyState::Hot { len: 5 }));
        assert!(frame.time.is_some() && frame.commitment.is_some());
        assert_eq!(store.frame(opened).unwrap().body, BodyState::None);
        assert_eq!(store.original(gap).unwrap().bytes, b"\n");
        assert_eq!(store.whereabouts(at), Whereabouts::Hot);
        assert_eq!(store.whereabouts(opened), Whereabouts::Nothing);
        assert!(matches!(store.original(opened), Err(StoreError::NoOriginal { .. })));
        assert!(matches!(store.frame(Position::new(5)), Err(StoreError::NotFound { .. })));
        assert!(matches!(store.frame(Position::ZERO), Err(StoreError::NotFound { .. })));
        assert_eq!(store.counts(), Counts { originals: 2, summaries: 0, citations: 0 });
        assert_eq!(store.head().position, commit);
        let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
        assert!(report.is_sound() && report.sidecars.is_empty(), "{report:?}");
        assert_eq!((report.originals, report.bytes, report.frames), (2, 6, 4));
    }
}

#[test]
fn i15_a_span_with_known_bytes_shares_the_original_of_the_first() {
    let world = World::new();
    let store = world.open();
    let first = record(&store, 0, b"same");
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    let again = batch.push(span(first, 1, b"same"), None);
    writer.commit(batch).unwrap();
    drop(writer);
    assert_eq!(store.original(again).unwrap().at, first);
    assert_eq!(store.whereabouts(again), Whereabouts::Hot);
    assert_eq!(store.counts().originals, 1);
}

#[test]
fn keys_find_positions_across_sealed_segments_and_the_open_one() {
    let world = World::new().with_segments_of(2_000);
    let store = world.open();
    let all: Vec<_> = (0..40).map(|n| (n, record(&store, n, &bytes_of(n, 300)))).collect();
    for store in [store, world.restarted().open(), world.restarted().read()] {
        for (n, at) in &all {
            let hash = ContentHash::of(&bytes_of(*n, 300));
            assert_eq!(store.scan(&key::original(&hash)).unwrap(), [(key::original(&hash), *at)]);
            assert_eq!(store.original(*at).unwrap().bytes, bytes_of(*n, 300));
        }
        let spans = key::key(Table::Span, &[Position::new(1)]);
        let found: Vec<_> = store.scan(&spans).unwrap().into_iter().map(|(_key, at)| at).collect();
        assert_eq!(found, all.iter().map(|(_n, at)| *at).collect::<Vec<_>>());
        assert_eq!(store.scan_last(&spans).unwrap().map(|(_key, at)| at), found.last().copied());
        assert_eq!(store.scan_last(&key::key(Table::Hold, &[])).unwrap(), None);
        assert_eq!(
            store.frames(Position::ZERO).map(|frame| frame.unwrap().at.get()).collect::<Vec<_>>(),
            (1..=80).collect::<Vec<_>>()
        );
        let report = store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
        assert!(report.is_sound() && report.sidecars.is_empty(), "{report:?}");
    }
    assert!(world.disk.files().len() > 20, "many segments, each with its sidecar");
}

#[test]
fn an_empty_batch_writes_nothing_and_a_batch_of_another_lock_is_refused() {
    let world = World::new();
    let store = world.open();
    let stale = store.lock().unwrap().begin();
    let mut writer = store.lock().unwrap();
    let empty = writer.begin();
    assert_eq!(writer.commit(empty).unwrap(), Position::ZERO);
    assert!(matches!(writer.append(stale), Err(StoreError::StaleBatch)));
}

#[test]
fn i67_a_reader_follows_the_writer_and_changes_no_byte() {
    let world = World::new().with_segments_of(3_000);
    let store = world.open();
    record(&store, 0, b"first");
    let reader = world.read();
    let images = || {
        let files = world.disk.files();
        files.into_iter().map(|(path, _)| (world.disk.bytes(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    for n in 1..60 {
        let at = record(&store, n, &bytes_of(n, 200));
        assert!(reader.frame(at).is_err(), "not before it looks again");
        let before = images();
        assert_eq!(reader.refresh().unwrap(), store.head().position);
        assert_eq!(reader.original(at).unwrap().bytes, bytes_of(n, 200));
        assert_eq!(reader.head(), store.head());
        assert_eq!(reader.counts(), store.counts());
        assert_eq!(before, images());
    }
    assert!(matches!(reader.lock(), Err(StoreError::ReadOnly)));
    assert!(reader.damage().is_empty());
    assert!(matches!(world.try_open(Access::Write), Err(StoreError::Busy { pid: Some(_), .. })));
    drop(store);
    world.open();
}

#[test]
fn only_a_directory_that_is_empty_becomes_a_vault() {
    let world = World::new();
    assert!(matches!(world.try_open(Access::Read), Err(StoreError::NoVault { .. })));
    world.env.disk.create_dir(&dir()).unwrap();
    assert!(matches!(world.try_open(Access::Read), Err(StoreError::NoVault { .. })));
    world.disk.put(&dir().join("notes.txt"), b"mine").unwrap();
    let before = world.disk.files();
    assert!(matches!(world.try_open(Access::Write), Err(StoreError::NotAVault { .. })));
    assert_eq!(world.disk.files(), before, "nothing was touched");
}

#[test]
fn i72_a_newer_format_is_refused_and_not_touched() {
    let world = World::new();
    drop(world.open());
    let stamp = file("FORMAT");
    world.disk.put(&stamp, b"spanvault format 2 of the future\n").unwrap();
    let (files, calls) = (world.disk.files(), world.disk.count(Count::Changes));
    for access in [Access::Read, Access::Write] {
        assert!(matches!(world.try_open(access), Err(StoreError::NewerFormat { found: 2, .. })));
    }
    assert_eq!((world.disk.files(), world.disk.count(Count::Changes)), (files, calls));
}

#[test]
fn i71_an_event_that_is_too_large_is_refused_and_leaves_no_trace() {
    let world = World::new();
    let store = world.open();
    let at = record(&store, 0, b"span");
    let path = "x".repeat((64 << 20) + 1);
    let opened = SourceOpened { path, format: String::new() };
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    batch.push(Event::SourceOpened(opened), None);
    assert!(matches!(writer.commit(batch), Err(StoreError::TooLarge { schema: 5, .. })));
    drop(writer);
    assert_eq!(store.head().position, at.next());
    record(&store, 1, b"another");
}

#[test]
fn a_commit_is_one_write_and_one_sync() {
    let world = World::new();
    let store = world.open();
    record(&store, 0, b"the first");
    let (syncs, changes) = (world.disk.count(Count::Syncs), world.disk.count(Count::Changes));
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    for n in 1..20 {
        push_span(&mut batch, n, &bytes_of(n, 4_096));
    }
    writer.commit(batch).unwrap();
    // The third change is the hint of what was acknowledged, which nothing waits for.
    assert_eq!((world.disk.count(Count::Syncs) - syncs, world.disk.count(Count::Changes) - changes), (1, 3));
}

#[test]
fn a_frame_costs_little_beside_a_body_of_4_kib() {
    let world = World::new().with_segments_of(1 << 20);
    let store = world.open();
    for batch in 0..6 {
        let mut writer = store.lock().unwrap();
        let mut gaps = writer.begin();
        for n in 0..100 {
            gaps.push(Event::GapStored, Some(bytes_of(batch * 100 + n, 4_096)));
        }
        writer.append(gaps).unwrap();
    }
    let of_kind = |kind: &str| {
        let files = world.disk.files().into_iter();
        files
            .filter(|(path, _)| path.extension().is_some_and(|own| own == kind))
            .map(|(_, len)| len)
            .sum::<u64>()
    };
    let bodies = 600 * 4_096;
    assert!(of_kind("log") * 1_000 <= bodies * 1_025, "{}", of_kind("log"));
    assert!((of_kind("log") + of_kind("idx")) * 1_000 <= bodies * 1_036, "{}", of_kind("idx"));
}
