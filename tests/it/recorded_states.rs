//! T7: what a power cut could leave of a real block device, at any write, is opened; what was acknowledged is there.
//!
//! A vault lives on a file system over a device that records every write and flush (`recorded_disk.rs`): the real binary
//! ingests, holds, compacts, demotes and reclaims, and an agent in this process records span by span. Afterwards crash
//! states are made: everything before the last flush, and of the sectors written since, all, none, or any. Each is mounted,
//! so that the file system goes through its journal, and opened as after a new boot. Its log has to be a beginning of the whole log
//! that reaches as far as anything was acknowledged (I7). Sled does not survive this by itself; the index does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use spanvault::types::key::{self, Key};
use spanvault::types::{ContentHash, Event, Position};
use spanvault::{Options, SpanDraft, Vault};
use spanvault_env::{BootId, Clock, RealClock};
use spanvault_testkit::reliability;

use crate::file_system::{FileSystem, unmount};
use crate::outside::{Fate, May, fate, lines, look, run};
use crate::recorded_disk::{RecordedDisk, Recording, Unflushed};

/// How often the story is told: what stays, what is held and what goes, summarised, demoted, condemned and removed.
const CHAPTERS: u32 = 3;
/// So small that the agent seals segments.
const SEGMENT_BYTES: u64 = 24 << 10;

/// How many crash states; `SPANVAULT_LONG=1` for three thousand.
fn states() -> usize {
    if std::env::var_os("SPANVAULT_LONG").is_some() { 3_000 } else { 100 }
}

/// The clocks of this machine after another boot.
#[derive(Debug)]
struct NextBoot(RealClock);

impl Clock for NextBoot {
    fn wall_ms(&self) -> u64 {
        self.0.wall_ms()
    }

    fn boot_ms(&self) -> u64 {
        self.0.elapsed_us() / 1_000 + 1_000
    }

    fn boot_id(&self) -> Option<BootId> {
        self.0.boot_id().map(|BootId(id)| BootId(id.map(|byte| !byte)))
    }
}

/// A mounted file system; unmounted with the value.
struct Mounted(PathBuf);

impl Mounted {
    fn mount(kind: FileSystem, image: &Path, at: &Path) -> Result<Self, String> {
        kind.mount(image, at)?;
        Ok(Self(at.to_owned()))
    }

    fn vault(&self) -> PathBuf {
        self.0.join("vault")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = unmount(&self.0);
        assert!(unmounted.is_ok() || std::thread::panicking(), "{unmounted:?}");
    }
}

/// An acknowledged original.
struct Known {
    bytes: Vec<u8>,
    /// How much the device had done when it was acknowledged.
    acknowledged: usize,
    /// How much it had done before anything could make the original due; `None`: nothing ever did.
    due: Option<usize>,
}

/// The story of a vault, and outside of it what it acknowledged when.
struct Story {
    disk: RecordedDisk,
    mounted: Mounted,
    transcripts: PathBuf,
    originals: BTreeMap<ContentHash, Known>,
    /// How far the log had come when a call returned, by how much the device had done by then.
    revisions: Vec<(usize, Position)>,
}

impl Story {
    fn command(&mut self, args: &[&str]) {
        let ended = Command::new(env!("CARGO_BIN_EXE_spanvault-under-test"))
            .arg("--vault")
            .arg(self.mounted.vault())
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        // Refusals are an answer too.
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(matches!(ended.status.code(), Some(0 | 4)), "{args:?}: {}: {said}", ended.status);
        let acknowledged = self.disk.ops();
        let revision = Vault::open_read_only(self.mounted.vault()).unwrap().revision();
        self.revisions.push((acknowledged, revision));
    }

    fn ingest(&mut self, session: u32) {
        let (lines, name) = (lines(session), format!("session-{session}"));
        let path = self.transcripts.join(format!("{session}.jsonl"));
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        self.command(&["ingest", &path.to_string_lossy()]);
        let acknowledged = self.disk.ops();
        let hashes: Vec<_> = lines.iter().map(|line| ContentHash::of(line.as_bytes())).collect();
        for (hash, line) in hashes.iter().zip(lines) {
            self.originals.insert(*hash, Known { bytes: line.into_bytes(), acknowledged, due: None });
        }
        let fate = fate(session);
        if fate == Fate::Held {
            self.command(&["hold", "add", "--session", &name]);
        }
        if fate != Fate::Stays {
            let due = self.disk.ops();
            let rule = ["retention", "set", "--session", &name, "--keep-for", "1ms", "--grace", "1ms"];
            self.command(&rule);
            for hash in hashes.iter().filter(|_hash| fate == Fate::Goes) {
                self.originals.entry(*hash).and_modify(|known| known.due = Some(due));
            }
        }
    }

    /// An agent records span by span, each acknowledged before the next.
    fn record(&mut self, chapter: u32) {
        let mut options = Options::default();
        options.segment_bytes = SEGMENT_BYTES;
        let vault = Vault::open_with(self.mounted.vault(), options).unwrap();
        let session = vault.session("agent").unwrap();
        for n in 0..12 {
            let words = format!("Chapter {chapter}, step {n}: the sum is {}. ", n * 17 + chapter);
            let receipt = session.record(SpanDraft::assistant(words.repeat(60))).unwrap();
            let acknowledged = self.disk.ops();
            let known = Known { bytes: receipt.bytes, acknowledged, due: None };
            self.originals.insert(receipt.hash, known);
            self.revisions.push((acknowledged, vault.revision()));
        }
        // Every second time the agent just ends, and its index was not closed.
        if chapter.is_multiple_of(2) {
            vault.close().unwrap();
        }
    }

    fn tell(&mut self) {
        self.command(&["policy", "set", "--assume", "none"]);
        for chapter in 0..CHAPTERS {
            for n in 0..4 {
                self.ingest(chapter * 4 + n);
            }
            self.command(&["compact"]);
            self.record(chapter);
            self.command(&["tier", "run", "--hot-for", "0s"]);
            // The first run condemns, the second removes.
            self.command(&["reclaim"]);
            self.command(&["reclaim"]);
        }
    }
}

/// What was recorded, what was acknowledged, and the log as it ended.
struct Told {
    recording: Recording,
    originals: BTreeMap<ContentHash, Known>,
    revisions: Vec<(usize, Position)>,
    log: Vec<(Position, Event)>,
}

/// Tells the story on a new device, or says why this machine cannot.
fn tell(kind: FileSystem, root: &Path) -> Result<Told, String> {
    let (served, mount_point, transcripts) =
        (root.join("served"), root.join("disk"), root.join("transcripts"));
    for dir in [&served, &mount_point, &transcripts] {
        std::fs::create_dir(dir).map_err(|error| error.to_string())?;
    }
    let disk = RecordedDisk::serve(&served, kind.device_bytes())?;
    let file = disk.file();
    kind.make(&file)?;
    let mounted = Mounted::mount(kind, &file, &mount_point)?;
    run("sync", &["-f", &mount_point.to_string_lossy()])?;
    disk.record();
    let mut story = Story { disk, mounted, transcripts, originals: BTreeMap::new(), revisions: Vec::new() };
    story.tell();
    let vault = Vault::open_read_only(story.mounted.vault()).unwrap();
    let (originals, everywhere) = (story.originals, usize::MAX);
    let (gone, log) = look(&vault, &at_cut(&originals, everywhere)).unwrap();
    assert!(gone > 0, "nothing was ever reclaimed");
    drop(vault);
    drop(story.mounted);
    Ok(Told { recording: story.disk.end(), originals, revisions: story.revisions, log })
}

/// What had been acknowledged when the device had done so much, and whether it may be gone.
fn at_cut(originals: &BTreeMap<ContentHash, Known>, cut: usize) -> BTreeMap<ContentHash, (Vec<u8>, May)> {
    let acknowledged = originals.iter().filter(|(_hash, known)| known.acknowledged <= cut);
    let may = |known: &Known| if known.due.is_some_and(|due| due < cut) { May::Go } else { May::Stay };
    acknowledged.map(|(hash, known)| (*hash, (known.bytes.clone(), may(known)))).collect()
}

/// The pairs of key and position that an index of this log has, without those of contents.
fn pairs(log: &[(Position, Event)]) -> BTreeSet<(Key, Position)> {
    let keys = |(at, event): &(Position, Event)| {
        let at = *at;
        let indexed = |key: Key| key::indexed(&key).map(<[u8]>::to_vec);
        key::keys_of(event, at, None).into_iter().filter_map(indexed).map(move |key| (key, at))
    };
    log.iter().flat_map(keys).collect()
}

/// What sled finds in a directory by itself; `None` where it fails, or has not even the stamp of the index.
fn in_sled(dir: &Path) -> Option<BTreeSet<(Key, Position)>> {
    let contents = table_of(&key::original(&ContentHash::of(b"")));
    let read = || {
        let db = sled::Config::new().path(dir).flush_every_ms(None).open().ok()?;
        let (mut found, mut has_stamp) = (BTreeSet::new(), false);
        for item in db.iter() {
            let (key, value) = item.ok()?;
            let Some((key, at)) = key.split_last_chunk::<8>().filter(|(_key, at)| value == at[..]) else {
                has_stamp = true;
                continue;
            };
            if table_of(key) != contents {
                found.insert((key.to_vec(), Position::new(u64::from_be_bytes(*at))));
            }
        }
        has_stamp.then_some(found)
    };
    std::panic::catch_unwind(read).ok().flatten()
}

fn table_of(key: &[u8]) -> Option<u8> {
    key.first().copied()
}

fn copy_flat(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_flat(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What became of the index in a crash state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Index {
    /// Whether what sled has of it by itself is all that the log has.
    is_whole: bool,
    /// It was made anew.
    is_new: bool,
}

/// Opens a crash state after a new boot, and looks at everything.
fn reopen(told: &Told, state: &Mounted, cut: usize, scratch: &Path) -> Result<Index, String> {
    let says = |error: spanvault::Error| format!("{error:?}");
    let index = state.vault().join("index");
    let mut in_sled_alone = None;
    if index.exists() {
        copy_flat(&index, scratch);
        in_sled_alone = in_sled(scratch);
        std::fs::remove_dir_all(scratch).unwrap();
    }
    let mut options = Options::default();
    options.env.clock = Arc::new(NextBoot(RealClock::new()));
    let acknowledged = at_cut(&told.originals, cut);
    let reached = told.revisions.iter().filter(|(at, _revision)| *at <= cut).map(|(_at, revision)| *revision);
    let reached = reached.max().unwrap_or(Position::new(0));
    let is_beginning = |log: &[(Position, Event)]| {
        if log.len() > told.log.len() || *log != told.log[..log.len()] {
            return Err("its log is no beginning of the whole log".to_owned());
        }
        let end = log.last().map_or(Position::new(0), |(at, _event)| *at);
        if end < reached { Err(format!("it ends at {end}, and {reached} was acknowledged")) } else { Ok(()) }
    };
    if reached > Position::new(0) {
        // First somebody who changes nothing.
        let reader = Vault::open_read_only_with(state.vault(), options.clone()).map_err(says)?;
        is_beginning(&look(&reader, &acknowledged)?.1)?;
    }
    let vault = Vault::open_with(state.vault(), options).map_err(says)?;
    for _turn in 0..2_000 {
        if vault.health().map_err(says)?.index_gap.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    if vault.health().map_err(says)?.index_gap.is_none() {
        return Err("there is no index".to_owned());
    }
    let log = look(&vault, &acknowledged)?.1;
    is_beginning(&log)?;
    let is_whole = in_sled_alone == Some(pairs(&log));
    let aside = std::fs::read_dir(state.vault())
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("index.aside-"));
    // It goes on.
    let receipt = vault.session("after").and_then(|session| session.record(SpanDraft::user("Go on.")));
    let receipt = receipt.map_err(says)?;
    if vault.recover(receipt.hash).map_err(says)? != receipt.bytes {
        return Err("what was recorded afterwards has other bytes".to_owned());
    }
    let log = look(&vault, &acknowledged)?.1;
    vault.close().map_err(says)?;
    if in_sled(&index) != Some(pairs(&log)) {
        return Err("the index that it left is not that of its log".to_owned());
    }
    Ok(Index { is_whole, is_new: aside })
}

/// Says that the test did not run, also where the output of tests is kept back.
fn skip(why: &str) {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "SKIPPED t7_recorded_states: {why}").unwrap();
}

#[test]
fn i1_i7_i12_whatever_a_power_cut_leaves_of_a_recorded_device_has_all_that_was_acknowledged() {
    if std::env::var_os("SPANVAULT_ROOT_TESTS").is_none_or(|set| set != "1") {
        return skip("a file system of its own needs root; set SPANVAULT_ROOT_TESTS=1");
    }
    let kind = FileSystem::asked_for();
    let root = tempfile::tempdir().unwrap();
    let told = match tell(kind, root.path()) {
        Ok(told) => told,
        Err(why) => return skip(&format!("no recorded device: {why}")),
    };
    let (image, at, scratch) =
        (root.path().join("state.img"), root.path().join("state"), root.path().join("sled"));
    std::fs::create_dir(&at).unwrap();
    let ops = told.recording.ops();
    println!(
        "{}: {ops} writes and flushes, {} flushes, {} originals",
        kind.name(),
        told.recording.flushes(),
        told.originals.len()
    );
    let mut lost = 0;
    let mut state = |cut: usize, unflushed, lies| {
        lost += told.recording.leave(cut, unflushed, lies, &image);
        Mounted::mount(kind, &image, &at).and_then(|state| reopen(&told, &state, cut, &scratch))
    };
    let (mut short, mut renewed) = (0, 0);
    for n in 0..states() {
        let cut = (n + 1) * ops / states();
        let unflushed = match n % 4 {
            0 => Unflushed::Nothing,
            1 => Unflushed::All,
            _ => Unflushed::Drawn(n as u64),
        };
        let index = state(cut, unflushed, 0)
            .unwrap_or_else(|broken| panic!("cut after {cut} of {ops}, {unflushed:?}: {broken}"));
        short += usize::from(!index.is_whole);
        renewed += usize::from(index.is_new);
    }
    // A disk that lies is not claimed to be survived, and has to be found here: otherwise this suite could not fail.
    let lied = (0..20).filter(|n| state((n + 1) * ops / 20, Unflushed::Nothing, 8).is_err()).count();
    println!("{lost} sectors lost; {renewed} indexes made anew; {lied} of 20 lies of the disk found");
    assert!(lost > 0 && lied > 0 && short > 0);
    reliability("t7_recorded_states", states(), 100);
    // `reopen` fails where the index that a vault leaves is not that of its log.
    reliability("t7_index_whole_where_sled_alone_was_not", short, short);
}
