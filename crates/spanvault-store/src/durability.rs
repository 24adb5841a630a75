//! What a write is safe from when the call returns.

use std::time::Duration;

/// What a write is safe from when the call returns. All levels write at once, so that readers and other processes see it,
/// and the end of this process, however it comes, takes nothing. They differ in what a power cut may take: always an end
/// of the log, never something in between (I7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Nothing: the call waits for a sync, which serves all who wait at the same time.
    #[default]
    Sync,
    /// What was written in the last while: the sync that serves all of it begins at most this long after the first of it.
    Group(Duration),
    /// What was written since the last sync, whoever asked for that.
    Buffered,
}
