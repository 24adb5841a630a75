//! What could be replaced, decided candidate by candidate. A plan allows nothing.

use std::sync::Arc;

use spanvault_gate::{
    ClockTrust, CompactionRequest, Decision, Refusal, StoreState, SummaryView, VaultState, decide_compaction,
};
use spanvault_types::{Mode, Position};

use super::CompactionOptions;
use super::insight::Insight;
use crate::error::Result;
use crate::ids::{SpanId, SummaryId};
use crate::keepers::Keepers;
use crate::liveness::LiveReason;
use crate::scoped::ScopeMembers;
use crate::vault::Vault;

/// The most spans that one summary stands for directly.
pub(super) const RANGE_SPANS_MAX: usize = 64;

/// What the gate said about every candidate of one session.
#[derive(Debug)]
pub struct CompactionPlan {
    pub(super) insight: Arc<Insight>,
    pub(super) options: CompactionOptions,
    pub(super) ranges: Vec<PlannedRange>,
    pub(super) refused: Vec<RefusedSpan>,
    /// Candidates that stay because their call or result was refused.
    pub(super) company: Vec<usize>,
}

/// Spans that one summary may stand for. Live spans between them stay in their place.
#[derive(Debug, Clone)]
pub struct PlannedRange {
    insight: Arc<Insight>,
    /// Rows of the view, ascending.
    pub(super) rows: Vec<usize>,
    /// Summaries that go into it, as rows of the view's summaries.
    pub(super) summaries: Vec<usize>,
    /// What the permit would allow.
    pub(super) mode: Mode,
}

/// A candidate that the gate refused.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedSpan {
    /// The span.
    pub span: SpanId,
    /// All reasons and the ways out.
    pub refusal: Refusal,
    /// The words that make it live, where that is a reason.
    pub live: Vec<LiveReason>,
    pub(super) row: usize,
}

impl PlannedRange {
    pub(super) fn new(insight: &Arc<Insight>, rows: Vec<usize>, summaries: Vec<usize>, mode: Mode) -> Self {
        Self { insight: Arc::clone(insight), rows, summaries, mode }
    }

    /// The spans that it covers directly, in order.
    pub fn spans(&self) -> Vec<SpanId> {
        self.insight.rows_of(&self.rows).map(|row| SpanId(row.at)).collect()
    }

    /// The summaries that it covers, in order.
    pub fn summaries(&self) -> Vec<SummaryId> {
        self.insight.summaries_of(&self.summaries).map(|row| SummaryId(row.at)).collect()
    }

    /// Estimated tokens of what it would replace.
    pub fn tokens(&self) -> u64 {
        self.insight.rows_of(&self.rows).map(|row| row.span.tokens).sum::<u64>()
            + self.insight.summaries_of(&self.summaries).map(|row| row.summary.tokens).sum::<u64>()
    }

    /// What the spans and summaries say, as plain text for a model.
    pub fn text(&self) -> String {
        self.insight.text_of(&self.rows, &self.summaries)
    }
}

impl CompactionPlan {
    pub(super) fn make(vault: &Vault, session: Position, options: CompactionOptions) -> Result<Self> {
        let insight = Arc::new(Insight::read(vault, session, options.keep, options.over)?);
        let keepers = Keepers::load(vault)?;
        let state = vault.gate_state(&keepers);
        let request = CompactionRequest {
            mode: options.expiry.mode(vault.options.extend_budget),
            summary: SummaryView::FORESEEN,
        };
        let mut members = ScopeMembers::default();
        let mut permitted: Vec<(usize, Mode)> = Vec::new();
        let mut refused = Vec::new();
        for n in (0..insight.view.rows.len()).filter(|n| insight.candidates.get(*n) == Some(&true)) {
            let live: Vec<_> = insight.obligations(n).map(|mark| insight.gate_mark(mark)).collect();
            let view = insight.gate_view(vault, &keepers, &mut members, n, &live);
            match decide_compaction(&state, &request, &view) {
                Decision::Permit(terms) => permitted.push((n, terms.mode)),
                Decision::Refuse(refusal) => refused.push(insight.refused(n, refusal)),
            }
        }
        let company = company(&insight, &refused);
        permitted.retain(|(n, _mode)| company.binary_search(n).is_err());
        let ranges = ranges(&insight, &permitted);
        Ok(Self { insight, options, ranges, refused, company })
    }

    /// The ranges that a summary may replace, in order.
    pub fn permitted(&self) -> impl Iterator<Item = &PlannedRange> {
        self.ranges.iter()
    }

    /// The candidates that the gate refused, in order.
    pub fn refused(&self) -> &[RefusedSpan] {
        &self.refused
    }

    /// How many conversation spans before the cut stand verbatim.
    pub fn candidates(&self) -> usize {
        self.insight.candidates.iter().filter(|is| **is).count()
    }

    /// The revision at which the plan was made. It is decided again when it is used.
    pub fn revision(&self) -> Position {
        self.insight.view.revision
    }
}

impl Insight {
    /// A refusal of row `n` with the words that make it live.
    pub(super) fn refused(&self, n: usize, refusal: Refusal) -> RefusedSpan {
        let span = SpanId(self.row(n).map_or(Position::ZERO, |row| row.at));
        let is_open = refusal.reasons().iter().any(|reason| {
            use spanvault_types::ReasonKind::{DanglingReference, OpenObligation, UnabsorbedNegative};
            matches!(reason.kind(), OpenObligation | UnabsorbedNegative | DanglingReference)
        });
        let marks = self.marks.get(n).filter(|_marks| is_open);
        let live = marks
            .into_iter()
            .flatten()
            .map(|mark| crate::liveness::reason(&self.view, mark.clone()))
            .collect();
        RefusedSpan { span, refusal, live, row: n }
    }

    /// A mark as the gate knows it.
    pub(super) fn gate_mark(&self, mark: &spanvault_evidence::LiveMark) -> spanvault_gate::LiveMark {
        let used_by = mark.used_by.and_then(|n| self.row(n)).map(|row| row.at);
        crate::liveness::gate_mark(mark.kind, mark.range, used_by)
    }
}

/// Candidates that cannot go because the other end of their call was refused.
fn company(insight: &Insight, refused: &[RefusedSpan]) -> Vec<usize> {
    let mut stays: std::collections::BTreeSet<usize> = refused.iter().map(|refused| refused.row).collect();
    let mut queue: Vec<usize> = stays.iter().copied().collect();
    let mut company = Vec::new();
    while let Some(n) = queue.pop() {
        for partner in insight.partners.get(n).into_iter().flatten() {
            if insight.candidates.get(*partner) == Some(&true) && stays.insert(*partner) {
                company.push(*partner);
                queue.push(*partner);
            }
        }
    }
    company.sort_unstable();
    company
}

/// Cuts what is permitted into ranges that keep calls and results together.
fn ranges(insight: &Arc<Insight>, permitted: &[(usize, Mode)]) -> Vec<PlannedRange> {
    let mut ranges = Vec::new();
    for mode in [Mode::PointerRewrite, Mode::Substitution] {
        let rows: Vec<usize> = permitted.iter().filter(|(_n, of)| *of == mode).map(|(n, _mode)| *n).collect();
        for rows in split_rows(insight, &rows, RANGE_SPANS_MAX) {
            ranges.push(PlannedRange::new(insight, rows, Vec::new(), mode));
        }
    }
    ranges.sort_by_key(|range| range.rows.first().copied());
    if !insight.summaries.is_empty() {
        roll_up(insight, &mut ranges);
    }
    ranges
}

/// Cuts rows into ranges of at most `max`, moving each cut back to where no call is parted from its result.
pub(super) fn split_rows(insight: &Insight, rows: &[usize], max: usize) -> Vec<Vec<usize>> {
    let mut ranges = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let mut end = rest.len().min(max);
        if end < rest.len() {
            end = whole_pairs(insight, rest, end);
        }
        let (range, after) = rest.split_at(end);
        ranges.push(range.to_vec());
        rest = after;
    }
    ranges
}

/// The largest cut of `rows` at or before `end` that parts no pair; `end` itself where there is none.
fn whole_pairs(insight: &Insight, rows: &[usize], end: usize) -> usize {
    let parts = |cut: usize| {
        let (head, tail) = rows.split_at(cut);
        let first_after = tail.first().copied().unwrap_or(usize::MAX);
        head.iter().any(|n| {
            let partners = insight.partners.get(*n).into_iter().flatten();
            partners.into_iter().any(|partner| *partner >= first_after && tail.binary_search(partner).is_ok())
        })
    };
    (1..=end).rev().find(|cut| !parts(*cut)).unwrap_or(end)
}

/// Puts the summaries before the cut, and the pointer rewrites beside them, into ranges of a deeper generation.
fn roll_up(insight: &Arc<Insight>, ranges: &mut Vec<PlannedRange>) {
    let mut rows = Vec::new();
    ranges.retain(|range| {
        let goes_in = range.mode == Mode::PointerRewrite && rows.len() + range.rows.len() <= RANGE_SPANS_MAX;
        if goes_in {
            rows.extend(range.rows.iter().copied());
        }
        !goes_in
    });
    // A summary of one summary alone would add a generation and nothing else.
    if insight.summaries.len() > 1 || !rows.is_empty() {
        rows.sort_unstable();
        ranges.insert(0, PlannedRange::new(insight, rows, insight.summaries.clone(), Mode::PointerRewrite));
    }
}

impl Vault {
    /// What is true of the whole vault now, as the gate wants to know it.
    pub(crate) fn gate_state(&self, keepers: &Keepers) -> VaultState {
        let clock = match self.store.clock_state() {
            spanvault_env::ClockState::Trusted => ClockTrust::Trusted,
            spanvault_env::ClockState::Suspect { .. } => ClockTrust::Suspect,
        };
        let store = if self.store.is_poisoned() { StoreState::Poisoned } else { StoreState::Ok };
        VaultState { now: self.now(), clock, store, policy: Ok(keepers.policy), revision: self.revision() }
    }
}
