//! A tier run or a reclaim run that is killed at any moment leaves each original whole or behind its tombstone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use spanvault::types::{ContentHash, Position};
use spanvault::{ErrorKind, SpanFilter, Vault, VerifyDepth};
use spanvault_testkit::{Auditor, reliability};

use crate::kill::rounds_of;

/// How many rounds, of three kills each.
fn rounds() -> u32 {
    u32::try_from(rounds_of(5, 34)).expect("few")
}

/// A transcript of its own session.
fn transcript(n: u32) -> String {
    (0..40)
        .map(|line| {
            let (kind, role) = if line % 2 == 0 { ("user", "user") } else { ("assistant", "assistant") };
            let words = format!("Ledger {n}, entry {line}: the sum is {}. ", line * 31 + n).repeat(8);
            format!(
                r#"{{"type":"{kind}","uuid":"{n}-{line}","sessionId":"session-{n}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":"{words}"}}}}"#,
            ) + "\n"
        })
        .collect()
}

/// A vault, and what it was given.
struct Given {
    vault: PathBuf,
    originals: BTreeMap<ContentHash, Vec<u8>>,
    held: Vec<ContentHash>,
    kills: u32,
    interrupted: u32,
}

impl Given {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spanvault-under-test"));
        command.arg("--vault").arg(&self.vault).args(args).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs a command to its end; refusals are an answer too. Gives how long it took.
    fn run(&self, args: &[&str]) -> Duration {
        let started = Instant::now();
        let status = self.command(args).status().unwrap();
        assert!(matches!(status.code(), Some(0 | 4)), "{args:?}: {status}");
        started.elapsed()
    }

    /// Runs a command, kills it after a while, and looks at what it left.
    fn kill(&mut self, args: &[&str], after: Duration) {
        let mut child = self.command(args).spawn().unwrap();
        std::thread::sleep(after);
        child.kill().unwrap();
        self.kills += 1;
        self.interrupted += u32::from(child.wait().unwrap().code().is_none());
        self.look(&format!("after {args:?} was killed at {after:?}"));
    }

    /// Takes in a new session; every third is held.
    fn record(&mut self, n: u32, dir: &Path) {
        let path = dir.join(format!("{n}.jsonl"));
        std::fs::write(&path, transcript(n)).unwrap();
        self.run(&["ingest", path.to_str().unwrap()]);
        let vault = Vault::open_read_only(&self.vault).unwrap();
        let filter = SpanFilter { session: Some(format!("session-{n}")), source: None };
        let mut hashes = Vec::new();
        vault
            .spans(&filter, &mut |span| {
                hashes.extend(span.hash);
                Ok(())
            })
            .unwrap();
        assert_eq!(hashes.len(), 40);
        for hash in &hashes {
            self.originals.insert(*hash, vault.recover(*hash).unwrap());
        }
        drop(vault);
        if n.is_multiple_of(3) {
            self.run(&["hold", "add", "--session", &format!("session-{n}")]);
            self.held.extend(hashes);
        }
    }

    /// Every original is whole or behind its tombstone, what is held is there, and the log is lawful. Gives how many
    /// originals are gone.
    fn look(&self, moment: &str) -> usize {
        let vault = Vault::open_read_only(&self.vault).unwrap();
        let mut gone = 0;
        for (hash, bytes) in &self.originals {
            match vault.recover(*hash) {
                Ok(found) => assert_eq!(&found, bytes, "{moment}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Insufficient, "{moment}: {error:?}");
                    assert!(error.tombstone().is_some(), "{moment}: {error:?}");
                    assert!(!self.held.contains(hash), "{moment}: {hash} is held and gone");
                    gone += 1;
                }
            }
        }
        let mut auditor = Auditor::default();
        vault
            .log(Position::new(1), &mut |entry| {
                auditor
                    .take(entry.at, &entry.event)
                    .unwrap_or_else(|unlawful| panic!("{moment}: {unlawful}"));
                Ok(())
            })
            .unwrap();
        auditor.finish().unwrap();
        let found = vault.verify(VerifyDepth::Data, &mut |_at| {}).unwrap();
        assert!(found.is_sound(), "{moment}: {found:?}");
        gone
    }
}

#[test]
fn i41_i44_a_run_killed_at_any_moment_leaves_each_original_whole_or_behind_its_tombstone() {
    let root = tempfile::tempdir().unwrap();
    let mut given = Given {
        vault: root.path().join("vault"),
        originals: BTreeMap::new(),
        held: Vec::new(),
        kills: 0,
        interrupted: 0,
    };
    given.record(0, root.path());
    given.run(&["policy", "set", "--assume", "none"]);
    given.run(&["retention", "set", "--keep-for", "1ms", "--grace", "1ms"]);
    let whole = given.run(&["reclaim"]);
    let (tier, reclaim) = (["tier", "run", "--hot-for", "0s"], ["reclaim"]);
    for n in 1..=rounds() {
        given.record(n, root.path());
        // Moments from "not even opened" to "long done", spread evenly and without a pattern.
        let moment = |salt: u32| whole * ((n * 67 + salt * 29) % 100) / 50;
        given.kill(&tier, moment(1));
        // The first run condemns, the second removes what was condemned, if they come that far.
        given.kill(&reclaim, moment(2));
        given.kill(&reclaim, moment(3));
    }
    given.run(&tier);
    given.run(&reclaim);
    given.run(&reclaim);
    let gone = given.look("after the last runs");
    assert_eq!(
        gone + given.held.len(),
        given.originals.len(),
        "what nothing keeps is gone, and nothing else"
    );
    assert!(given.interrupted > 0);
    println!("{} of {} runs were killed before their end", given.interrupted, given.kills);
    reliability("t5_freeing_kills", given.kills, 100);
}
