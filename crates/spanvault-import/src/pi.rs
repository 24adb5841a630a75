//! The pi coding agent, and OpenClaw, which is built on it and writes the same entries.
//!
//! An entry a line. Version 1 files have no ids; in later ones every entry has one and names its parent, so
//! that a file may hold branches. The order of the file is kept, whatever the branches are. Nothing is ever
//! taken out of a file: what a compaction replaced stands above it.

mod entry;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, Named, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head, Kept};

pub(crate) use entry::exit_code;

/// A session of pi (`~/.pi/agent/sessions/**/*.jsonl`).
pub(crate) struct Pi;

/// A session of OpenClaw (`~/.openclaw/agents/*/sessions/*.jsonl`).
pub(crate) struct OpenClaw;

impl ObjectFormat for Pi {
    const NAME: &'static str = "pi";
    const LAYOUT: Layout = Layout::Lines;
    const NAMED: Named = Named::First;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let lines = head.objects();
        if lines.iter().any(names_openclaw) { Confidence::No } else { surest(lines) }
    }

    fn read(entry: Raw<'_>) -> Reading {
        entry::read(entry)
    }

    fn kept_by_compaction(entry: Raw<'_>) -> Kept {
        entry::kept(entry)
    }
}

impl ObjectFormat for OpenClaw {
    const NAME: &'static str = "agent_openclaw";
    const LAYOUT: Layout = Layout::Lines;
    const NAMED: Named = Named::First;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let lines = head.objects();
        if lines.iter().any(names_openclaw) { surest(lines) } else { Confidence::No }
    }

    fn read(entry: Raw<'_>) -> Reading {
        entry::read(entry)
    }

    fn kept_by_compaction(entry: Raw<'_>) -> Kept {
        entry::kept(entry)
    }
}

fn surest(lines: &[Value]) -> Confidence {
    lines.iter().map(of_line).max().unwrap_or(Confidence::No)
}

fn of_line(line: &Value) -> Confidence {
    let of_the_model = |message: &Value| {
        matches!(text(message, "role"), "toolResult" | "bashExecution")
            || has_all(message, &["stopReason", "usage"])
    };
    match text(line, "type") {
        "session" if has_all(line, &["id", "timestamp"]) && line.get("sessionId").is_none() => {
            Confidence::Certain
        }
        "message" if line.get("message").is_some_and(of_the_model) => Confidence::Likely,
        "thinking_level_change" if line.get("thinkingLevel").is_some() => Confidence::Likely,
        "compaction" if has_all(line, &["summary", "tokensBefore"]) => Confidence::Likely,
        _ => Confidence::No,
    }
}

/// Whether an entry carries the name of the program that wrote it.
fn names_openclaw(line: &Value) -> bool {
    let says =
        |value: &Value, names: &[&str]| names.iter().any(|name| text(value, name).starts_with("openclaw"));
    says(line, &["id", "provider", "modelId", "customType", "agent"])
        || line.get("message").is_some_and(|message| says(message, &["provider", "api", "model"]))
        || text(line, "cwd").contains("/.openclaw")
}
