//! T6: the power goes while the program writes to a real file system; what was acknowledged is there afterwards.
//!
//! A file system on a loop device is shut down without its journal (`FS_IOC_SHUTDOWN`): what no sync had made durable is gone,
//! as after a power cut. The writer is stopped first, because a sync in flight while a file system is shut down may
//! return as if it had worked, which no power cut does.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use spanvault::Vault;
use spanvault::types::ContentHash;
use spanvault_testkit::reliability;

use crate::file_system::{FileSystem, unmount};
use crate::outside::{self, Fate, May, fate, lines, run};

/// Rounds on one file system, one after another.
const ROUNDS_OF_A_DISK: u32 = 25;
/// `_IOR('X', 125, u32)`, and the flag that leaves the journal unwritten. Perl is part of every Debian, and so spares the
/// tests unsafe code.
const SHUT_DOWN: &str = r#"
    open(my $root, "<", $ARGV[0]) or die "open: $!";
    my $without_journal = pack("L", 2);
    ioctl($root, 0x8004587d, $without_journal) or die "ioctl: $!";
"#;

/// How many file systems; `SPANVAULT_LONG=1` for five hundred rounds.
fn disks() -> u32 {
    if std::env::var_os("SPANVAULT_LONG").is_some() { 20 } else { 1 }
}

/// A file system of its own whose power can be cut; gone with the value.
struct Disk {
    kind: FileSystem,
    root: tempfile::TempDir,
    is_mounted: bool,
    is_cut: bool,
}

impl Disk {
    /// Makes one, or says why this machine cannot.
    fn make(kind: FileSystem) -> Result<Self, String> {
        let root = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut disk = Self { kind, root, is_mounted: false, is_cut: false };
        std::fs::create_dir(disk.mount_point()).map_err(|error| error.to_string())?;
        let image = std::fs::File::create(disk.image()).map_err(|error| error.to_string())?;
        image.set_len(256 << 20).map_err(|error| error.to_string())?;
        kind.make(&disk.image())?;
        run("perl", &["-e", "1"])?;
        disk.mount()?;
        Ok(disk)
    }

    fn image(&self) -> PathBuf {
        self.root.path().join("disk.img")
    }

    fn mount_point(&self) -> PathBuf {
        self.root.path().join("disk")
    }

    fn mount(&mut self) -> Result<(), String> {
        self.kind.mount(&self.image(), &self.mount_point())?;
        self.is_mounted = true;
        self.is_cut = false;
        Ok(())
    }

    fn unmount(&mut self) -> Result<(), String> {
        unmount(&self.mount_point())?;
        self.is_mounted = false;
        Ok(())
    }

    /// The power goes, if it has not gone: from now on nothing reaches the disk.
    fn cut(&mut self) {
        if self.is_cut {
            return;
        }
        run("perl", &["-e", SHUT_DOWN, &self.mount_point().to_string_lossy()]).unwrap();
        self.is_cut = true;
    }

    /// The power is back.
    fn restart(&mut self) {
        self.unmount().unwrap();
        self.mount().unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.is_mounted {
            let unmounted = self.unmount();
            assert!(unmounted.is_ok() || std::thread::panicking(), "{unmounted:?}");
        }
    }
}

/// A vault on that file system, and outside of it what it acknowledged.
struct Ledger {
    disk: Disk,
    transcripts: tempfile::TempDir,
    originals: BTreeMap<ContentHash, (Vec<u8>, May)>,
    sessions: u32,
    /// The next command of the story.
    step: u32,
    interrupted: u32,
}

impl Ledger {
    fn vault(&self) -> PathBuf {
        self.disk.mount_point().join("vault")
    }

    /// Runs a command until it ends or `until` comes; then it is stopped, and `false` is given with it stopped still.
    fn command(&mut self, args: &[&str], until: Instant) -> bool {
        let mut child = Command::new(env!("CARGO_BIN_EXE_spanvault-under-test"))
            .arg("--vault")
            .arg(self.vault())
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut is_cut = false;
        while child.try_wait().unwrap().is_none() {
            if Instant::now() >= until {
                let pid = Pid::from_child(&child);
                kill_process(pid, Signal::STOP).unwrap();
                let how = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                waitid(WaitId::Pid(pid), how).unwrap();
                self.disk.cut();
                child.kill().unwrap();
                is_cut = true;
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended = child.wait_with_output().unwrap();
        if is_cut && ended.status.code().is_none() {
            self.interrupted += 1;
            return false;
        }
        // Refusals are an answer too.
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(matches!(ended.status.code(), Some(0 | 4)), "{args:?}: {}: {said}", ended.status);
        true
    }

    /// Goes on with the story until the power is cut.
    fn live(&mut self, until: Instant) {
        while Instant::now() < until {
            let step = self.step % 6;
            self.step += 1;
            match step {
                0 | 1 => {
                    self.sessions += 1;
                    self.record(self.sessions, until);
                }
                2 => drop(self.command(&["compact"], until)),
                3 => drop(self.command(&["tier", "run", "--hot-for", "0s"], until)),
                // The first run condemns, the second removes.
                _ => drop(self.command(&["reclaim"], until)),
            }
        }
        // It may have come between two commands.
        self.disk.cut();
    }

    /// Takes in a new session: first its rule, where it has one, so that nothing is due before its hold.
    fn record(&mut self, session: u32, until: Instant) {
        let (lines, name) = (lines(session), format!("session-{session}"));
        let path = self.transcripts.path().join(format!("{session}.jsonl"));
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        if !self.command(&["ingest", &path.to_string_lossy()], until) {
            return;
        }
        let fate = fate(session);
        let may = if fate == Fate::Goes { May::Go } else { May::Stay };
        for line in lines {
            self.originals.insert(ContentHash::of(line.as_bytes()), (line.into_bytes(), may));
        }
        let is_held = fate != Fate::Held
            || Instant::now() >= until
            || self.command(&["hold", "add", "--session", &name], until);
        if !is_held {
            return;
        }
        if fate != Fate::Stays && Instant::now() < until {
            let rule = ["retention", "set", "--session", &name, "--keep-for", "1ms", "--grace", "1ms"];
            self.command(&rule, until);
        }
    }

    /// Looks at the vault; gives how many originals are gone.
    fn look(&self, moment: &str) -> usize {
        let vault = Vault::open(self.vault()).unwrap_or_else(|error| panic!("{moment}: {error:?}"));
        let looked = outside::look(&vault, &self.originals);
        looked.unwrap_or_else(|broken| panic!("{moment}: {broken}")).0
    }
}

/// Says that the test did not run, also where the output of tests is kept back.
fn skip(why: &str) {
    writeln!(std::io::stdout(), "SKIPPED t6_power_cuts: {why}").unwrap();
}

#[test]
fn i1_i10_what_was_acknowledged_survives_power_cuts_on_a_real_file_system() {
    if std::env::var_os("SPANVAULT_ROOT_TESTS").is_none_or(|set| set != "1") {
        return skip("a file system of its own needs root; set SPANVAULT_ROOT_TESTS=1");
    }
    let kind = FileSystem::asked_for();
    if !kind.can_be_cut() {
        return skip(&format!("{} cannot be shut down without its journal", kind.name()));
    }
    let (mut cuts, mut interrupted, mut gone, mut there) = (0, 0, 0, 0);
    for _disk in 0..disks() {
        let disk = match Disk::make(kind) {
            Ok(disk) => disk,
            Err(why) => return skip(&format!("no file system on a loop device: {why}")),
        };
        let mut ledger = Ledger {
            disk,
            transcripts: tempfile::tempdir().unwrap(),
            originals: BTreeMap::new(),
            sessions: 0,
            step: 0,
            interrupted: 0,
        };
        let started = Instant::now();
        let never = started + Duration::from_secs(600);
        assert!(ledger.command(&["policy", "set", "--assume", "none"], never));
        ledger.record(0, never);
        // Long enough for a few commands; spread without a pattern.
        let whole = started.elapsed().min(Duration::from_millis(500));
        for round in 0..ROUNDS_OF_A_DISK {
            let moment = whole * (10 + round * 67 % 100) / 30;
            ledger.live(Instant::now() + moment);
            ledger.disk.restart();
            gone = ledger.look(&format!("round {round}, cut after {moment:?}"));
            cuts += 1;
        }
        interrupted += ledger.interrupted;
        there += ledger.originals.len() - gone;
        assert!(gone > 0, "nothing was ever reclaimed");
    }
    println!(
        "{}: {interrupted} of {cuts} cuts hit a command; {there} originals there, {gone} of the last disk gone",
        kind.name()
    );
    assert!(interrupted > 0 && there > 0);
    reliability("t6_power_cuts", cuts, ROUNDS_OF_A_DISK);
}
