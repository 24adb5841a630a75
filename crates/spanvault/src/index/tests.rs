//! The index behind a vault on a real disk.
#![expect(clippy::disallowed_methods, reason = "a test damages files that the engine made")]

use std::path::Path;

use spanvault_types::key;

use crate::{IngestOptions, Receipt, SpanDraft, Vault, postings};

fn told(dir: &Path) -> Vec<Receipt> {
    let vault = Vault::open(dir).unwrap();
    let session = vault.session("run").unwrap();
    let receipts = (0..5).map(|n| session.record(SpanDraft::user(format!("Number {n}."))).unwrap()).collect();
    vault.close().unwrap();
    receipts
}

fn answers(vault: &Vault, receipts: &[Receipt]) {
    for receipt in receipts {
        assert_eq!(vault.recover(receipt.hash).unwrap(), receipt.bytes);
    }
}

/// Until the thread has the index open.
fn wait_for_index(vault: &Vault) {
    wait_until("no index was opened", || vault.index.applied().is_some());
}

fn wait_until(otherwise: &str, is_so: impl Fn() -> bool) {
    for _turn in 0..50_000_000_u64 {
        if is_so() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("{otherwise}");
}

#[test]
fn a_vault_answers_before_its_index_is_open_and_is_led_by_it_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vault");
    let receipts = told(&path);
    let vault = Vault::open(&path).unwrap();
    answers(&vault, &receipts);
    wait_for_index(&vault);
    for receipt in &receipts {
        let hints = vault.index.hints(&key::original(&receipt.hash), 4);
        assert_eq!(hints.iter().map(|(_key, at)| *at).collect::<Vec<_>>(), [receipt.span.0]);
    }
    answers(&vault, &receipts);
    vault.close().unwrap();
}

#[test]
fn i12_a_damaged_index_is_set_aside_and_made_again_behind_a_vault_that_answers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vault");
    let receipts = told(&path);
    std::fs::write(path.join("index/db"), vec![0xa5; 70_000]).unwrap();
    let vault = Vault::open(&path).unwrap();
    answers(&vault, &receipts);
    wait_for_index(&vault);
    assert!(path.join("index.aside-1").exists(), "what was wrong can be looked at");
    let mut last = None;
    vault.rebuild(&mut |progress| last = Some(progress)).unwrap();
    let last = last.unwrap();
    assert_eq!(
        (last.done, last.total),
        (2 * vault.revision().get(), 2 * vault.revision().get()),
        "index and postings"
    );
    answers(&vault, &receipts);
    vault.close().unwrap();
    assert!(path.join("index/closed").exists());
}

#[test]
fn a_vault_that_is_dropped_at_any_moment_can_be_opened_again_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vault");
    let receipts = told(&path);
    for turn in 0..6 {
        let vault = Vault::open(&path).unwrap();
        if turn % 2 == 1 {
            wait_for_index(&vault);
        }
        answers(&vault, &receipts);
    }
}

fn has_run(path: &Path) -> bool {
    let mut entries = std::fs::read_dir(path.join("postings")).into_iter().flatten().flatten();
    entries.any(|entry| entry.path().extension().is_some_and(|ending| ending == "run"))
}

/// A transcript of more spans than postings may lag behind.
fn long_transcript(path: &Path) -> std::path::PathBuf {
    let lines = (0..=postings::LAG_MAX).map(|n| format!("{{\"role\":\"user\",\"content\":\"{n}\"}}\n"));
    let file = path.join("long.jsonl");
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    file
}

#[test]
fn a_commit_does_not_wait_for_postings_and_they_come_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vault");
    let file = long_transcript(dir.path());
    let vault = Vault::open(&path).unwrap();
    wait_for_index(&vault);
    let turn = vault.index.shared.turn();
    let report = vault.ingest(&file, &IngestOptions::default(), &mut |_read, _len| {}).unwrap();
    assert!(report.spans_new > postings::LAG_MAX, "all is committed");
    assert!(!has_run(&path), "and the thread that writes runs has not had its turn");
    drop(turn);
    wait_until("no run was written behind the commits", || has_run(&path));
    vault.close().unwrap();
}

#[test]
fn a_process_that_adds_little_does_not_post_what_others_left_when_it_closes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vault");
    let vault = Vault::open(&path).unwrap();
    let session = vault.session("run").unwrap();
    for n in 0..20 {
        session.record(SpanDraft::user(format!("Number {n}."))).unwrap();
    }
    drop(vault);
    told(&path);
    assert!(!has_run(&path), "five spans were its own, and twenty were not");
    let vault = Vault::open(&path).unwrap();
    let session = vault.session("run").unwrap();
    for n in 20..60 {
        session.record(SpanDraft::user(format!("Number {n}."))).unwrap();
    }
    vault.close().unwrap();
    assert!(has_run(&path), "most of it was its own");
}
