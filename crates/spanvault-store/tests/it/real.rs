//! The same store on the disk of this machine.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use spanvault_env::Env;
use spanvault_store::{Access, Store, StoreError, StoreOptions};
use spanvault_types::Position;

use crate::support::{bytes_of, push_span, record};

fn open(dir: &Path, access: Access) -> Result<Store, StoreError> {
    let options = StoreOptions { segment_bytes: 20_000, ..StoreOptions::default() };
    Store::open(Env::real(), dir, access, options).map(|(store, _report)| store)
}

fn modes(dir: &Path, found: &mut Vec<(String, u32)>) {
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    found.push((dir.display().to_string(), mode(dir)));
    for entry in dir.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            modes(&path, found);
        } else {
            found.push((path.display().to_string(), mode(&path)));
        }
    }
}

#[test]
fn i82_directories_are_0700_and_files_0600() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("deep/agent.vault");
    let store = open(&dir, Access::Write).unwrap();
    let all: Vec<Position> = (0..60).map(|n| record(&store, n, &bytes_of(n, 900))).collect();
    store.demote(&mut store.lock().unwrap(), &all[..30], &mut |_| ()).unwrap();
    let mut found = Vec::new();
    modes(&dir, &mut found);
    assert!(found.len() > 8, "{found:?}");
    for (path, mode) in found {
        let is_dir = Path::new(&path).is_dir();
        assert_eq!(mode, if is_dir { 0o700 } else { 0o600 }, "{path}");
    }
    for (n, at) in (0..).zip(&all) {
        assert_eq!(store.original(*at).unwrap().bytes, bytes_of(n, 900));
    }
}

#[test]
fn i82_a_vault_that_others_may_write_in_is_not_opened() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("agent.vault");
    drop(open(&dir, Access::Write).unwrap());
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o770)).unwrap();
    for access in [Access::Read, Access::Write] {
        assert!(matches!(open(&dir, access), Err(StoreError::NotPrivate { .. })));
    }
}

#[test]
fn i67_i68_a_second_writer_is_told_who_has_the_vault_until_the_first_is_gone() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("agent.vault");
    let first = open(&dir, Access::Write).unwrap();
    let at = record(&first, 0, b"span");
    let refused = open(&dir, Access::Write);
    assert!(matches!(refused, Err(StoreError::Busy { pid: Some(pid), .. }) if pid == std::process::id()));
    let reader = open(&dir, Access::Read).unwrap();
    assert_eq!(reader.original(at).unwrap().bytes, b"span");
    drop(first);
    assert_eq!(open(&dir, Access::Write).unwrap().original(at).unwrap().bytes, b"span");
}

#[test]
fn many_threads_record_durably_side_by_side() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("agent.vault");
    let store = open(&dir, Access::Write).unwrap();
    let recorded: Vec<(u64, Position)> = std::thread::scope(|threads| {
        let record = |thread: u64| {
            let store = &store;
            move || {
                let one = |n: u64| {
                    let mut writer = store.lock().unwrap();
                    let mut batch = writer.begin();
                    let at = push_span(&mut batch, n, &bytes_of(n, 500));
                    let commit = writer.append(batch).unwrap();
                    drop(writer);
                    store.sync(commit).unwrap();
                    assert!(store.durable() >= commit);
                    assert_eq!(store.original(at).unwrap().bytes, bytes_of(n, 500));
                    (n, at)
                };
                (thread * 100..thread * 100 + 20).map(one).collect::<Vec<_>>()
            }
        };
        let running: Vec<_> = (0..4).map(|thread| threads.spawn(record(thread))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    drop(store);
    let store = open(&dir, Access::Write).unwrap();
    for (n, at) in recorded {
        assert_eq!(store.original(at).unwrap().bytes, bytes_of(n, 500));
    }
    assert_eq!(store.counts().originals, 80);
}

#[test]
fn a_body_far_longer_than_a_segment_goes_in_and_out_whole() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("agent.vault");
    let store = open(&dir, Access::Write).unwrap();
    let long = bytes_of(1, 40 << 20);
    let (before, at, after) =
        (record(&store, 0, b"before"), record(&store, 1, &long), record(&store, 2, b"after"));
    drop(store);
    let store = open(&dir, Access::Write).unwrap();
    assert!(store.original(at).unwrap().bytes == long);
    assert_eq!(store.original(before).unwrap().bytes, b"before");
    assert_eq!(store.original(after).unwrap().bytes, b"after");
}
