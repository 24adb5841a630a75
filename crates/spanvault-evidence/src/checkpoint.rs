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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Session;
    use crate::{SessionAtoms, live};

    fn checkpoint_of(session: &Session) -> Checkpoint {
        let (reading, spans) = (session.read(), session.texts());
        let all = vec![true; session.len()];
        let none = vec![false; session.len()];
        let marks = live(&reading, &spans, &SessionAtoms::new(spans.len()), &all, &none, &[]);
        checkpoint(&reading, &spans, &session.positions(), &marks)
    }

    #[test]
    fn it_carries_what_is_open_with_pointers() {
        let session = Session::new()
            .says("I'll rotate the key afterwards.")
            .run_fails("terraform apply", "Error: no credentials");
        let checkpoint = checkpoint_of(&session);
        assert_eq!(
            checkpoint.text,
            "Open, still to be done:\n\
             - open: I'll rotate the key afterwards. (s101)\n\
             Tried without success, not to be tried again unchanged:\n\
             - failed: Bash `terraform apply`: Error: no credentials (s103)\n"
        );
        let kinds: Vec<_> = checkpoint.items.iter().map(|item| (item.span.get(), item.kind)).collect();
        assert_eq!(kinds, [(101, CarriedKind::Obligation), (103, CarriedKind::Negative)]);
    }

    #[test]
    fn the_pending_items_of_a_summary_are_carried_and_not_its_whole_text() {
        let text = format!("Pending Tasks:\n- Push the branch\n\nNotes:\n{}", "words ".repeat(500));
        let checkpoint = checkpoint_of(&Session::new().summary(&text));
        assert_eq!(checkpoint.text, "Open, still to be done:\n- open: Push the branch (s101)\n");
    }

    #[test]
    fn nothing_open_is_an_empty_checkpoint() {
        assert_eq!(checkpoint_of(&Session::new().user("hi").says("Hello.")).text, "");
    }
}
