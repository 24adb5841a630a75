//! The gate: may this summary replace these spans, and may the bytes of this original be removed?
//!
//! Pure: it is handed a view and an instant. It has no files, no clock and no store, and it cannot fail: what it
//! cannot read it refuses. Two questions rest on one way of judging: every rule adds what it has against the
//! request to a list, and an empty list is the only way to a permit.
//!
//! - [`decide_compaction`], [`decide_condemn`] and [`decide_removal`] give a [`Decision`]: a plan, which can be
//!   shown and kept, and which allows nothing.
//! - [`permit_compaction`] and [`permit_removal`] decide the same again under the writer lock, named by its
//!   [`LockEpoch`], and give a permit that is good for one use under that lock.
//!
//! Deliberately absent: scores, weights, defaults for what is unknown, and any way to take a decision for a permit.
//! Start with [`decide_compaction`].

mod compaction;
mod keep;
mod permit;
mod reasons;
mod removal;
mod state;
mod view;

pub use compaction::{
    CompactionRefusal, CompactionRequest, CompactionTerms, ExpiryMode, decide_compaction, permit_compaction,
};
pub use keep::{expires_at, kept_until, needed_until};
pub use permit::{CompactionPermit, RemovalPermit};
pub use reasons::{Decision, Refusal};
pub use removal::{RemovalTerms, decide_condemn, decide_removal, permit_removal};
pub use state::{ClockTrust, LockEpoch, StoreState, VaultState};
pub use view::{
    DemandView, Known, LeaseView, LiveMark, OriginalView, Presence, Reach, Reading, RemovalView, SpanView,
    Stage, SummaryView, Unknown,
};
