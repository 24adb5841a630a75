//! Why the gate refuses, and the ways out. Logged, so only ids, instants and byte ranges: never words (I62).

use bincode::{Decode, Encode};

use crate::{ByteRange, DemandRef, Expiry, Horizon, Position};

/// One reason why the gate refuses. A refusal lists all of them, in this order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub enum Reason {
    /// The summary has no citation that leads to this original.
    NoPointer,
    /// The original cannot be read back: reclaimed, erased, corrupt or missing, or not verified recently enough.
    NotRetrievable {
        /// The original.
        original: Position,
    },
    /// The original expires, or has expired, before a demand stops needing it.
    ExpiresBeforeNeed {
        /// When the original expires as things stand. Where removal was asked for: when its retention ended, leases
        /// left out, because each of them is a reason of its own.
        expires_at: Expiry,
        /// The instant until which it must be there; for a summary, the reach of the original's tier included.
        needed_until: Horizon,
        /// The demand that needs it.
        demand: DemandRef,
    },
    /// A hold forbids it.
    Held {
        /// The hold.
        hold: Position,
    },
    /// A lease forbids it.
    Leased {
        /// The record that gave the lease.
        lease: Position,
        /// When the lease ends; `Unknown` where it ends only with its demand.
        until: Horizon,
    },
    /// Its retention has not run out, or no rule ever made it due.
    NotDue {
        /// What removal compares with store time: the latest of expiry, demands, leases and holds.
        kept_until: Expiry,
    },
    /// It has not been condemned for a full grace.
    NotCondemned {
        /// The earliest instant at which the grace is over, if it is condemned.
        ready_at: Option<Expiry>,
    },
    /// Something promised in the span, or a call without its result, is open.
    OpenObligation {
        /// The words that promise it.
        range: ByteRange,
    },
    /// The span found nothing or failed, and nothing that stays says so.
    UnabsorbedNegative {
        /// The words that say it.
        range: ByteRange,
    },
    /// The kept suffix uses a detail whose only source is this span.
    DanglingReference {
        /// The detail in this span.
        range: ByteRange,
        /// The span of the kept suffix that uses it.
        used_by: Position,
    },
    /// The summary does not name what it dropped.
    DishonestSummary {
        /// Details that are neither in the summary nor in its manifest.
        unnamed: u64,
    },
    /// The summary text was not admitted.
    SummaryNotAdmitted {
        /// Why.
        why: crate::AdmissionFault,
    },
    /// The clock is suspect, and the decision rests on an expiry.
    ClockUntrusted,
    /// Something that the decision needs could not be read.
    Unreadable,
    /// The store stopped after a failed sync: nothing that it says or takes counts until it is opened again.
    StorePoisoned,
    /// The disk is full, and what was asked for has to be written.
    NoSpace,
}

/// The name of a [`Reason`] without its particulars: what refusals are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the name of the Reason that documents it")]
pub enum ReasonKind {
    NoPointer,
    NotRetrievable,
    ExpiresBeforeNeed,
    Held,
    Leased,
    NotDue,
    NotCondemned,
    OpenObligation,
    UnabsorbedNegative,
    DanglingReference,
    DishonestSummary,
    SummaryNotAdmitted,
    ClockUntrusted,
    Unreadable,
    StorePoisoned,
    NoSpace,
}

impl ReasonKind {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoPointer => "NoPointer",
            Self::NotRetrievable => "NotRetrievable",
            Self::ExpiresBeforeNeed => "ExpiresBeforeNeed",
            Self::Held => "Held",
            Self::Leased => "Leased",
            Self::NotDue => "NotDue",
            Self::NotCondemned => "NotCondemned",
            Self::OpenObligation => "OpenObligation",
            Self::UnabsorbedNegative => "UnabsorbedNegative",
            Self::DanglingReference => "DanglingReference",
            Self::DishonestSummary => "DishonestSummary",
            Self::SummaryNotAdmitted => "SummaryNotAdmitted",
            Self::ClockUntrusted => "ClockUntrusted",
            Self::Unreadable => "Unreadable",
            Self::StorePoisoned => "StorePoisoned",
            Self::NoSpace => "NoSpace",
        }
    }
}

impl Reason {
    /// What refusals are counted by.
    pub const fn kind(&self) -> ReasonKind {
        match self {
            Self::NoPointer => ReasonKind::NoPointer,
            Self::NotRetrievable { .. } => ReasonKind::NotRetrievable,
            Self::ExpiresBeforeNeed { .. } => ReasonKind::ExpiresBeforeNeed,
            Self::Held { .. } => ReasonKind::Held,
            Self::Leased { .. } => ReasonKind::Leased,
            Self::NotDue { .. } => ReasonKind::NotDue,
            Self::NotCondemned { .. } => ReasonKind::NotCondemned,
            Self::OpenObligation { .. } => ReasonKind::OpenObligation,
            Self::UnabsorbedNegative { .. } => ReasonKind::UnabsorbedNegative,
            Self::DanglingReference { .. } => ReasonKind::DanglingReference,
            Self::DishonestSummary { .. } => ReasonKind::DishonestSummary,
            Self::SummaryNotAdmitted { .. } => ReasonKind::SummaryNotAdmitted,
            Self::ClockUntrusted => ReasonKind::ClockUntrusted,
            Self::Unreadable => ReasonKind::Unreadable,
            Self::StorePoisoned => ReasonKind::StorePoisoned,
            Self::NoSpace => ReasonKind::NoSpace,
        }
    }
}

impl Reason {
    /// What can be done about this reason, as far as it says itself. What a decision knows beyond it, such as when all of
    /// its reasons will have passed, stands in the decision.
    pub fn ways_out(&self) -> Vec<WayOut> {
        match self {
            Self::NoPointer | Self::DishonestSummary { .. } | Self::SummaryNotAdmitted { .. } => {
                vec![WayOut::EmitHonestSummary]
            }
            Self::NotRetrievable { .. } | Self::Unreadable => vec![WayOut::Verify],
            Self::ExpiresBeforeNeed { needed_until, demand, .. } => vec![
                WayOut::ExtendRetention { until: *needed_until },
                WayOut::WithdrawDemand { demand: *demand },
            ],
            Self::Held { hold } => vec![WayOut::ReleaseHold { hold: *hold }],
            Self::Leased { until, .. } => match until {
                Horizon::Until(at) => vec![WayOut::Wait { until: Expiry::At(*at) }],
                Horizon::Unknown => Vec::new(),
            },
            Self::NotDue { kept_until: Expiry::Never } => vec![WayOut::SetRetention],
            Self::NotDue { kept_until } => vec![WayOut::Wait { until: *kept_until }],
            Self::NotCondemned { ready_at } => {
                ready_at.iter().map(|until| WayOut::Wait { until: *until }).collect()
            }
            Self::OpenObligation { .. } => vec![WayOut::Checkpoint, WayOut::Discharge],
            Self::UnabsorbedNegative { .. } | Self::DanglingReference { .. } => vec![WayOut::Checkpoint],
            Self::ClockUntrusted => vec![WayOut::ConfirmClock],
            Self::StorePoisoned => vec![WayOut::Reopen],
            Self::NoSpace => vec![WayOut::FreeSpace],
        }
    }
}

/// What would turn a refusal into a permit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WayOut {
    /// Leave the span in the context as it is.
    PreserveVerbatim,
    /// Give a summary that names and points to what it drops.
    EmitHonestSummary,
    /// Keep the original at least until then (`compact --extend`, or a longer retention).
    ExtendRetention {
        /// The instant; `Unknown` where only no expiry at all is enough.
        until: Horizon,
    },
    /// Carry what is open into the kept context (`checkpoint`).
    Checkpoint,
    /// Do what was promised, or bring the missing result.
    Discharge,
    /// Ask again later.
    Wait {
        /// The earliest instant at which it could pass; `Never` where time alone changes nothing.
        until: Expiry,
    },
    /// Release the hold.
    ReleaseHold {
        /// The hold.
        hold: Position,
    },
    /// Withdraw the demand; the assumed audit ends by `policy set --assume`.
    WithdrawDemand {
        /// The demand.
        demand: DemandRef,
    },
    /// Trust the clock again (`confirm-clock`, or a restart of the machine).
    ConfirmClock,
    /// Look at the damage (`verify --read-data`).
    Verify,
    /// Give a retention rule: without one nothing is ever due (`retention set --keep-for`).
    SetRetention,
    /// Open the store again, which recovers it.
    Reopen,
    /// Make room on the disk.
    FreeSpace,
}
