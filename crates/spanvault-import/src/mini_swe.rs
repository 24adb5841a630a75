//! mini-swe-agent trajectories: an object with `info` and `messages`, or in old versions the bare messages.
//!
//! Every message repeats itself in its `extra`; only what the provider's answer does not say is read there.

mod message;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::chat::{MESSAGES, messages_of};
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// One trajectory (`*.traj.json`).
pub(crate) struct MiniSwe;

impl ObjectFormat for MiniSwe {
    const NAME: &'static str = "mini_swe";
    const LAYOUT: Layout = Layout::Document(MESSAGES);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        match head.document() {
            Some(document) if is_trajectory(document) => Confidence::Certain,
            Some(document) if messages_of(document).iter().any(is_own_message) => Confidence::Likely,
            Some(_) | None => Confidence::No,
        }
    }

    fn read(message: Raw<'_>) -> Reading {
        message::read(message)
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
