//! tau2-bench: the simulations of one benchmark run, and the runs by voice.
//!
//! In a simulation the user calls tools as well: those calls keep the role of the user. Times have no zone and
//! are not read.

mod message;
#[cfg(test)]
mod tests;
mod tick;

use serde_json::Value;

use crate::document::Step;
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// The simulations of one run: `{"info":…, "tasks":…, "simulations":[…]}`, or one of them alone.
pub(crate) struct Tau2;

/// One simulation by voice: what both sides did in each tick.
pub(crate) struct Tau2Voice;

impl ObjectFormat for Tau2 {
    const NAME: &'static str = "tau2";
    const LAYOUT: Layout = Layout::Document(&[
        &[Step::Member("simulations"), Step::Each, Step::Member("messages"), Step::Each],
        &[Step::Member("messages"), Step::Each],
    ]);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(document) = head.document() else { return Confidence::No };
        let has = |name: &str| document.get(name).is_some();
        let environment = document.get("info").is_some_and(|info| info.get("environment_info").is_some());
        if document.get("simulations").is_some_and(Value::is_array) || is_simulation(document, "messages") {
            Confidence::Certain
        } else if environment && has("timestamp") {
            // The tasks may fill the head.
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(message: Raw<'_>) -> Reading {
        Reading { content: message::read(message), session: None }
    }
}

impl ObjectFormat for Tau2Voice {
    const NAME: &'static str = "tau2_voice";
    const LAYOUT: Layout = Layout::Document(&[&[Step::Member("ticks"), Step::Each]]);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        match head.document() {
            Some(document) if is_simulation(document, "ticks") => Confidence::Certain,
            Some(_) | None => Confidence::No,
        }
    }

    fn read(tick: Raw<'_>) -> Reading {
        Reading { content: tick::read(tick), session: None }
    }
}

/// Whether a document is one simulation that holds its course under this name.
fn is_simulation(document: &Value, course: &str) -> bool {
    let marks = ["task_id", "termination_reason"];
    document.get(course).is_some_and(Value::is_array) && marks.iter().all(|mark| document.get(mark).is_some())
}
