//! Chat histories of aider: Markdown in which a prefix says who speaks.
//!
//! `#### ` begins each line of the user, `> ` each line of the program, and all other lines are the model's. The
//! program's lines are the only evidence of what was done: an applied edit and a commit are read as calls that
//! succeeded.

mod block;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::SpanContent;

use crate::text_format::{Line, LineTeller, cut, read_text};
use crate::{Confidence, Head, ImportError, Importer, Limits, Piece, Unparsed};
use block::{ASIDE, Speaker, TRANSCRIPT, speaker_of};

/// A chat history (`.aider.chat.history.md`).
pub(crate) struct Aider;

/// How the line begins with which a session does.
const STARTED: &str = "# aider chat started at ";

impl Importer for Aider {
    fn format(&self) -> &'static str {
        "aider_md"
    }

    fn detect(&self, head: &Head<'_>) -> Confidence {
        let text = head.text();
        let mut by_prefix = (false, false);
        for line in text.lines() {
            if line.starts_with(STARTED) || line.starts_with(TRANSCRIPT) {
                return Confidence::Certain;
            }
            by_prefix.0 |= line.starts_with("#### ") && line.ends_with("  ");
            by_prefix.1 |= line.starts_with("> ") && line.ends_with("  ");
        }
        if by_prefix == (true, true) { Confidence::Likely } else { Confidence::No }
    }

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        cut::<Teller>(source, limits, block::read, sink)
    }

    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed> {
        read_text(original, block::read)
    }
}

/// Tells where one speaker ends and the next begins.
#[derive(Default)]
struct Teller {
    speaker: Option<Speaker>,
    /// Inside a fence of the model, where code may begin with the prefixes of others.
    fenced: bool,
    /// Inside what a web page says before its transcript.
    preface: bool,
    begun: bool,
}

impl LineTeller for Teller {
    fn tell(&mut self, line: &str) -> Line {
        let first = !std::mem::replace(&mut self.begun, true);
        if let Some(time) = line.strip_prefix(STARTED) {
            *self = Self { begun: true, speaker: Some(Speaker::Marker), ..Self::default() };
            return Line::BeginsSession(format!("/{}", time.trim()));
        }
        if line.starts_with("<div") || line.starts_with("</div") {
            *self = Self { begun: true, ..Self::default() };
            return Line::Between;
        }
        if self.preface {
            return Line::Continues;
        }
        if first && (line.trim_end() == "---" || line.starts_with(ASIDE)) {
            self.preface = line.trim_end() == "---";
            self.speaker = Some(Speaker::Marker);
            return Line::Begins;
        }
        if line.trim().is_empty() {
            return if self.speaker.is_some() { Line::Continues } else { Line::Between };
        }
        let mut speaker = speaker_of(line);
        // The program ends its lines with two spaces, and a model hardly ever does.
        if self.fenced && !line.ends_with("  ") {
            speaker = Speaker::Model;
        }
        if speaker == Speaker::Model {
            self.fenced ^= line.starts_with("```");
        } else {
            self.fenced = false;
        }
        if self.speaker == Some(speaker) {
            return Line::Continues;
        }
        self.speaker = Some(speaker);
        Line::Begins
    }
}
