//! What a runtime keeps beside a session file: sub-agents, and results that it moved out of the transcript.

use serde_json::Value;

use crate::cli_harness::Sandbox;

fn result(n: u32, text: &str) -> String {
    let content = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"user","uuid":"r{n}","sessionId":"s","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{n}","content":{content}}}]}}}}"#
    )
}

fn stub(path: &str) -> String {
    format!(
        "<persisted-output>\nOutput too large (21KB). Full output saved to: {path}\n\nPreview (first 2KB):\nline 1\n</persisted-output>"
    )
}

fn agent() -> String {
    r#"{"type":"user","uuid":"a1","sessionId":"s","agentId":"x1","isSidechain":true,"message":{"role":"user","content":"look"}}"#.to_owned()
}

fn side_files(sandbox: &Sandbox, file: &str) -> Vec<(u64, String, Option<String>)> {
    let lines = sandbox.json(&["ingest", file]);
    let listed: &[Value] = lines[0]["side_files"].as_array().map_or(&[], Vec::as_slice);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    listed
        .iter()
        .map(|it| (it["index"].as_u64().unwrap(), text(&it["name"]).unwrap(), text(&it["path"])))
        .collect()
}

#[test]
fn side_files_in_the_folder_of_a_transcript_come_with_it_and_missing_ones_are_named() {
    let sandbox = Sandbox::new();
    let lines = [
        result(1, &stub("/home/a/.claude/s/tool-results/b1.txt")),
        result(2, &stub("/elsewhere/gone.txt")),
        result(3, "ok"),
    ];
    let file = sandbox.write("p/s.jsonl", lines.join("\n") + "\n");
    let moved = sandbox.write("p/s/tool-results/b1.txt", "line 1\nline 2\nNEEDLE-4711\n");
    sandbox.write("p/s/subagents/agent-x1.jsonl", agent());
    sandbox.write("p/s/notes.txt", "not asked for");
    let found = side_files(&sandbox, file.to_str().unwrap());
    assert_eq!(found[0], (0, "b1.txt".to_owned(), Some(moved.to_str().unwrap().to_owned())));
    assert_eq!(found[1], (1, "gone.txt".to_owned(), None));
    assert_eq!(found.len(), 2);
    let sessions: Vec<String> =
        sandbox.json(&["sessions"]).iter().map(|it| it["session"].as_str().unwrap().to_owned()).collect();
    assert!(sessions.contains(&"s".to_owned()) && sessions.contains(&"s/x1".to_owned()), "{sessions:?}");
    sandbox.ok(&["restore", moved.to_str().unwrap(), "-o", sandbox.path("back").to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(sandbox.path("back")).unwrap(), "line 1\nline 2\nNEEDLE-4711\n");
    assert!(sandbox.json(&["spans"]).iter().all(|it| !it["source"].as_str().unwrap().ends_with("notes.txt")));
}

#[test]
fn i78_no_name_in_a_transcript_and_no_link_beside_it_leads_out_of_its_folder() {
    let sandbox = Sandbox::new();
    let secret = sandbox.write("secret.txt", "SECRET\n");
    let names = ["../../../secret.txt", "/etc/passwd", "linked.txt", "..", "sub/../../secret.txt"];
    let lines: Vec<String> = names.iter().zip(1..).map(|(name, n)| result(n, &stub(name))).collect();
    let file = sandbox.write("p/s.jsonl", lines.join("\n") + "\n");
    sandbox.write("p/s/tool-results/other.txt", "x");
    std::os::unix::fs::symlink(&secret, sandbox.path("p/s/tool-results/linked.txt")).unwrap();
    let found = side_files(&sandbox, file.to_str().unwrap());
    assert!(found.iter().all(|(_index, _name, path)| path.is_none()), "{found:?}");
    assert!(sandbox.json(&["spans"]).iter().all(|it| !it["source"].as_str().unwrap().contains("secret")));
    // A folder that is a link is not the transcript's own.
    let away = sandbox.write("q/t.jsonl", result(1, &stub("other.txt")));
    std::os::unix::fs::symlink(sandbox.path("p/s"), sandbox.path("q/t")).unwrap();
    assert_eq!(side_files(&sandbox, away.to_str().unwrap()), [(0, "other.txt".to_owned(), None)]);
}
