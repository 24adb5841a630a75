//! Factory's Droid: session files, and what `droid exec` prints as stream-json.
//!
//! In a session file the messages are those of Anthropic's API. In the stream a call and a result are lines of
//! their own, and the line at the end repeats the last words of the agent.

mod line;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// A session (`~/.factory/sessions/**/*.jsonl`) or a stream.
pub(crate) struct Droid;

impl ObjectFormat for Droid {
    const NAME: &'static str = "agent_droid";
    const LAYOUT: Layout = Layout::Lines;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(of_line)
    }

    fn read(line: Raw<'_>) -> Reading {
        line::read(line)
    }
}

fn of_line(line: &Value) -> Confidence {
    let has_any = |names: &[&str]| names.iter().any(|name| line.get(*name).is_some());
    match text(line, "type") {
        "session_start" if has_all(line, &["id"]) && has_any(&["title", "sessionTitle", "owner", "cwd"]) => {
            Confidence::Certain
        }
        "tool_call" if has_all(line, &["toolName", "parameters"]) => Confidence::Certain,
        "completion" if has_all(line, &["finalText"]) => Confidence::Certain,
        "message" if has_all(line, &["role", "text"]) && has_any(&["sessionId", "session_id"]) => {
            Confidence::Likely
        }
        "message" if line.get("uuid").is_none() && line.get("message").is_some_and(has_tool_blocks) => {
            Confidence::Likely
        }
        _ => Confidence::No,
    }
}

fn has_tool_blocks(message: &Value) -> bool {
    let blocks = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    blocks.iter().any(|block| matches!(text(block, "type"), "tool_use" | "tool_result"))
}
