//! A checkpoint: what is open in a session, with pointers, as text for the context and as a record.

use spanvault_types::{Carried, CarriedKind, Position};

use crate::digest::mark_line;
use crate::line::pointer;
use crate::{LiveMark, SessionReading, SpanText, tokens_of_bytes};

/// What carries a session's open obligations, negative results and references into its kept context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The text for the context; empty where nothing is open.
    pub text: String,
    /// What it carries, sorted.
    pub items: Vec<Carried>,
}

impl Checkpoint {
    /// Its estimated tokens.
    pub fn tokens(&self) -> u64 {
        tokens_of_bytes(self.text.len() as u64)
    }
}

/// Writes what `marks` say; `positions` and `marks` have one entry for each span of the session.
pub fn checkpoint(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    positions: &[Position],
    marks: &[Vec<LiveMark>],
) -> Checkpoint {
    let mut items = Vec::new();
    let mut text = String::new();
    let groups = [
        (CarriedKind::Obligation, "Open, still to be done:"),
        (CarriedKind::Negative, "Tried without success, not to be tried again unchanged:"),
        (CarriedKind::Reference, "Details that the work at hand rests on:"),
    ];
    for (kind, heading) in groups {
        let before = text.len();
        for (span, (marks, position)) in marks.iter().zip(positions).enumerate() {
            for mark in marks.iter().filter(|mark| mark.kind == kind) {
                if text.len() == before {
                    text.push_str(heading);
                    text.push('\n');
                }
                text.push_str("- ");
                text.push_str(&mark_line(reading, spans, span, mark));
                text.push_str(" (");
                text.push_str(&pointer(*position));
                text.push_str(")\n");
                items.push(Carried { span: *position, kind, range: mark.range });
            }
        }
    }
    items.sort_unstable();
    items.dedup();
    Checkpoint { text, items }
}
