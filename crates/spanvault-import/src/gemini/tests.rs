use serde_json::json;
use spanvault_types::{Encoding, Outcome, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{calls, only_format, pieces, results, slice, spans};

fn read(message: &Value) -> SpanContent {
    GeminiCli.parse(message.to_string().as_bytes()).unwrap()
}

fn call_of(status: &str, result: &Value, more: &Value) -> Value {
    let mut call = json!({"id": "c-1", "name": "run_shell_command", "args": {"command": "make"}, "status": status, "result": result});
    for (name, value) in more.as_object().unwrap() {
        call[name] = value.clone();
    }
    json!({"id": "m", "timestamp": "2026-02-03T09:00:01.250Z", "type": "gemini", "content": "", "toolCalls": [call]})
}

fn response(response: &Value) -> Value {
    json!([{"functionResponse": {"id": "c-1", "name": "run_shell_command", "response": response}}])
}

fn outcome(message: &Value) -> Outcome {
    match read(message).parts.pop().map(|part| part.body) {
        Some(PartBody::Result(outcome)) => outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_is_its_thoughts_its_words_and_its_calls_with_their_results() {
    let message = json!({"id": "m", "timestamp": "2026-02-03T09:00:01.250Z", "type": "gemini", "content": "I write.",
        "thoughts": [{"subject": "Plan", "description": "Write first."}, {"description": "Only this."}],
        "toolCalls": [{"id": "c", "name": "write_file", "args": {"file_path": "/tmp/x"}, "status": "success",
            "result": [{"functionResponse": {"id": "c", "name": "write_file", "response": {"output": "Successfully wrote"}}}]}]});
    let content = read(&message);
    assert_eq!((content.role, content.kind), (Role::Assistant, SpanKind::ToolCall));
    assert_eq!((content.timestamp_ms, content.event_key.as_deref()), (Some(1_770_109_201_250), Some("m")));
    assert_eq!(content.parts[0].body, PartBody::Thinking("Plan\nWrite first.".into()));
    assert_eq!(content.parts[1].body, PartBody::Thinking("Only this.".into()));
    assert_eq!(content.parts[2].body, PartBody::Text("I write.".into()));
    let PartBody::Call(call) = &content.parts[3].body else { panic!("{content:?}") };
    assert_eq!(
        (call.id.as_deref(), call.tool.as_str(), &call.args),
        (Some("c"), "write_file", &json!({"file_path": "/tmp/x"}))
    );
    let PartBody::Result(outcome) = &content.parts[4].body else { panic!("{content:?}") };
    assert_eq!((outcome.call_id.as_deref(), outcome.tool.as_deref()), (Some("c"), Some("write_file")));
    assert_eq!(
        (outcome.text.as_str(), outcome.is_error, outcome.executed),
        ("Successfully wrote", None, None)
    );
    let text = message.to_string();
    assert_eq!(content.parts[4].encoding, Encoding::JsonString);
    assert_eq!(slice(&text, content.parts[4].range), "\"Successfully wrote\"");
}

#[test]
fn the_exit_code_of_a_command_stands_in_the_lines_at_the_end_alone() {
    let said =
        |text: &str| outcome(&call_of("success", &response(&json!({"output": text})), &json!({}))).exit_code;
    assert_eq!(
        said(
            "Command: make\nOutput: Exit Code: 7\nError: (none)\nExit Code: 2\nSignal: (none)\nProcess Group PGID: 9"
        ),
        Some(2)
    );
    assert_eq!(said("Output: Exit Code: 7\nExit Code: 7\nmore\nProcess Group PGID: 9"), None);
    assert_eq!(said("Exit Code: (none)\nSignal: 9"), None);
}

#[test]
fn a_call_that_failed_or_was_not_allowed_says_so() {
    let failed = outcome(&call_of("error", &response(&json!({"error": "no such file"})), &json!({})));
    assert_eq!((failed.text.as_str(), failed.is_error, failed.executed), ("no such file", Some(true), None));
    let refused = outcome(&call_of(
        "cancelled",
        &response(&json!({"error": "[Operation Cancelled] Reason: User did not allow tool call"})),
        &json!({}),
    ));
    assert_eq!((refused.is_error, refused.executed), (Some(true), Some(false)));
    let shown = outcome(&call_of("error", &Value::Null, &json!({"resultDisplay": "it broke"})));
    assert_eq!((shown.text.as_str(), shown.call_id.as_deref()), ("it broke", Some("c-1")));
}

#[test]
fn a_call_that_has_not_ended_stays_open() {
    for status in ["scheduled", "executing", "awaiting_approval"] {
        let content = read(&call_of(status, &Value::Null, &json!({})));
        assert_eq!((content.kind, content.parts.len()), (SpanKind::ToolCall, 1), "{status}");
    }
}

#[test]
fn content_is_a_string_or_parts_and_who_speaks_is_the_type() {
    for (message, role, kind) in [
        (json!({"type": "user", "content": "Hi"}), Role::User, SpanKind::Message),
        (json!({"type": "user", "content": [{"text": "Hi"}]}), Role::User, SpanKind::Message),
        (
            json!({"role": "user", "parts": [{"text": "Hi"}], "ts": 1_695_000_000}),
            Role::User,
            SpanKind::Message,
        ),
        (json!({"type": "warning", "content": "Hi"}), Role::System, SpanKind::Message),
        (json!({"type": "of-next-year", "data": {}}), Role::System, SpanKind::Meta),
        (json!({"$set": {"lastUpdated": "x"}}), Role::System, SpanKind::Meta),
    ] {
        let content = read(&message);
        assert_eq!((content.role, content.kind), (role, kind), "{message}");
        assert_eq!(content.parts.len(), usize::from(kind == SpanKind::Message));
    }
    let picture = read(
        &json!({"type": "user", "content": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}),
    );
    assert_eq!(picture.parts[0].body, PartBody::Text("[image]".into()));
}

const CHAT: &str = r#"{
  "sessionId": "s-1", "projectHash": "p", "startTime": "x",
  "messages": [
    {"id": "a", "type": "user", "content": "Hi"},
    {"id": "b", "type": "gemini", "content": "Ho", "model": "g"}
  ]
}"#;

const LINES: &str = concat!(
    r#"{"sessionId":"s-1","projectHash":"p","startTime":"x","kind":"main"}"#,
    "\n",
    r#"{"id":"a","timestamp":"2026-02-03T09:00:01Z","type":"user","content":[{"text":"Hi"}]}"#,
    "\n",
    r#"{"$set":{"lastUpdated":"x"}}"#,
    "\n",
    r#"{"id":"b","type":"gemini","content":"Ho"}"#,
);

#[test]
fn both_forms_are_known_and_all_their_records_belong_to_the_session_that_they_name() {
    for (file, format, records) in [(CHAT, "gemini_cli", 2), (LINES, "gemini_jsonl", 4)] {
        assert_eq!(only_format(file), format);
        let pieces = pieces(crate::by_name(format).unwrap(), file.as_bytes());
        let spans = spans(&pieces);
        assert_eq!(spans.len(), records);
        assert!(spans.iter().all(|record| record.session == "s-1" && record.quarantine.is_none()));
    }
    let started = LINES.lines().next().unwrap_or_default();
    assert_eq!(only_format(started), "gemini_jsonl", "a session in which nothing was said yet");
}

#[test]
fn an_old_form_with_a_history_is_known_too() {
    let old = r#"{"history":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"gemini","parts":[{"text":"Ho"}]}],"meta":{}}"#;
    assert_eq!(crate::detect(old.as_bytes()).unwrap().format(), "gemini_cli");
    let pieces = pieces(&GeminiCli, old.as_bytes());
    assert_eq!(spans(&pieces).iter().map(|record| record.index).collect::<Vec<_>>(), [0, 1]);
}

const CHECKPOINT: &str = r#"[
  {"role":"user","parts":[{"text":"This is the Gemini CLI."}]},
  {"role":"model","parts":[{"text":"I look.","thought":true},
    {"functionCall":{"name":"run_shell_command","args":{"command":"make"}}},
    {"functionCall":{"id":"c-2","name":"write_file","args":{"file_path":"/etc/hosts"}}}]},
  {"role":"user","parts":[
    {"functionResponse":{"name":"run_shell_command","response":{"output":"Output: no\nExit Code: 2\nSignal: (none)"}}},
    {"functionResponse":{"id":"c-2","name":"write_file","response":{"error":"[Operation Cancelled] Reason: User did not allow tool call"}}}]},
  {"role":"model","parts":[{"text":"It failed."}]}
]"#;

#[test]
fn a_chat_that_was_saved_is_read_alone_or_in_an_object() {
    let wrapped = format!(r#"{{"history":{CHECKPOINT},"authType":"oauth-personal"}}"#);
    for file in [CHECKPOINT, &wrapped] {
        assert_eq!(crate::detect(file.as_bytes()).unwrap().format(), "gemini_cli");
        let pieces = pieces(&GeminiCli, file.as_bytes());
        let told: Vec<_> =
            spans(&pieces).iter().map(|it| (it.index, it.content.role, it.content.kind)).collect();
        assert_eq!(
            told,
            [
                (0, Role::User, SpanKind::Message),
                (1, Role::Assistant, SpanKind::ToolCall),
                (2, Role::Tool, SpanKind::ToolResult),
                (3, Role::Assistant, SpanKind::Message),
            ]
        );
        let [first, second] = <[_; 2]>::try_from(calls(&pieces)).unwrap();
        assert_eq!((first.id, second.id.as_deref()), (None, Some("c-2")), "without an id, by order");
        let [first, second] = <[_; 2]>::try_from(results(&pieces)).unwrap();
        assert_eq!((first.call_id.as_deref(), first.exit_code, first.executed), (None, Some(2), None));
        assert_eq!((second.call_id.as_deref(), second.is_error), (Some("c-2"), Some(true)));
        assert_eq!(second.executed, Some(false));
    }
}
