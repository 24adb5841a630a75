use serde_json::json;
use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, the_call, the_result};

fn step(source: &str, kind: &str, more: &Value) -> SpanContent {
    let mut step = json!({"step_index": 3, "source": source, "type": kind, "status": "DONE", "created_at": "2026-02-03T09:00:01.250Z"});
    for (name, value) in more.as_object().unwrap() {
        step[name] = value.clone();
    }
    Antigravity.parse(step.to_string().as_bytes()).unwrap()
}

#[test]
fn the_planner_thinks_speaks_and_calls_in_one_step() {
    let content = step(
        "MODEL",
        "PLANNER_RESPONSE",
        &json!({"thinking": "hm", "content": "I look.",
        "tool_calls": [{"name": "view_file", "args": {"AbsolutePath": "\"/etc/motd\"", "StartLine": "3"}}]}),
    );
    assert_eq!((content.role, content.kind, content.parts.len()), (Role::Assistant, SpanKind::ToolCall, 3));
    assert_eq!(content.timestamp_ms, Some(1_770_109_201_250));
    let call = the_call(&content);
    assert_eq!(
        (call.id, call.tool.as_str(), call.args),
        (None, "view_file", json!({"AbsolutePath": "/etc/motd", "StartLine": 3}))
    );
}

#[test]
fn arguments_that_are_not_all_json_text_stay_as_they_are() {
    let content = step(
        "MODEL",
        "PLANNER_RESPONSE",
        &json!({"tool_calls": [{"name": "t", "args": {"a": "plain words", "b": "3"}}]}),
    );
    assert_eq!(the_call(&content).args, json!({"a": "plain words", "b": "3"}));
}

#[test]
fn any_other_step_of_the_model_is_a_result_without_an_id() {
    let ran = |text: &str| step("MODEL", "RUN_COMMAND", &json!({"content": text}));
    let done = ran("The command completed successfully.\nOutput:\na");
    assert_eq!(
        (done.role, the_result(&done).call_id, the_result(&done).exit_code),
        (Role::Tool, None, Some(0))
    );
    assert_eq!(the_result(&ran("The command failed with exit code: 2\nOutput:\nno")).exit_code, Some(2));
    let of_next_year = step("MODEL", "BROWSER_FOLD", &json!({"content": "folded"}));
    assert_eq!(the_result(&of_next_year).text, "folded");
    assert_eq!(
        the_result(&step("MODEL", "VIEW_FILE", &json!({"content": "x", "status": "ERROR"}))).is_error,
        Some(true)
    );
    assert_eq!(the_result(&ran("")).text, "");
    let cancelled = step("MODEL", "RUN_COMMAND", &json!({"status": "CANCELED"}));
    assert_eq!((the_result(&cancelled).text, the_result(&cancelled).is_error), (String::new(), Some(true)));
    assert_eq!(step("MODEL", "RUN_COMMAND", &json!({"status": "RUNNING"})).kind, SpanKind::Meta);
}

#[test]
fn a_checkpoint_is_the_runtimes_summary_and_a_step_without_words_is_no_talk() {
    let checkpoint = step("SYSTEM", "CHECKPOINT", &json!({"content": "# Resuming"}));
    assert_eq!(
        (checkpoint.kind, &checkpoint.parts[0].body),
        (SpanKind::CompactSummary, &PartBody::Summary("# Resuming".into()))
    );
    assert_eq!(step("SYSTEM", "CONVERSATION_HISTORY", &json!({})).kind, SpanKind::Meta);
    assert_eq!(step("SYSTEM", "SYSTEM_MESSAGE", &json!({"content": "x"})).role, Role::System);
    assert_eq!(step("USER_EXPLICIT", "USER_INPUT", &json!({"content": "x"})).role, Role::User);
}

#[test]
fn a_session_is_known_by_its_steps() {
    assert_eq!(
        only_format(
            r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","content":"x"}"#
        ),
        "agent_antigravity"
    );
}
