use spanvault_types::{PartBody, Role, SpanKind};

use super::*;
use crate::detect;
use crate::testing::{joined, pieces, spans};
use crate::{Head, Importer};

const RUNS: &str = r####"[
  {"task_id": 0, "reward": 1.0, "info": {"task": {"actions": [{"name": "x"}]}}, "traj": [
    {"role": "system", "content": "Policy"},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get_order_details", "arguments": "{\"order_id\": \"#W123\"}"}}]},
    {"role": "tool", "tool_call_id": "call_1", "name": "get_order_details", "content": "Error: order not found"}
  ], "trial": 0},
  {"task_id": 0, "reward": 0.0, "info": {}, "traj": [{"role": "user", "content": "###STOP###"}], "trial": 1}
]"####;

#[test]
fn every_run_is_a_record_and_a_session_named_by_its_place() {
    let pieces = pieces(&TauBench, RUNS.as_bytes());
    assert_eq!(joined(&pieces), RUNS.as_bytes());
    let places: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| (record.record.as_str(), record.index, record.session_name("retail.json")))
        .collect();
    let place = |record, index| (record, index, format!("retail.json{record}"));
    assert_eq!(places, [place("/0", 0), place("/0", 1), place("/0", 2), place("/1", 0)]);
}

#[test]
fn calls_have_their_arguments_and_results_no_flag() {
    let pieces = pieces(&TauBench, RUNS.as_bytes());
    let spans = spans(&pieces);
    let PartBody::Call(call) = &spans[1].content.parts[0].body else { panic!("{:?}", spans[1]) };
    assert_eq!(
        (call.tool.as_str(), &call.args),
        ("get_order_details", &serde_json::json!({"order_id": "#W123"}))
    );
    assert_eq!((spans[2].content.role, spans[2].content.kind), (Role::Tool, SpanKind::ToolResult));
    let PartBody::Result(outcome) = &spans[2].content.parts[0].body else { panic!("{:?}", spans[2]) };
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("Error: order not found", None));
    assert_eq!(TauBench.parse(&spans[2].bytes).as_ref(), Ok(&spans[2].content));
}

#[test]
fn runs_are_known_even_if_the_head_ends_in_the_task() {
    assert_eq!(detect(RUNS.as_bytes()).unwrap().format(), "tau_bench");
    let head = &RUNS[..RUNS.find("traj").unwrap()];
    assert_eq!(detect(head.as_bytes()).unwrap().format(), "tau_bench");
    assert_eq!(TauBench.detect(&Head::new(br#"[{"traj":[],"task_id":1}]"#)), Confidence::Certain);
    assert_eq!(TauBench.detect(&Head::new(br#"[{"role":"user"}]"#)), Confidence::No);
}
