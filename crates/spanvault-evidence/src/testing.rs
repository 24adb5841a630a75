//! Small sessions for tests, written like a dialogue. Each span's original is the JSON of its part.

use serde_json::{Value, json};
use spanvault_types::{
    ByteRange, Call, Encoding, Outcome, Part, PartBody, Position, Role, SpanContent, SpanKind,
};

use crate::{Atom, Registry, SessionReading, SpanText, atoms, read_session};

/// A session under construction.
#[derive(Debug, Default)]
pub(crate) struct Session {
    spans: Vec<(SpanContent, Vec<u8>)>,
    calls: usize,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn span(
        mut self,
        role: Role,
        kind: SpanKind,
        original: Vec<u8>,
        encoding: Encoding,
        body: PartBody,
    ) -> Self {
        let range = ByteRange { start: 0, end: original.len() as u64 };
        let parts = vec![Part { range, encoding, body }];
        self.spans.push((SpanContent { role, kind, timestamp_ms: None, event_key: None, parts }, original));
        self
    }

    fn words(self, role: Role, kind: SpanKind, text: &str, body: fn(String) -> PartBody) -> Self {
        let original = serde_json::to_vec(text).unwrap();
        self.span(role, kind, original, Encoding::JsonString, body(text.to_owned()))
    }

    /// A span whose bytes are gone.
    pub(crate) fn gone(mut self, kind: SpanKind) -> Self {
        let content = SpanContent {
            role: Role::Assistant,
            kind,
            timestamp_ms: None,
            event_key: None,
            parts: Vec::new(),
        };
        self.spans.push((content, Vec::new()));
        self
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.words(Role::User, SpanKind::Message, text, PartBody::Text)
    }

    pub(crate) fn says(self, text: &str) -> Self {
        self.words(Role::Assistant, SpanKind::Message, text, PartBody::Text)
    }

    pub(crate) fn thinks(self, text: &str) -> Self {
        self.words(Role::Assistant, SpanKind::Thinking, text, PartBody::Thinking)
    }

    pub(crate) fn summary(self, text: &str) -> Self {
        self.words(Role::User, SpanKind::CompactSummary, text, PartBody::Summary)
    }

    /// A record that is no conversation.
    pub(crate) fn progress(self) -> Self {
        self.words(Role::System, SpanKind::Meta, "tick", PartBody::Text)
    }

    /// A call that is not answered yet.
    pub(crate) fn calls(mut self, tool: &str, args: Value) -> Self {
        self.calls += 1;
        let original = serde_json::to_vec(&args).unwrap();
        let call = Call { id: Some(format!("c{}", self.calls)), tool: tool.to_owned(), args };
        self.span(Role::Assistant, SpanKind::ToolCall, original, Encoding::JsonValue, PartBody::Call(call))
    }

    /// The answer to the last call.
    pub(crate) fn gets(self, text: &str) -> Self {
        self.outcome(text, Some(false), None)
    }

    pub(crate) fn fails(self, text: &str) -> Self {
        self.outcome(text, Some(true), None)
    }

    pub(crate) fn rejects(self) -> Self {
        self.outcome("The user doesn't want to proceed with this tool use.", Some(true), Some(false))
    }

    fn outcome(self, text: &str, is_error: Option<bool>, executed: Option<bool>) -> Self {
        let call_id = Some(format!("c{}", self.calls));
        let original = serde_json::to_vec(text).unwrap();
        let outcome =
            Outcome { call_id, tool: None, text: text.to_owned(), is_error, exit_code: None, executed };
        self.span(Role::Tool, SpanKind::ToolResult, original, Encoding::JsonString, PartBody::Result(outcome))
    }

    pub(crate) fn runs(self, command: &str, output: &str) -> Self {
        self.calls("Bash", json!({ "command": command })).gets(output)
    }

    pub(crate) fn run_fails(self, command: &str, output: &str) -> Self {
        self.calls("Bash", json!({ "command": command })).fails(output)
    }

    pub(crate) fn reads(self, path: &str) -> Self {
        self.calls("Read", json!({ "file_path": path })).gets("     1→package main")
    }

    pub(crate) fn edits(self, path: &str) -> Self {
        let args = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
        self.calls("Edit", args).gets(&format!("The file {path} has been updated successfully."))
    }

    /// Puts the next span's parts into the span before it: one message with several blocks.
    pub(crate) fn joined(mut self) -> Self {
        let (last, bytes) = self.spans.pop().unwrap();
        let (content, original) = self.spans.last_mut().unwrap();
        let base = original.len() as u64;
        for mut part in last.parts {
            part.range = ByteRange { start: part.range.start + base, end: part.range.end + base };
            content.parts.push(part);
        }
        content.kind = content.kind.max(last.kind);
        original.extend(bytes);
        self
    }

    pub(crate) fn texts(&self) -> Vec<SpanText<'_>> {
        self.spans.iter().map(|(content, original)| SpanText { content, original }).collect()
    }

    pub(crate) fn read(&self) -> SessionReading {
        read_session(&self.texts(), Registry::built_in())
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Where the spans stand in the log: 101, 102, …
    pub(crate) fn positions(&self) -> Vec<Position> {
        (101..).take(self.len()).map(Position::new).collect()
    }

    pub(crate) fn atoms(&self) -> Vec<(Position, Vec<Atom>)> {
        let atoms = self.texts().into_iter().map(|span| atoms(span.content, span.original));
        self.positions().into_iter().zip(atoms).collect()
    }

    /// The bytes of an original.
    pub(crate) fn bytes(&self, span: usize, range: ByteRange) -> &str {
        let original = std::str::from_utf8(&self.spans[span].1).unwrap();
        &original[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
    }
}
