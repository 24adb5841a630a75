use serde_json::json;

use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};

const LINE: &str = r#"{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"a"},"steps":[{"step_id":1,"source":"user","message":"Go","timestamp":"2026-01-02T03:04:05Z"},{"step_id":2,"source":"agent","message":"","reasoning_content":"hm","tool_calls":[{"tool_call_id":"c1","function_name":"look","arguments":{"at":"a"}},{"tool_call_id":"c2","function_name":"book","arguments":{}}],"observation":{"results":[{"source_call_id":"c2","content":"bad arguments"},{"source_call_id":"c1","content":[{"type":"text","text":"seen"}]}]},"extra":{"maker":{"calls":{"c2":{"arguments_raw":"{'n': 1","error":{"message":"bad"}}}}}}],"subagent_trajectories":[{"session_id":"t","steps":[{"step_id":1,"source":"system","message":"Help"}]}]}"#;

#[test]
fn every_trajectory_is_a_record_named_by_its_line_and_sub_agents_by_their_place_in_it() {
    let file = format!("{LINE}\n{LINE}\n");
    let pieces = pieces(&Atif, file.as_bytes());
    assert_eq!(joined(&pieces), file.as_bytes());
    let places: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| (record.record.as_str(), record.index, record.session_name("f")))
        .collect();
    let place = |record, index, session: &str| (record, index, session.to_owned());
    assert_eq!(
        places,
        [
            place("/0", 0, "f/0"),
            place("/0", 1, "f/0"),
            place("/0/subagent_trajectories/0", 0, "f/0/subagent_trajectories/0"),
            place("/1", 0, "f/1"),
            place("/1", 1, "f/1"),
            place("/1/subagent_trajectories/0", 0, "f/1/subagent_trajectories/0"),
        ]
    );
}

#[test]
fn a_trajectory_over_many_lines_is_one_document() {
    let pretty = LINE.replace("},{", "},\n  {").replace("\"steps\":[", "\"steps\": [\n");
    let pieces = pieces(&Atif, pretty.as_bytes());
    assert_eq!(joined(&pieces), pretty.as_bytes());
    assert!(spans(&pieces).iter().all(|record| record.quarantine.is_none()));
    assert_eq!(spans(&pieces).len(), 3);
    only_claimed_by("atif", &pretty);
}

#[test]
fn results_name_their_calls_whatever_their_order() {
    let pieces = pieces(&Atif, LINE.as_bytes());
    let said: Vec<_> = results(&pieces).into_iter().map(|it| (it.call_id, it.text, it.is_error)).collect();
    assert_eq!(
        said,
        [(Some("c2".into()), "bad arguments".into(), Some(true)), (Some("c1".into()), "seen".into(), None),]
    );
    let step = &spans(&pieces)[1].content;
    assert_eq!((step.role, step.kind, step.parts.len()), (Role::Assistant, SpanKind::ToolCall, 5));
}

#[test]
fn arguments_that_were_no_json_are_the_text_that_they_were() {
    let calls = calls(&pieces(&Atif, LINE.as_bytes()));
    assert_eq!((&calls[0].args, &calls[1].args), (&json!({"at": "a"}), &json!("{'n': 1")));
}

#[test]
fn a_trajectory_is_known_and_claimed_by_no_other_format() {
    only_claimed_by("atif", LINE);
    only_claimed_by("atif", &format!("{LINE}\n{LINE}"));
    only_claimed_by("atif", &LINE[..LINE.find("\"steps\"").unwrap()]);
}

#[test]
fn what_is_no_object_among_the_calls_of_a_step_is_no_call() {
    let step = r#"{"step_id":1,"source":"agent","message":"Hm.","tool_calls":[null,7]}"#;
    let content = crate::parse("atif", step.as_bytes()).unwrap();
    assert_eq!(content.kind, SpanKind::Message);
}
