//! What the gate is shown. Every part that has to be read can be [`Unknown`], and unknown counts as resting.

use spanvault_types::{
    AdmissionFault, ByteRange, DemandRef, EvidentialClass, Expiry, Horizon, Position, StoreTime, Ttl,
};

/// Something that the decision needs and that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unknown;

/// A part of a view: what was read, or [`Unknown`]; never an empty list in place of it.
pub type Known<T> = Result<T, Unknown>;

/// How a span's words were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reading {
    /// The class that evidence gave it.
    pub class: EvidentialClass,
    /// It holds a verifiable detail.
    pub atom: bool,
    /// It denies something.
    pub denial: bool,
    /// It promises something, open or kept.
    pub promise: bool,
}

impl Reading {
    /// The class as the gate reads it: narrative that holds an atom, a denial or a promise is structured.
    pub const fn read_as(self) -> EvidentialClass {
        match self.class {
            EvidentialClass::Narrative if self.atom || self.denial || self.promise => {
                EvidentialClass::Structured
            }
            EvidentialClass::Narrative | EvidentialClass::Structured | EvidentialClass::SideEffecting => {
                self.class
            }
        }
    }
}

/// Something open in a span, with the words that open it in the span's original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LiveMark {
    /// A promise that was not kept yet, or a call without its result.
    Obligation {
        /// The words.
        range: ByteRange,
    },
    /// A failure or an empty search that nothing kept or carried tells.
    Negative {
        /// The words.
        range: ByteRange,
    },
    /// A detail that the kept suffix uses and that has no other source.
    Reference {
        /// The detail.
        range: ByteRange,
        /// The span that uses it.
        used_by: Position,
    },
}

/// Where an original's bytes are, and whether somebody has looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presence {
    /// In the hot tier; hashed within the verify window.
    HotVerified,
    /// In the hot tier; not hashed within the verify window.
    HotStale,
    /// In the cold tier; hashed within the verify window.
    ColdVerified,
    /// In the cold tier; not hashed within the verify window.
    ColdStale,
    /// Still there, but waiting for its removal.
    Condemned,
    /// Gone by retention; its tombstone says so.
    Reclaimed,
    /// Gone by an erasure.
    Erased,
    /// There, but not the bytes that were acknowledged.
    Corrupt,
    /// Not there, and nothing says why.
    Missing,
}

/// How long after the instant of need an original has to be there: restore bound, read window and margin together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reach(u64);

impl Reach {
    /// The reach of both tiers of a local vault: five minutes.
    pub const LOCAL: Self = Self(5 * 60 * 1_000);

    /// Adds up, saturating: how long a restore may take, how long a reader needs the bytes, and a margin, which is
    /// never zero.
    pub const fn new(restore_bound_ms: u64, read_window_ms: u64, margin: Ttl) -> Self {
        Self(restore_bound_ms.saturating_add(read_window_ms).saturating_add(margin.as_ms()))
    }

    /// Milliseconds.
    pub const fn as_ms(self) -> u64 {
        self.0
    }
}

/// A demand on an original: declared and not withdrawn, or the assumed audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DemandView {
    /// Which.
    pub demand: DemandRef,
    /// The latest instant at which it needs the original.
    pub horizon: Horizon,
}

/// A lease on an original that has not ended with its demands; whether it has run out is for the gate to say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseView {
    /// The record that gave it.
    pub given_by: Position,
    /// When it ends by itself.
    pub until: Horizon,
    /// The demands that it was given for.
    pub demands: Vec<DemandRef>,
}

/// One original that a summary would stand for, as one span has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalView {
    /// The original.
    pub original: Position,
    /// How the span that has these bytes was read. The same bytes may be read otherwise elsewhere (I15).
    pub reading: Known<Reading>,
    /// Whether the summary cites it.
    pub cited: bool,
    /// Where it is.
    pub presence: Known<Presence>,
    /// How long after a need it has to be there.
    pub reach: Reach,
    /// When its retention ends, the longest of all spans that have it (I33); leases are left out.
    pub retention: Known<Expiry>,
    /// Leases on it.
    pub leases: Known<Vec<LeaseView>>,
    /// Demands on it, the assumed audit included.
    pub demands: Known<Vec<DemandView>>,
    /// Holds on it.
    pub holds: Known<Vec<Position>>,
}

/// A span that a summary would replace in the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanView {
    /// The span.
    pub span: Position,
    /// What is open in it, and neither kept elsewhere nor carried by a checkpoint.
    pub live: Known<Vec<LiveMark>>,
    /// Every original in its closure: its own, or all those that it stands for. None at all cannot be, and is read as
    /// unknown.
    pub originals: Known<Vec<OriginalView>>,
}

/// The summary that would replace them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SummaryView {
    /// Whether its text was admitted.
    pub admission: Result<(), AdmissionFault>,
    /// Details that are neither in its text nor in its manifest. None: it is honest.
    pub unnamed: Known<u64>,
}

impl SummaryView {
    /// A summary that does not exist yet and will be admitted and honest: what a plan asks with.
    pub const FORESEEN: Self = Self { admission: Ok(()), unnamed: Ok(0) };
}

/// How far the removal of an original has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Nobody has asked for it, or it was rescued.
    Kept,
    /// It waits for its grace to pass.
    Condemned {
        /// Store time from which the grace counts.
        since: StoreTime,
    },
    /// It has a tombstone.
    Gone,
}

/// An original whose bytes could go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovalView {
    /// The original.
    pub original: Position,
    /// How far its removal has come.
    pub stage: Known<Stage>,
    /// How long it has to be condemned.
    pub grace: Known<Ttl>,
    /// When its retention ends, the longest of all spans that have it (I33); leases are left out.
    pub retention: Known<Expiry>,
    /// Leases on it.
    pub leases: Known<Vec<LeaseView>>,
    /// Demands on it, the assumed audit included.
    pub demands: Known<Vec<DemandView>>,
    /// Holds on it.
    pub holds: Known<Vec<Position>>,
    /// What is open in any span that has it.
    pub live: Known<Vec<LiveMark>>,
    /// The summaries that cite it. They are told; none of them keeps it.
    pub cited_by: Known<Vec<Position>>,
}
