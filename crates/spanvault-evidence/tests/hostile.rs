//! Texts that are slow, or large, for a reader that looks back or ahead without bound.
//!
//! `SPANVAULT_LONG=1 cargo test --release -p spanvault-evidence --test hostile` reads a megabyte of each, holds the time of
//! four times as much against it, and reads 100 MB of one line within bounded memory.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use spanvault_evidence::{Registry, SpanText, atoms, read_session};
use spanvault_types::{ByteRange, Call, Encoding, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

fn is_long() -> bool {
    std::env::var_os("SPANVAULT_LONG").is_some()
}

/// Time and memory are those of the process: whoever measures them is alone in it.
static ALONE: Mutex<()> = Mutex::new(());

/// What is repeated: shapes on which patterns with nested repetition, or look-ahead without bound, are slow.
const HOSTILE: [&str; 22] = [
    "a",
    "(",
    "[{",
    "\"",
    "\\",
    "'a",
    "`",
    "/",
    "../",
    "1,",
    "1.",
    "-",
    "@a",
    "::",
    "a_1-",
    "\n",
    " ",
    "not ",
    "\u{feff}",
    "“",
    "I will run it and ",
    "$(<<E ",
];

/// A session in which one text stands as words, thought, call and result.
fn contents(text: &str) -> Vec<SpanContent> {
    let range = ByteRange { start: 0, end: text.len() as u64 };
    let span = |role, kind, body| SpanContent {
        role,
        kind,
        timestamp_ms: None,
        event_key: None,
        parts: vec![Part { range, encoding: Encoding::Raw, body }],
    };
    let call = |tool: &str, args: Value| Call { id: Some(tool.to_owned()), tool: tool.to_owned(), args };
    let outcome = |id: &str| Outcome {
        call_id: Some(id.to_owned()),
        tool: None,
        text: text.to_owned(),
        is_error: None,
        executed: None,
        exit_code: None,
    };
    vec![
        span(Role::Assistant, SpanKind::Message, PartBody::Text(text.to_owned())),
        span(Role::Assistant, SpanKind::Thinking, PartBody::Thinking(text.to_owned())),
        span(
            Role::Assistant,
            SpanKind::ToolCall,
            PartBody::Call(call("Bash", serde_json::json!({ "command": text }))),
        ),
        span(Role::Tool, SpanKind::ToolResult, PartBody::Result(outcome("Bash"))),
        span(
            Role::Assistant,
            SpanKind::ToolCall,
            PartBody::Call(call("python", serde_json::json!({ "code": text }))),
        ),
        span(Role::Tool, SpanKind::ToolResult, PartBody::Result(outcome("python"))),
    ]
}

/// Reads the session, holds what it finds against the text, and gives the time that reading took.
#[expect(clippy::disallowed_methods, reason = "the time that reading takes is what is measured")]
fn read(text: &str) -> Duration {
    let contents = contents(text);
    let began = Instant::now();
    let spans: Vec<SpanText<'_>> =
        contents.iter().map(|content| SpanText { content, original: text.as_bytes() }).collect();
    let reading = read_session(&spans, Registry::built_in());
    let found: Vec<_> = contents.iter().map(|content| atoms(content, text.as_bytes())).collect();
    let took = began.elapsed();
    let len = text.len() as u64;
    assert_eq!(reading.spans.len(), contents.len());
    for open in reading.spans.iter().flat_map(|span| &span.opens) {
        assert!(open.range.start <= open.range.end && open.range.end <= len);
    }
    for atom in found.iter().flatten() {
        assert!(atom.range.start <= atom.range.end && atom.range.end <= len);
    }
    took
}

#[test]
fn hostile_texts_are_read_in_time_that_grows_with_their_length() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = if is_long() { 1 << 20 } else { 16 << 10 };
    for unit in HOSTILE {
        let text = unit.repeat(bytes / unit.len());
        let once = read(&text);
        if is_long() {
            let fourfold = read(&text.repeat(4));
            let allowed = once.mul_f64(12.0) + Duration::from_secs(1);
            assert!(
                fourfold < allowed,
                "{unit:?}: {once:?} for {bytes} bytes, {fourfold:?} for four times as many"
            );
        }
    }
}

#[test]
fn brackets_without_end_are_read_without_recursion() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for unit in ["[", "{", "(", "[{\"a\":", "$(", "`(", "<("] {
        read(&unit.repeat(100_000 / if is_long() { 1 } else { 4 }));
    }
}

#[test]
fn a_hundred_megabytes_of_one_line_take_a_small_multiple_of_their_memory() {
    if !is_long() {
        eprintln!("skipped: SPANVAULT_LONG=1 reads 100 MB");
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for unit in ["x", "/srv/app/module_1/handler.rs:120 error E0042 1,024.50 EUR, ", "I'll run it. "] {
        let text = unit.repeat((100 << 20) / unit.len());
        let mut content = contents("").swap_remove(3);
        content.parts[0].range.end = text.len() as u64;
        let PartBody::Result(outcome) = &mut content.parts[0].body else { panic!("a result") };
        outcome.text.clone_from(&text);
        let before = resident_bytes();
        let found = atoms(&content, text.as_bytes());
        assert!(found.len() <= 1 << 20, "{unit:?}: {}", found.len());
        let more = resident_bytes().saturating_sub(before);
        assert!(more < 300 << 20, "{unit:?}: {more} bytes more at the peak for {} of text", text.len());
    }
}

/// The most memory that this process ever had, as Linux says; 0 elsewhere.
#[expect(clippy::disallowed_methods, reason = "the system tells it in a file")]
fn resident_bytes() -> usize {
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<usize>().unwrap_or(0) << 10
}
