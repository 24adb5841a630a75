//! The way out for live spans: what is open is carried into the kept context, each thing with its pointer.

use spanvault_evidence::{CarriedMark, LiveMark, SessionAtoms, SpanText, checkpoint, live};
use spanvault_types::{CarriedKind, Checkpointed, Event};

use crate::error::Result;
use crate::ids::{CheckpointId, SpanId};
use crate::liveness::{LiveReason, carried, reason};
use crate::session::Session;
use crate::view::{OwnedText, SessionView, SpanRow};

/// A checkpoint that stands in the context of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointMade {
    /// Its id; `None` where nothing is open, so that none was needed.
    pub checkpoint: Option<CheckpointId>,
    /// Its text, for the context.
    pub text: String,
    /// What it carries, span by span.
    pub carries: Vec<(SpanId, LiveReason)>,
    /// Estimated tokens of the text.
    pub tokens: u64,
    /// Whether it was there already: nothing has changed since.
    pub is_known: bool,
}

impl Session<'_> {
    /// Carries everything that is open in the session into its context, so that it makes no span live any more.
    ///
    /// The newest checkpoint takes the place of the one before. When nothing has changed since, none is written.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::SpanDraft;
    ///
    /// session.record(SpanDraft::assistant("I still have to rotate the signing key before the release."))?;
    /// let made = session.checkpoint()?;
    /// assert!(made.text.contains("rotate the signing key"));
    /// assert!(session.checkpoint()?.is_known, "nothing has changed since");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the disk says; `Corrupt` where the log is damaged.
    pub fn checkpoint(&self) -> Result<CheckpointMade> {
        let mut writer = self.vault.store.lock()?;
        let view = self.vault.view(self.at)?;
        let (marks, made) = what_is_open(&view);
        let carries: Vec<(SpanId, LiveReason)> = view
            .rows
            .iter()
            .zip(marks)
            .flat_map(|(row, marks)| marks.into_iter().map(move |mark| (SpanId(row.at), mark)))
            .map(|(span, mark)| (span, reason(&view, mark)))
            .collect();
        let tokens = made.tokens();
        let known = view.checkpoints.last().filter(|(_at, known)| known.items == made.items);
        if made.items.is_empty() || known.is_some() {
            let checkpoint = known.map(|(at, _known)| CheckpointId(*at));
            return Ok(CheckpointMade { checkpoint, text: made.text, carries, tokens, is_known: true });
        }
        let after =
            view.rows.iter().rev().find(|row| row.is_conversation()).map(|row| row.at).unwrap_or_default();
        let mut batch = writer.begin();
        let event = Checkpointed { session: self.at, after, items: made.items, tokens };
        let at = batch.push(Event::Checkpointed(event), Some(made.text.clone().into_bytes()));
        let commit = writer.commit(batch)?;
        drop(writer);
        crate::index::follow(self.vault, commit);
        Ok(CheckpointMade {
            checkpoint: Some(CheckpointId(at)),
            text: made.text,
            carries,
            tokens,
            is_known: false,
        })
    }
}

/// Everything open in what stands verbatim, every open obligation behind a summary, and everything that the checkpoint
/// before carried and that is still open.
fn what_is_open(view: &SessionView) -> (Vec<Vec<LiveMark>>, spanvault_evidence::Checkpoint) {
    let reading = view.read();
    let owned = view.texts();
    let texts: Vec<SpanText<'_>> = owned.iter().map(OwnedText::as_text).collect();
    let before: Vec<CarriedMark> = carried(view);
    let candidates: Vec<bool> = view.rows.iter().map(SpanRow::is_conversation).collect();
    let kept: Vec<bool> = vec![false; view.rows.len()];
    let mut marks = live(&reading, &texts, &SessionAtoms::new(texts.len()), &candidates, &kept, &[]);
    for (n, (row, marks)) in view.rows.iter().zip(&mut marks).enumerate() {
        if row.stands_in.is_some() {
            // The digest of its summary carries its negatives and references. It carries no obligation, because nothing
            // was open when the summary was made; a call opens again when its result is reclaimed.
            marks.retain(|mark| {
                mark.kind == CarriedKind::Obligation
                    || before
                        .iter()
                        .any(|was| was.span == n && was.kind == mark.kind && was.range == mark.range)
            });
        }
    }
    let positions: Vec<_> = view.rows.iter().map(|row| row.at).collect();
    let made = checkpoint(&reading, &texts, &positions, &marks);
    (marks, made)
}

#[cfg(test)]
mod tests;
