//! Kimi CLI: the wire log of one agent (`wire.jsonl`), and the session's `state.json`.
//!
//! The log holds what went into the context and, beside it, what the program did. Only the former is talk: a
//! prompt that was typed comes again when it is put into the context. Every agent has a log, and so a session,
//! of its own.

mod line;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// The files of a session (`~/.kimi-code/sessions/**`).
pub(crate) struct Kimi;

impl ObjectFormat for Kimi {
    const NAME: &'static str = "agent_kimi";
    const LAYOUT: Layout = Layout::LinesOrWhole;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        if head.document().is_some_and(|document| has_all(document, &["agents", "workDir", "createdAt"])) {
            return Confidence::Certain;
        }
        head.surest(|line: &Value| match text(line, "type") {
            "metadata" if has_all(line, &["protocol_version"]) => Confidence::Certain,
            "context.append_message" if has_all(line, &["message"]) => Confidence::Certain,
            "context.append_loop_event" if has_all(line, &["event"]) => Confidence::Certain,
            _ => Confidence::No,
        })
    }

    fn read(line: Raw<'_>) -> Reading {
        Reading { content: line::read(line), session: None }
    }
}
