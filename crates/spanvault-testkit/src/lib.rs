//! A reference model of a vault, and generators of histories to run it on. For tests only.
//!
//! [`Model`] is written from docs/INVARIANTS.md and docs/GATE.md alone and shares no code with the engine. A test applies each
//! [`Op`] to the model and to a real vault, and compares what happened with the [`Expectation`]. The model keeps plain
//! maps and asks every question anew from the whole history; it is meant to be read, not to be fast.
//!
//! A test drives it like this:
//! 1. take a raw op, of [`history`] or [`small_world`], and make it concrete with [`Model::resolve`];
//! 2. [`Model::apply`] it; where the answer is [`Expectation::NotApplicable`], go on with the next;
//! 3. do the same to the vault and compare;
//! 4. after a crash or restart hand the vault's store time to [`Model::adopt_clock`], which says whether it is lawful;
//! 5. compare what a vault can be asked: [`Model::kept_until`], [`Model::place`], [`Model::answer`] and so on.
//!
//! Handles come from the model; one that it never gave makes a question panic.

mod auditor;
mod expect;
mod gauge;
mod generate;
mod model;
mod op;

pub use auditor::Auditor;
pub use expect::{Answer, Compaction, Expectation, Place, Reclaim, Verdict, Violation};
pub use gauge::reliability;
pub use generate::{SmallWorld, history, op, small_world};
pub use model::{AUDIT_MS, DRIFT_MS_MAX, GRACE_MS, Model, REACH_MS};
pub use op::{
    About, Content, DemandId, HoldId, Length, Op, OriginalId, Piece, Rule, SessionId, SpanId, SummaryId,
};
