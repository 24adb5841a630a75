//! Antigravity: the steps of a session, one a line.
//!
//! Calls have no ids: they stand in the step of the planner, and what came of each is a step of its own, in order.
//! The program cuts long texts off in this file and says so (`truncated_fields`); the rest is nowhere in it.

mod step;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::has_all;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// A session (`~/.gemini/antigravity*/**/*.jsonl`).
pub(crate) struct Antigravity;

impl ObjectFormat for Antigravity {
    const NAME: &'static str = "agent_antigravity";
    const LAYOUT: Layout = Layout::Lines;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(|line: &Value| {
            let is_step = has_all(line, &["step_index", "source", "type", "status"]);
            if is_step { Confidence::Certain } else { Confidence::No }
        })
    }

    fn read(step: Raw<'_>) -> Reading {
        Reading { content: step::read(step), session: None }
    }
}
