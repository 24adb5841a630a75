use serde_json::json;
use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans, the_call, the_result};

fn read(line: &Value) -> SpanContent {
    Droid.parse(line.to_string().as_bytes()).unwrap()
}

#[test]
fn the_messages_of_a_session_file_are_read_with_their_blocks() {
    let message = |role: &str, content: Value| {
        read(
            &json!({"type": "message", "id": "m1", "timestamp": "2026-02-03T09:00:01.250Z", "message": {"role": role, "content": content}}),
        )
    };
    let call = message(
        "assistant",
        json!([{"type": "tool_use", "id": "t1", "name": "Execute", "input": {"command": "ls"}}]),
    );
    assert_eq!(
        (call.role, call.event_key.as_deref(), call.timestamp_ms),
        (Role::Assistant, Some("m1"), Some(1_770_109_201_250))
    );
    assert_eq!((the_call(&call).id.as_deref(), the_call(&call).args), (Some("t1"), json!({"command": "ls"})));
    let answer = message(
        "user",
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "Error: Command failed (exit code: 2)\nls: no"}]),
    );
    let result = the_result(&answer);
    assert_eq!(
        (answer.role, result.call_id.as_deref(), result.is_error, result.exit_code),
        (Role::Tool, Some("t1"), Some(true), Some(2))
    );
    assert_eq!(message("user", json!([{"type": "text", "text": "Hi"}])).role, Role::User);
}

#[test]
fn calls_and_results_of_a_stream_are_lines_of_their_own() {
    let call = read(
        &json!({"type": "tool_call", "session_id": "s", "timestamp": 1_770_109_201_250_i64, "id": "c1", "toolId": "Execute", "toolName": "Execute", "parameters": {"command": "ls"}}),
    );
    assert_eq!(
        (the_call(&call).id.as_deref(), the_call(&call).tool.as_str(), call.event_key),
        (Some("c1"), "Execute", None)
    );
    let result = |more: &Value| {
        let mut line = json!({"type": "tool_result", "toolCallId": "c1", "toolName": "Shell"});
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        the_result(&read(&line))
    };
    let printed = result(&json!({"value": {"stdout": "hi\n", "exitCode": 0}}));
    assert_eq!(
        (printed.text.as_str(), printed.exit_code, printed.call_id.as_deref()),
        ("hi\n", Some(0), Some("c1"))
    );
    let both = result(&json!({"value": {"stdout": "hi", "stderr": "no", "exitCode": 1}}));
    assert!(both.text.contains("\"stderr\":\"no\""), "what it complained of is not left out");
    let failed = result(&json!({"isError": true, "value": "no such file"}));
    assert_eq!((failed.text.as_str(), failed.is_error), ("no such file", Some(true)));
}

#[test]
fn the_line_at_the_end_repeats_the_last_words_and_a_compaction_is_its_summary() {
    assert_eq!(read(&json!({"type": "completion", "finalText": "Done"})).kind, SpanKind::Meta);
    let failed = read(&json!({"type": "error", "message": "No key"}));
    assert_eq!((failed.role, &failed.parts[0].body), (Role::System, &PartBody::Text("No key".into())));
    assert_eq!(
        read(&json!({"type": "compaction_state", "summaryText": "Short"})).kind,
        SpanKind::CompactSummary
    );
    assert_eq!(read(&json!({"type": "message", "role": "assistant", "text": "Ho"})).role, Role::Assistant);
}

#[test]
fn both_forms_are_known_and_name_their_session() {
    let store = concat!(
        r#"{"type":"session_start","id":"s-1","title":"T","cwd":"/x"}"#,
        "\n",
        r#"{"type":"message","id":"m1","message":{"role":"user","content":[{"type":"text","text":"Hi"}]}}"#,
    );
    let stream = concat!(
        r#"{"type":"message","session_id":"s-1","role":"user","text":"Hi"}"#,
        "\n",
        r#"{"type":"tool_call","session_id":"s-1","toolName":"Shell","parameters":{}}"#,
    );
    for file in [store, stream] {
        assert_eq!(only_format(file), "agent_droid");
        let pieces = pieces(&Droid, file.as_bytes());
        assert!(spans(&pieces).iter().all(|record| record.session == "s-1"));
    }
}
