use serde_json::json;
use spanvault_types::{Encoding, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::testing::{pieces, slice, spans};
use crate::{Importer, detect, is_generic};

fn read(message: &str) -> SpanContent {
    ChatJson.parse(message.as_bytes()).unwrap()
}

fn the_call(content: &SpanContent) -> (Option<&str>, &str, Value) {
    match content.parts.last().map(|part| &part.body) {
        Some(PartBody::Call(call)) => (call.id.as_deref(), call.tool.as_str(), call.args.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_of_each_dialect_is_read() {
    let args = json!({"city": "Ulm"});
    for (id, message) in [
        (
            Some("c1"),
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Ulm\"}"}}]}"#,
        ),
        (
            Some("c1"),
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"weather","arguments":{"city":"Ulm"}}]}"#,
        ),
        (None, r#"{"role":"assistant","tool_calls":[{"id":"","function":"weather","args":{"city":"Ulm"}}]}"#),
        (
            None,
            r#"{"role":"assistant","content":null,"function_call":{"name":"weather","arguments":"{\"city\":\"Ulm\"}"}}"#,
        ),
        (
            Some("c1"),
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Ulm"}}]}"#,
        ),
        (
            Some("c1"),
            r#"{"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"city\":\"Ulm\"}"}"#,
        ),
    ] {
        let content = read(message);
        assert_eq!(
            (content.role, content.kind, content.parts.len()),
            (Role::Assistant, SpanKind::ToolCall, 1)
        );
        assert_eq!(the_call(&content), (id, "weather", args.clone()), "{message}");
        let part = &content.parts[0];
        assert_eq!(part.encoding, Encoding::JsonValue);
        let block = slice(message, part.range);
        assert!(block.starts_with('{') && block.contains("weather"), "{block}");
    }
}

#[test]
fn arguments_that_are_no_object_stay_text() {
    let content =
        read(r#"{"role":"assistant","tool_calls":[{"function":{"name":"run","arguments":"{\"cut\": "}}]}"#);
    assert_eq!(the_call(&content), (None, "run", json!("{\"cut\": ")));
    let content = read(
        r#"{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"patch","input":"*** Begin"}}]}"#,
    );
    assert_eq!(the_call(&content), (Some("c"), "patch", json!("*** Begin")));
    let content = read(r#"{"role":"assistant","tool_calls":[{"function":{"name":"now"}}]}"#);
    assert_eq!(the_call(&content), (None, "now", json!({})));
}

#[test]
fn a_result_of_each_dialect_is_read() {
    for (id, tool, message) in [
        (
            Some("c1"),
            Some("weather"),
            r#"{"role":"tool","tool_call_id":"c1","name":"weather","content":"7 °C"}"#,
        ),
        (
            Some("c1"),
            None,
            r#"{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"7 °C"}]}"#,
        ),
        (None, Some("weather"), r#"{"role":"function","name":"weather","content":"7 °C"}"#),
        (
            Some("c1"),
            None,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"7 °C"}]}"#,
        ),
        (Some("c1"), None, r#"{"type":"function_call_output","call_id":"c1","output":"7 °C"}"#),
    ] {
        let content = read(message);
        assert_eq!((content.role, content.kind), (Role::Tool, SpanKind::ToolResult), "{message}");
        let [part] = content.parts.as_slice() else { panic!("{content:?}") };
        let PartBody::Result(outcome) = &part.body else { panic!("{part:?}") };
        assert_eq!((outcome.call_id.as_deref(), outcome.tool.as_deref()), (id, tool));
        assert_eq!((outcome.text.as_str(), outcome.is_error), ("7 °C", None));
        assert_eq!((part.encoding, slice(message, part.range)), (Encoding::JsonString, "\"7 °C\""));
    }
}

#[test]
fn an_error_is_a_flag_or_words() {
    let outcome = |message: &str| match read(message).parts.pop().map(|part| part.body) {
        Some(PartBody::Result(outcome)) => (outcome.text, outcome.is_error),
        other => panic!("{other:?}"),
    };
    assert_eq!(outcome(r#"{"role":"tool","content":"x","error":true}"#), ("x".into(), Some(true)));
    assert_eq!(outcome(r#"{"role":"tool","content":"x","error":null}"#), ("x".into(), None));
    assert_eq!(
        outcome(r#"{"role":"tool","content":"","error":"ValueError: no"}"#),
        ("ValueError: no".into(), Some(true))
    );
    assert_eq!(
        outcome(r#"{"role":"tool","content":"part","error":"timed out"}"#),
        ("part".into(), Some(true))
    );
    assert_eq!(
        outcome(r#"{"role":"user","content":[{"type":"tool_result","content":"x","is_error":true}]}"#),
        ("x".into(), Some(true))
    );
}

#[test]
fn thinking_comes_before_words_and_words_before_calls() {
    let content = read(
        r#"{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}],"content":"Now","role":"assistant","reasoning_content":"hm"}"#,
    );
    assert_eq!(content.parts[0].body, PartBody::Thinking("hm".into()));
    assert_eq!(content.parts[1].body, PartBody::Text("Now".into()));
    assert_eq!(the_call(&content).1, "f");
}

#[test]
fn roles_and_kinds_are_those_of_the_message() {
    for (message, role, kind) in [
        (r#"{"role":"system","content":"Be kind"}"#, Role::System, SpanKind::Message),
        (r#"{"role":"developer","content":"Be kind"}"#, Role::System, SpanKind::Message),
        (r#"{"role":"user","content":[{"type":"input_text","text":"Hi"}]}"#, Role::User, SpanKind::Message),
        (r#"{"role":"user","content":[{"type":"text","content":"Hi"}]}"#, Role::User, SpanKind::Message),
        (
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}"#,
            Role::Assistant,
            SpanKind::Thinking,
        ),
        (r#"{"type":"item_reference","id":"x"}"#, Role::System, SpanKind::Meta),
        ("{}", Role::System, SpanKind::Meta),
    ] {
        let content = read(message);
        assert_eq!((content.role, content.kind), (role, kind), "{message}");
    }
    let picture = read(r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:AAAA"}}]}"#);
    assert_eq!(picture.parts[0].body, PartBody::Text("[image_url]".into()));
}

#[test]
fn both_forms_of_a_conversation_are_known_and_cut() {
    for file in [
        r#"[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}]"#,
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}],"n":1}"#,
    ] {
        let importer = detect(file.as_bytes()).unwrap();
        assert_eq!(importer.format(), "chat_json");
        let pieces = pieces(importer, file.as_bytes());
        let spans = spans(&pieces);
        assert_eq!(spans.iter().map(|record| record.index).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((spans[1].session_name("talk.json"), spans[1].record.as_str()), ("talk.json".into(), ""));
        assert_eq!(importer.parse(&spans[1].bytes).as_ref(), Ok(&spans[1].content));
    }
}

#[test]
fn what_is_no_conversation_is_not_taken_for_one() {
    for other in [
        "[]",
        "{}",
        "[1,2]",
        r#"{"messages":{}}"#,
        r#"[{"action":"run"}]"#,
        r#"[{"role":"Planner","content":"x"}]"#,
        "Hello",
        "{\"role\":\"user\"}",
    ] {
        assert!(detect(other.as_bytes()).is_ok_and(|it| is_generic(it.format())), "{other}");
    }
    let lines = "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n".repeat(2);
    assert!(detect(lines.as_bytes()).is_ok_and(|it| is_generic(it.format())), "a conversation a line");
}
