//! tau-bench results: a JSON array of runs, each with the messages of its conversation as `traj`.
//!
//! Every run is a session and a record of its own, named by its place (`/82`). There is no error flag: what a
//! result reports stands in its text.

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::chat::read_message;
use crate::document::Step;
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// The results of one benchmark run.
pub(crate) struct TauBench;

impl ObjectFormat for TauBench {
    const NAME: &'static str = "tau_bench";
    const LAYOUT: Layout = Layout::Document(&[&[Step::Each, Step::Member("traj"), Step::Each]]);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(Value::Array(runs)) = head.document() else { return Confidence::No };
        let is_run =
            |run: &Value| run.get("traj").is_some_and(Value::is_array) && run.get("task_id").is_some();
        // The task itself may fill the head.
        let begins_run = |run: &Value| run.get("task_id").is_some() && run.get("reward").is_some();
        if runs.iter().any(is_run) {
            Confidence::Certain
        } else if runs.first().is_some_and(begins_run) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(message: Raw<'_>) -> Reading {
        Reading { content: read_message(message), session: None }
    }
}
