//! Bugs that tests plant, to see that they would be found.
//!
//! Each stands in one place of the engines, as a question that [`is_planted`] answers. Without the feature `planted` the
//! answer is *no* when the compiler asks, and nothing of it is left in what is built. With it a test plants at most one
//! bug at a time, for its own thread.

/// A bug that can be planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Bug {
    /// A reclaim run reads what keeps originals before it takes the writer lock (I42).
    KeepersBeforeTheLock,
    /// A compaction takes for verified what its plan could read (I23).
    PlanForVerdict,
    /// A reader that meets a file that was replaced meanwhile gives up instead of looking again.
    NoSecondLook,
    /// Whoever walks the log goes by the places of the frames in a file that was replaced meanwhile.
    OldPlaces,
    /// What is recorded again is taken for stored, though its bytes are gone (I15).
    GoneForStored,
    /// What a reader does not find is taken for damaged, though it went lawfully meanwhile (I64).
    GoneForDamaged,
}

#[cfg(feature = "planted")]
std::thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Whether a bug is planted in this thread.
#[cfg(feature = "planted")]
pub fn is_planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Whether a bug is planted: never, in a build without the feature `planted`.
#[cfg(not(feature = "planted"))]
#[inline]
pub const fn is_planted(_bug: Bug) -> bool {
    false
}

/// Plants a bug in this thread in place of the one before, or none.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}
