use std::io::Cursor;
use std::ops::ControlFlow;

use rusqlite::Connection;
use serde_json::json;
use spanvault_types::{Call, Outcome, PartBody, Role, SpanKind};

use super::Lcm;
use crate::testing::{calls, only_format, results};
use crate::{Container, ImportError, Importer, Kept, Limits, Piece, Record, detect};

/// The tables of lossless-claw, as far as anything is read of them, and one that nothing is read of.
const LOSSLESS: &str = include_str!("tests/lossless.sql");
/// Those of hermes-lcm.
const HERMES: &str = include_str!("tests/hermes.sql");

fn database(tables: &str, rows: &str) -> Vec<u8> {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(tables).unwrap();
    database.execute_batch(rows).unwrap();
    database.serialize("main").unwrap().to_vec()
}

/// The conversations in a file: the name of each and its lines.
fn unpacked(file: &[u8]) -> Result<Vec<(String, String)>, ImportError> {
    let mut found = Vec::new();
    Container::of(file).unwrap().unpack(Cursor::new(file), 1 << 30, &mut |member| {
        let mut lines = String::new();
        let read = member.bytes.read_to_string(&mut lines);
        found.push((member.name.to_owned(), lines));
        if read.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

fn pieces(lines: &str) -> Vec<Piece> {
    crate::testing::pieces(&Lcm, lines.as_bytes())
}

fn records(lines: &str) -> Vec<Record> {
    let keep = |piece| if let Piece::Span(record) = piece { Some(record) } else { None };
    pieces(lines).into_iter().filter_map(keep).collect()
}

/// One conversation of two compactions and a summary of both, and a second conversation between its messages.
const STORY: &str = r#"
    INSERT INTO conversations(conversation_id, session_id, created_at, updated_at)
        VALUES (7, 'run-42', '2026-02-03 09:00:00', '2026-02-03 10:00:00'), (8, 'run-43', '2026-02-03 09:00:00', 'x');
    INSERT INTO messages(message_id, conversation_id, seq, role, content, token_count, created_at) VALUES
        (1, 7, 1, 'user', 'deploy build 4711', 4, '2026-02-03 09:00:01'),
        (2, 8, 1, 'user', 'hello', 1, '2026-02-03 09:00:02'),
        (3, 7, 2, 'assistant', '', 9, '2026-02-03 09:00:03'),
        (4, 7, 3, 'tool', 'deployed', 9, '2026-02-03 09:00:04'),
        (5, 7, 4, 'user', 'thanks', 1, '2026-02-03 09:00:10'),
        (6, 7, 5, 'user', 'and now?', 1, '2026-02-03 09:00:30');
    INSERT INTO message_parts(part_id, message_id, session_id, part_type, ordinal, text_content, tool_call_id, tool_name, tool_input, metadata) VALUES
        ('p2', 3, 'run-42', 'tool', 1, NULL, 'call-1', 'exec', '{"command":"deploy 4711"}', '{"rawType":"toolCall"}'),
        ('p1', 3, 'run-42', 'reasoning', 0, 'I deploy.', NULL, NULL, NULL, '{"rawType":"thinking"}'),
        ('p3', 4, 'run-42', 'text', 0, 'deployed', 'call-1', 'exec', NULL, '{"toolCallId":"call-1","isError":false}'),
        ('p0', 1, 'run-42', 'text', 0, 'deploy build 4711', NULL, NULL, NULL, NULL);
    INSERT INTO summaries(summary_id, conversation_id, kind, depth, content, token_count, created_at) VALUES
        ('sum_c', 7, 'condensed', 1, 'All went well.', 3, '2026-02-03 09:00:20'),
        ('sum_b', 7, 'leaf', 0, 'They thanked.', 3, '2026-02-03 09:00:12'),
        ('sum_a', 7, 'leaf', 0, 'A build was deployed.', 3, '2026-02-03 09:00:11');
    INSERT INTO summary_messages VALUES ('sum_a', 3, 1), ('sum_a', 1, 0), ('sum_a', 4, 2), ('sum_b', 5, 0);
    INSERT INTO summary_parents VALUES ('sum_c', 'sum_b', 1), ('sum_c', 'sum_a', 0);
"#;

#[test]
fn a_conversation_is_a_transcript_with_its_summaries_behind_what_they_replaced() {
    let file = database(LOSSLESS, STORY);
    let found = unpacked(&file).unwrap();
    let names: Vec<&str> = found.iter().map(|(name, _lines)| name.as_str()).collect();
    assert_eq!(names, ["conversations/7", "conversations/8"]);
    let first: Vec<&str> = found[0].1.lines().collect();
    assert_eq!(
        first[..2],
        [
            r#"{"table":"conversations","conversation_id":7,"session_id":"run-42","active":1,"created_at":"2026-02-03 09:00:00"}"#,
            r#"{"table":"messages","message_id":1,"conversation_id":7,"seq":1,"role":"user","content":"deploy build 4711","token_count":4,"created_at":"2026-02-03 09:00:01","parts":[{"table":"message_parts","part_id":"p0","message_id":1,"session_id":"run-42","part_type":"text","ordinal":0,"text_content":"deploy build 4711"}]}"#,
        ],
        "the form is fixed"
    );
    let records = records(&found[0].1);
    assert!(records.iter().all(|record| record.session == "run-42/lcm/7" && record.quarantine.is_none()));
    let keys: Vec<_> = records.iter().filter_map(|record| record.content.event_key.as_deref()).collect();
    assert_eq!(
        keys,
        [
            "message/1",
            "message/3",
            "message/4",
            "message/5",
            "summary/sum_a",
            "summary/sum_b",
            "summary/sum_c",
            "message/6"
        ]
    );
    let kept = |n: usize| Lcm.kept_by_compaction(&records[n].bytes);
    assert_eq!(kept(5), Kept::AllBut(["message/1", "message/3", "message/4"].map(str::to_owned).to_vec()));
    assert_eq!(kept(7), Kept::AllBut(["summary/sum_a", "summary/sum_b"].map(str::to_owned).to_vec()));
    assert_eq!(records[5].content.kind, SpanKind::CompactSummary);
    assert_eq!(records[0].content.kind, SpanKind::Meta);
    assert_eq!(records[1].content.timestamp_ms, Some(1_770_109_201_000), "a time without a zone is UTC");
    let inside = records[1].clone().inside("conversations/7");
    assert_eq!((inside.session.as_str(), inside.record.as_str()), ("run-42/lcm/7", "/conversations/7"));
}

#[test]
fn calls_and_results_are_read_from_the_parts_and_paired_by_id() {
    let file = database(LOSSLESS, STORY);
    let pieces = pieces(&unpacked(&file).unwrap()[0].1);
    assert_eq!(
        calls(&pieces),
        [Call { id: Some("call-1".into()), tool: "exec".into(), args: json!({"command": "deploy 4711"}) }]
    );
    let answer = Outcome {
        call_id: Some("call-1".into()),
        tool: Some("exec".into()),
        text: "deployed".into(),
        is_error: Some(false),
        exit_code: None,
        executed: None,
    };
    assert_eq!(results(&pieces), [answer]);
}

/// What the record of a message with these parts says.
fn said(role: &str, content: &str, parts: &serde_json::Value) -> Vec<PartBody> {
    let message =
        json!({"table": "messages", "message_id": 1, "role": role, "content": content, "parts": parts});
    let read = Lcm.parse(message.to_string().as_bytes()).unwrap();
    read.parts.into_iter().map(|part| part.body).collect()
}

fn answer_of(bodies: &[PartBody]) -> Outcome {
    match bodies.last() {
        Some(PartBody::Result(outcome)) => outcome.clone(),
        other => panic!("{other:?}"),
    }
}

fn call_of(bodies: &[PartBody]) -> Call {
    match bodies {
        [PartBody::Call(call)] => call.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_result_is_found_wherever_the_versions_of_the_program_keep_it() {
    let block = |block: &serde_json::Value| json!({"rawType": block["type"], "raw": block}).to_string();
    for (role, part) in [
        ("tool", json!({"part_type": "text", "text_content": "done", "tool_call_id": "c"})),
        ("tool", json!({"part_type": "tool", "tool_output": "\"done\"", "tool_call_id": "c"})),
        (
            "tool",
            json!({"part_type": "tool", "tool_output": "[{\"type\":\"text\",\"text\":\"done\"}]", "metadata": "{\"toolCallId\":\"c\"}"}),
        ),
        (
            "user",
            json!({"part_type": "tool", "metadata": block(&json!({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "done"}]}))}),
        ),
        (
            "assistant",
            json!({"part_type": "tool", "tool_call_id": "c", "tool_name": "exec", "tool_input": "{}", "tool_output": "done", "tool_status": "completed"}),
        ),
    ] {
        let answer = answer_of(&said(role, "", &json!([part])));
        assert_eq!((answer.call_id.as_deref(), answer.text.as_str()), (Some("c"), "done"), "{part}");
    }
    // Blocks of one answer are one answer, those of two are two.
    let text = |id: &str, text: &str| json!({"part_type": "text", "text_content": text, "tool_call_id": id});
    let two = said("tool", "", &json!([text("a", "one"), text("a", "more"), text("b", "two")]));
    let texts: Vec<_> = two.iter().map(|body| answer_of(std::slice::from_ref(body)).text).collect();
    assert_eq!(texts, ["one\nmore", "two"]);
    // Without parts, the content is the answer; there is no id, so it is paired by order.
    let bare = answer_of(&said("tool", "done", &json!([])));
    assert_eq!((bare.call_id, bare.text.as_str()), (None, "done"));
}

#[test]
fn what_is_said_beside_a_call_is_said_before_it_and_an_answer_is_the_tools_whoever_carries_it() {
    let call = json!({"part_type": "tool", "tool_call_id": "c", "tool_name": "exec", "tool_output": "done"});
    let all = said("assistant", "I deploy.", &json!([call]));
    assert!(matches!(all.as_slice(), [PartBody::Text(_), PartBody::Call(_), PartBody::Result(_)]), "{all:?}");
    let block = json!({"part_type": "tool", "metadata": json!({"raw": {"type": "tool_result", "tool_use_id": "c", "is_error": true}}).to_string()});
    let message =
        json!({"table": "messages", "message_id": 1, "role": "user", "content": "", "parts": [block]});
    let read = Lcm.parse(message.to_string().as_bytes()).unwrap();
    assert_eq!((read.role, read.kind), (Role::Tool, SpanKind::ToolResult));
}

#[test]
fn a_call_that_failed_says_so_and_one_without_an_answer_stays_open() {
    let call = json!({"part_type": "tool", "tool_call_id": "c", "tool_name": "exec", "tool_input": "{\"command\":\"ls\"}"});
    let open = said("assistant", "", &json!([call]));
    assert!(matches!(open.as_slice(), [PartBody::Call(_)]), "{open:?}");
    let failed = json!({"part_type": "tool", "tool_call_id": "c", "tool_error": "no such file\nCommand exited with code 2"});
    let failed = answer_of(&said("tool", "", &json!([failed])));
    assert_eq!((failed.is_error, failed.exit_code), (Some(true), Some(2)));
    let flagged = json!({"part_type": "text", "text_content": "no", "metadata": "{\"toolCallId\":\"c\",\"isError\":true}"});
    assert_eq!(answer_of(&said("tool", "", &json!([flagged]))).is_error, Some(true));
}

#[test]
fn arguments_are_the_object_that_they_are_however_often_they_were_written_as_text() {
    for input in [r#"{"a":1}"#, r#""{\"a\":1}""#] {
        let part = json!({"part_type": "tool", "tool_name": "t", "tool_call_id": "c", "tool_input": input});
        let call = call_of(&said("assistant", "", &json!([part])));
        assert_eq!(call.args, json!({"a": 1}), "{input}");
    }
    let only_block = json!({"part_type": "tool", "metadata": json!({"raw": {"type": "tool_use", "id": "c", "name": "t", "input": {"a": 1}}}).to_string()});
    let call = call_of(&said("assistant", "", &json!([only_block])));
    assert_eq!((call.id.as_deref(), call.tool.as_str(), call.args), (Some("c"), "t", json!({"a": 1})));
}

#[test]
fn words_stand_in_the_parts_or_else_in_the_content_and_a_block_without_words_is_shown() {
    let text = |text: &str| PartBody::Text(text.to_owned());
    assert_eq!(said("user", "hello", &json!([])), [text("hello")]);
    assert_eq!(
        said("user", "hello", &json!([{"part_type": "text", "text_content": "hello"}])),
        [text("hello")]
    );
    assert_eq!(
        said("user", "", &json!([{"part_type": "file", "file_mime": "image/png"}])),
        [text("[image]")]
    );
    assert_eq!(said("user", "", &json!([{"part_type": "step_start"}])), []);
    assert_eq!(
        said("user", "", &json!([{"part_type": "agent", "metadata": "{\"raw\":{\"x\":1}}"}])),
        [text("{\"x\":1}")]
    );
    let summary = said(
        "assistant",
        "",
        &json!([{"part_type": "reasoning", "metadata": "{\"raw\":{\"summary\":[{\"type\":\"summary_text\",\"text\":\"I think.\"}]}}"}]),
    );
    assert_eq!(summary, [PartBody::Thinking("I think.".into())]);
}

#[test]
fn a_database_of_hermes_has_a_conversation_for_each_session() {
    let file = database(
        HERMES,
        r#"INSERT INTO messages(session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, pinned) VALUES
            ('s-1', 'user', 'list it', NULL, NULL, NULL, 1770109201.25, 1),
            ('s-2', 'user', 'elsewhere', NULL, NULL, NULL, 1770109201.5, 0),
            ('s-1', 'assistant', NULL, NULL, '[{"id":"c","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]', NULL, 1770109202, 0),
            ('s-1', 'tool', '{"output":"x","exit_code":1}', 'c', NULL, 'terminal', 1770109203, 0);
        INSERT INTO summary_nodes(session_id, depth, summary, source_ids, source_type, created_at) VALUES
            ('s-1', 0, 'It was listed.', '[1, 3, 4]', 'messages', 1770109204.5), ('s-1', 1, 'Listed.', '[1]', 'nodes', 1770109204.5);"#,
    );
    let found = unpacked(&file).unwrap();
    assert_eq!(
        found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["sessions/s-1", "sessions/s-2"]
    );
    let records = records(&found[0].1);
    assert!(records.iter().all(|record| record.session == "s-1/lcm"));
    assert!(!found[0].1.contains("pinned"), "it changes while the row says the same");
    let told: Vec<_> =
        records.iter().map(|it| (it.content.role, it.content.kind, it.content.timestamp_ms)).collect();
    assert_eq!(told[0], (Role::User, SpanKind::Message, Some(1_770_109_201_250)));
    assert_eq!(told[1], (Role::Assistant, SpanKind::ToolCall, Some(1_770_109_202_000)));
    assert_eq!(told[3].1, SpanKind::CompactSummary);
    let pieces = pieces(&found[0].1);
    assert_eq!(
        (calls(&pieces)[0].id.as_deref(), &calls(&pieces)[0].args),
        (Some("c"), &json!({"command": "ls"}))
    );
    assert_eq!((results(&pieces)[0].call_id.as_deref(), results(&pieces)[0].exit_code), (Some("c"), Some(1)));
    let kept = |n: usize| Lcm.kept_by_compaction(&records[n].bytes);
    assert_eq!(kept(3), Kept::AllBut(["message/1", "message/3", "message/4"].map(str::to_owned).to_vec()));
    assert_eq!(kept(4), Kept::AllBut(vec!["summary/1".to_owned()]));
}

#[test]
fn lines_are_known_as_what_they_are_and_read_again_as_they_were() {
    for (tables, rows) in [
        (LOSSLESS, STORY),
        (HERMES, "INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s', 'user', 'x', 1)"),
    ] {
        for (name, lines) in unpacked(&database(tables, rows)).unwrap() {
            assert_eq!(only_format(&lines), "lcm", "{name}");
            for record in records(&lines) {
                assert_eq!(Lcm.parse(&record.bytes).as_ref(), Ok(&record.content), "{name}");
            }
        }
    }
}

#[test]
fn a_database_that_grew_has_the_same_lines_and_more() {
    let before = unpacked(&database(LOSSLESS, STORY)).unwrap();
    let more =
        "INSERT INTO messages(message_id, conversation_id, seq, role, content, token_count, created_at)
            VALUES (7, 7, 6, 'user', 'more', 1, '2026-02-03 09:01:00');
        UPDATE conversations SET updated_at = '2026-02-03 09:01:00';
        ALTER TABLE messages ADD COLUMN identity TEXT;
        INSERT INTO conversations(session_id) VALUES ('run-44');";
    let after = unpacked(&database(LOSSLESS, &format!("{STORY}{more}"))).unwrap();
    assert_eq!(after.len(), 3);
    assert!(after[0].1.starts_with(&before[0].1), "{}", after[0].1);
    assert_eq!(after[0].1.lines().count(), before[0].1.lines().count() + 1);
    assert_eq!(after[1], before[1]);
}

#[test]
fn rows_of_other_kinds_than_the_columns_say_are_shown_as_what_they_are() {
    let file = database(
        LOSSLESS,
        "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0;
         INSERT INTO messages(message_id, conversation_id, seq, role, content, token_count, created_at) VALUES
            (1, 9, 'last', x'00ff', x'6869', 1e999, NULL), (2, 9, 0, 'user', 'a' || char(0) || char(8232) || '\"', 1, '9999-99-99'),
            (3, NULL, 0, 'user', 'nowhere', 1, 'now');
         INSERT INTO message_parts(part_id, message_id, session_id, part_type, ordinal, text_content)
            VALUES (x'01', 2, 7, 8, 'x', 9);
         INSERT INTO summaries(summary_id, conversation_id, kind, content, token_count)
            VALUES ('s', 9, 'leaf', x'01', 0), ('t', 9, 'condensed', 't', 0);
         INSERT INTO summary_parents VALUES ('t', 't', 0), ('t', 's', 0);",
    );
    let found = unpacked(&file).unwrap();
    assert_eq!(found.len(), 2, "a conversation that has no row has its messages");
    let records = records(&found[0].1);
    assert!(records.iter().all(|record| record.session.is_empty() && record.quarantine.is_none()));
    assert_eq!(records.len(), 4);
    assert!(
        found[0].1.contains(r#""role":{"blob":"00ff"},"content":{"blob":"6869"},"token_count":"inf""#),
        "{found:?}"
    );
}

#[test]
fn nothing_is_in_a_database_of_another_program_and_a_damaged_one_is_an_error() {
    for other in [
        "CREATE TABLE notes(id INTEGER PRIMARY KEY, text);",
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, body);",
        "CREATE TABLE messages(message_id INTEGER, conversation_id, seq, role, content); CREATE TABLE conversations(id);",
    ] {
        assert_eq!(unpacked(&database(other, "")).unwrap(), []);
    }
    let whole = database(LOSSLESS, STORY);
    for len in [16, 100, 4_096, whole.len() - 1] {
        let error = unpacked(&whole[..len]).unwrap_err();
        assert!(matches!(error, ImportError::Database { .. }), "{error}");
    }
    assert!(detect(&whole).is_err(), "as bytes it is no text");
    let by_name = Container::Sqlite;
    assert!(by_name.may_hold(&Lcm) && !by_name.may_hold(crate::fallback()));
}

#[test]
fn what_a_database_holds_is_measured_and_bounded() {
    let file = database(LOSSLESS, STORY);
    let all: usize = unpacked(&file).unwrap().iter().map(|(_name, lines)| lines.len()).sum();
    let measure = |most: usize| Container::Sqlite.measure(Cursor::new(&file), most as u64);
    assert_eq!(measure(all).unwrap(), all as u64);
    assert!(matches!(measure(all - 1), Err(ImportError::UnpacksTooFar { .. })));
    let whole = Limits::default().unpacked_bytes_max;
    assert!(Container::bytes_max(file.len() as u64, whole) > all as u64);
}
