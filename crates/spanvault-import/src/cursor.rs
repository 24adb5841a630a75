//! Cursor: agent transcripts as JSONL, one message a line.
//!
//! The lines have neither ids nor times, and most versions leave results out: then a call stays open.

mod line;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::text;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// A transcript (`~/.cursor/projects/*/agent-transcripts/**/*.jsonl`).
pub(crate) struct Cursor;

impl ObjectFormat for Cursor {
    const NAME: &'static str = "agent_cursor";
    const LAYOUT: Layout = Layout::Lines;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(|line: &Value| {
            let is_bare = line.get("type").is_none() && line.get("uuid").is_none();
            let blocks = line.get("message").and_then(|message| message.get("content"));
            let is_message =
                matches!(text(line, "role"), "user" | "assistant") && blocks.is_some_and(Value::is_array);
            if is_bare && is_message { Confidence::Certain } else { Confidence::No }
        })
    }

    fn read(line: Raw<'_>) -> Reading {
        Reading { content: line::read(line), session: None }
    }
}
