use serde_json::json;
use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::testing::{only_format, the_call, the_result};
use crate::{Head, Importer};

fn read(line: &Value) -> SpanContent {
    Cursor.parse(line.to_string().as_bytes()).unwrap()
}

#[test]
fn calls_are_blocks_by_any_of_their_names() {
    for (kind, arguments) in [("tool_use", "input"), ("tool_call", "input"), ("tool-call", "args")] {
        let content = read(&json!({"role": "assistant", "message": {"content": [
            {"type": "text", "text": "I look."}, {"type": kind, "name": "Bash", arguments: {"command": "ls"}}]}}));
        assert_eq!((content.role, content.kind), (Role::Assistant, SpanKind::ToolCall));
        assert_eq!(
            (the_call(&content).tool.as_str(), the_call(&content).args),
            ("Bash", json!({"command": "ls"}))
        );
    }
}

#[test]
fn results_are_the_tools_whoever_carries_them() {
    let answer = |status: &str| {
        read(&json!({"role": "user", "metadata": {"toolResultStatus": status}, "message": {"content": [
            {"type": "tool-result", "name": "read_file", "content": [{"type": "text", "text": "x"}]}]}}))
    };
    let result = the_result(&answer("success"));
    assert_eq!(
        (answer("success").role, result.tool.as_deref(), result.text.as_str(), result.is_error),
        (Role::Tool, Some("read_file"), "x", None)
    );
    assert_eq!(the_result(&answer("error")).is_error, Some(true));
}

#[test]
fn unknown_blocks_are_shown_and_unknown_lines_kept() {
    let content = read(
        &json!({"role": "assistant", "message": {"content": [{"type": "custom_block", "text": "seen"}, {"type": "thinking", "thinking": "hm"}]}}),
    );
    assert_eq!(
        (&content.parts[0].body, &content.parts[1].body),
        (&PartBody::Text("seen".into()), &PartBody::Thinking("hm".into()))
    );
    assert_eq!(read(&json!({"type": "turn_ended", "status": "success"})).kind, SpanKind::Meta);
}

#[test]
fn a_transcript_is_known_by_its_bare_messages() {
    assert_eq!(
        only_format(r#"{"role":"user","message":{"content":[{"type":"text","text":"Hi"}]}}"#),
        "agent_cursor"
    );
    let other = r#"{"type":"user","uuid":"u","role":"user","message":{"content":[]}}"#;
    assert_eq!(Cursor.detect(&Head::new(other.as_bytes())), Confidence::No);
}
