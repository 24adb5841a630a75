//! The state of the vault that every decision is taken in.

use spanvault_types::{Position, StoreTime};

use crate::view::Known;

/// Whether store time can be believed (I39).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockTrust {
    /// Nothing speaks against it. Lag from down time is no reason for suspicion.
    Trusted,
    /// Wall clock and boot clock have drifted apart, or the boot could not be told.
    Suspect,
}

/// What the store can still do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoreState {
    /// It reads and writes.
    Ok,
    /// A sync failed: it acknowledges nothing until it is opened again (I8).
    Poisoned,
    /// The disk is full: reading and freeing go on, new records do not (I9).
    NoSpace,
}

/// What is true of the whole vault at the instant of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VaultState {
    /// Store time.
    pub now: StoreTime,
    /// Whether it can be believed.
    pub clock: ClockTrust,
    /// What the store can still do.
    pub store: StoreState,
    /// The newest rule of policy or retention; [`Position::ZERO`] for the defaults.
    pub policy: Known<Position>,
    /// The revision: the position of the last durable event.
    pub revision: Position,
}

/// Names one hold of a vault's writer lock.
///
/// The store makes a new one each time it takes the lock and compares it when a permit is used. Two holds never
/// have the same number in one process, whichever vaults they belong to; otherwise a permit of one vault could pass
/// for one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockEpoch(u64);

impl LockEpoch {
    /// Names the hold with this number. Only a store that has just taken its writer lock has a reason to call this.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }
}
