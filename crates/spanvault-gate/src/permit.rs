//! Permits: decisions taken under the writer lock, good for one use.

use spanvault_types::{ContentHash, Expiry, Lease, Mode, PermitRecord, Position, StoreTime};

use crate::removal::RemovalTerms;
use crate::state::{LockEpoch, VaultState};

/// Lets one summary replace one set of spans in the context.
///
/// It names one summary, one set of spans, the demands in its leases, one policy and one revision, and none of them can
/// change between the decision and its use, because both happen under one lock (I29). It **is** its leases (I21): the
/// record that it turns into holds them, and nothing else does.
///
/// Only [`crate::permit_compaction`] makes one. It cannot be copied, kept or used twice:
///
/// ```compile_fail
/// # fn f(permit: spanvault_gate::CompactionPermit) {
/// permit.into_record();
/// permit.into_record(); // used after it was consumed
/// # }
/// ```
/// ```compile_fail
/// # fn f(permit: &spanvault_gate::CompactionPermit) -> spanvault_gate::CompactionPermit {
/// Clone::clone(permit)
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a permit that is not used allows nothing"]
pub struct CompactionPermit {
    epoch: LockEpoch,
    summary: ContentHash,
    spans: Vec<Position>,
    mode: Mode,
    record: PermitRecord,
}

impl CompactionPermit {
    pub(crate) fn new(
        epoch: LockEpoch,
        state: &VaultState,
        policy: Position,
        summary: ContentHash,
        spans: Vec<Position>,
        mode: Mode,
        leases: Vec<Lease>,
    ) -> Self {
        let record = PermitRecord { revision: state.revision, at: state.now, policy, leases };
        Self { epoch, summary, spans, mode, record }
    }

    /// The hold of the writer lock under which it was made; it is good under no other.
    pub const fn epoch(&self) -> LockEpoch {
        self.epoch
    }

    /// The last durable event when it was made.
    pub const fn revision(&self) -> Position {
        self.record.revision
    }

    /// The summary that it is for.
    pub const fn summary(&self) -> ContentHash {
        self.summary
    }

    /// The spans that may be replaced, ascending.
    pub fn spans(&self) -> &[Position] {
        &self.spans
    }

    /// What it allows.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The leases that it is, by original and end.
    pub fn leases(&self) -> &[Lease] {
        &self.record.leases
    }

    /// Uses it up: the record for the summary's own frame.
    #[must_use = "the permit is the leases in its record"]
    pub fn into_record(self) -> PermitRecord {
        self.record
    }
}

/// Lets the bytes of one original be removed. The first of three barriers that do not trust each other:
///
/// 1. this type: private fields, made by [`crate::permit_removal`] alone, from a decision taken under the writer lock,
///    never from a plan, and used up by its use;
/// 2. `clippy.toml` bans `Store::remove`; the one reasoned exception is in `reclaim::apply` of the facade;
/// 3. `Store::remove` refuses a permit whose [`epoch`](Self::epoch) is not that of the lock it is used under.
///
/// ```compile_fail
/// # fn f(plan: spanvault_gate::RemovalTerms) -> spanvault_gate::RemovalPermit {
/// plan.into() // a plan is no permit
/// # }
/// ```
/// ```compile_fail
/// # fn f(permit: spanvault_gate::RemovalPermit) {
/// # fn remove(permit: spanvault_gate::RemovalPermit) {}
/// remove(permit);
/// remove(permit); // used after it was consumed
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a permit that is not used allows nothing"]
pub struct RemovalPermit {
    epoch: LockEpoch,
    revision: Position,
    at: StoreTime,
    original: Position,
    terms: RemovalTerms,
}

impl RemovalPermit {
    pub(crate) const fn new(
        epoch: LockEpoch,
        state: &VaultState,
        original: Position,
        terms: RemovalTerms,
    ) -> Self {
        Self { epoch, revision: state.revision, at: state.now, original, terms }
    }

    /// The hold of the writer lock under which it was made; it is good under no other.
    pub const fn epoch(&self) -> LockEpoch {
        self.epoch
    }

    /// The last durable event when it was made.
    pub const fn revision(&self) -> Position {
        self.revision
    }

    /// Store time of the decision.
    pub const fn at(&self) -> StoreTime {
        self.at
    }

    /// The original whose bytes may go.
    pub const fn original(&self) -> Position {
        self.original
    }

    /// When its retention had ended.
    pub const fn expired_at(&self) -> Expiry {
        self.terms.expired_at
    }

    /// When it had been condemned.
    pub const fn condemned_at(&self) -> StoreTime {
        self.terms.condemned_at
    }

    /// The summaries that cite it, which are *evidence expired* from now on.
    pub fn cited_by(&self) -> &[Position] {
        &self.terms.cited_by
    }
}
