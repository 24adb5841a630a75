//! The list that every rule adds to, and the two ways in which it ends.

use spanvault_types::{Reason, ReasonKind, WayOut};

use crate::view::{LeaseView, LiveMark};

/// What the gate answers: computed from a view, changes nothing, allows nothing.
///
/// A decision taken under the writer lock and written to the log is a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision<T> {
    /// Nothing speaks against it; the terms on which it would be permitted.
    Permit(T),
    /// At least one thing speaks against it.
    Refuse(Refusal),
}

impl<T> Decision<T> {
    /// Whether nothing speaks against it.
    pub const fn is_permit(&self) -> bool {
        matches!(self, Self::Permit(_))
    }

    /// What speaks against it.
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Permit(_) => None,
            Self::Refuse(refusal) => Some(refusal),
        }
    }

    /// The terms on which it would be permitted.
    pub const fn terms(&self) -> Option<&T> {
        match self {
            Self::Permit(terms) => Some(terms),
            Self::Refuse(_) => None,
        }
    }
}

/// Everything that speaks against a request, and what would change the answer.
///
/// Both lists are sorted and free of repetition, so that the same state and request give the same refusal (I30). The
/// list of reasons is never empty: only the gate makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reasons: Vec<Reason>,
    ways_out: Vec<WayOut>,
}

impl Refusal {
    /// All reasons, never only the first; at least one.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// What would take reasons away. A refusal with several reasons may need several of them.
    pub fn ways_out(&self) -> &[WayOut] {
        &self.ways_out
    }

    /// The kinds of its reasons, each once, in their order.
    pub fn kinds(&self) -> Vec<ReasonKind> {
        let mut kinds: Vec<ReasonKind> = self.reasons.iter().map(Reason::kind).collect();
        kinds.dedup();
        kinds
    }

    /// The reasons, for the log.
    pub fn into_reasons(self) -> Vec<Reason> {
        self.reasons
    }
}

/// A list of reasons in the making.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reasons {
    reasons: Vec<Reason>,
    ways_out: Vec<WayOut>,
}

impl Reasons {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a reason and what would take it away.
    pub(crate) fn add(&mut self, reason: Reason, ways_out: impl IntoIterator<Item = WayOut>) {
        self.reasons.push(reason);
        self.ways_out.extend(ways_out);
    }

    /// Adds that something could not be read.
    pub(crate) fn add_unreadable(&mut self) {
        self.add(Reason::Unreadable, [WayOut::Verify]);
    }

    /// Adds what is open in a span.
    pub(crate) fn add_live(&mut self, marks: &[LiveMark]) {
        for &mark in marks {
            match mark {
                LiveMark::Obligation { range } => {
                    self.add(Reason::OpenObligation { range }, [WayOut::Checkpoint, WayOut::Discharge]);
                }
                LiveMark::Negative { range } => {
                    self.add(Reason::UnabsorbedNegative { range }, [WayOut::Checkpoint, WayOut::Discharge]);
                }
                LiveMark::Reference { range, used_by } => {
                    self.add(Reason::DanglingReference { range, used_by }, [WayOut::Checkpoint]);
                }
            }
        }
    }

    /// Adds a lease that is in force; it ends early with the last of its demands.
    pub(crate) fn add_lease(&mut self, lease: &LeaseView) {
        let withdrawals = lease.demands.iter().map(|&demand| WayOut::WithdrawDemand { demand });
        self.add(Reason::Leased { lease: lease.given_by, until: lease.until }, withdrawals);
    }

    /// Offers one more way out.
    pub(crate) fn offer(&mut self, way_out: WayOut) {
        self.ways_out.push(way_out);
    }

    /// Adds all that an earlier refusal holds.
    pub(crate) fn add_refusal(&mut self, refusal: &Refusal) {
        self.reasons.extend_from_slice(&refusal.reasons);
        self.ways_out.extend_from_slice(&refusal.ways_out);
    }

    pub(crate) fn extend(&mut self, others: &Self) {
        self.reasons.extend_from_slice(&others.reasons);
        self.ways_out.extend_from_slice(&others.ways_out);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    pub(crate) fn has(&self, wanted: impl Fn(&Reason) -> bool) -> bool {
        self.reasons.iter().any(wanted)
    }

    /// Permits on `terms` if nothing was added, otherwise refuses and offers `always` as a further way out.
    ///
    /// Terms that could not be worked out are something unread, so this is total: there is no third way.
    pub(crate) fn into_decision<T>(mut self, terms: Option<T>, always: WayOut) -> Decision<T> {
        if self.is_empty() {
            match terms {
                Some(terms) => return Decision::Permit(terms),
                None => self.add_unreadable(),
            }
        }
        self.ways_out.push(always);
        Decision::Refuse(self.into_refusal())
    }

    fn into_refusal(mut self) -> Refusal {
        self.reasons.sort_unstable();
        self.reasons.dedup();
        self.ways_out.sort_unstable();
        self.ways_out.dedup();
        Refusal { reasons: self.reasons, ways_out: self.ways_out }
    }
}
