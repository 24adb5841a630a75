//! Bad input: a clear error or a count, the right exit code, and nothing lost.

use std::io::Write as _;

use crate::cli_harness::Sandbox;
use crate::cli_story::story;

/// Ingests `content` and gives it again byte for byte, with the report of the ingest.
fn survives(content: &[u8]) -> serde_json::Value {
    let sandbox = Sandbox::new();
    let file = sandbox.write("input.jsonl", content);
    let report = sandbox.json_one(&["ingest", file.to_str().unwrap()]);
    let again = sandbox.path("again");
    sandbox.ok(&["restore", "input.jsonl", "-o", again.to_str().unwrap()]);
    assert!(bytes_of(&again) == content, "restored as something else");
    let once_more = sandbox.json_one(&["ingest", file.to_str().unwrap()]);
    assert_eq!(once_more["spans_new"], 0);
    assert_eq!(once_more["bytes_new"], 0);
    sandbox.ok(&["verify", "--read-data"]);
    report
}

fn bytes_of(path: &std::path::Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn quarantined(report: &serde_json::Value) -> Vec<u64> {
    report["quarantined"].as_array().unwrap().iter().map(|record| record["index"].as_u64().unwrap()).collect()
}

#[test]
fn a_file_of_no_known_format_is_2_and_records_nothing() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("notes.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    let ran = sandbox.run(&["--json", "ingest", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let error = ran.error();
    assert_eq!(error["kind"], "Invalid");
    assert!(error["error"].as_str().unwrap().contains("notes.bin"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("claude_code"), "{error}");
    assert_eq!(sandbox.json(&["sessions"]).len(), 0);
}

#[test]
fn a_format_that_nobody_knows_is_2_and_the_known_ones_are_listed() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("story.jsonl", story());
    let ran = sandbox.run(&["--json", "ingest", file.to_str().unwrap(), "--format", "carrier_pigeon"]);
    assert_eq!(ran.code, 2);
    assert!(ran.error()["hint"].as_str().unwrap().contains("claude_code"));
}

#[test]
fn an_empty_file_is_2_and_says_so() {
    for content in ["", " \n\n"] {
        let sandbox = Sandbox::new();
        let file = sandbox.write("empty.jsonl", content);
        let ran = sandbox.run(&["ingest", file.to_str().unwrap()]);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains("empty"), "{}", ran.err);
    }
}

#[test]
fn a_bad_file_among_good_ones_fails_and_the_good_ones_are_recorded() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", "");
    sandbox.write("b.jsonl", story());
    let ran = sandbox.run(&["ingest", "a.jsonl", "b.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("a.jsonl") && ran.out.contains("b.jsonl"), "{}{}", ran.out, ran.err);
    assert_eq!(sandbox.json(&["sessions"]).len(), 1);
}

#[test]
fn a_directory_lists_and_skips_what_is_no_transcript() {
    let sandbox = Sandbox::new();
    sandbox.write("runs/notes.txt", "words");
    sandbox.write("runs/deep/story.jsonl", story());
    sandbox.write("runs/empty.jsonl", "");
    let dir = sandbox.path("runs");
    let lines = sandbox.json(&["ingest", dir.to_str().unwrap()]);
    let shown: Vec<(String, bool)> = lines
        .iter()
        .map(|line| {
            let source = line["source"].as_str().unwrap().strip_prefix(dir.to_str().unwrap()).unwrap();
            (source.to_owned(), line["skipped"].is_null())
        })
        .collect();
    let expected = [("/deep/story.jsonl", true), ("/empty.jsonl", false), ("/notes.txt", false)];
    assert_eq!(shown, expected.map(|(source, recorded)| (source.to_owned(), recorded)));
}

#[test]
fn a_truncated_last_line_is_kept_and_completed_by_the_grown_file() {
    let whole = story();
    let cut = &whole.as_bytes()[..whole.len() - 40];
    assert_eq!(quarantined(&survives(cut)).len(), 1);

    let sandbox = Sandbox::new();
    let file = sandbox.write("input.jsonl", cut);
    sandbox.ok(&["ingest", file.to_str().unwrap()]);
    sandbox.write("input.jsonl", &whole);
    let grown = sandbox.json_one(&["ingest", file.to_str().unwrap()]);
    assert_eq!(grown["spans_new"], 1, "{grown}");
    assert_eq!(quarantined(&grown).len(), 0, "{grown}");
    assert_eq!(sandbox.ok(&["restore", "input.jsonl"]).out, whole);
}

#[test]
fn invalid_utf_8_is_kept_byte_for_byte() {
    let mut content = story().into_bytes();
    content
        .extend_from_slice(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"caf\xe9\"}}\n");
    let report = survives(&content);
    assert_eq!(quarantined(&report).len(), 1, "{report}");
}

#[test]
fn a_lone_surrogate_escape_is_kept_as_it_stands() {
    let line = r#"{"type":"user","uuid":"lone","sessionId":"story","message":{"role":"user","content":"cut \ud83d off"}}"#;
    let mut content = story();
    content.push_str(line);
    content.push('\n');
    let report = survives(content.as_bytes());
    let sandbox = Sandbox::new();
    let file = sandbox.write("input.jsonl", &content);
    sandbox.ok(&["ingest", file.to_str().unwrap()]);
    let span = sandbox.json(&["spans"]).pop().unwrap();
    assert_eq!(sandbox.ok(&["recover", span["hash"].as_str().unwrap()]).out, line, "{report}");
}

#[test]
fn two_objects_glued_on_a_line_are_two_spans_and_one_file() {
    let story = story();
    let glued = story.replacen("}\n{", "}{", 1);
    assert_ne!(story, glued);
    let report = survives(glued.as_bytes());
    assert_eq!(report["spans_new"], story.lines().count());
}

/// The documents of other formats in docs/examples, with their names.
fn documents() -> Vec<(&'static str, Vec<u8>)> {
    ["mini-swe.traj.json", "tau-bench-runs.json"]
        .into_iter()
        .map(|name| {
            (
                name,
                bytes_of(
                    &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples").join(name),
                ),
            )
        })
        .collect()
}

#[test]
fn documents_of_other_formats_survive_the_same_damage() {
    for (name, whole) in documents() {
        assert_eq!(quarantined(&survives(&whole)).len(), 0, "{name}");

        let cut = &whole[..whole.len() - 40];
        assert_eq!(quarantined(&survives(cut)).len(), 1, "{name} cut off");

        let (before, after) = inside_the_first_content(&whole);
        let invalid = [before, b"caf\xe9", after].concat();
        assert_eq!(quarantined(&survives(&invalid)).len(), 1, "{name} with invalid UTF-8");

        let surrogate = [before, br"\ud83d", after].concat();
        assert_eq!(quarantined(&survives(&surrogate)).len(), 0, "{name} with a lone surrogate");
    }
}

/// A document in two, between them the start of its first text.
fn inside_the_first_content(document: &[u8]) -> (&[u8], &[u8]) {
    let text = std::str::from_utf8(document).unwrap();
    let content = text.find("\"content\"").unwrap() + "\"content\"".len();
    let start = content + text[content..].find('"').unwrap() + 1;
    document.split_at(start)
}

#[test]
fn what_no_format_knows_is_kept_as_it_is_and_answers_nothing() {
    for (name, whole) in documents() {
        let sandbox = Sandbox::new();
        let glued = [whole.trim_ascii_end(), whole.as_slice()].concat();
        let file = sandbox.write(name, &glued);
        let line = sandbox.json_one(&["ingest", file.to_str().unwrap()]);
        assert_eq!(line["format"], "generic_text", "{name}");
        assert_eq!(quarantined(&line).len(), 0, "nothing is wrong with it");
        sandbox.ok(&["restore", file.to_str().unwrap(), "-o", sandbox.path("back").to_str().unwrap()]);
        assert!(std::fs::read(sandbox.path("back")).unwrap() == glued, "{name}");
        let ran = sandbox.run(&["--json", "ask", "--query", r#"{"calls":{},"get":"count"}"#]);
        assert_eq!(ran.code, 5, "a call may stand in what nobody can read: {}", ran.out);
    }
}

#[test]
fn a_binary_file_is_refused_with_the_way_out() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0");
    let ran = sandbox.run(&["--json", "ingest", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let error = ran.error();
    assert!(error["error"].as_str().unwrap().ends_with("it is no text, and of no known format"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("--format generic_text"), "{error}");
    let line = sandbox.json_one(&["ingest", "--format", "generic_text", file.to_str().unwrap()]);
    assert_eq!(line["spans_new"], 1);
}

/// 40 MB by default; `SPANVAULT_LINE_MB=200` makes the line as long as that.
#[test]
fn a_very_long_line_is_kept_in_bounded_memory() {
    let megabytes = std::env::var("SPANVAULT_LINE_MB").map_or(40, |text| text.parse().unwrap());
    let sandbox = Sandbox::new();
    let path = sandbox.write("long.jsonl", story());
    {
        let mut file = append(&path);
        file.write_all(
            br#"{"type":"user","uuid":"long","sessionId":"story","message":{"role":"user","content":""#,
        )
        .unwrap();
        let block = vec![b'x'; 1 << 20];
        for _ in 0..megabytes {
            file.write_all(&block).unwrap();
        }
        file.write_all(b"\"}}\n").unwrap();
    }
    let report = sandbox.json_one(&["ingest", path.to_str().unwrap()]);
    assert_eq!(quarantined(&report).len(), 1, "it is too large to be parsed, and says so");
    let again = sandbox.path("again");
    sandbox.ok(&["restore", "long.jsonl", "-o", again.to_str().unwrap()]);
    assert!(bytes_of(&again) == bytes_of(&path), "restored as something else");
    let answer = sandbox.run(&["--json", "ask", "--tool", "Write", "--count"]);
    assert_eq!(answer.code, 5, "what was not parsed may hold a call");
    assert_eq!(answer.json()[0]["coverage"]["missing"][0]["reason"], "too_large");
}

fn append(path: &std::path::Path) -> std::io::BufWriter<std::fs::File> {
    std::io::BufWriter::new(std::fs::OpenOptions::new().append(true).open(path).unwrap())
}

#[test]
fn a_prefix_of_several_hashes_is_2_and_says_which() {
    let sandbox = Sandbox::new();
    // Eight digits are 32 bits: enough messages are made until two of them share their first digits.
    let (first, second) = colliding();
    let file = sandbox.write("chat.jsonl", format!("{first}\n{second}\n"));
    sandbox.ok(&["ingest", file.to_str().unwrap()]);
    let hashes: Vec<String> =
        sandbox.json(&["spans"]).iter().map(|span| span["hash"].as_str().unwrap().to_owned()).collect();
    assert_eq!(hashes[0][..8], hashes[1][..8]);
    let ran = sandbox.run(&["--json", "recover", &hashes[0][..8]]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    let error = ran.error();
    assert!(error["hint"].as_str().unwrap().contains(&hashes[1]), "{error}");
    assert_eq!(sandbox.ok(&["recover", &hashes[1]]).out, second);
}

/// Two records of a Claude Code transcript whose hashes start with the same eight digits.
fn colliding() -> (String, String) {
    let mut seen = std::collections::HashMap::new();
    for n in 0_u32.. {
        let record = format!(
            r#"{{"type":"user","uuid":"u{n}","sessionId":"story","message":{{"role":"user","content":"number {n}"}}}}"#
        );
        let hash = spanvault::types::ContentHash::of(record.as_bytes());
        let start: [u8; 4] = hash.as_bytes()[..4].try_into().unwrap();
        if let Some(first) = seen.insert(start, record.clone()) {
            return (first, record);
        }
    }
    unreachable!("32 bits collide sooner")
}

#[test]
fn a_vault_of_a_newer_version_is_refused_and_not_touched() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("story.jsonl", story());
    sandbox.ok(&["ingest", file.to_str().unwrap()]);
    let stamp = sandbox.vault().join("FORMAT");
    let newer = newer_stamp(&bytes_of(&stamp));
    sandbox.write("vault/FORMAT", &newer);
    for args in [&["sessions"][..], &["ingest", "story.jsonl"], &["verify"]] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("newer"), "{}", ran.err);
    }
    assert_eq!(bytes_of(&stamp), newer);
}

#[test]
fn a_directory_that_cannot_be_written_is_told_and_loses_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("story.jsonl", story());
    // A file stands where the directory would have to be: that holds for every user, the superuser too.
    sandbox.write("vault", "in the way");
    let ran = sandbox.run(&["--json", "ingest", "story.jsonl"]);
    assert!(matches!(ran.code, 1 | 2), "{}: {}", ran.code, ran.err);
    assert!(ran.error()["error"].as_str().unwrap().contains("vault"), "{}", ran.err);
    assert_eq!(bytes_of(&sandbox.path("vault")), b"in the way");
}

#[test]
fn a_directory_that_holds_something_else_is_not_taken_for_a_vault() {
    let sandbox = Sandbox::new();
    sandbox.write("story.jsonl", story());
    sandbox.write("vault/thesis.tex", "years of work");
    let ran = sandbox.run(&["ingest", "story.jsonl"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert_eq!(bytes_of(&sandbox.path("vault/thesis.tex")), b"years of work");
}

/// The stamp that the program after this one would write.
fn newer_stamp(stamp: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(stamp.to_vec()).unwrap();
    let newer = text.replace("format 1 ", "format 2 ");
    assert_ne!(text, newer);
    newer.into_bytes()
}
