use serde_json::json;
use spanvault_types::{PartBody, Role, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans};

fn read(line: &Value) -> spanvault_types::SpanContent {
    Grok.parse(line.to_string().as_bytes()).unwrap()
}

#[test]
fn a_call_and_its_result_name_the_same_id() {
    let call = read(&json!({"type": "assistant", "content": "I look.", "model_id": "m", "tool_calls":
        [{"id": "c-0", "name": "read_file", "arguments": "{\"target_file\": \"/etc/motd\"}"}]}));
    assert_eq!((call.role, call.kind, call.parts.len()), (Role::Assistant, SpanKind::ToolCall, 2));
    let PartBody::Call(made) = &call.parts[1].body else { panic!("{call:?}") };
    assert_eq!((made.id.as_deref(), &made.args), (Some("c-0"), &json!({"target_file": "/etc/motd"})));
    let result = read(&json!({"type": "tool_result", "tool_call_id": "c-0", "content": "hello\n"}));
    let PartBody::Result(outcome) = &result.parts[0].body else { panic!("{result:?}") };
    assert_eq!(
        (result.role, outcome.call_id.as_deref(), outcome.text.as_str()),
        (Role::Tool, Some("c-0"), "hello\n")
    );
}

#[test]
fn what_the_runtime_says_for_the_user_is_the_runtimes() {
    let line = |more: &str| {
        read(
            &serde_json::from_str(&format!(
                r#"{{"type":"user","content":[{{"type":"text","text":"x"}}]{more}}}"#
            ))
            .unwrap(),
        )
    };
    assert_eq!(line("").role, Role::User);
    assert_eq!(line(r#","synthetic_reason":"environment""#).role, Role::System);
}

#[test]
fn a_tool_of_the_provider_is_a_call_that_is_answered_in_the_same_line() {
    let line = |status: &str| {
        read(
            &json!({"type": "backend_tool_call", "kind": {"tool_type": "web_search", "id": "w", "status": status,
            "action": {"type": "search", "query": "tides"}}}),
        )
    };
    let done = line("completed");
    assert!(
        matches!(&done.parts[0].body, PartBody::Call(call) if call.tool == "web_search" && call.args["query"] == "tides")
    );
    assert!(matches!(&done.parts[1].body, PartBody::Result(outcome) if outcome.is_error == Some(false)));
    assert_eq!(line("in_progress").parts.len(), 1, "one that has not ended has no result");
}

#[test]
fn reasoning_is_thinking_and_an_unknown_line_is_kept_without_parts() {
    let thought = read(
        &json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"}),
    );
    assert_eq!(
        (thought.kind, &thought.parts[0].body),
        (SpanKind::Thinking, &PartBody::Thinking("hm".into()))
    );
    assert_eq!(read(&json!({"type": "of-next-year", "content": "x"})).kind, SpanKind::Meta);
}

#[test]
fn both_files_of_a_session_are_known_and_the_summary_is_one_record() {
    let chat = concat!(
        r#"{"type":"system","content":"Be kind"}"#,
        "\n",
        r#"{"type":"user","content":[{"type":"text","text":"Hi"}],"prompt_index":0}"#,
        "\n",
        r#"{"type":"assistant","content":"Ho","tool_calls":[],"model_id":"g"}"#,
        "\n",
    );
    let summary =
        "{\n  \"info\": {\"id\": \"s\"},\n  \"session_summary\": \"x\",\n  \"chat_format_version\": 1\n}\n";
    for (file, records) in [(chat, 3), (summary, 1)] {
        assert_eq!(only_format(file), "agent_grok");
        let pieces = pieces(&Grok, file.as_bytes());
        let spans = spans(&pieces);
        assert_eq!(spans.len(), records);
        assert!(spans.iter().all(|record| record.quarantine.is_none()));
    }
}
