//! May this summary replace these spans in the context?
//!
//! Each span is examined by itself, and what speaks against it falls into three lists: what speaks against it in any
//! case, against a pointer rewrite, and against a substitution. How the three are weighed depends on the strictest
//! class among all spans that the summary would stand for. Removal has no part in this: see [`crate::decide_removal`].

mod examine;

use spanvault_types::{
    AdmissionFault, ContentHash, EvidentialClass, Lease, Mode, Position, Reason, TtlRule, WayOut,
};

use crate::permit::CompactionPermit;
use crate::reasons::{Decision, Reasons, Refusal};
use crate::state::{LockEpoch, VaultState};
use crate::view::{SpanView, SummaryView};
use examine::{Examined, examine, sort_leases};

/// What to do about an original that could expire before a demand stops needing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpiryMode {
    /// The expiries have to be enough as they stand.
    Check,
    /// Leases of the permit may raise them.
    Extend {
        /// How far past now a lease that raises an expiry may run: the policy's budget.
        budget: TtlRule,
    },
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionRequest {
    /// What to do about expiries that are too early.
    pub mode: ExpiryMode,
    /// The summary.
    pub summary: SummaryView,
}

/// What a permit would allow and cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionTerms {
    /// What would happen to the span.
    pub mode: Mode,
    /// The leases that the permit would be, by original and end: one for all demands that need the original until the
    /// same instant. A substitution gives none: it was checked against no demand.
    pub leases: Vec<Lease>,
}

/// Why a summary may not replace a set of spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionRefusal {
    /// Everything that speaks against the set.
    pub all: Refusal,
    /// The spans that something speaks against, ascending; the others of the set are refused for their company only.
    pub spans: Vec<(Position, Refusal)>,
}

/// Decides whether the summary may replace this one span, for a plan.
///
/// Spans that come out with the same [`Mode`] can go into one summary: a set of pointer rewrites, or a set of
/// substitutions, is permitted if each of its spans is. Allows nothing; see [`permit_compaction`].
pub fn decide_compaction(
    state: &VaultState,
    request: &CompactionRequest,
    span: &SpanView,
) -> Decision<CompactionTerms> {
    let examined = examine(state, request, span);
    let weighing = Weighing::of(std::slice::from_ref(&examined));
    weighing.weigh(request, examined)
}

/// Decides under the writer lock whether the summary with hash `summary` may replace these spans together.
///
/// The same predicate as [`decide_compaction`], over the whole set: the strictest class governs (I28), and if one span
/// makes it a substitution, it is one for all of them. No spans at all is refused. Where the same span is given twice,
/// both views have to pass.
///
/// # Errors
/// The refusal, with everything that speaks against the set and against each span.
pub fn permit_compaction(
    lock: LockEpoch,
    state: &VaultState,
    request: &CompactionRequest,
    spans: &[SpanView],
    summary: ContentHash,
) -> Result<CompactionPermit, CompactionRefusal> {
    let examined: Vec<Examined> = spans.iter().map(|span| examine(state, request, span)).collect();
    let weighing = Weighing::of(&examined);
    let mut refused = Vec::new();
    let mut leases = Vec::new();
    let mut covered = Vec::with_capacity(examined.len());
    for span in examined {
        let position = span.span;
        match weighing.weigh(request, span) {
            Decision::Permit(terms) => {
                covered.push(position);
                leases.extend(terms.leases);
            }
            Decision::Refuse(refusal) => refused.push((position, refusal)),
        }
    }
    let mut all = Reasons::new();
    if spans.is_empty() {
        all.add(Reason::SummaryNotAdmitted { why: AdmissionFault::NoSources }, [WayOut::EmitHonestSummary]);
    }
    covered.sort_unstable();
    covered.dedup();
    sort_leases(&mut leases);
    refused.sort_by_key(|(span, _)| *span);
    for (_, refusal) in &refused {
        all.add_refusal(refusal);
    }
    match all.into_decision(state.policy.ok(), WayOut::PreserveVerbatim) {
        Decision::Permit(policy) => {
            Ok(CompactionPermit::new(lock, state, policy, summary, covered, weighing.mode(), leases))
        }
        Decision::Refuse(all) => Err(CompactionRefusal { all, spans: refused }),
    }
}

/// How the lists of one span are weighed: the same for all spans that one summary would stand for.
#[derive(Debug, Clone, Copy)]
struct Weighing {
    /// The strictest class among them, as the gate reads it (I28).
    strictest: EvidentialClass,
    /// Whether a pointer rewrite is open to all of them.
    rewrite: bool,
}

impl Weighing {
    fn of(spans: &[Examined]) -> Self {
        Self {
            strictest: spans.iter().map(|span| span.class).max().unwrap_or(EvidentialClass::SideEffecting),
            rewrite: spans.iter().all(|span| span.against_rewrite.is_empty()),
        }
    }

    const fn mode(self) -> Mode {
        if self.rewrite { Mode::PointerRewrite } else { Mode::Substitution }
    }

    /// The table of docs/GATE.md.
    fn weigh(self, request: &CompactionRequest, span: Examined) -> Decision<CompactionTerms> {
        let mut reasons = span.against_any;
        if self.strictest > EvidentialClass::Narrative {
            // Only a pointer rewrite will do, and only under an honest summary.
            reasons.extend(&span.against_rewrite);
            match request.summary.unnamed {
                Ok(0) => {}
                Ok(unnamed) => reasons.add(Reason::DishonestSummary { unnamed }, [WayOut::EmitHonestSummary]),
                Err(_unknown) => reasons.add_unreadable(),
            }
        } else if !self.rewrite && !span.against_substitution.is_empty() {
            // Neither will do: what would open either of the two is worth saying.
            reasons.extend(&span.against_substitution);
            reasons.extend(&span.against_rewrite);
        }
        let leases = if self.rewrite { span.leases } else { Vec::new() };
        reasons.into_decision(Some(CompactionTerms { mode: self.mode(), leases }), WayOut::PreserveVerbatim)
    }
}
