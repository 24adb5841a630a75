//! Grok CLI sessions: bare messages a line (`chat_history.jsonl`), and the `summary.json` beside them.
//!
//! The lines have neither ids nor times. A sub-agent is a folder, and so a file, of its own.

mod line;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::Confidence;
use crate::first_lines::{first_lines, has_all, text};
use crate::json::{Raw, sketch_document};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;

/// A session's files (`~/.grok/sessions/**`).
pub(crate) struct Grok;

impl ObjectFormat for Grok {
    const NAME: &'static str = "agent_grok";
    const LAYOUT: Layout = Layout::LinesOrWhole;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &[u8]) -> Confidence {
        if sketch_document(head).is_some_and(|document| is_summary(&document)) {
            return Confidence::Certain;
        }
        first_lines(head).iter().map(of_line).max().unwrap_or(Confidence::No)
    }

    fn read(line: Raw<'_>) -> Reading {
        line::read(line)
    }
}

/// The session's own data.
fn is_summary(document: &Value) -> bool {
    has_all(document, &["info", "session_summary", "chat_format_version"])
}

fn of_line(line: &Value) -> Confidence {
    let is_bare = |line: &Value| line.get("content").is_some() && line.get("message").is_none();
    match text(line, "type") {
        "assistant" if is_bare(line) && has_all(line, &["tool_calls", "model_id"]) => Confidence::Certain,
        "assistant" if is_bare(line) && has_all(line, &["tool_calls"]) => Confidence::Likely,
        "tool_result" if is_bare(line) && has_all(line, &["tool_call_id"]) => Confidence::Likely,
        "backend_tool_call" if has_all(line, &["kind"]) => Confidence::Likely,
        "user"
            if is_bare(line)
                && (has_all(line, &["prompt_index"]) || has_all(line, &["synthetic_reason"])) =>
        {
            Confidence::Likely
        }
        _ => Confidence::No,
    }
}
