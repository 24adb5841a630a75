//! Exit codes and errors: 0 ok, 1 failure, 2 usage, 3 not found, 4 refused, 5 insufficient, 6 corrupt, 7 busy.

use spanvault::Vault;

use crate::cli_harness::Sandbox;
use crate::cli_story::{story, told};

#[test]
fn an_error_for_people_names_the_next_command() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["sessions"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(lines[0].starts_with("error: "), "{}", ran.err);
    assert!(lines[1].starts_with("hint: ") && lines[1].contains("spanvault ingest"), "{}", ran.err);
}

#[test]
fn an_error_for_programs_is_one_object_on_the_standard_error_stream() {
    let sandbox = told();
    let ran = sandbox.run(&["--json", "recover", "00000000"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    let error = ran.error();
    assert_eq!(error["kind"], "NotFound");
    assert!(error["error"].as_str().unwrap().contains("00000000"));
    assert!(error["hint"].as_str().unwrap().contains("spanvault spans"));
}

#[test]
fn usage_errors_are_2_for_people_and_for_programs() {
    let sandbox = told();
    let cases: &[&[&str]] = &[
        &["nonsense"],
        &["recover"],
        &["recover", "xyz"],
        &["recover", "abc"],
        &["expand", "s1"],
        &["demand", "add", "audit"],
        &["demand", "add", "audit", "--until", "tomorrow"],
        &["demand", "add", "audit", "--session", "a", "--tool", "b", "--unknown"],
        &["retention", "set"],
        &["retention", "set", "--keep-for", "0s"],
        &["retention", "set", "--keep-for", "-1d"],
        &["policy", "set", "--assume", "replay=1d"],
        &["hold", "add"],
        &["hold", "release", "h1"],
        &["ask"],
        &["ask", "--tool", "Write", "--text", "x"],
        &["ask", "--query", "{}"],
        &["ask", "--query", "{\"calls\":{\"tol\":\"Write\"}}"],
        &["ask", "--regex", "("],
        &["executed", "Write", "{"],
        &["check", "--query", "{\"calls\":{}}"],
    ];
    for args in cases {
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let ran = sandbox.run(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert_eq!(ran.error()["kind"], "Invalid", "{args:?}");
    }
}

#[test]
fn an_unknown_field_of_a_query_is_named() {
    let sandbox = told();
    let ran = sandbox.run(&["ask", "--query", "{\"calls\":{\"tol\":\"Write\"}}"]);
    assert!(ran.err.contains("tol"), "{}", ran.err);
}

#[test]
fn what_nobody_recorded_is_3() {
    let sandbox = told();
    let cases: &[&[&str]] = &[
        &["recover", "s999999"],
        &["recover", "m1"],
        &["recover", "0123456789abcdef"],
        &["show", "s999999"],
        &["why", "deadbeefdeadbeef"],
        &["expand", "m999999"],
        &["context", "nobody"],
        &["replay", "nobody"],
        &["checkpoint", "nobody"],
        &["compact", "--session", "nobody"],
        &["spans", "--session", "nobody"],
        &["spans", "--source", "nothing.jsonl"],
        &["restore", "nothing.jsonl"],
        &["ask", "--tool", "Write", "--session", "nobody"],
        &["ask", "--tool", "Write", "--source", "nothing.jsonl"],
        &["demand", "withdraw", "d999999", "--reason", "done"],
        &["hold", "release", "h999999", "--reason", "done"],
        &["hold", "add", "s999999"],
        &["ingest", "nothing.jsonl"],
    ];
    for args in cases {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, 3, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.starts_with("error: "), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_second_writer_is_told_the_pid_of_the_first() {
    let sandbox = told();
    let vault = Vault::open(sandbox.vault()).unwrap();
    let ran = sandbox.run(&["compact", "--json"]);
    assert_eq!((ran.code, ran.out.as_str()), (7, ""), "{}", ran.err);
    let error = ran.error();
    assert_eq!(error["kind"], "Unavailable");
    assert_eq!(error["pid"], std::process::id());
    let ran = sandbox.run(&["compact"]);
    assert!(ran.err.contains(&std::process::id().to_string()), "{}", ran.err);
    vault.close().unwrap();
    sandbox.ok(&["compact"]);
}

#[test]
fn inspecting_commands_work_beside_a_writer_and_change_no_byte() {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    let vault = Vault::open(sandbox.vault()).unwrap();
    // The writer's own work is done once it has opened its index, which was closed at the end of the log.
    while vault.health().unwrap().index_gap.is_none() {
        std::thread::yield_now();
    }
    let before = contents(&sandbox.vault());
    let cases: &[&[&str]] = &[
        &["sessions"],
        &["spans"],
        &["show", "s3"],
        &["context", "story"],
        &["recover", "s3"],
        &["restore", "story.jsonl"],
        &["why", "s3"],
        &["ask", "--tool", "Write"],
        &["audit"],
        &["replay", "story"],
        &["check", "--query", "{\"calls\":{}}", "--claim", "yes"],
        &["executed", "Write", "{}"],
        &["demand", "list"],
        &["hold", "list"],
        &["retention", "show"],
        &["policy", "show"],
        &["refusals"],
        &["log"],
        &["verify", "--read-data"],
    ];
    for args in cases {
        sandbox.ok(args);
    }
    assert_eq!(sandbox.run(&["compact", "--dry-run"]).code, 4, "what is left is refused");
    assert!(before == contents(&sandbox.vault()), "an inspecting command wrote");
    vault.close().unwrap();
}

/// Every file under a directory with its bytes.
fn contents(dir: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut pending = vec![dir.to_owned()];
    let mut found = Vec::new();
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let bytes = read(&path);
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    found
}

fn read(path: &std::path::Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn a_damaged_original_is_6_and_everything_else_is_served() {
    let sandbox = told();
    let span = sandbox.json(&["spans"]).into_iter().find(|span| span["kind"] == "tool_call").unwrap();
    let original = sandbox.ok(&["recover", span["span"].as_str().unwrap()]).out;
    damage(&sandbox.vault(), original.as_bytes());
    let ran = sandbox.run(&["--json", "recover", span["span"].as_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (6, ""), "{}", ran.err);
    assert_eq!(ran.error()["kind"], "Corrupt");
    let ran = sandbox.run(&["--json", "verify", "--read-data"]);
    assert_eq!(ran.code, 6);
    let report = &ran.json()[0];
    assert_eq!(report["corrupt"].as_array().unwrap().len(), 1, "{report}");
    sandbox.ok(&["recover", "s3"]);
}

/// Changes one byte in the middle of `original` wherever it stands in the log.
fn damage(vault: &std::path::Path, original: &[u8]) {
    for (path, mut bytes) in contents(&vault.join("log")) {
        let at = bytes.windows(original.len()).position(|window| window == original);
        if let Some(at) = at {
            bytes[at + original.len() / 2] ^= 1;
            std::fs::write(path, bytes).unwrap();
            return;
        }
    }
    panic!("the original stands in no segment");
}

#[test]
fn global_flags_stand_before_or_after_the_command() {
    let sandbox = told();
    let vault = sandbox.vault();
    let vault = vault.to_str().unwrap();
    let before = sandbox.ok(&["--vault", vault, "--json", "sessions"]);
    let after = sandbox.ok(&["sessions", "--json", "--vault", vault]);
    assert_eq!(before.out, after.out);
    let elsewhere = sandbox.run(&["sessions", "--vault", "nowhere"]);
    assert_eq!(elsewhere.code, 3);
}

#[test]
fn without_a_flag_or_a_variable_the_vault_is_in_the_working_directory() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("story.jsonl", story());
    let mut command = sandbox.command(&["ingest", file.to_str().unwrap()]);
    assert!(command.env_remove("SPANVAULT_DIR").status().unwrap().success());
    assert!(sandbox.path(".spanvault/FORMAT").is_file());
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let sandbox = told();
    let full = full_device();
    let output = sandbox.command(&["sessions"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: print the answer: "));
}

fn full_device() -> std::fs::File {
    std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap()
}

#[test]
fn a_log_that_was_cut_is_told_and_the_rest_is_served() {
    let sandbox = told();
    cut_the_log(&sandbox.vault());
    let ran = sandbox.run(&["sessions"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.starts_with("warning: ") && ran.err.contains("verify --read-data"), "{}", ran.err);
    let ran = sandbox.run(&["--json", "sessions"]);
    assert!(ran.error()["warning"].as_str().unwrap().contains("of the log"), "{}", ran.err);
}

/// Takes the last bytes of the newest segment away.
fn cut_the_log(vault: &std::path::Path) {
    let (path, bytes) = contents(&vault.join("log"))
        .into_iter()
        .rfind(|(path, _)| path.extension() == Some("log".as_ref()))
        .unwrap();
    std::fs::write(path, &bytes[..bytes.len() - 64]).unwrap();
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = told();
    let mut command = sandbox.command(&["restore", "story.jsonl"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stderr, b"");
    assert_eq!(output.status.code(), Some(0));
}
