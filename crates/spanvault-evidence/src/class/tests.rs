use serde_json::json;
use spanvault_types::{ByteRange, Encoding, Part, Role, SpanKind};

use super::*;
use crate::pair;

fn span(kind: SpanKind, bodies: Vec<PartBody>) -> SpanContent {
    let part = |body| Part { range: ByteRange::default(), encoding: Encoding::JsonValue, body };
    let parts = bodies.into_iter().map(part).collect();
    SpanContent { role: Role::Assistant, kind, timestamp_ms: None, event_key: None, parts }
}

fn call(id: &str, tool: &str, args: serde_json::Value) -> PartBody {
    PartBody::Call(Call { id: Some(id.into()), tool: tool.into(), args })
}

fn result(id: &str, tool: Option<&str>) -> PartBody {
    PartBody::Result(Outcome {
        call_id: Some(id.into()),
        tool: tool.map(str::to_owned),
        text: "1".into(),
        is_error: None,
        exit_code: None,
        executed: None,
    })
}

fn read(spans: &[SpanContent]) -> Vec<EvidentialClass> {
    let spans: Vec<&SpanContent> = spans.iter().collect();
    let registry = Registry::built_in();
    classes(&spans, &pair(&spans, registry), registry)
}

use EvidentialClass::{Narrative, SideEffecting, Structured};

#[test]
fn a_result_has_the_class_of_its_call() {
    let spans = [
        span(SpanKind::ToolCall, vec![call("a", "Read", json!({"file_path": "/x"}))]),
        span(SpanKind::ToolCall, vec![call("b", "Write", json!({"file_path": "/x"}))]),
        span(SpanKind::ToolResult, vec![result("b", None)]),
        span(SpanKind::ToolResult, vec![result("a", None)]),
    ];
    assert_eq!(read(&spans), [Structured, SideEffecting, SideEffecting, Structured]);
}

#[test]
fn words_are_narrative_a_ledger_is_structured_and_the_strongest_part_counts() {
    let text = |text: &str| PartBody::Text(text.into());
    let spans = [
        span(SpanKind::Message, vec![text("I will write /etc/x next.")]),
        span(SpanKind::Message, vec![text("{\"done\": true, \"step\": 3}")]),
        span(SpanKind::Message, vec![text("{not json}")]),
        span(SpanKind::ToolCall, vec![text("now"), call("a", "Bash", json!({"command": "rm x"}))]),
        span(SpanKind::ToolCall, vec![call("c", "TodoWrite", json!({}))]),
        span(SpanKind::Meta, vec![]),
    ];
    assert_eq!(read(&spans), [Narrative, Structured, Narrative, SideEffecting, Structured, Narrative]);
}

#[test]
fn the_words_of_a_tool_are_evidence_though_they_answer_no_call() {
    let printed = PartBody::Text("exitcode: 0 (execution succeeded)\nCode output: 4".into());
    let by_tool = SpanContent { role: Role::Tool, ..span(SpanKind::Message, vec![printed.clone()]) };
    let by_agent = span(SpanKind::Message, vec![printed]);
    assert_eq!(read(&[by_tool, by_agent]), [Structured, Narrative]);
}

#[test]
fn what_cannot_be_read_is_side_effecting() {
    let spans = [
        span(SpanKind::Quarantined, vec![]),
        span(SpanKind::TooLarge, vec![]),
        span(SpanKind::ToolResult, vec![result("of no call", None)]),
        span(SpanKind::ToolResult, vec![result("of no call", Some("Grep"))]),
        span(SpanKind::ToolCall, vec![call("a", "frobnicate", json!({}))]),
    ];
    assert_eq!(read(&spans), [SideEffecting, SideEffecting, SideEffecting, Structured, SideEffecting]);
}

#[test]
fn a_check_is_structured_though_it_runs_code() {
    let check =
        |command: &str| span(SpanKind::ToolCall, vec![call("a", "Bash", json!({"command": command}))]);
    let spans = [
        check("cargo test 2>&1 | tail -5"),
        check("cargo test > log.txt"),
        check("./deploy.sh"),
        check("cargo fmt"),
    ];
    assert_eq!(read(&spans), [Structured, SideEffecting, SideEffecting, SideEffecting]);
}

#[test]
fn the_gate_reads_words_that_hold_something_more_strictly_and_nothing_less_so() {
    assert_eq!(as_read_by_gate(Narrative, false, false), Narrative);
    assert_eq!(as_read_by_gate(Narrative, true, false), Structured);
    assert_eq!(as_read_by_gate(Narrative, false, true), Structured);
    assert_eq!(as_read_by_gate(SideEffecting, false, false), SideEffecting);
}
