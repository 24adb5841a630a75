use serde_json::json;
use spanvault_types::{Outcome, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans};

fn read(entry: &Value) -> SpanContent {
    Pi.parse(entry.to_string().as_bytes()).unwrap()
}

fn message(message: &Value) -> SpanContent {
    read(
        &json!({"type": "message", "id": "0a1b2c3d", "timestamp": "2026-02-03T09:00:01.250Z", "message": message}),
    )
}

fn outcome(content: &SpanContent) -> Outcome {
    match content.parts.last().map(|part| &part.body) {
        Some(PartBody::Result(outcome)) => outcome.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn words_thinking_and_parallel_calls_are_parts_of_one_message() {
    let content = message(&json!({"role": "assistant", "stopReason": "toolUse", "content": [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": ""}, {"type": "text", "text": "I look."},
        {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "a"}},
        {"type": "toolCall", "id": "t2", "name": "bash", "arguments": {"command": "ls"}}]}));
    assert_eq!((content.role, content.kind, content.parts.len()), (Role::Assistant, SpanKind::ToolCall, 4));
    assert_eq!(
        (content.timestamp_ms, content.event_key.as_deref()),
        (Some(1_770_109_201_250), Some("0a1b2c3d"))
    );
    let PartBody::Call(call) = &content.parts[3].body else { panic!("{content:?}") };
    assert_eq!(
        (call.id.as_deref(), call.tool.as_str(), &call.args),
        (Some("t2"), "bash", &json!({"command": "ls"}))
    );
}

#[test]
fn a_result_names_its_call_and_has_its_flag() {
    let result = |text: &str, is_error: bool| {
        outcome(&message(
            &json!({"role": "toolResult", "toolCallId": "t1", "toolName": "bash", "isError": is_error,
            "content": [{"type": "text", "text": text}]}),
        ))
    };
    let done = result("x\n\nCommand exited with code 3", false);
    assert_eq!((done.call_id.as_deref(), done.tool.as_deref()), (Some("t1"), Some("bash")));
    assert_eq!(
        (done.is_error, done.exit_code),
        (Some(false), None),
        "the output of a command that succeeded is only text"
    );
    assert_eq!(result("x\n\nCommand exited with code 3", true).exit_code, Some(3));
    let plain = message(
        &json!({"role": "toolResult", "toolCallId": "t1", "toolName": "exec", "content": "PASS\n", "isError": false}),
    );
    assert_eq!((plain.role, outcome(&plain).text.as_str()), (Role::Tool, "PASS\n"));
}

#[test]
fn what_the_user_ran_is_a_call_of_his_own_with_its_result() {
    let content = message(
        &json!({"role": "bashExecution", "command": "ls /x", "output": "no", "exitCode": 2, "cancelled": false}),
    );
    assert_eq!((content.role, content.kind), (Role::User, SpanKind::ToolCall));
    let PartBody::Call(call) = &content.parts[0].body else { panic!("{content:?}") };
    assert_eq!(
        (call.id.as_deref(), call.tool.as_str(), &call.args),
        (None, "!bash", &json!({"command": "ls /x"}))
    );
    let Outcome { text, exit_code, is_error, .. } = outcome(&content);
    assert_eq!((text.as_str(), exit_code, is_error), ("no", Some(2), None));
    let cancelled =
        message(&json!({"role": "bashExecution", "command": "yes", "output": "y", "cancelled": true}));
    assert_eq!(outcome(&cancelled).is_error, Some(true));
}

#[test]
fn the_runtimes_own_summaries_are_told_from_words() {
    for entry in [
        json!({"type": "compaction", "summary": "Short", "firstKeptEntryIndex": 3, "tokensBefore": 9}),
        json!({"type": "compaction", "id": "a", "summary": "Short", "firstKeptEntryId": "b", "tokensBefore": 9}),
    ] {
        let content = read(&entry);
        assert_eq!((content.role, content.kind), (Role::System, SpanKind::CompactSummary));
        assert_eq!(content.parts[0].body, PartBody::Summary("Short".into()));
    }
}

#[test]
fn a_compaction_says_from_which_entry_on_all_was_kept() {
    let kept = |entry: &Value| Pi.kept_by_compaction(entry.to_string().as_bytes());
    assert_eq!(
        kept(&json!({"type": "compaction", "summary": "S", "firstKeptEntryIndex": 293})),
        Kept::FromIndex(293)
    );
    assert_eq!(
        kept(&json!({"type": "compaction", "summary": "S", "firstKeptEntryId": "0a1b"})),
        Kept::FromEvent("0a1b".into())
    );
    assert_eq!(kept(&json!({"type": "compaction", "summary": "S"})), Kept::Nothing);
}

#[test]
fn a_message_that_broke_off_is_empty_or_what_the_provider_said() {
    let aborted = message(&json!({"role": "assistant", "content": [], "stopReason": "aborted"}));
    assert_eq!((aborted.role, aborted.kind, aborted.parts.len()), (Role::Assistant, SpanKind::Message, 0));
    let failed = message(
        &json!({"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "400 no"}),
    );
    assert_eq!((failed.role, &failed.parts[0].body), (Role::System, &PartBody::Text("400 no".into())));
}

#[test]
fn entries_of_other_types_are_kept_without_parts() {
    let left = read(&json!({"type": "branch_summary", "id": "a", "fromId": "b", "summary": "Short"}));
    assert_eq!(
        (left.role, left.kind),
        (Role::System, SpanKind::Message),
        "it replaces nothing of this branch"
    );
    for kind in ["session", "model_change", "thinking_level_change", "custom", "label", "of-next-year"] {
        let content = read(&json!({"type": kind, "id": "x", "content": "?"}));
        assert_eq!((content.kind, content.parts.len()), (SpanKind::Meta, 0), "{kind}");
    }
    let shown = read(
        &json!({"type": "custom_message", "customType": "note", "content": "Remember", "display": true}),
    );
    assert_eq!((shown.role, shown.kind), (Role::System, SpanKind::Message));
}

#[test]
fn the_two_programs_are_told_apart_and_a_quoted_session_line_names_no_other_session() {
    let file = |id: &str| {
        format!(
            "{}\n{}\n{}\n",
            json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-02-03T09:00:00Z", "cwd": "/x"}),
            json!({"type": "message", "id": "m", "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}]}}),
            json!({"type": "session", "id": "another", "timestamp": "2026-02-03T09:00:00Z"}),
        )
    };
    for (id, format) in [("019e19b4", "pi"), ("openclaw-1", "agent_openclaw")] {
        let file = file(id);
        assert_eq!(only_format(&file), format);
        let pieces = pieces(crate::by_name(format).unwrap(), file.as_bytes());
        assert!(spans(&pieces).iter().all(|record| record.session == id));
    }
    let middle =
        json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "t", "content": []}});
    assert_eq!(crate::detect(middle.to_string().as_bytes()).unwrap().format(), "pi");
}
