use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};

const FILE: &str = r#"{"messages": [{"role": "user", "content": [{"type": "text", "value": "Areas?"}]}, {"role": "assistant", "content": [{"type": "reasoning", "value": "two calls"}, {"type": "tool_call", "value": "{\"name\": \"area\", \"arguments\": {\"r\": 1}}"}, {"type": "tool_call", "value": "{\"name\": \"volume\", \"arguments\": {\"r\": 2}}"}]}, {"role": "tool", "content": [{"type": "text", "value": "[{\"tool_call_id\": \"x\", \"name\": \"area\", \"content\": \"3.1\"}, {\"tool_call_id\": \"y\", \"name\": \"volume\", \"content\": \"33.5\"}]"}]}], "tools": "[]"}
{"messages": [{"role": "tool", "content": [{"type": "text", "value": "[{\"title\": \"Up\"}]"}]}], "tools": "[]"}
"#;

#[test]
fn every_line_is_a_conversation_named_by_its_line() {
    let pieces = pieces(&MessagesTyped, FILE.as_bytes());
    assert_eq!(joined(&pieces), FILE.as_bytes());
    let places: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| (record.record.as_str(), record.index, record.session_name("f"), record.content.role))
        .collect();
    assert_eq!(
        places,
        [
            ("line 0 /messages", 0, "f/0".to_owned(), Role::User),
            ("line 0 /messages", 1, "f/0".to_owned(), Role::Assistant),
            ("line 0 /messages", 2, "f/0".to_owned(), Role::Tool),
            ("line 1 /messages", 0, "f/1".to_owned(), Role::Tool),
        ]
    );
}

#[test]
fn thinking_calls_and_the_answers_to_several_calls_are_read() {
    let pieces = pieces(&MessagesTyped, FILE.as_bytes());
    let parts = &spans(&pieces)[1].content.parts;
    assert!(matches!(&parts[0].body, PartBody::Thinking(words) if words == "two calls"));
    assert_eq!(calls(&pieces).iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["area", "volume"]);
    let said: Vec<_> = results(&pieces).into_iter().map(|it| (it.tool, it.text)).collect();
    assert_eq!(
        said,
        [
            (Some("area".into()), "3.1".into()),
            (Some("volume".into()), "33.5".into()),
            (None, r#"[{"title": "Up"}]"#.into()),
        ]
    );
}

#[test]
fn an_answer_in_a_list_may_be_any_json_and_a_list_of_other_things_is_one_answer() {
    let said = |value: &str| {
        let message = serde_json::json!({"messages": [{"role": "tool", "content": [{"type": "text", "value": value}]}], "tools": "[]"});
        let pieces = pieces(&MessagesTyped, format!("{message}\n").as_bytes());
        results(&pieces).into_iter().map(|it| (it.tool, it.text)).collect::<Vec<_>>()
    };
    assert_eq!(
        said(r#"[{"name": "back_up", "content": {"ok": true}}, {"name": "restore", "content": 7}]"#),
        [(Some("back_up".into()), r#"{"ok": true}"#.into()), (Some("restore".into()), "7".into())]
    );
    for one in [r#"[{"name": "a.txt", "content": "x"}]"#, r#"[{"name": "Ann", "content": "x", "age": 3}]"#] {
        assert_eq!(said(one), [(None, one.to_owned())]);
    }
}

#[test]
fn the_format_is_known_and_claimed_by_no_other() {
    only_claimed_by("messages_typed_jsonl", FILE);
    only_claimed_by("messages_typed_jsonl", FILE.lines().next().unwrap());
}
