//! Grok CLI sessions: bare messages a line (`chat_history.jsonl`), and the `summary.json` beside them.
//!
//! The lines have neither ids nor times. A sub-agent is a folder, and so a file, of its own.

mod line;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// A session's files (`~/.grok/sessions/**`).
pub(crate) struct Grok;

impl ObjectFormat for Grok {
    const NAME: &'static str = "agent_grok";
    const LAYOUT: Layout = Layout::LinesOrWhole;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        if head.document().is_some_and(is_summary) {
            return Confidence::Certain;
        }
        head.surest(of_line)
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
