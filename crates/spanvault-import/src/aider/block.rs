//! Reads what one speaker says in one go.

use serde_json::{Map, Value};
use spanvault_types::{ByteRange, Call, Encoding, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use super::STARTED;
use crate::blocks::{kind_of, outcome};

/// How an editor's mode line begins, which is the first line of some files.
pub(super) const ASIDE: &str = "-*- ";
/// How the transcript begins in a web page.
pub(super) const TRANSCRIPT: &str = "<div class=\"chat-transcript\"";

const USER: &str = "####";
const PROGRAM: &str = ">";

/// Who speaks in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Program,
    Model,
    /// Nobody: a line that begins a session or a file.
    Marker,
}

/// Who speaks in a line that is not empty.
pub(super) fn speaker_of(line: &str) -> Speaker {
    let begins =
        |prefix: &str| line.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    if begins(USER) {
        Speaker::User
    } else if begins(PROGRAM) {
        Speaker::Program
    } else {
        Speaker::Model
    }
}

/// Reads a block; its first line says who speaks.
pub(super) fn read(text: &str) -> SpanContent {
    let first = text.lines().next().unwrap_or_default().trim_start_matches('\u{feff}');
    let whole = ByteRange { start: 0, end: text.len() as u64 };
    let marker = first.starts_with(STARTED) || first.starts_with(ASIDE) || first.trim_end() == "---";
    let (role, parts) = match if marker { Speaker::Marker } else { speaker_of(first) } {
        Speaker::Marker => (Role::System, Vec::new()),
        Speaker::Model => {
            let body = PartBody::Text(text.to_owned());
            (Role::Assistant, vec![Part { range: whole, encoding: Encoding::Raw, body }])
        }
        Speaker::User => (Role::User, vec![gathered(whole, PartBody::Text(without(USER, text)))]),
        Speaker::Program => {
            let mut parts = vec![gathered(whole, PartBody::Text(without(PROGRAM, text)))];
            let mut at = 0;
            for line in text.split_inclusive('\n') {
                parts.extend(done(line.trim_end(), at).into_iter().flatten());
                at += line.len();
            }
            (Role::Tool, parts)
        }
    };
    let kind = if parts.is_empty() { SpanKind::Meta } else { kind_of(&parts) };
    SpanContent { role, kind, timestamp_ms: None, event_key: None, parts }
}

const fn gathered(range: ByteRange, body: PartBody) -> Part {
    Part { range, encoding: Encoding::JsonValue, body }
}

/// The lines without their prefix, and without the spaces that the program adds at their end.
fn without(prefix: &str, text: &str) -> String {
    let line = |line: &str| {
        let line = line.strip_prefix(prefix).unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The call and the result that a line of the program is evidence of.
///
/// Their id is the line: it pairs the two, and no other result with the call.
fn done(line: &str, at: usize) -> Option<[Part; 2]> {
    let said = line.strip_prefix(PROGRAM)?.trim_start();
    let named = |tool: &str, members: &[(&str, &str)]| {
        let args: Map<_, _> =
            members.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        (tool.to_owned(), Value::Object(args))
    };
    let (tool, args) = if let Some(path) = said.strip_prefix("Applied edit to ") {
        named("edit", &[("path", path)])
    } else {
        let (hash, message) = said.strip_prefix("Commit ")?.split_once(' ')?;
        let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return None;
        }
        named("commit", &[("hash", hash), ("message", message)])
    };
    let id = Some(said.to_owned());
    let range = ByteRange { start: at as u64, end: (at + line.len()) as u64 };
    let result = Outcome {
        tool: Some(tool.clone()),
        text: said.to_owned(),
        is_error: Some(false),
        ..outcome(id.clone())
    };
    Some([
        gathered(range, PartBody::Call(Call { id, tool, args })),
        gathered(range, PartBody::Result(result)),
    ])
}
