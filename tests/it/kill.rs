//! A writer that is killed at any moment loses nothing that it acknowledged and leaves no half compaction.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use spanvault::{ContextItem, SpanFilter, Vault};
use spanvault_testkit::reliability;

/// How many times a writer of each kind is killed; `SPANVAULT_RELIABILITY=1` for the number of continuous integration.
fn rounds() -> u64 {
    rounds_of(12, 50)
}

/// The small number of a run by the way, the full one, or with `SPANVAULT_LONG=1` twenty times that.
pub(crate) fn rounds_of(small: u64, full: u64) -> u64 {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|set| set == "1");
    if is_set("SPANVAULT_LONG") {
        full * 20
    } else if is_set("SPANVAULT_RELIABILITY") {
        full
    } else {
        small
    }
}

/// A transcript of its own session, large enough for a compaction.
fn transcript(n: u64) -> String {
    (0..60_u64)
        .map(|line| {
            let (kind, role) = if line % 2 == 0 { ("user", "user") } else { ("assistant", "assistant") };
            format!(
                r#"{{"type":"{kind}","uuid":"{n}-{line}","sessionId":"session-{n}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":"Entry {line} of ledger /srv/ledger/{n}-{line}.csv says {}."}}}}"#,
                line * 31 + n
            ) + "\n"
        })
        .collect()
}

/// Runs a command and kills it after a while; says whether it had acknowledged before.
fn run_and_kill(vault: &Path, args: &[&str], after: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_spanvault-under-test"))
        .arg("--vault")
        .arg(vault)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap().success()
}

/// How long an undisturbed run takes on this machine as it is now.
fn time_of_a_run(root: &Path) -> Duration {
    let path = root.join("first.jsonl");
    std::fs::write(&path, transcript(9_999)).unwrap();
    let started = std::time::Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_spanvault-under-test"))
        .arg("--vault")
        .arg(root.join("first"))
        .arg("ingest")
        .arg(&path)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    started.elapsed()
}

fn restored(vault: &Vault, path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let sink = &mut |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    vault.restore(&path.to_string_lossy(), sink).unwrap();
    bytes
}

#[test]
fn i1_i6_a_writer_killed_at_any_moment_loses_nothing_acknowledged_and_leaves_no_half_compaction() {
    let root = tempfile::tempdir().unwrap();
    let vault_dir = root.path().join("vault");
    let mut acknowledged: Vec<(PathBuf, String)> = Vec::new();
    let (mut killed, mut compacted) = (0, 0);
    let mut whole = time_of_a_run(root.path());
    for n in 0..rounds() {
        let text = transcript(n);
        let path = root.path().join(format!("{n}.jsonl"));
        std::fs::write(&path, &text).unwrap();
        // Moments from "not even opened" to "long done", spread evenly and without a pattern.
        let moment = |salt: u64| whole * u32::try_from((n * 67 + salt * 29) % 100).unwrap() / 40;
        let (ingest_killed_at, compact_killed_at) = (moment(1), moment(2));
        if run_and_kill(&vault_dir, &["ingest", &path.to_string_lossy()], ingest_killed_at) {
            acknowledged.push((path, text));
            // The machine has become faster or slower than it was: moments that all lie on one side prove nothing.
            whole = whole.min(ingest_killed_at);
        } else {
            killed += 1;
            whole = whole.max(ingest_killed_at);
        }
        run_and_kill(&vault_dir, &["compact"], compact_killed_at);
        if !vault_dir.join("FORMAT").exists() {
            continue;
        }
        let vault = Vault::open_read_only(&vault_dir).unwrap();
        for (path, text) in &acknowledged {
            assert_eq!(restored(&vault, path), text.as_bytes(), "{}", path.display());
        }
        for session in vault.sessions().unwrap() {
            let (mut shown, mut covered) = (0, 0);
            for item in session.context().unwrap() {
                match item {
                    ContextItem::Span { .. } => shown += 1,
                    ContextItem::Summary { covers, .. } => covered += covers,
                    ContextItem::Checkpoint { .. } | ContextItem::Gone { .. } => panic!("neither was made"),
                }
            }
            compacted += usize::from(covered > 0);
            let mut spans = 0;
            let filter = SpanFilter { session: Some(session.name().to_owned()), source: None };
            vault
                .spans(&filter, &mut |_span| {
                    spans += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(shown + covered, spans, "each span stands once: verbatim or behind a summary");
        }
        assert!(vault.verify(spanvault::VerifyDepth::Data, &mut |_at| {}).unwrap().is_sound());
    }
    println!(
        "{killed} of {} writers were killed before they acknowledged; {compacted} compactions seen",
        rounds()
    );
    assert!(killed > 0 && !acknowledged.is_empty() && compacted > 0);
    reliability("t5_kills", 2 * rounds(), 100);
}
