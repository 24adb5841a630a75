//! Reads one turn of an export.

use spanvault_types::{ByteRange, Encoding, Part, PartBody, Role, SpanContent, SpanKind};

use super::tool_use;
use crate::blocks::kind_of;

const THINK: &str = "<think>";
const THINK_END: &str = "</think>";

/// What the first line of a turn says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heading<'a> {
    pub(super) role: Role,
    /// A sub-agent speaks.
    pub(super) sidechain: bool,
    /// The model and the time, as far as they are given.
    details: &'a str,
}

/// The heading that a line is, such as `_**Agent (some-model 2026-01-02 03:04:05Z)**_`.
pub(super) fn heading(line: &str) -> Option<Heading<'_>> {
    let inner = line.trim_end().strip_prefix("_**")?.strip_suffix("**_")?;
    let (who, details) =
        inner.split_once(" (").map_or((inner, ""), |(who, rest)| (who, rest.trim_end_matches(')')));
    let (who, sidechain) = who.strip_suffix(" - sidechain").map_or((who, false), |who| (who, true));
    let role = match who {
        "User" => Role::User,
        "Agent" | "Assistant" => Role::Assistant,
        _ => return None,
    };
    Some(Heading { role, sidechain, details })
}

/// Reads a turn. What stands before the first one is no conversation.
pub(super) fn read(text: &str) -> SpanContent {
    let first = text.lines().next().unwrap_or_default();
    let Some(heading) = heading(first) else {
        return SpanContent {
            role: Role::System,
            kind: SpanKind::Meta,
            timestamp_ms: None,
            event_key: None,
            parts: Vec::new(),
        };
    };
    // A rule parts it from the next turn.
    let body = text.strip_suffix("---").filter(|before| before.ends_with('\n')).unwrap_or(text);
    let mut parts = Vec::new();
    let mut at = first.len().min(body.len());
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let (next, block) = [tool_use::OPEN, THINK]
            .into_iter()
            .filter_map(|open| line_start(rest, open).map(|found| (found, open)))
            .min()
            .unwrap_or((rest.len(), ""));
        said(rest.get(..next).unwrap_or_default(), at, PartBody::Text, &mut parts);
        let inside = rest.get(next..).unwrap_or_default();
        at += next;
        at += match block {
            THINK => thought(inside, at, &mut parts),
            "" => inside.len(),
            _ => tool_use::read(inside, at, &mut parts),
        };
    }
    let timestamp_ms = heading.details.split_once(' ').map_or(heading.details, |(_model, time)| {
        // Without a model the time is all there is.
        if heading.details.starts_with(|c: char| c.is_ascii_digit()) && time.len() < 12 {
            heading.details
        } else {
            time
        }
    });
    let timestamp_ms = timestamp_ms
        .replacen(' ', "T", 1)
        .parse::<jiff::Timestamp>()
        .ok()
        .map(jiff::Timestamp::as_millisecond);
    let role = heading.role;
    SpanContent { role, kind: kind_of(&parts), timestamp_ms, event_key: None, parts }
}

/// The first place where `mark` begins a line.
fn line_start(text: &str, mark: &str) -> Option<usize> {
    if text.starts_with(mark) {
        return Some(0);
    }
    text.match_indices(mark)
        .map(|(at, _)| at)
        .find(|at| text.get(..*at).is_some_and(|before| before.ends_with('\n')))
}

/// Adds words, without the white space around them.
pub(super) fn said(text: &str, at: usize, body: fn(String) -> PartBody, parts: &mut Vec<Part>) {
    let words = text.trim();
    if words.is_empty() {
        return;
    }
    let start = at + (text.len() - text.trim_start().len());
    let range = ByteRange { start: start as u64, end: (start + words.len()) as u64 };
    parts.push(Part { range, encoding: Encoding::Raw, body: body(words.to_owned()) });
}

/// Adds the thinking that `text` begins with; how many bytes it takes.
fn thought(text: &str, at: usize, parts: &mut Vec<Part>) -> usize {
    let end = text.find(THINK_END).unwrap_or(text.len());
    let inside = text.get(..end).unwrap_or_default();
    let from = inside.find("</summary>").map_or(THINK.len(), |found| found + "</summary>".len());
    let words = inside.get(from..).unwrap_or_default();
    said(words.trim_end().trim_end_matches("</details>"), at + from, PartBody::Thinking, parts);
    (end + THINK_END.len()).min(text.len())
}
