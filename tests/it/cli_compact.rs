//! Compaction from the command line: summarizers from outside, dry runs, and what stays as it was.

use serde_json::Value;

use crate::cli_harness::Sandbox;
use crate::cli_story::{SESSION, story, told};

fn last_position(sandbox: &Sandbox) -> u64 {
    sandbox.json(&["log"]).last().unwrap()["at"].as_u64().unwrap()
}

#[test]
fn a_dry_run_changes_and_logs_nothing_and_says_what_would_be_done() {
    let sandbox = told();
    let before = last_position(&sandbox);
    let dry = sandbox.json_one(&["compact", "--dry-run"]);
    assert_eq!(last_position(&sandbox), before);
    assert_eq!(dry["summaries"][0]["summary"], Value::Null);
    let done = sandbox.json_one(&["compact"]);
    for field in ["candidates", "permitted", "refused", "reasons", "tokens_after"] {
        assert_eq!(dry[field], done[field], "{field}");
    }
}

#[test]
fn compacting_again_changes_nothing_and_says_so() {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    let context = sandbox.ok(&["context", SESSION]).out;
    let again = sandbox.run(&["compact"]);
    assert_eq!(again.code, 4, "something was refused and nothing permitted");
    assert!(again.out.contains("none: the context stays as it is"), "{}", again.out);
    assert_eq!(sandbox.ok(&["context", SESSION]).out, context);
    assert_eq!(sandbox.json(&["log"]).iter().filter(|entry| entry["event"] == "summarised").count(), 1);
}

#[test]
fn a_file_is_ingested_and_its_sessions_compacted_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write("story.jsonl", story());
    let line = sandbox.json_one(&["compact", "story.jsonl"]);
    assert_eq!(line["session"], SESSION);
    assert_eq!(line["summaries"].as_array().unwrap().len(), 1);
    let ran = sandbox.run(&["compact", "story.jsonl"]);
    assert!(ran.out.contains("session story"), "a known file names its sessions too: {}", ran.out);
}

#[test]
fn a_command_writes_the_summary_from_the_text_on_its_standard_input() {
    let sandbox = told();
    let command =
        "cat > seen; echo 'Ticket INV-2025-08-44719: wrote /etc/app/conf.yaml, then read all parts.'";
    let line = sandbox.json_one(&["compact", "--summarizer", command]);
    let summary = line["summaries"][0]["summary"].as_str().unwrap().to_owned();
    let seen = sandbox.ok(&["expand", &summary]).out;
    assert!(seen.contains("written by     command"), "{seen}");
    assert!(sandbox.ok(&["context", SESSION]).out.contains("wrote /etc/app/conf.yaml, then read all parts."));
    let text = std::fs::read_to_string(sandbox.path("seen")).unwrap();
    assert!(text.contains("legacy_port") && text.contains("8443"), "{text}");
}

#[test]
fn a_summarizer_that_fails_hangs_or_rambles_leaves_all_as_it_was() {
    let cases = [
        ("exit 3", 1),
        ("echo out of quota >&2; exit 1", 1),
        ("sleep 600", 1),
        ("no-such-program-anywhere", 1),
        ("printf '\\377'", 1),
        // What it writes is refused by admission: an answer, not an error.
        ("true", 4),
        ("echo Hello, how can I help you today?", 4),
    ];
    for (command, code) in cases {
        let sandbox = told();
        let before = sandbox.ok(&["context", SESSION]).out;
        let ran = sandbox.run(&["compact", "--summarizer", command, "--summarizer-timeout", "500ms"]);
        assert_eq!(ran.code, code, "{command}: {}{}", ran.out, ran.err);
        assert_eq!(sandbox.ok(&["context", SESSION]).out, before, "{command}");
        assert_eq!(sandbox.json(&["log"]).iter().filter(|entry| entry["event"] == "summarised").count(), 0);
        if code == 1 {
            assert!(ran.err.contains("summarizer"), "{command}: {}", ran.err);
        }
    }
}

#[test]
fn what_a_failed_summarizer_said_is_told() {
    let sandbox = told();
    let ran = sandbox.run(&["compact", "--summarizer", "echo out of quota >&2; exit 1"]);
    assert!(ran.err.contains("out of quota"), "{}", ran.err);
}

#[test]
fn a_summary_is_taken_from_a_file_where_there_is_one_range() {
    let sandbox = told();
    sandbox.write(
        "summary.txt",
        "For INV-2025-08-44719 the file /etc/app/conf.yaml was written with port 8443.",
    );
    let line = sandbox.json_one(&["compact", "--session", SESSION, "--summary", "summary.txt"]);
    assert_eq!(line["summaries"].as_array().unwrap().len(), 1);
    let missing = told().run(&["compact", "--summary", "nothing.txt"]);
    assert_eq!(missing.code, 3, "{}", missing.err);
}

#[test]
fn keep_last_says_how_much_stays_verbatim() {
    let sandbox = told();
    let all = sandbox.json_one(&["compact", "--keep-last", "1000", "--dry-run"]);
    assert_eq!(all["candidates"], 0);
    let few = sandbox.json_one(&["compact", "--keep-last", "2", "--dry-run"]);
    assert_eq!(few["candidates"].as_u64().unwrap(), story().lines().count() as u64 - 2);
}
