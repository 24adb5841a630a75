//! What an index is.

use std::fmt::Debug;

use spanvault_env::BootId;
use spanvault_types::key::Key;
use spanvault_types::{Counts, Position};

use crate::IndexError;

/// A key and the position that it leads to.
pub type Entry = (Key, Position);

/// How far an index has followed the log, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The commit frame up to which every event has its entries here; [`Position::ZERO`] in an empty one.
    pub position: Position,
    /// The log's counts at that commit.
    pub counts: Counts,
    /// The chain value of that commit: which log it was, and that it was this log up to here.
    pub chain: [u8; 32],
    /// The boot in which this was written, if it could be read.
    pub boot_id: Option<BootId>,
}

impl Applied {
    /// Nothing: what an empty index has followed.
    pub const NOTHING: Self = Self {
        position: Position::ZERO,
        counts: Counts { originals: 0, summaries: 0, citations: 0 },
        chain: [0; 32],
        boot_id: None,
    };
}

impl Default for Applied {
    fn default() -> Self {
        Self::NOTHING
    }
}

/// Pairs of key and position, ordered by key, then by position.
///
/// A key may lead to several positions. Keys are those of [`spanvault_types::key`]: their first byte is a table, never
/// 0, and none of them is the beginning of another.
pub trait Index: Debug + Send + Sync {
    /// How far it has followed the log.
    fn applied(&self) -> Applied;

    /// Adds entries, then takes `applied` as how far it has followed. Adding an entry again changes nothing, so
    /// events may be applied twice. After an error any part of the entries may be there, under the old `applied`.
    ///
    /// # Errors
    /// [`IndexError::Key`] before anything is changed; any other means that this index cannot be used any more
    /// until [`Index::clear`].
    fn apply(&self, entries: &[Entry], applied: Applied) -> Result<(), IndexError>;

    /// The first `limit` entries whose key starts with `prefix`.
    ///
    /// # Errors
    /// Any but [`IndexError::Key`]: this index cannot be used any more until [`Index::clear`].
    fn scan(&self, prefix: &[u8], limit: usize) -> Result<Vec<Entry>, IndexError> {
        self.page(prefix, None, limit)
    }

    /// The first `limit` entries whose key starts with `prefix` and which come after the entry `after`: the way
    /// through more entries than fit in memory.
    ///
    /// # Errors
    /// As [`Index::scan`].
    fn page(&self, prefix: &[u8], after: Option<&Entry>, limit: usize) -> Result<Vec<Entry>, IndexError>;

    /// Empties it and makes it usable again, to be built from the log.
    ///
    /// # Errors
    /// Where that fails it cannot be used.
    fn clear(&self) -> Result<(), IndexError>;

    /// Ends its use so that what it holds may be trusted later, and tells what the log should note
    /// ([`spanvault_types::IndexClosed`]).
    ///
    /// # Errors
    /// Nothing is to be noted then; the next opening decides by itself.
    fn close(self: Box<Self>) -> Result<Applied, IndexError>;
}
