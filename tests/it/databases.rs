//! Databases that runtimes keep their conversations in: what is in them is read, and the file comes back byte for byte.

use rusqlite::Connection;

use crate::cli_harness::Sandbox;

const TABLES: &str = "
    PRAGMA page_size = 512;
    CREATE TABLE conversations(conversation_id INTEGER PRIMARY KEY, session_id TEXT, created_at TEXT, updated_at TEXT);
    CREATE TABLE messages(message_id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER, role TEXT,
        content TEXT, token_count INTEGER, created_at TEXT);
    CREATE TABLE message_parts(part_id TEXT PRIMARY KEY, message_id INTEGER, session_id TEXT, part_type TEXT,
        ordinal INTEGER, text_content TEXT, tool_call_id TEXT, tool_name TEXT, tool_input TEXT, tool_output TEXT,
        metadata TEXT);
    CREATE TABLE summaries(summary_id TEXT PRIMARY KEY, conversation_id INTEGER, kind TEXT, depth INTEGER,
        content TEXT, token_count INTEGER, created_at TEXT);
    CREATE TABLE summary_messages(summary_id TEXT, message_id INTEGER, ordinal INTEGER);
    CREATE TABLE summary_parents(summary_id TEXT, parent_summary_id TEXT, ordinal INTEGER);
    INSERT INTO conversations VALUES (1, 'run-42', '2026-02-03 09:00:00', '2026-02-03 09:00:09');
    INSERT INTO messages VALUES
        (1, 1, 1, 'user', 'Please deploy build 4711 to https://alpha.example/api', 9, '2026-02-03 09:00:01'),
        (2, 1, 2, 'assistant', '', 9, '2026-02-03 09:00:02'),
        (3, 1, 3, 'tool', 'deployed', 9, '2026-02-03 09:00:03'),
        (4, 1, 4, 'user', 'and remove /srv/old/cache', 9, '2026-02-03 09:00:04'),
        (5, 1, 5, 'user', 'go on', 9, '2026-02-03 09:00:09');
    INSERT INTO message_parts VALUES
        ('a', 2, 'run-42', 'tool', 0, NULL, 'c1', 'exec', '{\"command\":\"deploy 4711\"}', NULL, '{\"rawType\":\"toolCall\"}'),
        ('b', 3, 'run-42', 'text', 0, 'deployed', 'c1', 'exec', NULL, NULL, '{\"toolCallId\":\"c1\"}');
    INSERT INTO summaries VALUES
        ('sum_a', 1, 'leaf', 0, 'The user asked to deploy build 4711.', 9, '2026-02-03 09:00:05'),
        ('sum_b', 1, 'leaf', 0, 'A cache is to go.', 9, '2026-02-03 09:00:05'),
        ('sum_c', 1, 'condensed', 1, 'A build was deployed; a cache is to go.', 9, '2026-02-03 09:00:06');
    INSERT INTO summary_messages VALUES ('sum_a', 1, 0), ('sum_a', 2, 1), ('sum_a', 3, 2), ('sum_b', 4, 0);
    INSERT INTO summary_parents VALUES ('sum_c', 'sum_a', 0), ('sum_c', 'sum_b', 1);
";

/// What is written to the database when the conversation goes on.
const MORE: &str = "
    INSERT INTO messages VALUES (6, 1, 6, 'user', 'and what about /etc/hosts?', 9, '2026-02-03 09:01:00');
    UPDATE conversations SET updated_at = '2026-02-03 09:01:00';
";

fn database(sandbox: &Sandbox, name: &str, statements: &str) -> String {
    let path = sandbox.path(name);
    Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    path.to_str().unwrap().to_owned()
}

fn restored(sandbox: &Sandbox, file: &str) -> Vec<u8> {
    let back = sandbox.path("back");
    sandbox.ok(&["restore", file, "-o", back.to_str().unwrap()]);
    std::fs::read(back).unwrap()
}

#[test]
fn i76_a_database_of_conversations_is_read_and_comes_back_as_it_was() {
    let sandbox = Sandbox::new();
    let file = database(&sandbox, "lcm.db", TABLES);
    let line = sandbox.json_one(&["ingest", &file]);
    assert_eq!((&line["format"], &line["container"]), (&"lcm".into(), &"sqlite".into()));
    assert_eq!(line["sessions"], serde_json::json!(["run-42/lcm/1"]));
    assert_eq!(line["spans_new"], 9, "{line}");
    assert!(line.get("note").is_none_or(serde_json::Value::is_null), "{line}");
    assert!(restored(&sandbox, &file) == std::fs::read(&file).unwrap());
    let again = sandbox.json_one(&["ingest", &file]);
    assert_eq!((again["spans_new"].as_u64(), again["bytes_new"].as_u64()), (Some(0), Some(0)));

    let spans = sandbox.json(&["spans", "--session", "run-42/lcm/1"]);
    assert_eq!(spans[2]["kind"], "tool_call");
    assert_eq!(spans[2]["record"], "/conversations/1");
    let result = sandbox.json_one(&[
        "ask",
        "--query",
        r#"{"calls":{"tool":"exec","args":{"command":{"contains":"4711"}}},"get":"result"}"#,
    ]);
    assert_eq!((&result["answer"], &result["value"]), (&"present".into(), &"deployed".into()), "{result}");
    assert_eq!(result["coverage"]["complete"], true);
}

#[test]
fn its_summaries_cite_what_they_replaced_and_say_what_they_lost() {
    let sandbox = Sandbox::new();
    let file = database(&sandbox, "lcm.db", TABLES);
    let line = sandbox.json_one(&["ingest", &file]);
    let told: Vec<_> = line["compactions"].as_array().unwrap().iter().collect();
    let told_of: Vec<_> = told.iter().map(|it| (it["covers"].as_u64(), it["generation"].as_u64())).collect();
    assert_eq!(told_of, [(Some(3), Some(1)), (Some(1), Some(1)), (Some(2), Some(2))], "{line}");
    let expanded = |n: usize| sandbox.json_one(&["expand", told[n]["summary"].as_str().unwrap()]);
    let first = expanded(0);
    assert!(first["omitted"].to_string().contains("https://alpha.example/api"), "{first}");
    assert!(!first["omitted"].to_string().contains("\"4711\""), "{first}");
    let condensed = expanded(2);
    assert_eq!(condensed["summaries"], serde_json::json!([told[0]["summary"], told[1]["summary"]]));
    assert!(condensed["omitted"].to_string().contains("4711"), "{condensed}");
}

#[test]
fn a_database_that_grew_adds_what_is_new_and_a_copy_of_it_nothing() {
    let sandbox = Sandbox::new();
    let file = database(&sandbox, "lcm.db", TABLES);
    sandbox.json_one(&["ingest", &file]);
    let copy = sandbox.write("copy.db", std::fs::read(&file).unwrap());
    let copied = sandbox.json_one(&["ingest", copy.to_str().unwrap()]);
    assert_eq!((copied["spans_new"].as_u64(), copied["spans_known"].as_u64()), (Some(0), Some(9)));

    database(&sandbox, "lcm.db", MORE);
    let grown = sandbox.json_one(&["ingest", &file]);
    assert_eq!((grown["spans_new"].as_u64(), grown["spans_known"].as_u64()), (Some(1), Some(9)), "{grown}");
    assert_eq!(grown["conflicts"], 0, "{grown}");
    assert_eq!(grown["compactions"], serde_json::json!([]), "they are known");
    assert!(restored(&sandbox, &file) == std::fs::read(&file).unwrap());
    assert!(restored(&sandbox, copy.to_str().unwrap()) == std::fs::read(&copy).unwrap());
    assert_eq!(sandbox.json_one(&["ingest", &file])["spans_new"], 0);
}

#[test]
fn i80_a_row_that_was_changed_is_a_conflict_and_a_later_summary_replaced_what_it_says_now() {
    let sandbox = Sandbox::new();
    let file = database(&sandbox, "lcm.db", TABLES);
    sandbox.json_one(&["ingest", &file]);
    database(
        &sandbox,
        "lcm.db",
        "UPDATE messages SET content = 'go on with build 9000' WHERE message_id = 5;
         INSERT INTO summaries VALUES ('sum_d', 1, 'leaf', 0, 'They go on.', 9, '2026-02-03 09:02:00');
         INSERT INTO summary_messages VALUES ('sum_d', 5, 0), ('sum_d', 77, 1);",
    );
    let line = sandbox.json_one(&["ingest", &file]);
    assert_eq!((line["spans_new"].as_u64(), line["conflicts"].as_u64()), (Some(2), Some(1)), "{line}");
    let told = &line["compactions"][0];
    assert_eq!(told["covers"], 1, "a row that is gone was not there: {line}");
    let expanded = sandbox.json_one(&["expand", told["summary"].as_str().unwrap()]);
    assert!(expanded["omitted"].to_string().contains("9000"), "{expanded}");
}

#[test]
fn changes_that_are_in_the_log_beside_a_database_are_told_of() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("lcm.db");
    let open = Connection::open(&path).unwrap();
    open.execute_batch(&format!("{TABLES} PRAGMA journal_mode = WAL;")).unwrap();
    let file = path.to_str().unwrap();
    assert_eq!(sandbox.json_one(&["ingest", file])["spans_new"], 9);
    open.execute_batch(MORE).unwrap();
    let line = sandbox.json_one(&["ingest", file]);
    assert_eq!(line["spans_new"], 0, "the file is as it was");
    assert!(line["note"].as_str().unwrap().contains("wal_checkpoint"), "{line}");
    open.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let line = sandbox.json_one(&["ingest", file]);
    assert_eq!((&line["spans_new"], line["note"].is_null()), (&1.into(), true), "{line}");
}

#[test]
fn any_other_database_is_refused_or_kept_as_bytes_and_a_damaged_one_records_nothing() {
    let sandbox = Sandbox::new();
    let other = database(&sandbox, "other.db", "CREATE TABLE notes(id INTEGER PRIMARY KEY, text);");
    let whole = std::fs::read(database(&sandbox, "whole.db", TABLES)).unwrap();
    std::fs::remove_file(sandbox.path("whole.db")).unwrap();
    let torn = sandbox.write("torn.db", &whole[..whole.len() / 2]);
    for (file, what) in [(other.as_str(), "no conversations"), (torn.to_str().unwrap(), "cut off")] {
        let ran = sandbox.run(&["--json", "ingest", file]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{file}");
        let error = ran.error();
        assert!(error["error"].as_str().unwrap().contains(what), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("--format generic_text"), "{error}");
        assert_eq!(sandbox.json(&["sessions"]).len(), 0);
    }
    // In a folder, what is of no known program is passed over.
    std::fs::remove_file(&torn).unwrap();
    database(&sandbox, "lcm.db", TABLES);
    let lines = sandbox.json(&["ingest", sandbox.path("").to_str().unwrap()]);
    let read: Vec<_> =
        lines.iter().filter(|line| line["spans_new"].as_u64().is_some_and(|spans| spans > 0)).collect();
    assert!(matches!(read.as_slice(), [line] if line["format"] == "lcm"), "{lines:?}");
    sandbox.json_one(&["ingest", &other, "--format", "generic_text"]);
    assert!(restored(&sandbox, &other) == std::fs::read(&other).unwrap());
}
