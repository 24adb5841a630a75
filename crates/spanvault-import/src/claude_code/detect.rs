//! Tells Claude Code transcripts from others by what stands in them.

use serde_json::Value;

use crate::json::sketch_shallow;
use crate::{Confidence, Head};

/// As many lines tell what a file is; a file may start with lines that say little.
const LINES_MAX: usize = 400;

/// Line types that belong to Claude Code, whatever else they carry.
const OWN_TYPES: [&str; 13] = [
    "file-history-snapshot",
    "queue-operation",
    "permission-mode",
    "custom-title",
    "ai-title",
    "agent-name",
    "last-prompt",
    "worktree-state",
    "frame-link",
    "bridge-session",
    "relocated",
    "atis-latch",
    "pr-link",
];

pub(super) fn session_file(head: &Head<'_>) -> Confidence {
    let mut best = Confidence::No;
    for line in head.lines_of_text().take(LINES_MAX).filter_map(sketch_shallow) {
        if is_foreign(&line) {
            return Confidence::No;
        }
        best = best.max(of_line(&line));
    }
    best
}

pub(super) fn web_export(head: &Head<'_>) -> Confidence {
    match head.document() {
        Some(document) if document.get("loglines").is_some_and(Value::is_array) => Confidence::Certain,
        Some(_) | None => Confidence::No,
    }
}

/// Whether a line is one of a runtime that took over the envelope, but not what is in it.
fn is_foreign(line: &Value) -> bool {
    line.get("systemPayload").is_some()
        || line.get("message").is_some_and(|message| message.get("parts").is_some())
}

fn of_line(line: &Value) -> Confidence {
    let has = |name: &str| line.get(name).is_some();
    let Some(kind) = line.get("type").and_then(Value::as_str) else {
        // The side file of a sub-agent.
        let side_file = line.get("agentType").is_some_and(Value::is_string) && has("spawnDepth");
        return if side_file { Confidence::Likely } else { Confidence::No };
    };
    match kind {
        "user" | "assistant" => {
            // Other runtimes write such lines with messages of another shape.
            let own = match line.get("message") {
                Some(message) => message.get("role").is_some() || message.get("content").is_some(),
                // It may lie beyond the head.
                None => has("parentUuid"),
            };
            match (own, has("uuid") || has("parentUuid"), has("sessionId")) {
                (true, true, true) => Confidence::Certain,
                (true, true, false) | (true, false, true) => Confidence::Likely,
                _ => Confidence::No,
            }
        }
        "summary" if has("leafUuid") => Confidence::Certain,
        "system" | "progress" | "attachment" if has("sessionId") && has("uuid") && has("parentUuid") => {
            Confidence::Likely
        }
        kind if OWN_TYPES.contains(&kind) => Confidence::Likely,
        _ => Confidence::No,
    }
}
