use serde_json::{Value, json};

use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};
use crate::{Head, Importer};
use spanvault_types::{PartBody, Role, SpanKind};

fn attribute(key: &str, text: &str) -> Value {
    json!({"key": key, "value": {"stringValue": text}})
}

fn span(id: &str, parent: &str, code: i64, attributes: &[(&str, &str)]) -> Value {
    let attributes: Vec<_> = attributes.iter().map(|(key, text)| attribute(key, text)).collect();
    json!({"traceId": "t1", "spanId": id, "parentSpanId": parent, "name": "x",
        "startTimeUnixNano": "1792489224994417000", "attributes": attributes, "status": {"code": code}})
}

fn export(spans: &[Value]) -> String {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

fn conventions() -> String {
    let history = r#"[{"role":"user","parts":[{"type":"text","content":"Weather?"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"sky","arguments":{"at":"Ulm"}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"grey"}]}]"#;
    let chat = ("gen_ai.operation.name", "chat");
    export(&[
        span(
            "s1",
            "s0",
            0,
            &[
                chat,
                ("gen_ai.conversation.id", "talk"),
                ("gen_ai.system_instructions", r#"[{"type":"text","content":"Be brief."}]"#),
                (
                    "gen_ai.input.messages",
                    r#"[{"role":"user","parts":[{"type":"text","content":"Weather?"}]}]"#,
                ),
                (
                    "gen_ai.output.messages",
                    r#"[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"sky","arguments":{"at":"Ulm"}}]}]"#,
                ),
            ],
        ),
        span(
            "s2",
            "s0",
            2,
            &[
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.name", "sky"),
                ("gen_ai.tool.call.id", "c1"),
                ("gen_ai.tool.call.result", "grey"),
            ],
        ),
        span(
            "s3",
            "s0",
            0,
            &[
                chat,
                ("gen_ai.input.messages", history),
                (
                    "gen_ai.output.messages",
                    r#"[{"role":"assistant","parts":[{"type":"text","content":"Grey."}]}]"#,
                ),
            ],
        ),
        span(
            "s0",
            "",
            0,
            &[("gen_ai.operation.name", "invoke_agent"), ("pydantic_ai.all_messages", history)],
        ),
    ])
}

#[test]
fn a_model_call_shows_what_is_new_in_it_and_the_rest_is_no_conversation() {
    let export = conventions();
    let found = pieces(&OtlpGenAi, export.as_bytes());
    assert_eq!(joined(&found), export.as_bytes());
    let spans = spans(&found);
    let kinds: Vec<_> =
        spans.iter().map(|record| (record.index, record.content.role, record.content.kind)).collect();
    assert_eq!(
        kinds,
        [
            (0, Role::Assistant, SpanKind::ToolCall),
            (1, Role::Tool, SpanKind::ToolResult),
            (2, Role::Assistant, SpanKind::ToolResult),
            (3, Role::System, SpanKind::Meta),
        ]
    );
    assert_eq!((spans[0].content.event_key.as_deref(), spans[0].session.as_str()), (Some("s1"), "talk"));
    assert_eq!(spans[0].content.timestamp_ms, Some(1_792_489_224_994));
    let bodies: Vec<_> = spans[0].content.parts.iter().map(|part| part.body.clone()).take(2).collect();
    assert_eq!(bodies, [PartBody::Text("Be brief.".into()), PartBody::Text("Weather?".into())]);
    assert_eq!(calls(&found).len(), 1);
    assert_eq!(calls(&found)[0].args, json!({"at": "Ulm"}));
    let told: Vec<_> = results(&found).into_iter().map(|it| (it.call_id, it.text, it.is_error)).collect();
    let id = || Some("c1".to_owned());
    assert_eq!(told, [(id(), "grey".into(), Some(true)), (id(), "grey".into(), None)]);
}

#[test]
fn flattened_names_are_read_as_the_messages_that_they_are() {
    let line = export(&[
        span(
            "a",
            "",
            1,
            &[
                ("openinference.span.kind", "LLM"),
                ("llm.input_messages.0.message.role", "user"),
                ("llm.input_messages.0.message.content", "Where is A1?"),
                ("llm.output_messages.0.message.role", "assistant"),
                ("llm.output_messages.0.message.contents.0.message_content.text", "Checking."),
                ("llm.output_messages.0.message.tool_calls.0.tool_call.id", "c1"),
                ("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "find"),
                (
                    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments",
                    r#"{"order": "A1"}"#,
                ),
            ],
        ),
        span(
            "b",
            "",
            1,
            &[("openinference.span.kind", "TOOL"), ("tool.name", "find"), ("output.value", "shipped")],
        ),
    ]);
    let answer = export(&[span(
        "c",
        "",
        1,
        &[
            ("openinference.span.kind", "LLM"),
            ("llm.input_messages.0.message.role", "assistant"),
            ("llm.input_messages.0.message.content", "Checking."),
            ("llm.input_messages.1.message.role", "tool"),
            ("llm.input_messages.1.message.tool_call_id", "c1"),
            ("llm.input_messages.1.message.content", "shipped"),
        ],
    )]);
    let file = format!("{line}\n{answer}\n");
    let found = pieces(&OtlpGenAi, file.as_bytes());
    assert_eq!(joined(&found), file.as_bytes());
    let calls = calls(&found);
    assert_eq!((calls.len(), calls[0].tool.as_str(), &calls[0].args), (1, "find", &json!({"order": "A1"})));
    let told: Vec<_> = results(&found).into_iter().map(|it| (it.call_id, it.text)).collect();
    assert_eq!(told, [(Some("c1".into()), "shipped".into())]);
    assert_eq!(spans(&found)[1].content.parts[0].body, PartBody::Text("shipped".into()));
    assert!(spans(&found).iter().all(|record| record.session == "t1"));
    only_claimed_by("otlp_genai", &file);
}

#[test]
fn traces_are_known_and_claimed_by_no_other_format() {
    only_claimed_by("otlp_genai", &conventions());
    let other = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span("a", "", 0, &[("http.method", "GET")])]}]}]});
    assert_eq!(OtlpGenAi.detect(&Head::new(other.to_string().as_bytes())), Confidence::Possible);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what is tested is that it does not take long")]
fn a_span_of_very_many_flattened_messages_is_read_in_one_pass() {
    let messages: Vec<String> = (0..50_000)
        .map(|n| {
            format!(r#"{{"key":"llm.output_messages.{n}.message.content","value":{{"stringValue":"w{n}"}}}}"#)
        })
        .collect();
    let line =
        format!(r#"{{"traceId":"t","spanId":"a","name":"chat m","attributes":[{}]}}"#, messages.join(","));
    let begun = std::time::Instant::now();
    let content = OtlpGenAi.parse(line.as_bytes()).unwrap();
    assert_eq!(content.parts.len(), 50_000);
    assert!(
        matches!(&content.parts[10].body, PartBody::Text(words) if words == "w10"),
        "in the order of their numbers"
    );
    assert!(begun.elapsed().as_secs() < 30, "it took {:?}", begun.elapsed());
}
