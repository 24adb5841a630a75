//! `ingest --follow`: what is written to files arrives while the program stays.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::cli_harness::Sandbox;
use crate::cli_story::story;

#[test]
fn what_is_written_to_a_file_or_added_to_a_directory_is_ingested_while_the_program_stays() {
    let sandbox = Sandbox::new();
    let story = story();
    let lines: Vec<&str> = story.lines().collect();
    let file = sandbox.write("runs/a.jsonl", lines[..10].join("\n") + "\n");
    let runs = sandbox.path("runs");
    let mut program = sandbox
        .command(&["--json", "ingest", "--follow", runs.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(program.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&told.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["spans_new"], 10);
    let mut grown = OpenOptions::new().append(true).open(&file).unwrap();
    grown.write_all((lines[10..].join("\n") + "\n").as_bytes()).unwrap();
    let tail = next();
    assert_eq!(tail["spans_known"], 10);
    assert_eq!(tail["spans_new"].as_u64().unwrap(), lines.len() as u64 - 10);
    // A file that is written anew is a new state of it.
    sandbox.write("runs/a.jsonl", lines[5..].join("\n") + "\n");
    assert_eq!(next()["spans_new"], 0);
    sandbox.write("runs/b.txt", "no transcript\n");
    assert!(next()["skipped"].is_string());
    // It is stopped as any program is, at any moment.
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(sandbox.json(&["spans", "--source", "a.jsonl"]).len(), lines.len() - 5);
    sandbox.ok(&["verify", "--read-data"]);
}
