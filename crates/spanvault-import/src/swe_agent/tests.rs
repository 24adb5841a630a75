use serde_json::json;
use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans};

fn read(element: &Value) -> SpanContent {
    SweAgent.parse(element.to_string().as_bytes()).unwrap()
}

fn parts(content: &SpanContent) -> Vec<String> {
    let shown = |body: &PartBody| match body {
        PartBody::Text(text) => format!("text {text}"),
        PartBody::Call(call) => format!("{} {} {:?}", call.tool, call.args, call.id),
        PartBody::Result(outcome) => format!("result {} {:?}", outcome.text, outcome.call_id),
        PartBody::Thinking(_) | PartBody::Summary(_) => "other".to_owned(),
    };
    content.parts.iter().map(|part| shown(&part.body)).collect()
}

#[test]
fn a_step_is_the_words_the_command_and_what_it_printed() {
    let edit = "edit 1:1\nx\nend_of_edit\n";
    let content = read(&json!({"action": edit, "observation": "a\r\n\u{1b}[0m", "thought": "I edit.",
        "response": "I edit.\n```\nedit\n```", "state": "{\"open_file\": \"n/a\"}"}));
    assert_eq!(
        (content.role, content.kind, content.timestamp_ms),
        (Role::Assistant, SpanKind::ToolCall, None)
    );
    let call = format!("action {} None", json!({"action": edit}));
    assert_eq!(parts(&content), ["text I edit.", &call, "result a\r\n\u{1b}[0m None"]);
    let silent =
        read(&json!({"action": "ls", "observation": "", "thought": "", "response": "", "state": {"a": 1}}));
    assert_eq!(parts(&silent), [r#"action {"action":"ls"} None"#, "result  None"]);
    let last = read(&json!({"action": "submit", "observation": null, "thought": "Done."}));
    assert_eq!(parts(&last).len(), 2, "a command without an observation stays open");
}

#[test]
fn an_answer_without_a_command_ran_nothing() {
    let content = read(
        &json!({"action": "", "observation": "Your output was not formatted", "thought": "Hm", "response": "Hm"}),
    );
    assert_eq!(
        (content.kind, parts(&content)),
        (SpanKind::Message, vec!["text Hm".into(), "text Your output was not formatted".into()])
    );
}

#[test]
fn a_history_is_read_where_there_is_nothing_else_and_its_demonstrations_are_no_calls() {
    let call = read(
        &json!({"role": "assistant", "content": "I look.", "thought": "I look.", "action": "ls", "agent": "main",
        "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": "{}"}}], "message_type": "action"}),
    );
    assert_eq!(parts(&call), ["text I look.", r#"action {"action":"ls"} Some("c1")"#]);
    let answer = read(
        &json!({"role": "tool", "content": "a.txt", "tool_call_ids": ["c1"], "message_type": "observation", "agent": "main"}),
    );
    assert_eq!((answer.role, parts(&answer)), (Role::Tool, vec!["result a.txt Some(\"c1\")".to_owned()]));
    let old =
        read(&json!({"role": "user", "content": "a.txt", "message_type": "observation", "agent": "main"}));
    assert_eq!((old.role, old.kind), (Role::Tool, SpanKind::ToolResult));
    let demo = read(
        &json!({"role": "assistant", "content": "I look.", "action": "rm -r /", "is_demo": true, "agent": "main"}),
    );
    assert_eq!((demo.role, parts(&demo)), (Role::System, vec!["text I look.".to_owned()]));
    assert_eq!(read(&json!({"role": "user", "content": "Task", "agent": "main"})).role, Role::User);
}

#[test]
fn the_steps_of_a_trajectory_are_the_records_and_its_history_is_not() {
    let step = r#"{"action":"ls","observation":"a","response":"x","thought":"x","state":"{}"}"#;
    let message = r#"{"role":"user","content":"x","agent":"primary"}"#;
    for (file, records) in [
        (
            format!(
                r#"{{"environment":"e","trajectory":[{step},{step}],"history":[{message}],"info":{{}}}}"#
            ),
            2,
        ),
        (format!(r#"{{"trajectory":[],"history":[{message},{message},{message}]}}"#), 3),
        (format!(r#"{{"history":[{message}]}}"#), 1),
    ] {
        assert_eq!(only_format(&file), "swe_agent");
        let pieces = pieces(&SweAgent, file.as_bytes());
        let places: Vec<_> =
            spans(&pieces).iter().map(|record| (record.record.as_str(), record.index)).collect();
        assert_eq!(places, (0..records).map(|index| ("", index)).collect::<Vec<_>>());
    }
}
