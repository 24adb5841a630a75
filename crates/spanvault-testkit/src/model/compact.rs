//! Compaction: the table of docs/GATE.md, read once more.

use std::collections::{BTreeMap, BTreeSet};

use spanvault_types::{EvidentialClass, Expiry, Horizon, Mode, ReasonKind};

use super::keep::{instant, later};
use super::{Lease, Model, Need, REACH_MS, Stage};
use crate::expect::{Compaction, Expectation, Verdict};
use crate::op::{OriginalId, SessionId, SpanId, SummaryId};

impl Model {
    pub(super) fn compact(&mut self, session: SessionId, keep_last: usize, extend: bool) -> Expectation {
        let all: Vec<SpanId> = self.spans().filter(|span| self.spans[span.0].session == session).collect();
        if all.is_empty() {
            return Expectation::NotApplicable;
        }
        let mut cut = all.len().saturating_sub(keep_last);
        // No call is parted from its result: the cut moves back.
        while cut > 0 && cut < all.len() && self.belong_together(all[cut - 1], all[cut]) {
            cut -= 1;
        }
        let candidates = all[..cut].iter().filter(|span| self.spans[span.0].summary.is_none());
        let alone: BTreeMap<SpanId, Verdict> =
            candidates.map(|&span| (span, self.compaction_of(span, extend))).collect();
        let verdicts =
            alone.iter().map(|(&span, verdict)| (span, self.in_company(span, verdict, &alone))).collect();

        let mut compaction = Compaction { verdicts, summaries: Vec::new() };
        for mode in [Mode::PointerRewrite, Mode::Substitution] {
            let permitted = |verdict: &Verdict| *verdict == Verdict::Permit(mode);
            let covered: Vec<SpanId> = compaction
                .verdicts
                .iter()
                .filter(|(_, verdict)| permitted(verdict))
                .map(|(span, _)| *span)
                .collect();
            if !covered.is_empty() {
                let summary = self.summarise(&covered, mode);
                compaction.summaries.push((summary, covered));
            }
        }
        if !compaction.verdicts.is_empty() {
            self.clock.acknowledge();
        }
        Expectation::Compacted(compaction)
    }

    /// What the gate must say of a span, of which the vault reads every byte anyway: so what is there is verified.
    pub fn compaction_of(&self, id: SpanId, extend: bool) -> Verdict {
        let span = &self.spans[id.0];
        let mut left = BTreeSet::new();
        match self.originals[span.original.0].stage {
            Stage::Kept => {}
            Stage::Condemned { .. } => {
                left.insert(ReasonKind::NotRetrievable);
            }
            Stage::Gone => return Verdict::Unseen,
        }
        let expiry = self.expires_at(span.original);
        let needs = self.needs_left(span.original);
        if !extend && needs.keys().any(|&need| !is_covered(expiry, need))
            || needs.contains_key(&Horizon::Unknown) && expiry.instant().is_some()
        {
            left.insert(ReasonKind::ExpiresBeforeNeed);
        }
        if self.is_clock_suspect() && expiry.instant().is_some() && !needs.is_empty() {
            left.insert(ReasonKind::ClockUntrusted);
        }

        let mut against = BTreeSet::new();
        if self.is_live(id) {
            against.insert(ReasonKind::OpenObligation);
        }
        let mode = if left.is_empty() { Mode::PointerRewrite } else { Mode::Substitution };
        if span.content.read_as() > EvidentialClass::Narrative {
            against.append(&mut left);
        } else if mode == Mode::Substitution {
            let mut forbids = BTreeSet::new();
            if !self.holds_of(span.original).is_empty() {
                forbids.insert(ReasonKind::Held);
            }
            for lease in self.leases.iter().filter(|lease| lease.original == span.original) {
                if instant(lease.until).is_none_or(|end| self.now() <= end) {
                    forbids.insert(ReasonKind::Leased);
                } else if self.is_clock_suspect() {
                    forbids.insert(ReasonKind::ClockUntrusted);
                }
            }
            if !forbids.is_empty() {
                against.append(&mut forbids);
                against.append(&mut left);
            }
        }
        if against.is_empty() { Verdict::Permit(mode) } else { Verdict::Refuse(against) }
    }

    /// Whether two spans are a call and its result, as far as anybody can still read them.
    fn belong_together(&self, one: SpanId, other: SpanId) -> bool {
        let is_gone = |span: SpanId| self.is_gone(self.spans[span.0].original);
        self.spans[one.0].pair == Some(other) && !is_gone(one) && !is_gone(other)
    }

    /// A call and its result stay or go together.
    fn in_company(&self, id: SpanId, verdict: &Verdict, alone: &BTreeMap<SpanId, Verdict>) -> Verdict {
        let other = self.spans[id.0].pair.and_then(|pair| alone.get(&pair));
        match (verdict, other) {
            (Verdict::Permit(_), Some(Verdict::Refuse(_))) => Verdict::Company,
            _ => verdict.clone(),
        }
    }

    /// Until when an original is needed, reach included, and by what; a need that is over by a trusted clock is left out.
    fn needs_left(&self, original: OriginalId) -> BTreeMap<Horizon, BTreeSet<Need>> {
        let mut left: BTreeMap<Horizon, BTreeSet<Need>> = BTreeMap::new();
        for (need, horizon) in self.needs_of(original) {
            let until = instant(horizon).map_or(Horizon::Unknown, |at| later(at, REACH_MS));
            let over = instant(until).is_some_and(|end| end < self.now());
            if !over || self.is_clock_suspect() {
                left.entry(until).or_default().insert(need);
            }
        }
        left
    }

    fn summarise(&mut self, covered: &[SpanId], mode: Mode) -> SummaryId {
        self.summaries.push(covered.to_vec());
        let summary = SummaryId(self.summaries.len() - 1);
        let mut originals = BTreeSet::new();
        for span in covered {
            self.spans[span.0].summary = Some(summary);
            originals.insert(self.spans[span.0].original);
        }
        if mode == Mode::PointerRewrite {
            for original in originals {
                let needs = self.needs_left(original);
                self.leases.extend(needs.into_iter().map(|(until, needs)| Lease { original, until, needs }));
            }
        }
        summary
    }
}

/// I24, I25.
fn is_covered(expiry: Expiry, need: Horizon) -> bool {
    match (expiry.instant(), instant(need)) {
        (None, _) => true,
        (Some(expires), Some(needed)) => expires >= needed,
        (Some(_), None) => false,
    }
}
