use spanvault_types::{Role, SpanKind};

use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};

const RUN: &str = r#"{"timestamp": "2026-01-02T03:04:05.000001", "info": {"environment_info": {"domain_name": "bikes"}}, "tasks": [{"id": "t"}],
 "simulations": [
  {"id": "a", "task_id": "t", "termination_reason": "user_stop", "messages": [
    {"role": "assistant", "content": "Hello?", "tool_calls": null, "turn_idx": 0, "timestamp": "2026-01-02T03:04:05.000001"},
    {"role": "user", "content": null, "tool_calls": [{"id": "c1", "name": "ring_bell", "arguments": {"times": 2}, "requestor": "user"}], "raw_data": {"message": {"tool_calls": [{"id": "c1"}]}}},
    {"id": "c1", "role": "tool", "content": "ding", "requestor": "user", "error": false}]},
  {"id": "b", "task_id": "t", "termination_reason": "user_stop", "messages": [
    {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "name": "find", "arguments": {}, "requestor": "assistant"}]},
    {"id": "c1", "role": "tool", "content": "no such bike", "requestor": "assistant", "error": true}]}
 ]}"#;

#[test]
fn every_simulation_is_a_record_of_its_own() {
    let pieces = pieces(&Tau2, RUN.as_bytes());
    assert_eq!(joined(&pieces), RUN.as_bytes());
    let places: Vec<_> = spans(&pieces).iter().map(|record| (record.record.clone(), record.index)).collect();
    let first = |index| ("/simulations/0".to_owned(), index);
    let second = |index| ("/simulations/1".to_owned(), index);
    assert_eq!(places, [first(0), first(1), first(2), second(0), second(1)]);
    assert_eq!(spans(&pieces)[4].session_name("run.json"), "run.json/simulations/1");
}

#[test]
fn the_user_calls_tools_as_well_and_stays_the_user() {
    let pieces = pieces(&Tau2, RUN.as_bytes());
    let spans = spans(&pieces);
    assert_eq!((spans[1].content.role, spans[1].content.kind), (Role::User, SpanKind::ToolCall));
    let calls = calls(&pieces);
    assert_eq!((calls.len(), calls[0].tool.as_str(), &calls[0].args["times"]), (2, "ring_bell", &2.into()));
}

#[test]
fn a_tool_message_answers_the_call_whose_id_it_has_and_says_whether_it_failed() {
    let pieces = pieces(&Tau2, RUN.as_bytes());
    let said: Vec<_> = results(&pieces).into_iter().map(|it| (it.call_id, it.text, it.is_error)).collect();
    let id = || Some("c1".to_owned());
    assert_eq!(said, [(id(), "ding".into(), Some(false)), (id(), "no such bike".into(), Some(true))]);
}

#[test]
fn answers_in_one_message_are_results_of_their_own() {
    let together = r#"{"termination_reason": "x", "task_id": "t", "messages": [{"role": "tool", "tool_messages": [
        {"id": "a", "role": "tool", "content": "1", "error": false}, {"id": "b", "role": "tool", "content": "2", "error": true}]}]}"#;
    let pieces = pieces(&Tau2, together.as_bytes());
    let said: Vec<_> = results(&pieces).into_iter().map(|it| (it.call_id, it.text, it.is_error)).collect();
    assert_eq!(
        said,
        [(Some("a".into()), "1".into(), Some(false)), (Some("b".into()), "2".into(), Some(true))]
    );
    only_claimed_by("tau2", together);
}

#[test]
fn a_tick_is_conversation_only_if_something_was_written_down() {
    let run = r#"{"id": "v", "task_id": "1", "termination_reason": "user_stop", "ticks": [
      {"tick_id": 0, "agent_chunk": {"role": "assistant", "contains_speech": true}, "user_chunk": {"role": "user", "turn_taking_action": {"action": "wait"}}},
      {"tick_id": 1, "agent_chunk": {"role": "assistant", "content": "Hi", "tool_calls": [{"id": "c", "name": "look", "arguments": {"a": 1}}]}, "user_chunk": null},
      {"tick_id": 2, "agent_chunk": null, "user_chunk": {"role": "user", "content": "yes"}, "agent_tool_results": [{"id": "c", "role": "tool", "content": "7", "error": false}]},
      {"tick_id": 3, "agent_chunk": null, "user_chunk": {"role": "user", "content": "bye"}}
    ]}"#;
    let pieces = pieces(&Tau2Voice, run.as_bytes());
    assert_eq!(joined(&pieces), run.as_bytes());
    let read: Vec<_> =
        spans(&pieces).iter().map(|record| (record.content.role, record.content.kind)).collect();
    assert_eq!(
        read,
        [
            (Role::System, SpanKind::Meta),
            (Role::Assistant, SpanKind::ToolCall),
            (Role::Assistant, SpanKind::ToolResult),
            (Role::User, SpanKind::Message),
        ]
    );
    assert_eq!((calls(&pieces).len(), results(&pieces).len()), (1, 1));
    only_claimed_by("tau2_voice", run);
}

#[test]
fn a_run_is_known_and_claimed_by_no_other_format() {
    only_claimed_by("tau2", RUN);
    only_claimed_by("tau2", &RUN[..RUN.find("\"tasks\"").unwrap()]);
}
