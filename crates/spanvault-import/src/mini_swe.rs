//! mini-swe-agent trajectories: an object with `info` and `messages`, or in old versions the bare messages.
//!
//! Every message repeats itself in its `extra`; only what the provider's answer does not say is read there.

mod message;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::ControlFlow;

use serde_json::Value;
use spanvault_types::SpanContent;

use crate::chat::{MESSAGES, messages_of};
use crate::document::{self, Shape};
use crate::json::sketch_document;
use crate::reading::read_content;
use crate::{Confidence, ImportError, Importer, Limits, Piece, Unparsed};

/// One trajectory (`*.traj.json`).
pub(crate) struct MiniSwe;

const SHAPE: Shape = Shape { format: "mini_swe", paths: MESSAGES, read: message::read };

impl Importer for MiniSwe {
    fn format(&self) -> &'static str {
        SHAPE.format
    }

    fn detect(&self, head: &[u8]) -> Confidence {
        match sketch_document(head) {
            Some(document) if is_trajectory(&document) => Confidence::Certain,
            Some(document) if messages_of(&document).iter().any(is_own_message) => Confidence::Likely,
            Some(_) | None => Confidence::No,
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
        read_content(original, message::read)
    }
}

fn is_trajectory(document: &Value) -> bool {
    let named = document
        .get("trajectory_format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("mini-swe-agent"));
    let info = document.get("info");
    let has = |name: &str| info.is_some_and(|info| info.get(name).is_some());
    named || has("mini_version") || (has("model_stats") && has("config"))
}

/// A message that only this agent writes: an observation, or a command in its fence.
fn is_own_message(message: &Value) -> bool {
    let content = message.get("content").and_then(Value::as_str).unwrap_or_default();
    match message.get("role").and_then(Value::as_str) {
        Some("user" | "tool") => message::is_observation(content),
        Some("system" | "assistant") => content.contains("```mswea_bash_command"),
        _ => false,
    }
}
