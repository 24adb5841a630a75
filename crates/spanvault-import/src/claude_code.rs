//! Claude Code: session files, sub-agent files, and the web export of the same objects.
//!
//! A session file is append-only JSONL. Every line is an original, also those that are no conversation
//! (progress, snapshots, titles) and those of types that a newer version invents: they are kept as
//! [`SpanKind::Meta`](spanvault_types::SpanKind::Meta). The one API message that the runtime writes as several
//! lines stays several spans.

mod detect;
mod line;
mod outcome;
#[cfg(test)]
mod tests;

use crate::document::Step;
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

pub(crate) use outcome::was_not_executed;

/// Session and sub-agent files (`~/.claude/projects/**/*.jsonl`).
pub(crate) struct ClaudeCode;

/// The web export: one document `{"loglines":[…]}` of the same objects.
pub(crate) struct ClaudeWebJson;

impl ObjectFormat for ClaudeCode {
    const NAME: &'static str = "claude_code";
    const LAYOUT: Layout = Layout::Lines;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        detect::session_file(head)
    }

    fn read(line: Raw<'_>) -> Reading {
        line::read(line)
    }
}

impl ObjectFormat for ClaudeWebJson {
    const NAME: &'static str = "claude_web_json";
    const LAYOUT: Layout = Layout::Document(&[&[Step::Member("loglines"), Step::Each]]);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        detect::web_export(head)
    }

    fn read(line: Raw<'_>) -> Reading {
        line::read(line)
    }
}
