//! tau-bench results: a JSON array of runs, each with the messages of its conversation as `traj`.
//!
//! Every run is a session and a record of its own, named by its place (`/82`). There is no error flag: what a
//! result reports stands in its text.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::ControlFlow;

use serde_json::Value;
use spanvault_types::SpanContent;

use crate::chat::read_message;
use crate::document::{self, Shape, Step};
use crate::json::{Raw, sketch_document};
use crate::reading::{Reading, read_content};
use crate::{Confidence, ImportError, Importer, Limits, Piece, Unparsed};

/// The results of one benchmark run.
pub(crate) struct TauBench;

const SHAPE: Shape =
    Shape { format: "tau_bench", paths: &[&[Step::Each, Step::Member("traj"), Step::Each]], read: read_line };

impl Importer for TauBench {
    fn format(&self) -> &'static str {
        SHAPE.format
    }

    fn detect(&self, head: &[u8]) -> Confidence {
        let Some(Value::Array(runs)) = sketch_document(head) else { return Confidence::No };
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

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        document::cut(source, limits, &SHAPE, sink)
    }

    fn source_bytes_max(&self, limits: &Limits) -> Option<u64> {
        Some(limits.document_bytes_max)
    }

    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed> {
        read_content(original, read_line)
    }
}

fn read_line(message: Raw<'_>) -> Reading {
    Reading { content: read_message(message), session: None }
}
