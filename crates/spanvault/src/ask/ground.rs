//! What a search goes through: a reading, and how each of its spans stands to the scope.

use spanvault_evidence::At;

use super::answer::MissingReason;
use super::doubt::Doubt;
use super::originals::AskSpan;
use super::reading::{Reading, Slot};
use super::scope::Standing;
use super::seek::Spot;

/// A reading with the standing of its spans.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) reading: &'a Reading,
    pub(super) standings: &'a [Standing],
    /// The number of the transcript.
    pub(super) transcript: usize,
}

/// A span in scope, or one of which nobody knows whether it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// Its number in the reading.
    pub(super) at: usize,
    pub(super) span: &'a AskSpan,
    pub(super) slot: &'a Slot,
    standing: Standing,
}

impl<'a> Ground<'a> {
    pub(super) fn candidates(&self) -> impl Iterator<Item = Candidate<'a>> + use<'a> {
        self.reading
            .iter()
            .zip(self.standings)
            .filter(|(_span, standing)| **standing != Standing::Out)
            .map(|((at, span, slot), standing)| Candidate { at, span, slot, standing: *standing })
    }

    /// Where a part of a span of the reading stands among everything.
    pub(super) fn spot(&self, at: At, offset: usize) -> Spot {
        Spot { transcript: self.transcript, span: self.reading.before + at.span, part: at.part, offset }
    }
}

impl Candidate<'_> {
    /// Why it cannot be judged, if it cannot.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        match (self.slot, self.standing) {
            (Slot::Unseen { reason, tombstone }, _) => Some(Doubt::unseen(self.span, *reason, *tombstone)),
            (_, Standing::Untimed) => Some(Doubt::of(self.span, MissingReason::Untimed)),
            (Slot::Skipped, _) => Some(Doubt::of(self.span, MissingReason::Missing)),
            (Slot::Seen(_) | Slot::WithoutWords | Slot::NoConversation, _) => None,
        }
    }

    /// Whether the scope is a stretch of time and the span has no time.
    pub(super) fn is_untimed(&self) -> bool {
        self.standing == Standing::Untimed
    }
}
