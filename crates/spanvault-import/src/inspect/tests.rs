use spanvault_types::{PartBody, Role, SpanKind};

use super::*;
use crate::Importer;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, slice, spans};

const SAMPLE: &str = r#"{"id": 1, "epoch": 1, "input": "Go", "target": "x", "messages": [
   {"id": "m1", "role": "user", "content": "attachment://aa11"},
   {"id": "m2", "role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I look."}], "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}]},
   {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "", "error": {"type": "timeout", "message": "too slow"}},
   {"role": "tool", "tool_call_id": "c2", "function": "bash", "content": "bad", "error": {"type": "parsing", "message": "no JSON"}}],
  "events": [{"event": "model", "timestamp": "2025-01-02T03:04:05Z", "input": [], "input_refs": [[0, 1]]}],
  "attachments": {"aa11": "A long \"task\"", "bb22" : "second"}, "model_usage": {}}"#;

fn log() -> String {
    format!(
        r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "model": "m", "created": "2025-01-02"}}, "plan": {{}}, "samples": [{SAMPLE}], "reductions": []}}"#
    )
}

#[test]
fn messages_events_and_attachments_of_a_sample_are_spans() {
    let log = log();
    let found = pieces(&Inspect, log.as_bytes());
    assert_eq!(joined(&found), log.as_bytes());
    let places: Vec<_> = spans(&found)
        .iter()
        .map(|record| (record.record.as_str(), record.index, record.content.kind, record.session_name("l")))
        .collect();
    let place = |record, index, kind| (record, index, kind, "l/samples/0".to_owned());
    assert_eq!(
        places,
        [
            place("/samples/0", 0, SpanKind::Message),
            place("/samples/0", 1, SpanKind::ToolCall),
            place("/samples/0", 2, SpanKind::ToolResult),
            place("/samples/0", 3, SpanKind::ToolResult),
            place("/samples/0/events", 0, SpanKind::Meta),
            place("/samples/0/attachments", 0, SpanKind::Message),
            place("/samples/0/attachments", 1, SpanKind::Message),
        ]
    );
}

#[test]
fn a_reference_is_shown_as_it_is_and_its_attachment_has_its_hash_and_its_words() {
    let found = pieces(&Inspect, SAMPLE.as_bytes());
    let spans = spans(&found);
    assert_eq!(spans[0].content.parts[0].body, PartBody::Text("attachment://aa11".into()));
    let attachment = spans[5];
    assert_eq!((attachment.record.as_str(), attachment.index), ("/attachments", 0));
    assert_eq!(attachment.bytes, br#""aa11": "A long \"task\"""#);
    assert_eq!(spans[6].bytes, br#""bb22" : "second""#);
    let part = &attachment.content.parts[0];
    assert_eq!(part.body, PartBody::Text("A long \"task\"".into()));
    assert_eq!(slice(std::str::from_utf8(&attachment.bytes).unwrap(), part.range), r#""A long \"task\"""#);
    assert_eq!(Inspect.parse(&attachment.bytes).as_ref(), Ok(&attachment.content));
}

#[test]
fn errors_of_calls_are_told_and_whether_they_ran() {
    let found = pieces(&Inspect, SAMPLE.as_bytes());
    assert_eq!(calls(&found)[0].tool, "bash");
    let told: Vec<_> = results(&found)
        .into_iter()
        .map(|it| (it.tool.unwrap_or_default(), it.text, it.is_error, it.executed))
        .collect();
    assert_eq!(
        told,
        [
            ("bash".into(), "too slow".into(), Some(true), None),
            ("bash".into(), "bad".into(), Some(true), Some(false)),
        ]
    );
    assert!(matches!(&spans(&found)[1].content.parts[0].body, PartBody::Thinking(words) if words == "hm"));
    assert_eq!(spans(&found)[2].content.role, Role::Tool);
}

#[test]
fn a_log_and_all_files_of_an_archive_are_known_and_claimed_by_no_other_format() {
    only_claimed_by("inspect", &log());
    only_claimed_by("inspect", SAMPLE);
    for file in [
        r#"{"version": 2, "eval": {"task": "t", "model": "m"}, "plan": {}}"#,
        r#"[{"id": 1, "epoch": 1, "input": "Go", "target": "x", "scores": {}}]"#,
        r#"[{"scorer": "match", "samples": []}]"#,
    ] {
        only_claimed_by("inspect", file);
        let found = pieces(&Inspect, file.as_bytes());
        assert_eq!(joined(&found), file.as_bytes());
        assert!(spans(&found).iter().all(|record| record.content.kind == SpanKind::Meta));
    }
}

#[test]
fn a_sample_is_known_though_what_it_was_given_fills_the_head() {
    let sample = format!(
        r#"{{"id": 1, "epoch": 1, "input": "{}", "target": "x", "messages": []}}"#,
        "a".repeat(crate::HEAD_BYTES)
    );
    assert_eq!(crate::detect(sample.as_bytes()).unwrap().format(), "inspect");
    let other = r#"{"id": 1, "epoch": 1, "input": "short"}"#;
    assert_eq!(crate::detect(other.as_bytes()).unwrap().format(), "generic_text");
}
