use serde_json::json;
use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans, the_call, the_result};

fn read(document: &Value) -> SpanContent {
    OpenCode.parse(document.to_string().as_bytes()).unwrap()
}

fn tool(state: &Value) -> SpanContent {
    read(
        &json!({"id": "p1", "sessionID": "s-1", "messageID": "m1", "type": "tool", "callID": "c1", "tool": "bash", "state": state}),
    )
}

#[test]
fn a_tool_part_is_the_call_and_its_result() {
    let done = tool(
        &json!({"status": "completed", "input": {"command": "ls"}, "output": "a\n", "metadata": {"exit": 2}, "time": {"start": 1_770_109_201_250_i64}}),
    );
    assert_eq!(
        (done.role, done.kind, done.timestamp_ms, done.event_key.as_deref()),
        (Role::Assistant, SpanKind::ToolCall, Some(1_770_109_201_250), Some("p1"))
    );
    assert_eq!((the_call(&done).id.as_deref(), the_call(&done).args), (Some("c1"), json!({"command": "ls"})));
    let result = the_result(&done);
    assert_eq!(
        (result.call_id.as_deref(), result.text.as_str(), result.is_error, result.exit_code),
        (Some("c1"), "a\n", Some(false), Some(2))
    );
    let failed = the_result(&tool(&json!({"status": "error", "input": {}, "error": "no"})));
    assert_eq!((failed.text.as_str(), failed.is_error), ("no", Some(true)));
    assert_eq!(
        tool(&json!({"status": "running", "input": {}})).parts.len(),
        1,
        "one that has not ended has no result"
    );
}

#[test]
fn words_thinking_and_files_are_told_apart() {
    let part = |kind: &str, more: &Value| {
        let mut part = json!({"id": "p1", "messageID": "m1", "type": kind, "text": "x"});
        for (name, value) in more.as_object().unwrap() {
            part[name] = value.clone();
        }
        read(&part)
    };
    assert_eq!(
        (part("text", &json!({})).role, part("text", &json!({"synthetic": true})).role),
        (Role::Assistant, Role::System)
    );
    assert_eq!(part("reasoning", &json!({})).kind, SpanKind::Thinking);
    assert_eq!(part("file", &json!({"mime": "image/png"})).parts[0].body, PartBody::Text("[image]".into()));
    assert_eq!(part("step-start", &json!({})).kind, SpanKind::Meta);
}

#[test]
fn each_file_is_known_and_one_record_of_the_session_that_it_names() {
    for file in [
        r#"{"id":"s-1","projectID":"p","directory":"/x","title":"T","time":{"created":1}}"#,
        "{\n  \"id\": \"m1\", \"sessionID\": \"s-1\", \"role\": \"user\", \"time\": {\"created\": 1}\n}\n",
        r#"{"id":"p1","sessionID":"s-1","messageID":"m1","type":"text","text":"Hi"}"#,
    ] {
        assert_eq!(only_format(file), "agent_opencode");
        let pieces = pieces(&OpenCode, file.as_bytes());
        let records = spans(&pieces);
        assert_eq!((records.len(), records[0].session.as_str()), (1, "s-1"));
    }
    let old = r#"{"id":"p1","type":"text","text":"Hi","time":{"start":1}}"#;
    assert_eq!(crate::detect(old.as_bytes()).unwrap().format(), "agent_opencode");
}

#[test]
fn a_call_that_the_user_did_not_allow_was_not_executed() {
    let refused = "The user rejected permission to use this specific tool call. You may try again.";
    let told = |state| the_result(&tool(&state));
    let rejected = told(json!({"status": "error", "input": {}, "error": refused}));
    assert_eq!((rejected.is_error, rejected.executed), (Some(true), Some(false)));
    let quoted = told(json!({"status": "completed", "input": {}, "output": refused}));
    assert_eq!((quoted.is_error, quoted.executed), (Some(false), None));
}
