//! What users, administrators, clocks and power cuts do to a vault.

use spanvault_types::{DemandKind, EvidentialClass};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        ///
        /// A handle counts from 0 in the order of creation; the driver keeps the vault's own name for it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub usize);
    )+};
}

handles! {
    /// A session. Sessions are made by the first span in them and are numbered by the history, not by creation.
    SessionId
    /// A span.
    SpanId
    /// An original: distinct bytes, however often they were recorded.
    OriginalId
    /// A summary.
    SummaryId
    /// A demand.
    DemandId
    /// A hold.
    HoldId
}

/// What is recorded. Equal contents have equal bytes, in whichever session.
///
/// A driver writes each content so that a summary can be shorter than it (some hundred bytes), so that no call in one
/// content uses a path or identifier of another, and so that nothing else discharges a promise than its [`Content::Kept`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Content {
    /// Words of an agent without any verifiable detail: narrative. One span.
    Words(u8),
    /// Words with a number, a path or an identifier in them: narrative, and read by the gate as structured. One span.
    Fact(u8),
    /// A call that changes the world, and its result: side-effecting. Two spans.
    Change(u8),
    /// An agent's statement that it will look into something: narrative, and open. One span.
    Promise(u8),
    /// The look that keeps the promise of the same number, and what it found: structured. Two spans. Applies only where
    /// that promise is open in the session.
    Kept(u8),
}

/// Which span of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// The only one.
    Whole,
    /// The call.
    Call,
    /// Its result.
    Result,
}

impl Content {
    /// Its spans, in order.
    pub const fn pieces(self) -> &'static [Piece] {
        match self {
            Self::Words(_) | Self::Fact(_) | Self::Promise(_) => &[Piece::Whole],
            Self::Change(_) | Self::Kept(_) => &[Piece::Call, Piece::Result],
        }
    }

    /// The class of its spans.
    pub const fn class(self) -> EvidentialClass {
        match self {
            Self::Words(_) | Self::Fact(_) | Self::Promise(_) => EvidentialClass::Narrative,
            Self::Kept(_) => EvidentialClass::Structured,
            Self::Change(_) => EvidentialClass::SideEffecting,
        }
    }

    /// The class as the gate reads it: words that hold a detail or a promise are read as structured.
    pub const fn read_as(self) -> EvidentialClass {
        match self {
            Self::Words(_) => EvidentialClass::Narrative,
            Self::Promise(_) | Self::Fact(_) | Self::Kept(_) => EvidentialClass::Structured,
            Self::Change(_) => EvidentialClass::SideEffecting,
        }
    }
}

/// What a demand or hold is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum About {
    /// Everything, now and later.
    All,
    /// A session, now and later.
    Session(SessionId),
    /// A class, now and later.
    Class(EvidentialClass),
    /// One span.
    Span(SpanId),
    /// One original, wherever it occurs.
    Original(OriginalId),
    /// The closure of a summary.
    Summary(SummaryId),
}

/// A length of time as somebody types it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Length {
    /// Milliseconds; zero is refused at the boundary.
    Ms(u64),
    /// Without end.
    Forever,
}

/// A retention rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rule {
    /// Only spans of this class.
    pub class: Option<EvidentialClass>,
    /// Only spans of this session.
    pub session: Option<SessionId>,
    /// How long in the hot tier.
    pub hot_for: Option<Length>,
    /// How long kept at all.
    pub keep_for: Option<Length>,
    /// How long condemned before removal, in milliseconds; for the whole vault, whatever the rest of the rule says.
    pub grace_ms: Option<u64>,
}

/// One step of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Records a content at the end of a session, in one batch.
    Record {
        /// The session, made if there is none.
        session: SessionId,
        /// The content.
        content: Content,
    },
    /// Writes what is open in a session into its context (`checkpoint`).
    Checkpoint {
        /// The session.
        session: SessionId,
    },
    /// Asks for everything but the last spans of a session to be summarised (`compact`).
    Compact {
        /// The session.
        session: SessionId,
        /// How many spans stay.
        keep_last: usize,
        /// Whether leases may raise expiries (`--extend`), without a limit.
        extend: bool,
    },
    /// Declares a demand.
    Declare {
        /// The operation.
        kind: DemandKind,
        /// What it is about.
        about: About,
        /// How long from now; `Forever`: nobody knows (`--unknown`).
        length: Length,
    },
    /// Withdraws a demand.
    Withdraw {
        /// The demand.
        demand: DemandId,
    },
    /// Places a hold: on a span, original, summary or session.
    Hold {
        /// What it is about.
        about: About,
    },
    /// Releases a hold.
    Release {
        /// The hold.
        hold: HoldId,
    },
    /// Sets a retention rule (`retention set`).
    SetRetention(Rule),
    /// Sets the assumed audit (`policy set --assume`).
    AssumeAudit {
        /// Recording plus this long, in milliseconds; `None`: no audit is assumed.
        for_ms: Option<u64>,
    },
    /// Moves to the cold tier what is past its hot TTL (`tier run`).
    Demote {
        /// All of it, now (`--hot-for 0s`).
        all: bool,
    },
    /// Condemns what is due and removes what has been condemned for a full grace (`reclaim`).
    Reclaim,
    /// Time passes.
    Tick {
        /// Milliseconds.
        ms: u64,
    },
    /// Somebody sets the wall clock.
    JumpWall {
        /// Milliseconds, forward or back.
        ms: i64,
    },
    /// Credits store time (`confirm-clock`).
    ConfirmClock {
        /// Milliseconds past store time as it stands.
        ahead_ms: u64,
    },
    /// The process ends cleanly and another opens the vault, in the same boot.
    Reopen,
    /// The process is killed and another opens the vault, in the same boot.
    Kill,
    /// The machine loses power and boots again.
    PowerCut {
        /// How long it was down, in milliseconds.
        down_ms: u64,
    },
}
