use spanvault_types::{Call, Outcome, SpanKind};

use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};

const RUN: &str = r#"{
 "suite_name": "shop", "pipeline_name": "model-1", "user_task_id": "user_task_1", "injection_task_id": null,
 "attack_type": null, "injections": {},
 "messages": [
  {"role": "system", "content": [{"type": "text", "content": "You sell shoes."}]},
  {"role": "assistant", "content": null, "tool_calls": [
    {"function": "get_stock", "args": {"shoe": "S-1"}, "id": null, "placeholder_args": null},
    {"function": "order", "args": {"shoe": "S-1"}, "id": "", "placeholder_args": null}]},
  {"role": "tool", "content": "- left: 3\n", "tool_call_id": null, "tool_call": {"function": "get_stock", "args": {"shoe": "S-1"}, "id": null}, "error": null},
  {"role": "tool", "content": "", "tool_call_id": "", "tool_call": {"function": "order", "args": {"shoe": "S-1"}, "id": ""}, "error": "ValueError: sold out"},
  {"role": "assistant", "content": "Sold out.", "tool_calls": []}
 ],
 "error": null, "utility": false, "security": true, "duration": 1.5
}"#;

#[test]
fn a_run_is_one_session_of_its_messages() {
    let pieces = pieces(&AgentDojo, RUN.as_bytes());
    assert_eq!(joined(&pieces), RUN.as_bytes());
    let kinds: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| (record.index, record.content.role, record.content.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            (0, Role::System, SpanKind::Message),
            (1, Role::Assistant, SpanKind::ToolCall),
            (2, Role::Tool, SpanKind::ToolResult),
            (3, Role::Tool, SpanKind::ToolResult),
            (4, Role::Assistant, SpanKind::Message),
        ]
    );
    assert!(spans(&pieces).iter().all(|record| record.session_name("run.json") == "run.json"));
}

#[test]
fn a_result_without_id_names_the_tool_that_it_answers() {
    let pieces = pieces(&AgentDojo, RUN.as_bytes());
    let calls: Vec<Call> = calls(&pieces);
    assert_eq!(
        calls.iter().map(|call| (call.id.as_deref(), call.tool.as_str())).collect::<Vec<_>>(),
        [(None, "get_stock"), (None, "order")]
    );
    let results: Vec<Outcome> = results(&pieces);
    let said: Vec<_> = results
        .iter()
        .map(|it| (it.call_id.as_deref(), it.tool.as_deref(), it.text.as_str(), it.is_error))
        .collect();
    assert_eq!(
        said,
        [
            (None, Some("get_stock"), "- left: 3\n", None),
            (None, Some("order"), "ValueError: sold out", Some(true)),
        ]
    );
}

#[test]
fn a_run_is_known_and_claimed_by_no_other_format() {
    only_claimed_by("agentdojo", RUN);
    only_claimed_by("agentdojo", &RUN[..RUN.find("\"messages\"").unwrap()]);
}
