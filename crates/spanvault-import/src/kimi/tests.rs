use serde_json::json;
use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans, the_call, the_result};

fn read(line: &Value) -> SpanContent {
    Kimi.parse(line.to_string().as_bytes()).unwrap()
}

fn event(event: &Value) -> SpanContent {
    read(&json!({"type": "context.append_loop_event", "event": event, "time": 1_770_109_201_250_i64}))
}

#[test]
fn a_call_and_its_result_name_the_same_id() {
    let call = event(
        &json!({"type": "tool.call", "uuid": "Bash_0", "toolCallId": "Bash_0", "name": "Bash", "args": {"command": "ls"}, "display": {"command": "ls"}}),
    );
    assert_eq!(
        (call.role, call.timestamp_ms, call.event_key.as_deref()),
        (Role::Assistant, Some(1_770_109_201_250), Some("Bash_0"))
    );
    assert_eq!(
        (the_call(&call).id.as_deref(), the_call(&call).args),
        (Some("Bash_0"), json!({"command": "ls"}))
    );
    let done = the_result(&event(
        &json!({"type": "tool.result", "toolCallId": "Bash_0", "result": {"output": "Command failed with exit code: 4."}}),
    ));
    assert_eq!((done.call_id.as_deref(), done.is_error, done.exit_code), (Some("Bash_0"), Some(false), None));
    let failed = the_result(&event(
        &json!({"type": "tool.result", "toolCallId": "Bash_0", "result": {"output": "no\nCommand failed with exit code: 4.", "isError": true}}),
    ));
    assert_eq!((failed.is_error, failed.exit_code), (Some(true), Some(4)));
}

#[test]
fn thinking_and_words_come_in_parts_of_a_step() {
    let thought =
        event(&json!({"type": "content.part", "uuid": "p1", "part": {"type": "think", "think": "hm"}}));
    assert_eq!(
        (thought.kind, &thought.parts[0].body),
        (SpanKind::Thinking, &PartBody::Thinking("hm".into()))
    );
    let words = event(&json!({"type": "content.part", "uuid": "p2", "part": {"type": "text", "text": "Ho"}}));
    assert_eq!((words.role, words.kind), (Role::Assistant, SpanKind::Message));
    assert_eq!(
        event(&json!({"type": "step.end", "uuid": "s", "finishReason": "end_turn"})).kind,
        SpanKind::Meta
    );
}

#[test]
fn only_what_was_typed_is_the_users_and_it_is_counted_once() {
    let message = |kind: &str| {
        read(
            &json!({"type": "context.append_message", "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}], "toolCalls": [], "origin": {"kind": kind}}}),
        )
    };
    assert_eq!((message("user").role, message("injection").role), (Role::User, Role::System));
    let typed = read(
        &json!({"type": "turn.prompt", "input": [{"type": "text", "text": "Hi"}], "origin": {"kind": "user"}}),
    );
    assert_eq!((typed.kind, typed.parts.len()), (SpanKind::Meta, 0));
}

#[test]
fn a_compaction_is_its_summary_and_the_lines_around_it_are_not() {
    let compacted = read(
        &json!({"type": "context.apply_compaction", "summary": "Short", "contextSummary": "So far: Short", "compactedCount": 5}),
    );
    assert_eq!(
        (compacted.kind, &compacted.parts[0].body),
        (SpanKind::CompactSummary, &PartBody::Summary("Short".into()))
    );
    for kind in ["full_compaction.begin", "full_compaction.complete", "usage.record", "of.next_year"] {
        assert_eq!(read(&json!({"type": kind})).kind, SpanKind::Meta);
    }
}

#[test]
fn both_files_of_a_session_are_known_and_the_state_is_one_record() {
    let log = "{\"type\":\"metadata\",\"protocol_version\":\"1.4\",\"created_at\":1784950509920}\n{\"type\":\"turn.prompt\"}\n";
    let state = "{\n  \"createdAt\": \"x\",\n  \"agents\": {},\n  \"workDir\": \"/x\"\n}\n";
    for (file, records) in [(log, 2), (state, 1)] {
        assert_eq!(only_format(file), "agent_kimi");
        assert_eq!(spans(&pieces(&Kimi, file.as_bytes())).len(), records);
    }
}
