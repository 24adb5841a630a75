use serde_json::json;
use spanvault_types::{Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::detect;
use crate::testing::{pieces, spans};

fn read(message: &Value) -> SpanContent {
    MiniSwe.parse(message.to_string().as_bytes()).unwrap()
}

fn commands(content: &SpanContent) -> Vec<String> {
    let mut commands = Vec::new();
    for part in &content.parts {
        if let PartBody::Call(call) = &part.body {
            assert_eq!(call.tool, "bash");
            commands.extend(call.args["command"].as_str().map(str::to_owned));
        }
    }
    commands
}

fn outcome(content: &SpanContent) -> Outcome {
    let [Part { body: PartBody::Result(outcome), .. }] = content.parts.as_slice() else {
        panic!("{content:?}")
    };
    outcome.clone()
}

#[test]
fn a_command_is_read_once_though_the_message_repeats_it() {
    let content = read(&json!({
        "role": "assistant", "content": "I look.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"ls -la\"}"}}],
        "extra": {
            "actions": [{"command": "ls -la", "tool_call_id": "c1"}], "timestamp": 1_775_802_351.5,
            "response": {"choices": [{"message": {"tool_calls": [{"id": "c1"}]}}]},
        },
    }));
    assert_eq!(commands(&content), ["ls -la"]);
    assert_eq!((content.role, content.kind), (Role::Assistant, SpanKind::ToolCall));
    assert_eq!(content.timestamp_ms, Some(1_775_802_351_500));
}

#[test]
fn a_command_of_an_old_version_stands_in_its_one_fence() {
    let said = |content: &str| read(&json!({"role": "assistant", "content": content}));
    for fence in ["bash", "mswea_bash_command"] {
        let content = said(&format!("THOUGHT: first I look.\n\n```{fence}\ncat a.txt &&\\\n ls\n```"));
        assert_eq!(commands(&content), ["cat a.txt &&\\\n ls"]);
        assert_eq!(content.kind, SpanKind::ToolCall);
        assert!(matches!(&content.parts[0].body, PartBody::Text(text) if text.starts_with("THOUGHT")));
        let twice = said(&format!("```{fence}\na\n```\n```{fence}\nb\n```"));
        assert_eq!((commands(&twice).len(), twice.kind), (0, SpanKind::Message), "the agent runs neither");
    }
    assert!(commands(&said("```python\nprint(1)\n```")).is_empty());
    assert!(commands(&said("```bash\nnever closed")).is_empty());
    let parsed =
        read(&json!({"role": "assistant", "content": "x", "extra": {"actions": [{"command": "make"}]}}));
    assert_eq!(commands(&parsed), ["make"]);
}

#[test]
fn an_observation_has_its_exit_code_and_keeps_its_whole_text() {
    let text = "<returncode>1</returncode>\n<output>\nnothing\n</output>";
    let tool = read(
        &json!({"role": "tool", "tool_call_id": "c1", "content": text, "extra": {"returncode": 1, "exception_info": "", "timestamp": 1.5}}),
    );
    let Outcome { call_id, exit_code, is_error, text: whole, .. } = outcome(&tool);
    assert_eq!((call_id.as_deref(), exit_code, is_error, whole.as_str()), (Some("c1"), Some(1), None, text));
    let user = read(&json!({"role": "user", "content": text}));
    assert_eq!((user.role, user.kind), (Role::Tool, SpanKind::ToolResult));
    assert_eq!(outcome(&user).exit_code, Some(1));
    assert_eq!(read(&json!({"role": "user", "content": "Please solve <returncode>"})).role, Role::User);
}

#[test]
fn a_command_that_could_not_end_is_an_error() {
    let text =
        "<exception>timed out after 60 seconds</exception>\n<returncode>-1</returncode>\n<output>\n</output>";
    let tool = read(
        &json!({"role": "tool", "content": text, "extra": {"exception_info": "timed out after 60 seconds"}}),
    );
    assert_eq!((outcome(&tool).is_error, outcome(&tool).exit_code), (Some(true), Some(-1)));
    let killed = read(
        &json!({"role": "user", "content": "The last command <command>yes</command> timed out and has been killed."}),
    );
    assert_eq!((killed.role, outcome(&killed).is_error), (Role::Tool, Some(true)));
}

#[test]
fn both_forms_are_known_by_what_stands_in_them() {
    let current = r#"{"info":{"model_stats":{},"config":{},"mini_version":"2"},"messages":[{"role":"system","content":"x"},{"role":"exit","content":"diff","extra":{"exit_status":"Submitted"}}],"trajectory_format":"mini-swe-agent-1.1"}"#;
    let old = r#"[{"role":"system","content":"x"},{"role":"assistant","content":"```mswea_bash_command\nls\n```"},{"role":"user","content":"<returncode>0</returncode>"}]"#;
    for file in [current, old] {
        let importer = detect(file.as_bytes()).unwrap();
        assert_eq!(importer.format(), "mini_swe");
        let pieces = pieces(importer, file.as_bytes());
        let indexes: Vec<_> = spans(&pieces).iter().map(|record| record.index).collect();
        assert_eq!(indexes, (0..indexes.len() as u64).collect::<Vec<_>>());
    }
    let exit = read(&json!({"role": "exit", "content": "diff --git", "extra": {"exit_status": "Submitted"}}));
    assert_eq!((exit.role, exit.kind, exit.parts.len()), (Role::System, SpanKind::Message, 1));
    assert_eq!(
        detect(
            current
                .replace("mini_version", "version")
                .replace("mini-swe", "my")
                .replace("config", "c")
                .as_bytes()
        )
        .unwrap()
        .format(),
        "chat_json"
    );
}
