use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use spanvault_types::{ClockStamp, Counts, key};

use super::*;
use crate::Entry;

const BOOT: Option<BootId> = Some(BootId([1; 16]));
const NEXT_BOOT: Option<BootId> = Some(BootId([2; 16]));

/// A log: every tenth position is a commit, the others are events with one entry each.
struct Log {
    name: u8,
    end: u64,
    closed: Option<IndexClosed>,
}

impl Log {
    fn new(name: u8, end: u64) -> Self {
        Self { name, end, closed: None }
    }

    /// One whose end no index reaches.
    fn endless(name: u8) -> Self {
        Self::new(name, u64::MAX)
    }

    fn commit(&self, at: Position) -> Option<Commit> {
        let n = at.get();
        (n > 0 && n <= self.end && n.is_multiple_of(10)).then(|| Commit {
            first: Position::new(n - 9),
            durable: Position::ZERO,
            prev_chain: [0; 32],
            chain: *blake3::hash(&[&[self.name], &n.to_le_bytes()[..]].concat()).as_bytes(),
            counts: Counts { originals: n - n / 10, summaries: 0, citations: 0 },
            clock: ClockStamp::default(),
        })
    }

    fn entries(&self, after: u64) -> Vec<Entry> {
        let entry = |n| {
            let hash = blake3::hash(&[&[self.name], &u64::to_le_bytes(n)[..]].concat());
            (key::original_prefix(hash.as_bytes()), Position::new(n))
        };
        let mut entries: Vec<_> =
            (after + 1..=self.end).filter(|n| !n.is_multiple_of(10)).map(entry).collect();
        entries.sort();
        entries
    }

    fn applied(&self, boot_id: Option<BootId>) -> Applied {
        let commit = self.commit(Position::new(self.end)).unwrap();
        Applied { position: Position::new(self.end), counts: commit.counts, chain: commit.chain, boot_id }
    }

    fn open(&self, dir: &Path, boot_id: Option<BootId>) -> Opened {
        let view =
            LogView { end: Position::new(self.end), closed: self.closed, commit: &|at| self.commit(at) };
        open_trusted(dir, boot_id, &view).unwrap()
    }

    /// What a vault does after opening: it applies what is missing.
    fn follow(&self, index: &SledIndex, boot_id: Option<BootId>) -> Result<Vec<Entry>, IndexError> {
        index.apply(&self.entries(index.applied().position.get()), self.applied(boot_id))?;
        index.scan(b"", usize::MAX)
    }

    /// Opens, follows, and where the index fails meanwhile, builds it again. Says whether it had to be built.
    fn use_index(&self, dir: &Path, boot_id: Option<BootId>) -> bool {
        let Opened { index, trust } = self.open(dir, boot_id);
        let rebuilt = match self.follow(&index, boot_id) {
            Ok(found) => {
                assert_eq!(found, self.entries(0), "an index that is used without an error is right");
                !matches!(trust, Trust::Trusted)
            }
            Err(error) => {
                assert!(matches!(index.scan(b"", 1), Err(IndexError::Broken)), "after {error}");
                index.clear().unwrap();
                assert_eq!(self.follow(&index, boot_id).unwrap(), self.entries(0));
                true
            }
        };
        drop(index);
        rebuilt
    }

    fn close(&mut self, index: SledIndex) {
        let applied = Box::new(index).close().unwrap();
        self.closed = Some(IndexClosed { applied: applied.position, counts: applied.counts });
    }
}

struct Place {
    _dir: tempfile::TempDir,
    index: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = dir.path().join("index");
        Self { _dir: dir, index }
    }

    /// An index that was dropped but not closed, as by a process that ended in the middle.
    fn dropped(log: &Log, boot_id: Option<BootId>) -> Self {
        let place = Self::new();
        assert!(log.use_index(&place.index, boot_id));
        files::wait_until_released(&place.index).unwrap();
        place
    }

    fn closed(log: &mut Log, boot_id: Option<BootId>) -> Self {
        let place = Self::new();
        let Opened { index, .. } = log.open(&place.index, boot_id);
        log.follow(&index, boot_id).unwrap();
        log.close(index);
        place
    }

    fn neighbours(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.index.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn copy(from: &Path, to: &Path) {
    fs::DirBuilder::new().recursive(true).create(to).unwrap();
    files::make_private(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test plays the disk that goes bad")]
fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn flip(bytes: &mut [u8], at: usize, bit: usize) {
    bytes[at] ^= 1 << (bit % 8);
}

fn snapshots(dir: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("snap.")).collect()
}

fn why(trust: &Trust) -> &Distrust {
    if let Trust::SetAside { why, .. } = trust { why } else { panic!("{trust:?}") }
}

#[test]
fn the_first_opening_makes_an_empty_index() {
    let (place, log) = (Place::new(), Log::new(1, 50));
    let opened = log.open(&place.index, BOOT);
    assert!(matches!(opened.trust, Trust::Fresh));
    assert_eq!(opened.index.applied(), Applied::NOTHING);
    assert_eq!(log.follow(&opened.index, BOOT).unwrap(), log.entries(0));
}

#[test]
fn e2_within_the_boot_that_wrote_it_an_index_is_trusted_without_a_close() {
    let mut log = Log::new(1, 50);
    let place = Place::dropped(&log, BOOT);
    log.end = 80;
    let opened = log.open(&place.index, BOOT);
    assert!(matches!(opened.trust, Trust::Trusted));
    assert_eq!(opened.index.applied().position, Position::new(50));
    assert_eq!(log.follow(&opened.index, BOOT).unwrap(), log.entries(0), "what is missing is applied");
}

#[test]
fn e2_in_another_boot_it_is_trusted_only_after_a_clean_close() {
    let mut log = Log::new(1, 50);
    let place = Place::dropped(&log, BOOT);
    assert!(matches!(why(&log.open(&place.index, NEXT_BOOT).trust), Distrust::NotClosed));

    let place = Place::closed(&mut log, BOOT);
    let opened = log.open(&place.index, NEXT_BOOT);
    assert!(matches!(opened.trust, Trust::Trusted));
    assert_eq!(log.follow(&opened.index, NEXT_BOOT).unwrap(), log.entries(0));
    drop(opened);
    assert!(!log.use_index(&place.index, NEXT_BOOT), "and then within that boot");
}

#[test]
fn e2_a_close_counts_once() {
    // Opened after the close and left open by a power cut: sled may have written anything since.
    let mut log = Log::new(1, 50);
    let place = Place::closed(&mut log, BOOT);
    drop(log.open(&place.index, NEXT_BOOT));
    let third_boot = Some(BootId([3; 16]));
    assert!(matches!(why(&log.open(&place.index, third_boot).trust), Distrust::NotClosed));
}

#[test]
fn e2_a_close_that_the_log_does_not_note_does_not_count() {
    let mut log = Log::new(1, 50);
    let place = Place::closed(&mut log, BOOT);
    log.closed = None;
    assert!(matches!(why(&log.open(&place.index, NEXT_BOOT).trust), Distrust::NotClosed));
}

#[test]
fn e2_a_damaged_note_of_a_close_does_not_count() {
    for change in
        [|bytes: &mut Vec<u8>| bytes[20] ^= 1, Vec::clear, |bytes: &mut Vec<u8>| bytes.resize(5_000, 0)]
    {
        let mut log = Log::new(1, 50);
        let place = Place::closed(&mut log, BOOT);
        edit(&place.index.join("closed"), change);
        assert!(matches!(why(&log.open(&place.index, NEXT_BOOT).trust), Distrust::NotClosed));
    }
}

#[test]
fn i39_without_a_boot_id_no_two_openings_are_of_one_boot() {
    let mut log = Log::new(1, 50);
    let place = Place::dropped(&log, None);
    assert!(matches!(why(&log.open(&place.index, None).trust), Distrust::NotClosed));
    let place = Place::closed(&mut log, None);
    assert!(matches!(log.open(&place.index, None).trust, Trust::Trusted));
}

#[test]
fn e4_an_index_ahead_of_the_log_is_set_aside() {
    let mut log = Log::new(1, 50);
    let place = Place::dropped(&log, BOOT);
    log.end = 40;
    let opened = log.open(&place.index, BOOT);
    assert!(matches!(why(&opened.trust), Distrust::AheadOfLog { .. }));
    assert_eq!(log.follow(&opened.index, BOOT).unwrap(), log.entries(0));
}

#[test]
fn e4_the_index_of_another_vault_is_set_aside_however_alike_the_two_are() {
    let (mine, theirs) = (Log::new(1, 50), Log::new(2, 50));
    assert_eq!(mine.applied(BOOT).counts, theirs.applied(BOOT).counts);
    let (place, other) = (Place::dropped(&mine, BOOT), Place::dropped(&theirs, BOOT));
    fs::remove_dir_all(&place.index).unwrap();
    copy(&other.index, &place.index);
    let opened = mine.open(&place.index, BOOT);
    assert!(matches!(why(&opened.trust), Distrust::AnotherLog { .. }));
    assert_eq!(mine.follow(&opened.index, BOOT).unwrap(), mine.entries(0));
}

#[test]
fn e4_counts_that_differ_from_the_logs_are_seen() {
    let log = Log::new(1, 50);
    let place = Place::new();
    let index = SledIndex::create(&place.index).unwrap();
    let mut applied = log.applied(BOOT);
    applied.counts.originals -= 1;
    index.apply(&log.entries(0), applied).unwrap();
    drop(index);
    assert!(matches!(why(&log.open(&place.index, BOOT).trust), Distrust::AnotherLog { .. }));
}

#[test]
fn i12_an_older_copy_put_back_is_brought_up_to_date_or_set_aside() {
    let mut log = Log::new(1, 50);
    let place = Place::closed(&mut log, BOOT);
    let old = place.index.with_file_name("copy");
    copy(&place.index, &old);
    log.end = 90;
    let Opened { index, .. } = log.open(&place.index, BOOT);
    log.follow(&index, BOOT).unwrap();
    log.close(index);

    for (boot_id, rebuilt) in [(BOOT, false), (NEXT_BOOT, true)] {
        fs::remove_dir_all(&place.index).unwrap();
        copy(&old, &place.index);
        assert_eq!(log.use_index(&place.index, boot_id), rebuilt);
    }
}

#[test]
fn i12_what_is_set_aside_is_one_at_a_time() {
    let mut log = Log::new(1, 50);
    let place = Place::dropped(&log, BOOT);
    for _ in 0..3 {
        log.name += 1;
        let opened = log.open(&place.index, BOOT);
        let Trust::SetAside { aside, .. } = &opened.trust else { panic!("{:?}", opened.trust) };
        assert!(aside.is_dir());
        log.follow(&opened.index, BOOT).unwrap();
    }
    assert_eq!(place.neighbours(), ["index", "index.aside-3"]);
}

#[test]
fn i12_a_deleted_emptied_or_foreign_directory_is_built_again() {
    let log = Log::new(1, 50);
    let place = Place::dropped(&log, BOOT);
    fs::remove_dir_all(&place.index).unwrap();
    assert!(log.use_index(&place.index, BOOT));

    fs::remove_dir_all(&place.index).unwrap();
    fs::DirBuilder::new().create(&place.index).unwrap();
    assert!(log.use_index(&place.index, BOOT));

    for file in ["db", "conf"] {
        let place = Place::dropped(&log, BOOT);
        edit(&place.index.join(file), Vec::clear);
        log.use_index(&place.index, BOOT);
        edit(&place.index.join(file), |bytes| *bytes = b"not a database at all".repeat(40_000));
        log.use_index(&place.index, BOOT);
    }

    let place = Place::new();
    edit_new(&place.index);
    assert!(log.use_index(&place.index, BOOT), "a file in its place");
}

#[expect(clippy::disallowed_methods, reason = "a test puts something foreign there")]
fn edit_new(path: &Path) {
    fs::write(path, b"a file").unwrap();
}

#[test]
fn i82_a_link_in_place_of_the_index_is_not_followed() {
    let log = Log::new(1, 50);
    let (place, other) = (Place::new(), Place::dropped(&log, BOOT));
    std::os::unix::fs::symlink(&other.index, &place.index).unwrap();
    assert!(log.use_index(&place.index, BOOT));
    assert!(!place.index.is_symlink());
    assert!(!log.use_index(&other.index, BOOT), "the other one is as it was");
}

#[test]
fn i12_a_database_without_a_stamp_is_set_aside() {
    let log = Log::new(1, 50);
    let place = Place::new();
    let index = SledIndex::create(&place.index).unwrap();
    drop(index);
    assert!(matches!(why(&log.open(&place.index, BOOT).trust), Distrust::NoStamp));
}

/// Changes the database behind the index's back.
fn tamper(dir: &Path, change: impl FnOnce(&sled::Db)) {
    let db = sled::open(dir).unwrap();
    change(&db);
    db.flush().unwrap();
    drop(db);
    files::wait_until_released(dir).unwrap();
}

#[test]
fn e4_an_entry_that_sled_lost_without_a_word_is_missed() {
    let log = Log::new(1, 50);
    let place = Place::dropped(&log, BOOT);
    tamper(&place.index, |db| {
        db.pop_max().unwrap().unwrap();
    });
    let opened = log.open(&place.index, BOOT);
    assert!(matches!(why(&opened.trust), Distrust::Entries { expected: 45, found: 44 }));
    assert_eq!(log.follow(&opened.index, BOOT).unwrap(), log.entries(0));
}

#[test]
fn entries_of_a_batch_that_was_cut_off_are_applied_again() {
    let mut log = Log::new(1, 50);
    let place = Place::dropped(&log, BOOT);
    log.end = 70;
    let (key, at) = log.entries(60).remove(0);
    tamper(&place.index, |db| {
        let bytes = at.get().to_be_bytes();
        db.insert([&key[..], &bytes].concat(), &bytes).unwrap();
    });
    assert!(!log.use_index(&place.index, BOOT));
    assert!(!log.use_index(&place.index, BOOT), "and counted once");
}

#[test]
fn i12_an_entry_that_this_crate_did_not_write_is_an_error() {
    let log = Log::new(1, 50);
    for (key, value) in [(&b"\x01short"[..], &b""[..]), (b"\x01 and a position", b"another")] {
        let place = Place::dropped(&log, BOOT);
        tamper(&place.index, |db| {
            db.insert(key, value).unwrap();
        });
        assert!(log.use_index(&place.index, BOOT));
    }
}

#[test]
fn e2_a_process_that_is_killed_leaves_an_index_that_can_be_followed_on() {
    let place = Place::new();
    for round in 0..4 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "trust::tests::follow_a_log_until_killed"])
            .env("SPANVAULT_TEST_INDEX", &place.index)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        let reached =
            lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("past "))).unwrap().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let Opened { index, trust } = Log::endless(1).open(&place.index, BOOT);
        assert!(matches!(trust, Trust::Trusted), "round {round}, {reached}: {trust:?}");
        // What is there is right, and what was not handed over yet is applied again.
        let log = Log::new(1, index.applied().position.get() + 30);
        assert_eq!(log.follow(&index, BOOT).unwrap(), log.entries(0));
    }
}

#[test]
#[ignore = "the other process of e2_a_process_that_is_killed_leaves_an_index_that_can_be_followed_on"]
fn follow_a_log_until_killed() {
    let dir = PathBuf::from(std::env::var_os("SPANVAULT_TEST_INDEX").unwrap());
    let index = Log::endless(1).open(&dir, BOOT).index;
    for n in 0.. {
        let followed = index.applied().position.get();
        let log = Log::new(1, followed + 40);
        index.apply(&log.entries(followed), log.applied(BOOT)).unwrap();
        if n == 20 {
            index.hand_over().unwrap();
        }
        if n == 60 {
            println!("past {}", log.end);
        }
    }
}

/// Damages a copy of `dir` and uses it; says whether it had to be built again.
fn after_damage(log: &Log, dir: &Path, damage: impl FnOnce(&Path)) -> bool {
    let place = Place::new();
    copy(dir, &place.index);
    damage(&place.index);
    log.use_index(&place.index, BOOT)
}

#[test]
fn i12_a_database_cut_anywhere_gives_right_answers_or_is_built_again() {
    let log = Log::new(1, 400);
    let place = Place::dropped(&log, BOOT);
    let len = fs::metadata(place.index.join("db")).unwrap().len();
    let rebuilt = (0..30)
        .filter(|n| {
            let keep = usize::try_from(len * n / 30).unwrap();
            after_damage(&log, &place.index, |dir| edit(&dir.join("db"), |bytes| bytes.truncate(keep)))
        })
        .count();
    assert!(rebuilt > 0, "some cuts hurt");
}

#[test]
fn i12_a_database_with_any_bit_flipped_gives_right_answers_or_is_built_again() {
    let log = Log::new(1, 400);
    // One that was never opened again, and one whose snapshot covers its data.
    for openings in 0..2 {
        let place = Place::dropped(&log, BOOT);
        for _ in 0..openings {
            assert!(!log.use_index(&place.index, BOOT));
            files::wait_until_released(&place.index).unwrap();
        }
        let used = Cell::new(0);
        edit(&place.index.join("db"), |bytes| used.set(bytes.iter().rposition(|byte| *byte != 0).unwrap()));
        let rebuilt = (0..40)
            .filter(|n| {
                let at = used.get() * n / 40;
                after_damage(&log, &place.index, |dir| edit(&dir.join("db"), |bytes| flip(bytes, at, *n)))
            })
            .count();
        assert!(rebuilt > 0, "some flips hurt");
    }
}

#[test]
fn i12_a_corrupted_snapshot_gives_right_answers_or_is_built_again() {
    let log = Log::new(1, 400);
    let place = Place::dropped(&log, BOOT);
    assert!(!log.use_index(&place.index, BOOT));
    files::wait_until_released(&place.index).unwrap();
    assert!(!snapshots(&place.index).is_empty());
    for n in 0..16 {
        after_damage(&log, &place.index, |dir| {
            for snapshot in snapshots(dir) {
                edit(&snapshot, |bytes| {
                    let at = bytes.len() * n / 16;
                    flip(bytes, at, n);
                });
            }
        });
    }
    for keep in [0, 1, 12, 13] {
        after_damage(&log, &place.index, |dir| {
            for snapshot in snapshots(dir) {
                edit(&snapshot, |bytes| bytes.truncate(keep));
            }
        });
    }
}

#[test]
fn an_index_in_use_is_left_as_it_is() {
    let log = Log::new(1, 50);
    let place = Place::new();
    let opened = log.open(&place.index, BOOT);
    let view = LogView { end: Position::new(50), closed: None, commit: &|at| log.commit(at) };
    assert!(matches!(open_trusted(&place.index, BOOT, &view), Err(IndexError::InUse { .. })));
    assert_eq!(log.follow(&opened.index, BOOT).unwrap(), log.entries(0));
    assert_eq!(place.neighbours(), ["index"]);
}
