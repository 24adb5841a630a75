//! Objects that use the words of all formats in any way: each is read, or put aside, and never a panic.

mod words;

use std::ops::ControlFlow;

use proptest::prelude::*;
use serde_json::Value;
use spanvault_import::{Head, Importer, Limits, Piece, Record, importers, writes_plainly};
use spanvault_types::{ByteRange, Encoding, PartBody, SpanKind};

use words::check_words;

const NAMES: [&str; 48] = [
    "type",
    "role",
    "content",
    "message",
    "messages",
    "tool_calls",
    "function",
    "function_call",
    "name",
    "arguments",
    "args",
    "id",
    "input",
    "output",
    "text",
    "thinking",
    "tool_use_id",
    "tool_call_id",
    "call_id",
    "is_error",
    "error",
    "toolUseResult",
    "interrupted",
    "exitCode",
    "extra",
    "actions",
    "command",
    "returncode",
    "exception_info",
    "timestamp",
    "uuid",
    "sessionId",
    "agentId",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isApiErrorMessage",
    "traj",
    "task_id",
    "reward",
    "info",
    "loglines",
    "source",
    "custom",
    "reasoning_content",
    "refusal",
    "parentUuid",
    "data",
];

const WORDS: [&str; 32] = [
    "",
    "user",
    "assistant",
    "system",
    "tool",
    "function",
    "exit",
    "text",
    "thinking",
    "reasoning",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "tool_result",
    "web_search_tool_result",
    "web_search_tool_result_error",
    "image",
    "function_call",
    "function_call_output",
    "progress",
    "summary",
    "Exit code 1\nno",
    "Exit code 99999999999999999999",
    "The user doesn't want to proceed with this tool use",
    "<returncode>1</returncode>",
    "<exception>x</exception>",
    "```bash\nls\n```",
    "```bash\n```bash\nx\n```",
    "{\"command\":\"ls\"}",
    "{\"cut",
    "2026-02-03T09:00:00Z",
    "é\u{2028}😀\"\\\u{0}",
];

/// What the transcripts of coding agents are made of.
const AGENT_NAMES: [&str; 66] = [
    "type",
    "role",
    "content",
    "message",
    "messages",
    "payload",
    "id",
    "call_id",
    "name",
    "arguments",
    "input",
    "output",
    "item",
    "event",
    "data",
    "part",
    "parts",
    "functionCall",
    "functionResponse",
    "response",
    "result",
    "status",
    "toolCalls",
    "thoughts",
    "subject",
    "description",
    "text",
    "thought",
    "thinking",
    "tool_calls",
    "tool_call_id",
    "toolCallId",
    "toolRequests",
    "success",
    "isError",
    "is_error",
    "error",
    "exit_code",
    "exitCode",
    "metadata",
    "extras",
    "cause",
    "args",
    "action",
    "observation",
    "source",
    "history",
    "trajectory",
    "summary",
    "replacement_history",
    "state",
    "callID",
    "tool",
    "value",
    "stdout",
    "step_index",
    "timestamp",
    "time",
    "sessionId",
    "session_id",
    "uuid",
    "systemPayload",
    "compressedHistory",
    "toolCallResult",
    "kind",
    "origin",
];

const AGENT_WORDS: [&str; 59] = [
    "",
    "user",
    "assistant",
    "gemini",
    "model",
    "tool",
    "toolResult",
    "bashExecution",
    "message",
    "compaction",
    "session",
    "session_meta",
    "response_item",
    "compacted",
    "event_msg",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "web_search_call",
    "reasoning",
    "item.started",
    "item.completed",
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "run",
    "finish",
    "error",
    "user_rejected",
    "MODEL",
    "PLANNER_RESPONSE",
    "RUN_COMMAND",
    "CHECKPOINT",
    "assistant.message",
    "tool.execution_complete",
    "tool-result",
    "tool_call",
    "tool_result",
    "backend_tool_call",
    "context.append_message",
    "context.append_loop_event",
    "content.part",
    "tool.call",
    "tool.result",
    "context.apply_compaction",
    "system",
    "chat_compression",
    "completed",
    "cancelled",
    "failed",
    "success",
    "run_shell_command",
    "Exit Code: 1",
    "The command failed with exit code: 2",
    "Error: Command failed (exit code: 1)",
    "{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}",
    "\"quoted\"",
    "2026-02-03T09:00:00",
    "é\u{2028}😀",
];

fn any_value(names: &'static [&'static str], words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => prop::sample::select(words).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(serde_json::from_str("1e400").unwrap_or_default()),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            3 => prop::collection::vec((prop::sample::select(names), inner), 0..8)
                .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

fn cut(importer: &dyn Importer, bytes: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let cut = importer.cut(&mut &*bytes, &Limits::default(), &mut |piece| {
        pieces.push(piece);
        ControlFlow::Continue(())
    });
    assert!(cut.is_ok(), "{cut:?}");
    pieces
}

/// The formats whose records are text, and not JSON objects.
const TEXT_FORMATS: [&str; 8] = [
    "aider_md",
    "specstory",
    "vcr_anthropic_messages",
    "vcr_openai_chat",
    "vcr_openai_responses",
    "vcr_google",
    "vcr_bedrock",
    "vcr_langchain_agents",
];

fn bytes_at(record: &Record, range: ByteRange) -> Option<&[u8]> {
    record.bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// The value that the range of a part holds.
fn value_at(record: &Record, range: ByteRange) -> Option<Value> {
    serde_json::from_slice(bytes_at(record, range)?).ok()
}

/// What must hold for every record.
fn check(importer: &dyn Importer, record: &Record) {
    check_words(importer, record);
    if record.quarantine.is_some() {
        assert_eq!(record.content.kind, SpanKind::Quarantined);
        return;
    }
    assert_eq!(
        importer.parse(&record.bytes).as_ref(),
        Ok(&record.content),
        "an original is read as its record was"
    );
    for part in &record.content.parts {
        let value = value_at(record, part.range);
        let text = match &part.body {
            PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => Some(text),
            PartBody::Result(outcome) => Some(&outcome.text),
            PartBody::Call(_) => None,
        };
        match part.encoding {
            Encoding::JsonString => {
                assert_eq!(value, text.map(|text| Value::from(text.as_str())), "the literal is the text");
            }
            Encoding::JsonValue if TEXT_FORMATS.contains(&importer.format()) => {
                assert!(bytes_at(record, part.range).is_some(), "a range lies in the original");
            }
            Encoding::JsonValue => assert!(value.is_some(), "a range holds a JSON value"),
            Encoding::Raw => {
                let bytes = text.map(String::as_bytes);
                assert_eq!(bytes_at(record, part.range), bytes, "the bytes are the text");
            }
        }
    }
}

fn check_files(value: &Value) {
    let files = [
        format!("{value}\n{value}"),
        format!("[{value},{value}]"),
        format!("{{\"messages\":[{value}]}}"),
        format!("{{\"loglines\":[{value}]}}"),
        format!("[{{\"traj\":[{value}]}}]"),
        format!("{{\"trajectory\":[{value}],\"history\":[{value}]}}"),
    ];
    for importer in importers() {
        for file in &files {
            let mut back = Vec::new();
            for piece in cut(*importer, file.as_bytes()) {
                back.extend_from_slice(piece.bytes());
                if let Piece::Span(record) = piece {
                    check(*importer, &record);
                }
            }
            assert!(back == file.as_bytes(), "{}: the pieces are the file", importer.format());
        }
        importer.detect(&Head::new(files[0].as_bytes()));
        importer.detect(&Head::new(files[1].as_bytes()));
    }
}

/// A value as JSON in which some characters of strings are escaped that need not be.
fn escaped(value: &Value, escape: impl Fn(char) -> bool) -> String {
    let mut text = String::new();
    // How many of the next characters belong to an escape.
    let (mut in_string, mut of_escape) = (false, 0_u32);
    let written = value.to_string();
    for (at, c) in written.char_indices() {
        let (is_of_escape, begins_escape) = (of_escape > 0, of_escape == 0 && c == '\\');
        in_string ^= c == '"' && !is_of_escape;
        if in_string && c != '"' && !is_of_escape && !begins_escape && escape(c) {
            let mut units = [0; 2];
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
        let length = if written[at..].starts_with("\\u") { 5 } else { 1 };
        of_escape = if begins_escape { length } else { of_escape.saturating_sub(1) };
    }
    text
}

proptest! {
    #[test]
    fn words_stand_in_the_bytes_unless_escapes_hide_them(
        value in prop_oneof![any_value(&NAMES, &WORDS), any_value(&AGENT_NAMES, &AGENT_WORDS)],
        every in 1_u32..9, letters: bool,
    ) {
        let escape = |c: char| u32::from(c) % every == 0 && (letters || !c.is_ascii_alphanumeric());
        let text = escaped(&value, escape);
        prop_assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value.clone()));
        prop_assert!(letters || writes_plainly(text.as_bytes()) || value.to_string().contains("\\u"));
        for importer in importers() {
            if let Ok(content) = importer.parse(text.as_bytes()) {
                let bytes = text.clone().into_bytes();
                let (session, record) = (String::new(), String::new());
                check_words(*importer, &Record { bytes, session, record, index: 0, content, quarantine: None });
            }
        }
    }

    #[test]
    fn i75_any_object_is_read_or_put_aside_and_every_part_stands_where_it_says(value in any_value(&NAMES, &WORDS)) {
        check_files(&value);
    }

    #[test]
    fn i75_so_is_any_object_of_a_coding_agent(value in any_value(&AGENT_NAMES, &AGENT_WORDS)) {
        check_files(&value);
    }
}
