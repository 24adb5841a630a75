use serde_json::json;
use spanvault_types::{ByteRange, Encoding, Part, Role, SpanKind};

use super::*;
use crate::Fate;

fn span(bodies: Vec<PartBody>) -> SpanContent {
    let part = |body| Part { range: ByteRange::default(), encoding: Encoding::JsonValue, body };
    let kinds = bodies.iter().map(|body| match body {
        PartBody::Text(_) => SpanKind::Message,
        PartBody::Thinking(_) => SpanKind::Thinking,
        PartBody::Summary(_) => SpanKind::CompactSummary,
        PartBody::Result(_) => SpanKind::ToolResult,
        PartBody::Call(_) => SpanKind::ToolCall,
    });
    SpanContent {
        role: Role::Assistant,
        kind: kinds.max().unwrap_or(SpanKind::Message),
        timestamp_ms: None,
        event_key: None,
        parts: bodies.into_iter().map(part).collect(),
    }
}

fn call(id: Option<&str>, tool: &str) -> PartBody {
    PartBody::Call(Call { id: id.map(str::to_owned), tool: tool.into(), args: json!({}) })
}

fn result(id: Option<&str>, tool: Option<&str>) -> PartBody {
    PartBody::Result(Outcome {
        call_id: id.map(str::to_owned),
        tool: tool.map(str::to_owned),
        text: "ok".into(),
        is_error: None,
        exit_code: None,
        executed: None,
    })
}

/// For every call, the span of its result.
fn answers(spans: &[SpanContent]) -> Vec<Option<usize>> {
    let spans: Vec<&SpanContent> = spans.iter().collect();
    pair(&spans, Registry::built_in()).into_iter().map(|paired| paired.result.map(|at| at.span)).collect()
}

#[test]
fn results_are_paired_by_id_in_whatever_order_they_come() {
    let spans = [
        span(vec![result(Some("early"), None)]),
        span(vec![call(Some("a"), "x"), call(Some("b"), "y")]),
        span(vec![result(Some("b"), None)]),
        span(vec![call(Some("early"), "z"), call(Some("never"), "z")]),
        span(vec![result(Some("a"), None)]),
    ];
    assert_eq!(answers(&spans), [Some(4), Some(2), Some(0), None]);
    let all: Vec<&SpanContent> = spans.iter().collect();
    assert_eq!(pair(&all, Registry::built_in()).last().map(|paired| paired.fate.fate), Some(Fate::Unknown));
}

#[test]
fn a_result_of_a_call_from_before_the_record_answers_none_of_its_calls() {
    let spans = [span(vec![call(Some("a"), "x")]), span(vec![result(Some("gone"), None)])];
    assert_eq!(answers(&spans), [None]);
}

#[test]
fn a_repeated_id_is_answered_in_order_and_a_repeated_result_only_once() {
    let spans = [
        span(vec![call(Some("a"), "x")]),
        span(vec![result(Some("a"), None)]),
        span(vec![call(Some("a"), "x")]),
        span(vec![result(Some("a"), None)]),
        span(vec![result(Some("a"), None)]),
    ];
    assert_eq!(answers(&spans), [Some(1), Some(3)]);
}

#[test]
fn without_ids_results_answer_in_order_and_by_the_tool_that_they_name() {
    let spans = [
        span(vec![call(None, "x"), call(None, "y"), call(None, "x")]),
        span(vec![result(None, Some("y"))]),
        span(vec![result(None, None)]),
        span(vec![result(None, Some("x"))]),
        span(vec![result(None, None)]),
    ];
    assert_eq!(answers(&spans), [Some(2), Some(1), Some(3)]);
}

#[test]
fn a_result_without_an_id_answers_no_call_that_comes_after_it() {
    let record = [
        span(vec![result(None, None)]),
        span(vec![call(None, "a")]),
        span(vec![result(None, None)]),
        span(vec![result(None, Some("b"))]),
        span(vec![call(None, "b")]),
        span(vec![result(None, None)]),
    ];
    assert_eq!(answers(&record), [Some(2), Some(5)]);
}

#[test]
fn a_result_in_the_span_of_its_call_answers_that_call() {
    let spans = [span(vec![call(None, "aborted")]), span(vec![call(None, "x"), result(None, None)])];
    assert_eq!(answers(&spans), [None, Some(1)]);
}

fn said(role: Role) -> SpanContent {
    SpanContent { role, ..span(vec![PartBody::Text("words".into())]) }
}

/// For every call, the spans of the results that it is contested with.
fn contested(spans: &[SpanContent]) -> Vec<Vec<usize>> {
    let spans: Vec<&SpanContent> = spans.iter().collect();
    let spans_of = |paired: PairedCall| paired.rivals.into_iter().map(|at| at.span).collect();
    pair(&spans, Registry::built_in()).into_iter().map(spans_of).collect()
}

#[test]
fn after_words_of_the_user_a_result_answers_a_call_that_came_after_them_too() {
    let record = [
        span(vec![call(None, "denied")]),
        said(Role::User),
        span(vec![call(None, "b")]),
        span(vec![result(None, None)]),
    ];
    assert_eq!(answers(&record), [None, Some(3)]);
    assert!(contested(&record).iter().all(Vec::is_empty));
}

#[test]
fn a_round_that_went_on_with_fewer_results_than_calls_is_contested() {
    let round = [span(vec![call(None, "a"), call(None, "b")]), span(vec![result(None, None)])];
    assert!(contested(&round).iter().all(Vec::is_empty), "it may still go on");
    for next in [said(Role::User), said(Role::Assistant), span(vec![call(None, "c")])] {
        let record = [round[0].clone(), round[1].clone(), next];
        assert_eq!(contested(&record)[..2], [vec![1], vec![1]]);
    }
    let named = [
        round[0].clone(),
        span(vec![result(None, Some("b"))]),
        said(Role::User),
        span(vec![call(None, "c"), call(None, "d")]),
        span(vec![result(None, None)]),
        span(vec![result(None, None)]),
    ];
    assert_eq!(answers(&named), [None, Some(1), Some(4), Some(5)]);
    assert!(contested(&named).iter().all(Vec::is_empty), "the name of the tool decides");
}

#[test]
fn words_that_cannot_be_seen_part_rounds_as_they_did() {
    for role in [Role::User, Role::Assistant] {
        let record = [
            span(vec![call(None, "a")]),
            said(role),
            span(vec![call(None, "a")]),
            span(vec![result(None, None)]),
        ];
        let mut blank = record.clone();
        blank[1].parts.clear();
        assert_eq!(answers(&blank), answers(&record), "{role:?}");
        assert_eq!(contested(&blank), contested(&record), "{role:?}");
    }
}

#[test]
fn a_result_is_contested_while_a_call_of_an_earlier_round_of_the_turn_waits() {
    let record = [
        span(vec![call(None, "a"), call(None, "a")]),
        span(vec![result(None, None)]),
        span(vec![call(None, "c")]),
        span(vec![result(None, None)]),
        span(vec![result(None, None)]),
    ];
    assert!(contested(&record).iter().all(|rivals| !rivals.is_empty()));
    let late = [
        span(vec![call(None, "a")]),
        said(Role::User),
        span(vec![call(None, "b")]),
        span(vec![result(None, None)]),
        span(vec![result(None, None)]),
    ];
    assert_eq!(contested(&late), [vec![4, 3], vec![4, 3]]);
}

#[test]
fn many_unanswered_calls_are_paired_in_no_more_than_linear_time() {
    let mut spans: Vec<SpanContent> = (0..20_000).map(|_| span(vec![call(None, "x")])).collect();
    spans.extend((0..20_000).map(|_| span(vec![result(None, Some("y"))])));
    assert!(answers(&spans).iter().enumerate().all(|(at, result)| *result == Some(at + 20_000)));
}
