use serde_json::json;
use spanvault_types::{Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans, the_call, the_result};

fn read(message: &Value) -> SpanContent {
    Hermes.parse(message.to_string().as_bytes()).unwrap()
}

#[test]
fn messages_are_those_of_the_chat_api_with_the_fate_that_this_agent_adds() {
    let call = read(&json!({"role": "assistant", "content": "I run it.", "tool_calls":
        [{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"make\"}"}}]}));
    assert_eq!(
        (the_call(&call).tool.as_str(), the_call(&call).args),
        ("terminal", json!({"command": "make"}))
    );
    let answer = read(
        &json!({"role": "tool", "tool_call_id": "c1", "tool_name": "terminal", "content": "{\"output\": \"no\", \"exit_code\": 2, \"error\": null}"}),
    );
    let result = the_result(&answer);
    assert_eq!(
        (result.call_id.as_deref(), result.tool.as_deref(), result.exit_code, result.is_error),
        (Some("c1"), Some("terminal"), Some(2), None)
    );
    let failed =
        read(&json!({"role": "tool", "tool_call_id": "c1", "content": "x", "finish_reason": "error"}));
    assert_eq!(the_result(&failed).is_error, Some(true));
    assert_eq!(read(&json!({"role": "session_meta"})).kind, SpanKind::Meta);
    assert_eq!(read(&json!({"role": "user", "content": "Hi"})).role, Role::User);
}

#[test]
fn a_session_is_known_and_named_by_its_head() {
    let file = r#"{"session_id":"s-1","model":"m","platform":"cli","session_start":"x","messages":[{"role":"user","content":"Hi"}]}"#;
    assert_eq!(only_format(file), "agent_hermes");
    let pieces = pieces(&Hermes, file.as_bytes());
    assert_eq!(spans(&pieces)[0].session, "s-1");
}
