//! Qwen Code: session files with the envelope of Claude Code and the messages of Gemini.
//!
//! The lines form a tree, since a session can be taken back to an earlier line; the order of the file is kept,
//! branches that were left included.

mod line;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::has_all;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// A session (`~/.qwen/projects/*/chats/*.jsonl`).
pub(crate) struct Qwen;

impl ObjectFormat for Qwen {
    const NAME: &'static str = "agent_qwen";
    const LAYOUT: Layout = Layout::Lines;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(|line: &Value| {
            let has_parts = line.get("message").is_some_and(|message| has_all(message, &["parts"]));
            let own = has_parts || line.get("systemPayload").is_some();
            if own && has_all(line, &["uuid", "sessionId", "type"]) {
                Confidence::Certain
            } else {
                Confidence::No
            }
        })
    }

    fn read(line: Raw<'_>) -> Reading {
        line::read(line)
    }
}
