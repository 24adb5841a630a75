use serde_json::json;
use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{only_format, pieces, spans};

fn read(event: &Value) -> SpanContent {
    OpenHandsEvent.parse(event.to_string().as_bytes()).unwrap()
}

fn call(content: &SpanContent) -> Call {
    match content.parts.last().map(|part| &part.body) {
        Some(PartBody::Call(call)) => call.clone(),
        other => panic!("{other:?}"),
    }
}

fn outcome(content: &SpanContent) -> Outcome {
    match content.parts.as_slice() {
        [Part { body: PartBody::Result(outcome), .. }] => outcome.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_observation_names_the_action_that_caused_it() {
    let action = read(
        &json!({"id": 8, "timestamp": "2026-02-03T09:00:01.250000", "source": "agent", "message": "Running: ls",
        "action": "run", "args": {"command": "ls", "thought": "I look.", "is_input": false}}),
    );
    assert_eq!((action.role, action.kind), (Role::Assistant, SpanKind::ToolCall));
    assert_eq!((action.timestamp_ms, action.event_key.as_deref()), (Some(1_770_109_201_250), Some("8")));
    assert_eq!(action.parts[0].body, PartBody::Thinking("I look.".into()));
    assert_eq!((call(&action).id.as_deref(), call(&action).tool.as_str()), (Some("8"), "run"));
    assert_eq!(call(&action).args["command"], "ls");
    let observation = read(
        &json!({"id": 11, "source": "agent", "message": "Command executed", "cause": 8, "observation": "run",
        "content": "a.txt", "extras": {"command": "ls", "metadata": {"exit_code": 0, "suffix": "[The command completed]"}}, "success": true}),
    );
    let Outcome { call_id, exit_code, is_error, text, .. } = outcome(&observation);
    assert_eq!((call_id.as_deref(), exit_code, is_error, text.as_str()), (Some("8"), Some(0), None, "a.txt"));
}

#[test]
fn an_old_event_has_its_arguments_inline_and_is_paired_by_order() {
    let action =
        read(&json!({"command": "touch L", "thought": "I make it.", "keep_prompt": true, "action": "run",
        "is_confirmed": "confirmed", "action_risk": null}));
    assert_eq!((call(&action).id, call(&action).args), (None, json!({"command": "touch L"})));
    let observation = read(
        &json!({"content": "\r\nroot@x:/w # ", "command_id": -1, "command": "touch L", "exit_code": 1, "observation": "run"}),
    );
    let Outcome { call_id, exit_code, text, .. } = outcome(&observation);
    assert_eq!((call_id, exit_code, text.as_str()), (None, Some(1), "\r\nroot@x:/w # "));
    assert_eq!(
        read(&json!({"content": "Fix it", "wait_for_response": false, "action": "message"})).role,
        Role::User
    );
    assert_eq!(
        read(&json!({"content": "How?", "wait_for_response": true, "action": "message"})).role,
        Role::Assistant
    );
}

#[test]
fn errors_and_rejections_are_told_from_what_a_command_printed() {
    let observation = |kind: &str, more: &Value| {
        let mut event = json!({"id": 4, "cause": 3, "observation": kind, "content": "x", "extras": {}});
        for (name, value) in more.as_object().unwrap() {
            event[name] = value.clone();
        }
        outcome(&read(&event))
    };
    assert_eq!(observation("error", &json!({})).is_error, Some(true));
    let rejected = observation("user_rejected", &json!({}));
    assert_eq!((rejected.is_error, rejected.executed), (Some(true), Some(false)));
    assert_eq!(observation("edit", &json!({"success": false})).is_error, Some(true));
    assert_eq!(observation("run", &json!({"success": false, "extras": {"exit_code": 2}})).exit_code, Some(2));
    let alone = read(&json!({"id": 4, "observation": "error", "content": "The model is away", "extras": {}}));
    assert_eq!((alone.role, alone.kind), (Role::System, SpanKind::Message), "nothing was called");
}

#[test]
fn messages_are_those_of_their_source_and_the_runtimes_events_are_none() {
    let message = |source: &str| {
        read(
            &json!({"id": 0, "source": source, "message": "Hi", "action": "message", "args": {"content": "Hi"}}),
        )
    };
    assert_eq!((message("user").role, message("agent").role), (Role::User, Role::Assistant));
    assert_eq!(message("user").parts.len(), 1, "the words are not taken twice");
    let system = read(
        &json!({"id": 1, "source": "agent", "action": "system", "args": {"content": "You are", "tools": []}}),
    );
    assert_eq!((system.role, system.kind), (Role::System, SpanKind::Message));
    for kind in ["change_agent_state", "recall", "null"] {
        assert_eq!(
            read(&json!({"id": 2, "source": "environment", "action": kind, "args": {}})).kind,
            SpanKind::Meta
        );
    }
    assert_eq!(
        read(&json!({"id": 2, "observation": "agent_state_changed", "content": "", "extras": {}})).kind,
        SpanKind::Meta
    );
    assert_eq!(read(&json!({"conversation_id": "c", "selected_repository": null})).kind, SpanKind::Meta);
}

#[test]
fn the_last_words_stand_in_the_last_call() {
    let finish = read(
        &json!({"id": 9, "source": "agent", "action": "finish", "args": {"final_thought": "Done.", "thought": "", "outputs": {}}}),
    );
    assert_eq!(
        (call(&finish).tool.as_str(), &finish.parts[0].body),
        ("finish", &PartBody::Text("Done.".into()))
    );
}

#[test]
fn each_of_the_three_files_is_known_and_an_instance_is_a_transcript_named_by_its_line() {
    let new = r#"{"id":0,"source":"user","action":"message","args":{"content":"Hi"}}"#;
    let old = r#"{"content":"x","exit_code":0,"observation":"run"}"#;
    assert_eq!(only_format(new), "openhands_event");
    assert_eq!(
        only_format(r#"{"conversation_id":"c","selected_repository":null,"title":"t"}"#),
        "openhands_event"
    );
    assert_eq!(only_format(&format!("[{new},{new}]")), "openhands_traj");
    let output = format!(
        "{{\"instance_id\":\"i\",\"history\":[{old},{old}],\"metrics\":{{}}}}\n\n{{\"broken\": [\n{{\"instance_id\":\"j\",\"history\":[{new}]}}\n"
    );
    assert_eq!(only_format(&output), "openhands_out");
    let pieces = pieces(&OpenHandsOutput, output.as_bytes());
    let places: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| {
            (record.record.as_str(), record.index, record.session_name("out"), record.quarantine.is_some())
        })
        .collect();
    assert_eq!(
        places,
        [
            ("line 0 /history", 0, "out/0".to_owned(), false),
            ("line 0 /history", 1, "out/0".to_owned(), false),
            ("line 2", 0, "out/2".to_owned(), true),
            ("line 3 /history", 0, "out/3".to_owned(), false),
        ]
    );
}

#[test]
fn an_action_and_its_observation_in_one_list_are_one_span() {
    let pair = r#"[{"action":"run","args":{"command":"ls"},"id":3},{"observation":"run","content":"a","cause":3,"extras":{"exit_code":0}}]"#;
    let output = format!("{{\"instance_id\":\"i\",\"history\":[{pair}]}}\n");
    assert_eq!(only_format(&output), "openhands_out");
    let pieces = pieces(&OpenHandsOutput, output.as_bytes());
    let [record] = spans(&pieces)[..] else { panic!("{pieces:?}") };
    assert_eq!(
        (record.content.role, record.content.kind, record.content.parts.len()),
        (Role::Assistant, SpanKind::ToolCall, 2)
    );
    assert_eq!(OpenHandsOutput.parse(&record.bytes).as_ref(), Ok(&record.content));
}

#[test]
fn the_events_of_a_conversation_belong_to_its_folder() {
    for (source, transcript) in [
        ("/x/sessions/ab/events/12.json", "/x/sessions/ab"),
        ("/x/sessions/ab/metadata.json", "/x/sessions/ab"),
        ("/x/sessions/ab/event.json", "/x/sessions/ab/event.json"),
        ("/x/12.json", "/x/12.json"),
        ("12.json", "12.json"),
    ] {
        assert_eq!(OpenHandsEvent.transcript_of(source), transcript);
    }
    assert_eq!(OpenHandsOutput.transcript_of("/x/events/1.json"), "/x/events/1.json");
}

#[test]
fn a_condensation_is_no_call_but_a_summary_of_the_events_that_it_took_out() {
    let condensation = json!({"id": 40, "source": "agent", "action": "condensation",
        "args": {"forgotten_events_start_id": 2, "forgotten_events_end_id": 30, "summary": "Ann moved to Ulm.", "thought": ""}});
    let content = read(&condensation);
    assert_eq!((content.role, content.kind), (Role::System, SpanKind::CompactSummary));
    assert_eq!(content.parts[0].body, PartBody::Summary("Ann moved to Ulm.".into()));
    let kept = |event: &Value| OpenHandsTrajectory.kept_by_compaction(event.to_string().as_bytes());
    assert_eq!(kept(&condensation), Kept::FromEvent("31".into()));
    let listed =
        json!({"id": 41, "action": "condensation", "args": {"forgotten_event_ids": [7, 3], "summary": "s"}});
    assert_eq!(kept(&listed), Kept::FromEvent("8".into()));
    let silent = read(
        &json!({"id": 42, "action": "condensation", "args": {"forgotten_event_ids": [7], "summary": null}}),
    );
    assert_eq!(silent.kind, SpanKind::Meta);
}
