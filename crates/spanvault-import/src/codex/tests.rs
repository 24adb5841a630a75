use serde_json::json;
use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::testing::{only_format, pieces, spans};
use crate::{Head, Importer};

fn read_line(line: &Value) -> SpanContent {
    Codex.parse(line.to_string().as_bytes()).unwrap()
}

fn item(payload: &Value) -> SpanContent {
    read_line(&json!({"timestamp": "2026-02-03T09:00:01.250Z", "type": "response_item", "payload": payload}))
}

fn call(content: &SpanContent) -> Call {
    match content.parts.first().map(|part| &part.body) {
        Some(PartBody::Call(call)) => call.clone(),
        other => panic!("{other:?}"),
    }
}

fn outcome(content: &SpanContent) -> Outcome {
    match content.parts.last() {
        Some(Part { body: PartBody::Result(outcome), .. }) => outcome.clone(),
        other => panic!("{other:?}"),
    }
}

fn output(output: &Value) -> Outcome {
    outcome(&item(&json!({"type": "function_call_output", "call_id": "c1", "output": output})))
}

#[test]
fn calls_of_every_kind_are_named_by_their_call_id() {
    for (payload, tool, args) in [
        (
            json!({"type": "function_call", "id": "fc_1", "name": "shell", "arguments": "{\"command\":[\"ls\"]}"}),
            "shell",
            json!({"command": ["ls"]}),
        ),
        (
            json!({"type": "function_call", "name": "update_plan", "arguments": null}),
            "update_plan",
            json!({}),
        ),
        (
            json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch"}),
            "apply_patch",
            json!("*** Begin Patch"),
        ),
        (
            json!({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}}),
            "local_shell",
            json!({"type": "exec", "command": ["ls"]}),
        ),
        (
            json!({"type": "tool_search_call", "arguments": {"query": "x"}}),
            "tool_search",
            json!({"query": "x"}),
        ),
    ] {
        let mut payload = payload;
        payload["call_id"] = "c1".into();
        let content = item(&payload);
        assert_eq!((content.role, content.kind), (Role::Assistant, SpanKind::ToolCall), "{payload}");
        let Call { id, tool: found, args: given } = call(&content);
        assert_eq!((id.as_deref(), found.as_str(), given), (Some("c1"), tool, args));
        assert_eq!(content.timestamp_ms, Some(1_770_109_201_250));
    }
}

#[test]
fn an_output_is_read_in_each_of_its_shapes() {
    for shape in [
        json!("a.txt\n"),
        json!({"type": "input_text", "text": "a.txt\n"}),
        json!([{"type": "input_text", "text": "a.txt\n"}]),
        json!({"content": "a.txt\n", "success": true}),
        json!("{\"output\":\"a.txt\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"),
    ] {
        let Outcome { call_id, text, is_error, .. } = output(&shape);
        assert_eq!((call_id.as_deref(), text.as_str(), is_error), (Some("c1"), "a.txt\n", None), "{shape}");
    }
    assert_eq!(
        output(&json!("{\"output\":7}")).text,
        "{\"output\":7}",
        "an object that a tool printed is text"
    );
}

#[test]
fn the_exit_code_is_the_outputs_own() {
    let code = |text: &str| output(&json!(text)).exit_code;
    assert_eq!(code("{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"), Some(2));
    assert_eq!(code("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno"), Some(1));
    assert_eq!(
        code("Chunk ID: 9\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nExit code: 0"),
        Some(3)
    );
    assert_eq!(code("Exit code: 1\nand no more"), None, "what a command printed is no verdict");
    assert_eq!(code("Wall time: 1 seconds\nProcess running with session ID 4\nOutput:\n"), None);
}

#[test]
fn a_patch_that_did_not_apply_and_a_command_that_was_not_allowed_say_so() {
    let failed = output(&json!("apply_patch verification failed: Failed to find expected lines"));
    assert_eq!((failed.is_error, failed.executed), (Some(true), None));
    let rejected = output(&json!("exec command rejected by user"));
    assert_eq!((rejected.is_error, rejected.executed), (Some(true), Some(false)));
    let unsuccessful = output(&json!({"content": "no", "success": false}));
    assert_eq!((unsuccessful.text.as_str(), unsuccessful.is_error), ("no", Some(true)));
}

#[test]
fn what_the_program_says_for_the_user_is_the_programs() {
    let role = |role: &str, text: &str| {
        item(&json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}))
            .role
    };
    assert_eq!(role("user", "Do it"), Role::User);
    assert_eq!(role("user", "<environment_context>\n  <cwd>/x</cwd>"), Role::System);
    assert_eq!(role("user", "# AGENTS.md instructions for /x"), Role::System);
    assert_eq!((role("developer", "Be kind"), role("assistant", "Ho")), (Role::System, Role::Assistant));
}

#[test]
fn thinking_is_what_can_be_read_of_it() {
    let thought = |summary: &Value| {
        item(
            &json!({"type": "reasoning", "id": "rs_1", "summary": summary, "content": null, "encrypted_content": "gA"}),
        )
    };
    let read = thought(&json!([{"type": "summary_text", "text": "hm"}]));
    assert_eq!((read.kind, &read.parts[0].body), (SpanKind::Thinking, &PartBody::Thinking("hm".into())));
    assert_eq!(thought(&json!([])).parts[0].body, PartBody::Thinking("[encrypted]".into()));
}

#[test]
fn events_that_repeat_the_talk_are_no_part_of_it() {
    for payload in [
        json!({"type": "user_message", "message": "Do it"}),
        json!({"type": "exec_command_end", "call_id": "c1", "exit_code": 1, "command": ["ls"]}),
        json!({"type": "item_completed", "item": {"type": "CommandExecution", "command": ["ls"]}}),
        json!({"type": "turn_aborted", "reason": "interrupted"}),
    ] {
        let content = read_line(&json!({"timestamp": "x", "type": "event_msg", "payload": payload}));
        assert_eq!((content.kind, content.parts.len()), (SpanKind::Meta, 0));
    }
    assert_eq!(item(&json!({"type": "of-next-year", "role": "assistant"})).kind, SpanKind::Meta);
}

#[test]
fn a_compaction_is_its_message_or_the_words_that_were_left_in_the_clear() {
    let compacted = |message: &str| {
        let kept = json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it"}]}]);
        read_line(&json!({"type": "compacted", "payload": {"message": message, "replacement_history": kept}}))
    };
    assert_eq!(
        (compacted("Short").kind, &compacted("Short").parts[0].body),
        (SpanKind::CompactSummary, &PartBody::Summary("Short".into()))
    );
    assert_eq!(compacted("").parts[0].body, PartBody::Summary("Do it".into()));
}

#[test]
fn a_tool_of_the_provider_is_a_call_that_is_answered_in_the_same_item() {
    let searched = item(
        &json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "tides"}}),
    );
    assert_eq!(
        (call(&searched).tool.as_str(), &call(&searched).args["query"]),
        ("web_search", &json!("tides"))
    );
    assert_eq!((outcome(&searched).call_id, outcome(&searched).is_error), (call(&searched).id, Some(false)));
    let drawn = item(
        &json!({"type": "image_generation_call", "id": "ig_1", "status": "generating", "revised_prompt": "a cat"}),
    );
    assert_eq!((call(&drawn).args, drawn.parts.len()), (json!({"revised_prompt": "a cat"}), 1));
}

#[test]
fn what_exec_prints_is_a_call_when_it_begins_and_a_result_when_it_ends() {
    let line = |kind: &str, item: &Value| read_line(&json!({"type": kind, "item": item}));
    let begun = json!({"id": "item_3", "type": "command_execution", "command": "ls", "aggregated_output": "", "exit_code": null, "status": "in_progress"});
    assert_eq!(
        (call(&line("item.started", &begun)).id.as_deref(), call(&line("item.started", &begun)).args),
        (Some("item_3"), json!({"command": "ls"}))
    );
    let ended = json!({"id": "item_3", "type": "command_execution", "command": "ls", "aggregated_output": "no", "exit_code": 2, "status": "failed"});
    let content = line("item.completed", &ended);
    let Outcome { call_id, text, exit_code, is_error, .. } = outcome(&content);
    assert_eq!(
        (content.parts.len(), call_id.as_deref(), text.as_str(), exit_code, is_error),
        (1, Some("item_3"), "no", Some(2), Some(true))
    );
    let declined = json!({"id": "item_3", "type": "command_execution", "command": "ls", "aggregated_output": "", "status": "declined"});
    assert_eq!(outcome(&line("item.completed", &declined)).executed, Some(false));
    let changed = json!({"id": "item_4", "type": "file_change", "changes": [{"path": "/x", "kind": "update"}], "status": "completed"});
    let content = line("item.completed", &changed);
    assert_eq!(
        (call(&content).args["changes"][0]["path"].as_str(), outcome(&content).is_error),
        (Some("/x"), Some(false))
    );
    assert_eq!(line("item.started", &changed).kind, SpanKind::Meta, "it would be counted twice");
    let mcp = json!({"id": "item_5", "type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}, "status": "in_progress"});
    assert_eq!(call(&line("item.started", &mcp)).tool, "mcp__s__t");
    assert_eq!(
        line("item.completed", &json!({"id": "item_6", "type": "agent_message", "text": "Ho"})).role,
        Role::Assistant
    );
    assert_eq!(line("item.updated", &begun).kind, SpanKind::Meta);
}

#[test]
fn the_four_forms_are_known_and_a_fork_keeps_its_own_name() {
    let meta = |id: &str| json!({"timestamp": "2026-02-03T09:00:00Z", "type": "session_meta", "payload": {"id": id, "cwd": "/x"}});
    let user = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]});
    let current = format!(
        "{}\n{}\n{}",
        meta("fork"),
        meta("parent"),
        json!({"timestamp": "x", "type": "response_item", "payload": user})
    );
    let old = format!(
        "{}\n{}\n{user}",
        json!({"id": "fork", "timestamp": "2025-08-01T09:00:00Z", "instructions": null, "git": {}}),
        json!({"record_type": "state"})
    );
    let exec = format!(
        "{}\n{}",
        json!({"type": "thread.started", "thread_id": "fork"}),
        json!({"type": "turn.started"})
    );
    for (file, confidence) in
        [(&current, Confidence::Certain), (&old, Confidence::Likely), (&exec, Confidence::Certain)]
    {
        assert_eq!(
            (crate::detect(file.as_bytes()).unwrap().format(), Codex.detect(&Head::new(file.as_bytes()))),
            ("codex_rollout", confidence)
        );
        let pieces = pieces(&Codex, file.as_bytes());
        assert!(spans(&pieces).iter().all(|record| record.session == "fork"), "{file}");
    }
    assert_eq!(only_format(&current), "codex_rollout");
    assert_eq!(read_line(&user).role, Role::User, "a bare item of an old file");
}

#[test]
fn a_command_that_the_user_did_not_let_begin_was_not_executed_and_one_broken_off_failed() {
    let refused = output(&json!(
        "exec_command failed for `/bin/bash -lc 'rm -r /srv'`: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"
    ));
    assert_eq!((refused.is_error, refused.executed), (Some(true), Some(false)));
    let broken = output(&json!("exec_command failed for `ls`: CreateProcess { message: \"No such file\" }"));
    assert_eq!((broken.is_error, broken.executed), (Some(true), None));
    let quoted = output(&json!("log.txt: Rejected(\"rejected by user\")"));
    assert_eq!((quoted.is_error, quoted.executed), (None, None), "a file may say so too");
    assert_eq!(output(&json!("aborted")).is_error, Some(true));
    assert_eq!(output(&json!("aborted 3 of 4")).is_error, None);
}
