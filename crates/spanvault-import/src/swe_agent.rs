//! SWE-agent trajectories: an object whose `trajectory` holds the steps, or in some files only the `history`.
//!
//! A step is a command and what it printed, so it is one span of both. The `history` beside a trajectory is the
//! prompt that the steps were made from, demonstrations included: it repeats them, and is kept as a gap.

mod step;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::document::Step;
use crate::json::Raw;
use crate::marks::has_all;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// One trajectory (`*.traj`).
pub(crate) struct SweAgent;

impl ObjectFormat for SweAgent {
    const NAME: &'static str = "swe_agent";
    const LAYOUT: Layout = Layout::Document(&[
        &[Step::Member("trajectory"), Step::Each],
        &[Step::Member("history"), Step::Each],
    ]);
    const KEEPS_WORDS: bool = true;

    const ONE_PATH: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(document) = head.document() else { return Confidence::No };
        let any = |name: &str, is: fn(&Value) -> bool| {
            document.get(name).and_then(Value::as_array).is_some_and(|elements| elements.iter().any(is))
        };
        let is_step = |step: &Value| has_all(step, &["action", "observation"]);
        let is_message = |message: &Value| {
            has_all(message, &["role", "agent"]) || has_all(message, &["role", "message_type"])
        };
        if any("trajectory", is_step) || any("history", is_message) {
            Confidence::Certain
        } else if any("trajectory", |step| has_all(step, &["action", "response"])) {
            // The observation of the first step may lie beyond the head.
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(step: Raw<'_>) -> Reading {
        step::read(step)
    }
}
