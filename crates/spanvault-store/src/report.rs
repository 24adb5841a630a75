//! What opening a vault found.

use spanvault_types::Position;

use crate::damage::Damage;

/// The end of the log that was acknowledged and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostTail {
    /// The last position that is there.
    pub found: Position,
    /// The last position that was acknowledged. New positions begin after it, so none is used twice.
    pub acknowledged: Position,
}

/// What opening found. A healthy vault gives an empty report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenReport {
    /// The vault was made by this call.
    pub created: bool,
    /// Bytes at the end of the log that nobody was told about: cut by a writer, ignored by a reader.
    pub torn_bytes: u64,
    /// Acknowledged frames that are gone from the end of the log.
    pub lost_tail: Option<LostTail>,
    /// Damage that was met; everything else is served. What is damaged inside a sealed segment with a good sidecar
    /// shows when it is read, or by `verify`.
    pub damage: Vec<Damage>,
    /// Sealed segments without a usable sidecar: they are scanned when something is looked up.
    pub unindexed: Vec<u64>,
    /// One of the two copies in `FORMAT` is damaged.
    pub stamp_damaged: bool,
    /// `ACKED` is not there or cannot be read.
    pub hint_lost: bool,
}

impl OpenReport {
    /// Whether nothing acknowledged is damaged or lost.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.lost_tail.is_none() && !self.stamp_damaged
    }
}
