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

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::SpanContent;

use crate::document::{self, Shape, Step};
use crate::reading::read_content;
use crate::{Confidence, ImportError, Importer, Limits, Piece, Unparsed, lines};

/// Session and sub-agent files (`~/.claude/projects/**/*.jsonl`).
pub(crate) struct ClaudeCode;

/// The web export: one document `{"loglines":[…]}` of the same objects.
pub(crate) struct ClaudeWebJson;

impl Importer for ClaudeCode {
    fn format(&self) -> &'static str {
        "claude_code"
    }

    fn detect(&self, head: &[u8]) -> Confidence {
        detect::session_file(head)
    }

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        lines::cut(source, limits, line::read, sink)
    }

    fn source_bytes_max(&self, _limits: &Limits) -> Option<u64> {
        None
    }

    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed> {
        read_content(original, line::read)
    }
}

const WEB: Shape =
    Shape { format: "claude_web_json", paths: &[&[Step::Member("loglines"), Step::Each]], read: line::read };

impl Importer for ClaudeWebJson {
    fn format(&self) -> &'static str {
        WEB.format
    }

    fn detect(&self, head: &[u8]) -> Confidence {
        detect::web_export(head)
    }

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        document::cut(source, limits, &WEB, sink)
    }

    fn source_bytes_max(&self, limits: &Limits) -> Option<u64> {
        Some(limits.document_bytes_max)
    }

    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed> {
        read_content(original, line::read)
    }
}
