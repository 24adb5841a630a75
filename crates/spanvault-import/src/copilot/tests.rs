use serde_json::json;
use spanvault_types::{Outcome, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans, the_call, the_result};

fn line(kind: &str, data: &Value) -> String {
    json!({"type": kind, "data": data, "id": "e1", "timestamp": "2026-02-03T09:00:01.250Z", "parentId": null})
        .to_string()
}

fn read(kind: &str, data: &Value) -> SpanContent {
    Copilot.parse(line(kind, data).as_bytes()).unwrap()
}

#[test]
fn a_call_stands_in_the_message_that_asks_for_it() {
    for arguments in [json!({"command": "ls"}), json!("{\"command\": \"ls\"}")] {
        let content = read(
            "assistant.message",
            &json!({"content": "I look.", "reasoningText": "hm",
            "toolRequests": [{"toolCallId": "c1", "name": "bash", "arguments": arguments, "type": "function"}]}),
        );
        assert_eq!(
            (content.role, content.kind, content.event_key.as_deref()),
            (Role::Assistant, SpanKind::ToolCall, Some("e1"))
        );
        assert_eq!(content.parts[0].body, PartBody::Thinking("hm".into()));
        assert_eq!(
            (the_call(&content).id.as_deref(), the_call(&content).args),
            (Some("c1"), json!({"command": "ls"}))
        );
    }
    let begun = read(
        "tool.execution_start",
        &json!({"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls"}}),
    );
    assert_eq!((begun.kind, begun.parts.len()), (SpanKind::Meta, 0), "it is not called twice");
}

#[test]
fn a_result_has_its_flag_and_the_exit_code_under_its_output() {
    let result = |data: &Value| the_result(&read("tool.execution_complete", data));
    let done = result(
        &json!({"toolCallId": "c1", "success": true, "result": {"content": "a\n<exited with exit code 1>"}}),
    );
    assert_eq!((done.call_id.as_deref(), done.is_error, done.exit_code), (Some("c1"), Some(false), Some(1)));
    let Outcome { text, is_error, executed, .. } = result(
        &json!({"toolCallId": "c1", "success": false, "error": {"message": "The user said no", "code": "denied"}}),
    );
    assert_eq!((text.as_str(), is_error, executed), ("The user said no", Some(true), Some(false)));
}

#[test]
fn what_is_no_talk_is_kept_without_parts_and_a_compaction_is_its_summary() {
    for kind in
        ["session.info", "hook.start", "session.truncation", "abort", "assistant.turn_start", "of.next_year"]
    {
        assert_eq!(read(kind, &json!({"message": "x", "reason": "y"})).kind, SpanKind::Meta, "{kind}");
    }
    let compacted = read("session.compaction_complete", &json!({"success": true, "summaryContent": "Short"}));
    assert_eq!(
        (compacted.kind, &compacted.parts[0].body),
        (SpanKind::CompactSummary, &PartBody::Summary("Short".into()))
    );
    assert_eq!(read("system.message", &json!({"content": "Be kind"})).role, Role::System);
}

#[test]
fn a_session_is_known_by_its_events_and_named_by_the_first() {
    let file = format!(
        "{}\n{}\n",
        line("session.start", &json!({"sessionId": "s-1"})),
        line("user.message", &json!({"content": "Hi"}))
    );
    assert_eq!(only_format(&file), "agent_copilot");
    let pieces = pieces(&Copilot, file.as_bytes());
    assert!(spans(&pieces).iter().all(|record| record.session == "s-1"));
}
