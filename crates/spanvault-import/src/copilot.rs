//! Copilot CLI: the events of a session, one a line (`events.jsonl`).
//!
//! A call stands in the message that asks for it; the event that says that it has begun repeats it, and is kept
//! without parts.

mod event;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// A session (`~/.copilot/session-state/**/events.jsonl`).
pub(crate) struct Copilot;

/// How the types of its events begin.
const AREAS: [&str; 8] =
    ["session.", "user.", "assistant.", "tool.", "hook.", "system.", "subagent.", "skill."];

impl ObjectFormat for Copilot {
    const NAME: &'static str = "agent_copilot";
    const LAYOUT: Layout = Layout::Lines;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(|line: &Value| {
            let kind = text(line, "type");
            let is_event =
                has_all(line, &["data", "id", "timestamp"]) && line.get("data").is_some_and(Value::is_object);
            if is_event && AREAS.iter().any(|area| kind.starts_with(area)) {
                Confidence::Certain
            } else {
                Confidence::No
            }
        })
    }

    fn read(event: Raw<'_>) -> Reading {
        event::read(event)
    }
}
