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
    /// What a reader does not find is taken for damaged, though it went lawfully meanwhile (I64).
    GoneForDamaged,
    /// A reader looks an original up in one file of a pack and reads it out of the one that took its place.
    LineOfAnotherPack,
    /// What is recorded again is taken for stored, though its bytes are gone (I15).
    GoneForStored,
    /// Nothing is synced before it is acknowledged (I1).
    NoSync,
    /// A commit does not wait for its sync (I1).
    AckBeforeSync,
    /// Those whose spans another thread wrote with its own are told before they are durable (I1).
    ToldBeforeDurable,
    /// The entry of a new segment in its directory is not synced (I10).
    NoDirSync,
    /// A pack is not synced (I44).
    PackNotSynced,
    /// A sync that failed is tried again, and success believed (I8).
    SyncRetried,
    /// Frames without their commit count (I6).
    TornBatchKept,
    /// Bytes go as soon as they are condemned (I41).
    BytesBeforeTombstone,
    /// The shortest retention of all spans of an original counts (I33).
    ShortestRetention,
    /// What ends now has ended (I35).
    DueAtTheInstant,
    /// Removal goes by the wall clock (I5).
    WallClock,
    /// Store time catches up with the wall clock at a boot (I5).
    HighWaterClock,
    /// A clock in doubt is trusted (I39).
    SuspectTrusted,
    /// A permit is recorded without its leases (I21).
    PermitWithoutLeases,
    /// Holds keep nothing (I27).
    HoldIgnored,
    /// A hold does not rescue what is condemned (I43).
    HoldWithoutRescue,
    /// A demand without a known end needs nothing (I25).
    UnknownNeedsNothing,
    /// A demand is taken on though something in its scope is gone (I36).
    DemandOnWhatIsGone,
    /// What is condemned goes without a grace (I41).
    NoGrace,
    /// What is open in a span does not keep it (I26).
    OpenIgnored,
    /// Every span is read as mere words (I28).
    WordsOnly,
    /// A refusal is not logged (I31).
    RefusalNotLogged,
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
