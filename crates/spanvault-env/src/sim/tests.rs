use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::{Disk, DiskFile, Env, LockError, OpenMode};

fn create(disk: &SimDisk, path: &str, bytes: &[u8]) -> Box<dyn DiskFile> {
    let file = disk.open(Path::new(path), OpenMode::CreateNew).unwrap();
    file.write_at(bytes, 0).unwrap();
    file
}

fn durable(disk: &SimDisk, path: &str, bytes: &[u8]) -> Box<dyn DiskFile> {
    let file = create(disk, path, bytes);
    file.sync().unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    file
}

fn bytes(disk: &SimDisk, path: &str) -> Option<Vec<u8>> {
    disk.bytes(Path::new(path)).ok()
}

fn names(disk: &SimDisk) -> Vec<String> {
    disk.files().into_iter().map(|(path, _)| path.display().to_string()).collect()
}

/// Every outcome that 200 seeds give.
fn outcomes<T: Ord>(disk: &SimDisk, look: impl Fn(&SimDisk) -> T) -> BTreeSet<T> {
    (0..200).map(|seed| look(&disk.crash(Survival::Seeded(seed)))).collect()
}

#[test]
fn a_file_is_written_read_cut_renamed_and_removed() {
    let disk = SimDisk::new();
    disk.create_dir(Path::new("/v/log")).unwrap();
    let file = create(&disk, "/v/log/a", b"hello");
    file.write_at(b"!", 8).unwrap();
    assert_eq!(bytes(&disk, "/v/log/a").unwrap(), b"hello\0\0\0!");
    file.set_len(4).unwrap();
    let mut buf = [7; 8];
    assert_eq!(file.read_at(&mut buf, 1).unwrap(), 3);
    assert_eq!(&buf[..4], b"ell\x07");
    let again = disk.open(Path::new("/v/log/a"), OpenMode::CreateNew).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    let reader = disk.open(Path::new("v/./log/../log/a"), OpenMode::Read).unwrap();
    assert!(reader.write_at(b"x", 0).is_err());

    disk.rename(Path::new("/v/log/a"), Path::new("/v/b")).unwrap();
    let listed: Vec<_> = disk.list(Path::new("/v")).unwrap();
    assert_eq!(
        listed.iter().map(|e| (e.name.as_str(), e.is_dir, e.len)).collect::<Vec<_>>(),
        [("b", false, 4), ("log", true, 0)]
    );
    assert!(
        disk.rename(Path::new("/v/b"), Path::new("/v/log")).is_err(),
        "a file does not replace a directory"
    );
    assert!(
        disk.rename(Path::new("/v"), Path::new("/v/log/v")).is_err(),
        "a directory does not go into itself"
    );
    disk.remove(Path::new("/v/b")).unwrap();
    assert_eq!(disk.open(Path::new("/v/b"), OpenMode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(file.read_at(&mut buf, 0).unwrap(), 4, "an open file outlives its name");
}

#[test]
fn what_was_synced_survives_every_crash() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", &[1; 2000]);
    file.write_at(&[2; 2000], 0).unwrap();
    file.write_at(&[2; 2000], 4000).unwrap();
    file.sync().unwrap();
    assert_eq!(disk.unsynced(), 0);
    let whole = bytes(&disk, "/a").unwrap();
    for survival in [Survival::All, Survival::Nothing, Survival::Subset(0), Survival::Seeded(3)] {
        assert_eq!(bytes(&disk.crash(survival), "/a").unwrap(), whole);
    }
}

#[test]
fn an_unsynced_write_is_kept_lost_or_torn_sector_by_sector() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", &[1; 1024]);
    file.write_at(&[2; 600], 212).unwrap();
    assert_eq!(bytes(&disk.crash(Survival::Nothing), "/a").unwrap(), [1; 1024]);
    let all = bytes(&disk, "/a").unwrap();
    assert_eq!(bytes(&disk.crash(Survival::All), "/a").unwrap(), all);
    assert_eq!(disk.unsynced(), 2);
    let second = bytes(&disk.crash(Survival::Subset(0b10)), "/a").unwrap();
    assert_eq!((&second[..512], &second[512..]), (&[1; 512][..], &all[512..]));

    let seen = outcomes(&disk, |after| bytes(after, "/a").unwrap());
    let of = |first: &[u8], second: &[u8]| seen.iter().any(|b| &b[..512] == first && &b[512..] == second);
    for first in [&[1; 512][..], &all[..512]] {
        for second in [&[1; 512][..], &all[512..]] {
            assert!(of(first, second), "every combination of kept and lost is seen");
        }
    }
    assert!(
        seen.iter().any(|b| b[212..512].contains(&1) && b[212..512].contains(&2)),
        "a torn sector is seen"
    );
    assert!(seen.iter().all(|b| b[..212] == [1; 212] && b[812..] == [1; 212]), "nothing else changes");
}

#[test]
fn an_unsynced_length_is_old_new_or_between_and_lost_sectors_read_as_zeros() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", &[1; 100]);
    file.write_at(&[2; 1000], 100).unwrap();
    let lengths = outcomes(&disk, |after| bytes(after, "/a").unwrap().len());
    assert!(lengths.contains(&100) && lengths.contains(&1100));
    assert!(lengths.iter().any(|len| (101..1100).contains(len)));
    assert!(lengths.iter().all(|len| (100..=1100).contains(len)));
    // The length is the last unit: it alone is kept.
    let hollow = bytes(&disk.crash(Survival::Subset(1 << (disk.unsynced() - 1))), "/a").unwrap();
    assert_eq!((&hollow[..100], &hollow[100..]), (&[1; 100][..], &[0; 1000][..]));
}

#[test]
fn an_unsynced_cut_gives_the_old_bytes_or_the_cut_ones() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", &[1; 1500]);
    file.set_len(10).unwrap();
    assert_eq!(bytes(&disk.crash(Survival::Nothing), "/a").unwrap(), [1; 1500]);
    assert_eq!(bytes(&disk.crash(Survival::All), "/a").unwrap(), [1; 10]);
    file.sync().unwrap();
    file.set_len(1500).unwrap();
    file.sync().unwrap();
    assert_eq!(
        bytes(&disk.crash(Survival::Nothing), "/a").unwrap()[10..],
        [0; 1490],
        "cut bytes do not come back"
    );
}

#[test]
fn i10_a_name_is_durable_only_after_its_directory_is_synced() {
    let disk = SimDisk::new();
    let file = create(&disk, "/a", b"x");
    file.sync().unwrap();
    assert_eq!(names(&disk.crash(Survival::Nothing)), Vec::<String>::new());
    assert_eq!(outcomes(&disk, |after| names(after).len()), BTreeSet::from([0, 1]));
    disk.sync_dir(Path::new("/")).unwrap();
    assert_eq!(names(&disk.crash(Survival::Nothing)), ["/a"]);

    disk.remove(Path::new("/a")).unwrap();
    assert_eq!(names(&disk.crash(Survival::Nothing)), ["/a"]);
    disk.sync_dir(Path::new("/")).unwrap();
    assert_eq!(names(&disk.crash(Survival::Nothing)), Vec::<String>::new());
}

#[test]
fn an_unsynced_rename_never_loses_the_file_and_may_leave_both_names() {
    let disk = SimDisk::new();
    durable(&disk, "/a", b"new");
    durable(&disk, "/b", b"old");
    disk.rename(Path::new("/a"), Path::new("/b")).unwrap();
    let seen = outcomes(&disk, |after| (bytes(after, "/a"), bytes(after, "/b")));
    let some = |text: &[u8]| Some(text.to_vec());
    assert_eq!(
        seen,
        BTreeSet::from([(some(b"new"), some(b"old")), (None, some(b"new")), (some(b"new"), some(b"new"))])
    );
}

#[test]
fn a_rename_into_another_directory_is_durable_when_both_are_synced() {
    let disk = SimDisk::new();
    disk.create_dir(Path::new("/x")).unwrap();
    durable(&disk, "/a", b"1");
    disk.rename(Path::new("/a"), Path::new("/x/a")).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    assert_eq!(names(&disk.crash(Survival::Nothing)), ["/a"], "only the old directory is synced");
    disk.sync_dir(Path::new("/x")).unwrap();
    assert_eq!(names(&disk.crash(Survival::Nothing)), ["/a", "/x/a"], "the old name may come back");
    disk.sync_dir(Path::new("/")).unwrap();
    assert_eq!(names(&disk.crash(Survival::Nothing)), ["/x/a"]);
}

#[test]
fn i10_making_directories_makes_each_of_them_durable() {
    let disk = SimDisk::new();
    disk.create_dir(Path::new("/a/b/c")).unwrap();
    let after = disk.crash(Survival::Nothing);
    after.create_dir(Path::new("/a/b/c")).unwrap();
    assert_eq!(after.list(Path::new("/a/b/c")).unwrap(), []);

    // A process that dies between making a directory and syncing its parent leaves the next one to do it.
    let disk = SimDisk::new();
    disk.fail(ScheduledFault::new(Fault::Io, CallKind::SyncDir, 2));
    assert!(disk.create_dir(Path::new("/a")).is_err());
    let next = disk.restart();
    next.create_dir(Path::new("/a")).unwrap();
    assert!(next.crash(Survival::Nothing).list(Path::new("/a")).is_ok());
    assert!(next.create_dir(Path::new("/a")).is_ok());
    create(&next, "/file", b"");
    assert!(next.create_dir(Path::new("/file/under")).is_err());
}

#[test]
fn a_restart_frees_locks_and_keeps_bytes_and_their_doubts() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", b"old");
    file.write_at(b"new", 0).unwrap();
    let held = disk.lock(Path::new("/LOCK")).unwrap();
    assert!(matches!(disk.lock(Path::new("/LOCK")), Err(LockError::Busy { pid: Some(_) })));
    let next = disk.restart();
    assert!(next.lock(Path::new("/LOCK")).is_ok());
    assert_eq!(bytes(&next, "/a").unwrap(), b"new");
    assert_eq!(bytes(&next.crash(Survival::Nothing), "/a").unwrap(), b"old");
    drop(held);
    assert!(disk.lock(Path::new("/LOCK")).is_ok());
}

#[test]
fn the_nth_call_of_a_kind_fails_once_or_for_good() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", b"");
    disk.fail(ScheduledFault::new(Fault::Io, CallKind::Write, 2));
    assert!(file.write_at(b"1", 0).is_ok());
    file.sync().unwrap();
    assert_eq!(file.write_at(b"2", 0).unwrap_err().raw_os_error(), Some(5));
    assert!(file.write_at(b"3", 0).is_ok());

    disk.fail(ScheduledFault::new(Fault::NoSpace, CallKind::Sync, 1).sticky());
    assert_eq!(file.sync().unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert!(file.sync().is_err());
    disk.mend();
    assert!(file.sync().is_ok());

    disk.fail(ScheduledFault::any(Fault::Io, 1).under("/b"));
    assert!(file.sync().is_ok());
    assert!(disk.open(Path::new("/b"), OpenMode::CreateNew).is_err());
    assert!(disk.open(Path::new("/b"), OpenMode::CreateNew).is_ok());
}

#[test]
fn a_short_write_leaves_half() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", b"");
    disk.fail(ScheduledFault::new(Fault::ShortWrite, CallKind::Write, 1));
    assert!(file.write_at(b"12345678", 0).is_err());
    assert_eq!(bytes(&disk, "/a").unwrap(), b"1234");
}

#[test]
fn i8_a_failed_sync_may_drop_what_a_later_sync_claims() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", &[1; 512]);
    file.write_at(&[2; 512], 0).unwrap();
    disk.fail(ScheduledFault::new(Fault::SyncDrops, CallKind::Sync, 1));
    assert!(file.sync().is_err());
    assert!(file.sync().is_ok(), "the kernel has forgotten");
    assert_eq!(bytes(&disk, "/a").unwrap(), [2; 512], "a reader still sees the bytes");
    assert_eq!(bytes(&disk.crash(Survival::All), "/a").unwrap(), [1; 512], "the platter has others");
    file.write_at(&[3; 512], 0).unwrap();
    file.sync().unwrap();
    assert_eq!(bytes(&disk.crash(Survival::Nothing), "/a").unwrap(), [3; 512], "written again, synced again");

    // An ordinary failure forgets nothing.
    file.write_at(&[4; 512], 0).unwrap();
    disk.fail(ScheduledFault::new(Fault::Io, CallKind::Sync, 1));
    assert!(file.sync().is_err());
    file.sync().unwrap();
    assert_eq!(bytes(&disk.crash(Survival::Nothing), "/a").unwrap(), [4; 512]);
}

#[test]
fn i9_a_full_disk_refuses_and_has_room_again_after_removal() {
    let disk = SimDisk::new();
    disk.set_capacity(Some(4 * 512));
    let file = durable(&disk, "/a", &[1; 500]);
    assert_eq!(disk.used_bytes(), 2 * 512 + 500);
    let error = file.write_at(&[2; 1000], 500).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.len().unwrap(), 2 * 512, "what fits is written");
    assert!(file.write_at(&[3; 500], 0).is_ok(), "bytes that are there can be written again");
    assert!(file.set_len(1 << 40).is_err());
    assert_eq!(
        disk.open(Path::new("/b"), OpenMode::CreateNew).unwrap_err().kind(),
        io::ErrorKind::StorageFull,
        "a name needs room too"
    );
    disk.remove(Path::new("/a")).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    assert!(disk.open(Path::new("/b"), OpenMode::CreateNew).is_err(), "an open file keeps its room");
    drop(file);
    assert!(disk.open(Path::new("/b"), OpenMode::CreateNew).is_ok(), "and gives it back as it is closed");
}

#[test]
fn after_the_power_is_cut_nothing_happens_any_more() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", b"old");
    disk.cut_power(Count::Syncs, 2);
    file.write_at(b"new", 0).unwrap();
    file.sync().unwrap();
    assert!(disk.is_powered());
    file.write_at(b"xxx", 0).unwrap();
    assert!(file.sync().is_err());
    assert!(!disk.is_powered());
    assert!(file.read_at(&mut [0], 0).is_err());
    assert!(disk.list(Path::new("/")).is_err() && disk.create_dir(Path::new("/d")).is_err());
    assert!(matches!(disk.lock(Path::new("/LOCK")), Err(LockError::Io(_))));
    let after = disk.crash(Survival::Nothing);
    assert!(after.is_powered());
    assert_eq!(bytes(&after, "/a").unwrap(), b"new");
}

#[test]
fn a_power_cut_at_the_nth_change_lets_the_ones_before_pass() {
    for nth in 1..=4 {
        let disk = SimDisk::new();
        disk.cut_power(Count::Changes, nth);
        let script = || -> io::Result<()> {
            let file = disk.open(Path::new("/a"), OpenMode::CreateNew)?;
            file.write_at(b"x", 0)?;
            file.sync()?;
            disk.sync_dir(Path::new("/"))
        };
        assert!(script().is_err());
        assert_eq!(disk.count(Count::Changes), nth);
        assert_eq!(disk.files().len(), usize::from(nth > 1));
    }
}

#[test]
fn a_bit_flips_and_an_old_copy_is_put_back_durably() {
    let disk = SimDisk::new();
    let file = durable(&disk, "/a", b"abc");
    let old = disk.bytes(Path::new("/a")).unwrap();
    disk.flip_bit(Path::new("/a"), 1, 0).unwrap();
    assert_eq!(bytes(&disk.crash(Survival::Nothing), "/a").unwrap(), b"acc");
    file.write_at(b"xyz", 0).unwrap();
    disk.flip_bit(Path::new("/a"), 2, 7).unwrap();
    assert_eq!(bytes(&disk.crash(Survival::Nothing), "/a").unwrap(), b"ac\xe3");
    assert_eq!(bytes(&disk, "/a").unwrap(), b"xy\xfa");
    assert!(disk.flip_bit(Path::new("/a"), 3, 0).is_err());
    disk.put(Path::new("/a"), &old[..2]).unwrap();
    disk.put(Path::new("/b"), &old).unwrap();
    let after = disk.crash(Survival::Nothing);
    assert_eq!(
        (bytes(&after, "/a").unwrap(), bytes(&after, "/b").unwrap()),
        (b"ab".to_vec(), b"abc".to_vec())
    );
}

/// A run that uses every part of a world.
fn run(seed: u64) -> ([u8; 32], Vec<u8>) {
    let (env, disk, clock) = Env::simulated(seed);
    env.disk.create_dir(Path::new("/v")).unwrap();
    let mut salt = [0; 700];
    env.random.fill(&mut salt);
    disk.fail(ScheduledFault::new(Fault::ShortWrite, CallKind::Write, 2));
    let file = env.disk.open(Path::new("/v/a"), OpenMode::CreateNew).unwrap();
    file.write_at(&salt, 0).unwrap();
    file.sync().unwrap();
    assert!(file.write_at(&salt, 300).is_err());
    clock.reboot(5);
    let next = disk.crash(Survival::Seeded(seed));
    let env = env.with_disk(next.clone());
    let left = env.disk.list(Path::new("/v")).unwrap();
    (next.trace_hash(), format!("{left:?} {:?} {:?}", env.clock.boot_id(), next.files()).into_bytes())
}

#[test]
fn one_seed_is_one_run() {
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed));
        assert_ne!(run(seed).0, run(seed + 1).0);
    }
}

#[test]
fn a_trace_tells_arguments_and_faults_apart() {
    let trace = |bytes: &[u8], fault: bool| {
        let disk = SimDisk::new();
        if fault {
            disk.fail(ScheduledFault::new(Fault::Io, CallKind::Sync, 1));
        }
        let synced = create(&disk, "/a", bytes).sync();
        assert_eq!(synced.is_err(), fault);
        disk.trace_hash()
    };
    let hashes =
        BTreeSet::from([trace(b"a", false), trace(b"b", false), trace(b"ab", false), trace(b"a", true)]);
    assert_eq!(hashes.len(), 4);
}

#[test]
fn a_disk_is_shared_by_threads() {
    let disk = Arc::new(SimDisk::new());
    std::thread::scope(|scope| {
        for n in 0..4_u8 {
            let disk = &disk;
            scope.spawn(move || {
                let file = create(disk, &format!("/{n}"), &[n; 1000]);
                file.sync().unwrap();
                disk.sync_dir(Path::new("/")).unwrap();
            });
        }
    });
    assert_eq!(disk.crash(Survival::Nothing).files().len(), 4);
}
