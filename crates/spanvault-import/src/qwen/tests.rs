use serde_json::json;
use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans, the_call, the_result};

fn line(kind: &str, more: &Value) -> Value {
    let mut line = json!({"uuid": "u1", "parentUuid": null, "sessionId": "s-1", "timestamp": "2026-02-03T09:00:01.250Z", "type": kind});
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

fn read(kind: &str, more: &Value) -> SpanContent {
    Qwen.parse(line(kind, more).to_string().as_bytes()).unwrap()
}

#[test]
fn thoughts_words_and_calls_are_parts_of_a_message() {
    let content = read(
        "assistant",
        &json!({"message": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "I look."},
        {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}}]}}),
    );
    assert_eq!(
        (content.role, content.kind, &content.parts[0].body),
        (Role::Assistant, SpanKind::ToolCall, &PartBody::Thinking("hm".into()))
    );
    assert_eq!(
        (the_call(&content).id.as_deref(), the_call(&content).args),
        (Some("c1"), json!({"path": "a"}))
    );
}

#[test]
fn a_result_has_the_fate_that_stands_beside_it() {
    let result = |response: Value, status: &str| {
        the_result(&read(
            "tool_result",
            &json!({"message": {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "run_shell_command", "response": response}}]},
            "toolCallResult": {"callId": "c1", "status": status}}),
        ))
    };
    let done = result(json!({"output": "Output: x\nExit Code: 1\nProcess Group PGID: 9"}), "success");
    assert_eq!((done.call_id.as_deref(), done.is_error, done.exit_code), (Some("c1"), None, Some(1)));
    assert_eq!(result(json!({"error": "no"}), "error").is_error, Some(true));
    assert_eq!(
        result(json!({"error": "[Operation Cancelled] Reason: User did not allow tool call"}), "cancelled")
            .executed,
        Some(false)
    );
}

#[test]
fn pieces_of_one_message_are_different_events_though_they_share_their_uuid() {
    let at = |time: &str| read("assistant", &json!({"timestamp": time, "message": {"parts": []}})).event_key;
    assert_ne!(at("2026-02-03T09:00:01Z"), at("2026-02-03T09:00:02Z"));
    assert_eq!(at("2026-02-03T09:00:01Z"), at("2026-02-03T09:00:01Z"));
}

#[test]
fn what_the_runtime_says_is_the_runtimes_and_a_compression_is_its_summary() {
    let words = json!({"message": {"role": "user", "parts": [{"text": "Hi"}]}});
    assert_eq!(read("user", &words).role, Role::User);
    let mut notified = words;
    notified["subtype"] = "notification".into();
    assert_eq!(read("user", &notified).role, Role::System);
    for subtype in ["ui_telemetry", "rewind", "custom_title", "of_next_year"] {
        assert_eq!(
            read("system", &json!({"subtype": subtype, "systemPayload": {"summary": "x"}})).kind,
            SpanKind::Meta
        );
    }
    let compressed = read(
        "system",
        &json!({"subtype": "chat_compression", "systemPayload": {"info": {}, "compressedHistory":
        [{"role": "user", "parts": [{"text": "Short"}]}, {"role": "model", "parts": [{"text": "Got it."}]}]}}),
    );
    assert_eq!(
        (compressed.kind, compressed.parts.len(), &compressed.parts[0].body),
        (SpanKind::CompactSummary, 1, &PartBody::Summary("Short".into()))
    );
}

#[test]
fn a_session_is_known_by_its_messages_and_keeps_its_name() {
    let file = line("user", &json!({"message": {"role": "user", "parts": [{"text": "Hi"}]}})).to_string();
    assert_eq!(only_format(&file), "agent_qwen");
    assert_eq!(spans(&pieces(&Qwen, file.as_bytes()))[0].session, "s-1");
    let telemetry = line("system", &json!({"subtype": "ui_telemetry", "systemPayload": {}})).to_string();
    assert_eq!(only_format(&telemetry), "agent_qwen");
}
