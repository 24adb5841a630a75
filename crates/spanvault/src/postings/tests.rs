//! What is looked up and what is read give the same answers.

#![expect(clippy::disallowed_methods, reason = "files are damaged and set aside behind the vault's back")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use spanvault_types::Position;

use crate::ask::{Answer, Query};
use crate::{IngestOptions, SpanDraft, Vault};

const QUERIES: [&str; 26] = [
    r#"{"calls":{"tool":"write_file"},"get":"count"}"#,
    r#"{"calls":{"tool":["write_file","run"]},"get":"spans"}"#,
    r#"{"calls":{"tool":"never"},"get":"count"}"#,
    r#"{"calls":{"tool":"write_file","path":{"glob":"/etc/**"}}}"#,
    r#"{"calls":{"tool":"write_file","path":{"glob":"/usr/**"}}}"#,
    r#"{"calls":{"path":{"glob":"/etc/**"}},"get":"paths"}"#,
    r#"{"calls":{"effect":"mutates","path":{"prefix":"/usr/"}},"get":"count"}"#,
    r#"{"calls":{"effect":["mutates","external"]},"get":"count"}"#,
    r#"{"calls":{"effect":"opaque"},"get":"count"}"#,
    r#"{"calls":{"tool":"write_file"},"nth":3,"get":"result"}"#,
    r#"{"calls":{"tool":"write_file"},"nth":-1,"get":"args"}"#,
    r#"{"calls":{"tool":"run","fate":"failed"},"get":"count"}"#,
    r#"{"calls":{"tool":"run","args":{"command":"bash deploy-7.sh"}},"get":"result"}"#,
    r#"{"calls":{"any_arg":"order-7"},"get":"result.number"}"#,
    r#"{"calls":{"any_arg":"order-8"},"get":"result"}"#,
    r#"{"calls":{"args_exactly":{"id":"order-9"}},"get":"fate"}"#,
    r#"{"in":{"session":"run-2"},"calls":{"tool":"write_file"},"get":"spans"}"#,
    r#"{"in":{"session":"run-9"},"calls":{"effect":"mutates"},"get":"count"}"#,
    r#"{"negatives":{"tool":"get_order"},"get":"count"}"#,
    r#"{"order":[{"calls":{"tool":"write_file"},"nth":1},{"calls":{"any_arg":"order-7"},"nth":1}]}"#,
    r#"{"calls":{"tool":"get_order"},"get":"exists"}"#,
    r#"{"calls":{"tool":"ask_by_order"},"nth":2,"get":"result"}"#,
    r#"{"text":{"contains":"order-7"},"get":"spans"}"#,
    r#"{"text":{"regex":"(?i)ALL of it (is|was) done"},"get":"count"}"#,
    r#"{"text":{"contains":"never said"},"get":"count"}"#,
    r#"{"order":[{"text":{"contains":"order-2"},"nth":1},{"text":{"contains":"late"},"nth":1}]}"#,
];

/// Sessions in which something is written, asked for, deployed and answered, one of them without ids.
fn record(vault: &Vault) {
    for n in 0..12 {
        let session = vault.session(&format!("run-{n}")).expect("a session");
        let record = |draft: SpanDraft| session.record(draft).expect("it is recorded");
        record(SpanDraft::user(format!("Please see to order-{n}.")));
        record(SpanDraft::tool_call_with_id(
            "w",
            "write_file",
            json!({"path": format!("/etc/app/{n}.conf"), "content": "x"}),
        ));
        record(SpanDraft::tool_result("w", "written"));
        record(SpanDraft::tool_call_with_id("g", "get_order", json!({"id": format!("order-{n}")})));
        record(SpanDraft::tool_result("g", if n % 5 == 3 { String::new() } else { format!("total {n}") }));
        record(SpanDraft::tool_call_with_id("d", "run", json!({"command": format!("bash deploy-{n}.sh")})));
        record(SpanDraft::tool_result("d", "done"));
        if n % 4 == 1 {
            record(SpanDraft::tool_call("ask_by_order", json!({"n": n})));
            record(SpanDraft::tool_result("", format!("answer {n}")));
        }
        record(SpanDraft::assistant("All of it is done."));
    }
}

fn ask(dir: &Path) -> Vec<Answer> {
    asked_of(&Vault::open_read_only(dir).expect("it opens"))
}

fn asked_of(vault: &Vault) -> Vec<Answer> {
    QUERIES
        .iter()
        .map(|query| vault.ask(&Query::from_json(query).expect("a query")).expect("an answer"))
        .collect()
}

fn told(answer: &Answer) -> Value {
    let mut told = serde_json::to_value(answer).expect("it is JSON");
    told["coverage"].as_object_mut().expect("coverage").remove("ruled_out");
    told
}

/// Answers with postings and without; gives those with postings.
fn answers_agree(dir: &Path) -> Vec<Answer> {
    let looked_up = ask(dir);
    let (postings, aside) = (dir.join("postings"), dir.join("aside"));
    std::fs::rename(&postings, &aside).expect("postings are there");
    let read = ask(dir);
    std::fs::rename(&aside, &postings).expect("they go back");
    assert!(read.iter().all(|answer| answer.coverage.ruled_out == 0));
    for ((looked_up, read), query) in looked_up.iter().zip(&read).zip(QUERIES) {
        assert_eq!(told(looked_up), told(read), "{query}");
    }
    looked_up
}

#[test]
fn look_ups_give_the_answers_that_reading_gives() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("vault");
    let vault = Vault::open(&path).expect("it opens");
    record(&vault);
    vault.close().expect("it closes");
    let answers = answers_agree(&path);
    let ruled_out = |n: usize| answers[n].coverage.ruled_out;
    assert_eq!(ruled_out(2), answers[2].coverage.originals, "a tool that was never called: nothing is read");
    assert!(ruled_out(13) >= 100, "one order of twelve: {}", ruled_out(13));
    assert!(answers.iter().all(|answer| answer.coverage.originals <= 126));
}

#[test]
fn what_is_recorded_behind_the_postings_is_read() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("vault");
    let vault = Vault::open(&path).expect("it opens");
    record(&vault);
    vault.close().expect("it closes");
    let vault = Vault::open(&path).expect("it opens");
    for name in ["run-2", "run-99"] {
        let session = vault.session(name).expect("a session");
        let call = SpanDraft::tool_call_with_id("late", "write_file", json!({"path": "/usr/late"}));
        session.record(call).expect("it is recorded");
    }
    drop(vault);
    let answers = answers_agree(&path);
    assert_eq!(answers[0].value, json!(14));
    assert!(answers[0].coverage.ruled_out > 0);
}

#[test]
fn a_reader_that_stays_open_is_told_the_same_whatever_becomes_of_the_runs_and_a_writer_what_is_there_now() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("vault");
    let told_all = |answers: &[Answer]| answers.iter().map(told).collect::<Vec<_>>();
    let record_all = || {
        let vault = Vault::open(&path).expect("it opens");
        record(&vault);
        vault.close().expect("it closes");
    };
    record_all();
    let reader = Vault::open_read_only(&path).expect("it opens");
    let first = told_all(&asked_of(&reader));
    // So often that runs are merged away behind it.
    for _round in 0..4 {
        record_all();
        assert_eq!(told_all(&asked_of(&reader)), first);
    }
    let writer = Vault::open(&path).expect("it opens");
    assert_eq!(told_all(&asked_of(&writer)), told_all(&ask(&path)));
    record(&writer);
    assert_eq!(told_all(&asked_of(&writer)), told_all(&ask(&path)));
    writer.rebuild(&mut |_progress| {}).expect("it is made again");
    assert_eq!(told_all(&asked_of(&writer)), told_all(&ask(&path)));
    assert_eq!(told_all(&asked_of(&reader)), first);
}

#[test]
fn a_damaged_run_is_not_believed() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("vault");
    let vault = Vault::open(&path).expect("it opens");
    record(&vault);
    vault.close().expect("it closes");
    let run =
        std::fs::read_dir(path.join("postings")).expect("runs").next().expect("one").expect("it").path();
    let whole = std::fs::read(&run).expect("it reads");
    for at in (8..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&run, damaged).expect("it writes");
        answers_agree(&path);
    }
}

#[test]
fn a_line_that_was_torn_and_is_whole_now_is_answered_from_what_it_became() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, file) = (dir.path().join("vault"), dir.path().join("run.jsonl"));
    let line = |n: u32, kind: &str, content: Value| {
        let message = json!({"role": kind, "content": content});
        format!(
            "{}\n",
            json!({"type": kind, "uuid": format!("u{n}"), "sessionId": "run-2", "timestamp": "2026-01-01T00:00:00Z",
                   "message": message})
        )
    };
    let call = |id: &str, path: &str| json!([{"type": "tool_use", "id": id, "name": "write_file", "input": {"path": path}}]);
    let whole = [
        line(1, "user", json!("Begin.")),
        line(2, "assistant", call("1", "/etc/one")),
        line(3, "assistant", call("2", "/usr/two")),
    ]
    .concat();
    let vault = Vault::open(&path).expect("it opens");
    vault.session("run-9").expect("a session without spans, which a question names");
    drop(vault);
    for state in [&whole[..whole.len() - 40], &whole] {
        std::fs::write(&file, state).expect("it writes");
        let vault = Vault::open(&path).expect("it opens");
        let options = IngestOptions::default();
        vault.ingest(&file, &options, &mut |_read, _len| {}).expect("it is ingested");
        vault.close().expect("it closes");
        answers_agree(&path);
    }
    let answers = answers_agree(&path);
    assert_eq!(answers[0].value, json!(2));
    assert!(answers[0].coverage.complete, "the torn line is nothing that is missing");
}

#[test]
fn rebuilding_makes_the_postings_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("vault");
    let vault = Vault::open(&path).expect("it opens");
    record(&vault);
    drop(vault);
    assert!(!path.join("postings").exists());
    let vault = Vault::open(&path).expect("it opens");
    vault.rebuild(&mut |_progress| {}).expect("it is rebuilt");
    drop(vault);
    assert!(answers_agree(&path)[2].coverage.ruled_out > 0);
}

#[test]
fn a_stretch_that_is_given_up_while_it_is_read_counts_for_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let vault = Vault::open(dir.path().join("vault")).expect("it opens");
    record(&vault);
    let poster = super::Poster::of(&vault);
    let read = |stop| super::build::read(&poster, Position::new(1), 2, &AtomicBool::new(stop));
    assert!(read(true).is_none());
    assert_eq!(read(false).expect("a stretch").last, vault.revision());
}
