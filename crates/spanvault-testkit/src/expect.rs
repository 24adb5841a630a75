//! What must happen.

use std::collections::BTreeSet;

use spanvault_types::{Mode, ReasonKind};

use crate::op::{DemandId, HoldId, OriginalId, SpanId, SummaryId};

/// What a step must lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// The step speaks of something that does not exist, or that the model has no word for. Skip it.
    NotApplicable,
    /// Refused at the boundary; nothing changes (I34).
    Invalid,
    /// Acknowledged, with nothing more to compare.
    Done,
    /// These spans were recorded; condemned originals among them are rescued.
    Recorded(Vec<SpanId>),
    /// These spans are carried by the checkpoint; none: nothing was open.
    Checkpointed(Vec<SpanId>),
    /// A verdict for each candidate.
    Compacted(Compaction),
    /// The demand stands, and these condemned originals are rescued (I43).
    Declared {
        /// The demand.
        demand: DemandId,
        /// Ascending.
        rescued: Vec<OriginalId>,
    },
    /// Refused as unsatisfiable: these originals are gone (I36). Nothing changes.
    Unsatisfiable {
        /// Ascending.
        gone: Vec<OriginalId>,
    },
    /// The hold stands, and these condemned originals are rescued.
    Held {
        /// The hold.
        hold: HoldId,
        /// Ascending.
        rescued: Vec<OriginalId>,
        /// What it comes too late for, ascending.
        gone: Vec<OriginalId>,
    },
    /// The hold comes after the tombstone of all that it is about (I42). Nothing changes.
    AlreadyGone {
        /// Ascending.
        gone: Vec<OriginalId>,
    },
    /// These originals move to the cold tier.
    Demoted(Vec<OriginalId>),
    /// What a reclaim run does.
    Reclaimed(Reclaim),
}

/// The outcome of a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compaction {
    /// Each candidate, in the order of the session.
    pub verdicts: Vec<(SpanId, Verdict)>,
    /// The summaries, one for each mode that something was permitted in, pointer rewrites first, with the spans that
    /// each covers. A vault may cut them into several; [`SummaryId`] then stands for all of those together.
    pub summaries: Vec<(SummaryId, Vec<SpanId>)>,
}

/// What the gate must say of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Permitted, in this mode.
    Permit(Mode),
    /// Refused for reasons of exactly these kinds.
    Refuse(BTreeSet<ReasonKind>),
    /// Nothing is against it, but the call or result that belongs to it was refused: the two are never parted.
    Company,
    /// Its bytes are gone, so nobody can read it again: not permitted, for whichever reason the vault gives first.
    Unseen,
}

/// The outcome of a reclaim run, each list ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reclaim {
    /// Newly condemned.
    pub condemned: Vec<OriginalId>,
    /// Were condemned and are needed again.
    pub rescued: Vec<OriginalId>,
    /// Gone from here on.
    pub reclaimed: Vec<OriginalId>,
    /// Stay condemned: their grace has not passed.
    pub waiting: Vec<OriginalId>,
    /// Past their retention and kept nevertheless, with the kinds of all reasons. With a suspect clock also what is
    /// condemned and not needed.
    pub refused: Vec<(OriginalId, BTreeSet<ReasonKind>)>,
}

/// Where an original is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// At hand.
    Hot,
    /// Compressed.
    Cold,
    /// Waiting for its removal; the bytes are there.
    Condemned,
    /// Behind its tombstone.
    Reclaimed,
}

/// What a question that needs a span must get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The exact answer with its proof.
    Exact,
    /// *Insufficient*, naming the tombstone.
    Insufficient,
}

/// A vault did what no vault may do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("break {invariant}: {what}")]
pub struct Violation {
    /// The promise.
    pub invariant: &'static str,
    /// What happened.
    pub what: String,
}
