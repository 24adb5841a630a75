//! Demands, holds, the assumed audit, and the leases that end with them.

use std::collections::BTreeSet;

use spanvault_types::{Horizon, StoreTime};

use super::keep::later;
use super::{Demand, Hold, Model, Need, Stage};
use crate::expect::Expectation;
use crate::op::{About, DemandId, HoldId, Length, OriginalId, SpanId};

impl Demand {
    /// Neither withdrawn nor over.
    pub(super) fn is_in_force(&self, now: StoreTime) -> bool {
        let over = matches!(self.horizon, Horizon::Until(end) if end < now);
        !self.withdrawn && !over
    }
}

impl Model {
    /// A demand is registered over all that it is about, or not at all (I36).
    pub(super) fn declare(&mut self, about: About, length: Length) -> Expectation {
        let horizon = match length {
            Length::Ms(0) => return Expectation::Invalid,
            Length::Ms(ms) => later(self.now(), ms),
            Length::Forever => Horizon::Unknown,
        };
        if !self.exists(about) {
            return Expectation::NotApplicable;
        }
        self.clock.acknowledge();
        let (gone, there) = self.originals_about(about);
        if !gone.is_empty() {
            return Expectation::Unsatisfiable { gone };
        }
        self.demands.push(Demand { about, horizon, withdrawn: false });
        let covered: Vec<SpanId> = self.spans().filter(|&span| self.is_about(about, span)).collect();
        for span in covered {
            self.spans[span.0].demanded = true;
        }
        // Where the audit is assumed no more, its leases end.
        let replaced: BTreeSet<OriginalId> =
            self.originals().filter(|&o| self.spans_of(o).all(|(_, span)| span.demanded)).collect();
        self.end_need(Need::Assumed, |original| replaced.contains(&original));
        let rescued = self.rescue(&there);
        Expectation::Declared { demand: DemandId(self.demands.len() - 1), rescued }
    }

    pub(super) fn withdraw(&mut self, demand: DemandId) -> Expectation {
        match self.demands.get_mut(demand.0) {
            Some(found) if !found.withdrawn => found.withdrawn = true,
            Some(_) | None => return Expectation::NotApplicable,
        }
        self.end_need(Need::Declared(demand), |_every| true);
        self.clock.acknowledge();
        Expectation::Done
    }

    pub(super) fn assume_audit(&mut self, for_ms: Option<u64>) -> Expectation {
        if for_ms == Some(0) {
            return Expectation::Invalid;
        }
        self.audit_ms = for_ms;
        self.end_need(Need::Assumed, |_every| true);
        self.clock.acknowledge();
        Expectation::Done
    }

    /// A hold that comes before the tombstone wins; one that comes after all of them is told so (I42, I52).
    pub(super) fn hold(&mut self, about: About) -> Expectation {
        let can_be_held = !matches!(about, About::All | About::Class(_));
        if !can_be_held || !self.exists(about) {
            return Expectation::NotApplicable;
        }
        let (gone, there) = self.originals_about(about);
        if there.is_empty() && !matches!(about, About::Session(_)) {
            return Expectation::AlreadyGone { gone };
        }
        self.holds.push(Hold { about, released: false });
        let rescued = self.rescue(&there);
        self.clock.acknowledge();
        Expectation::Held { hold: HoldId(self.holds.len() - 1), rescued, gone }
    }

    pub(super) fn release(&mut self, hold: HoldId) -> Expectation {
        match self.holds.get_mut(hold.0) {
            Some(found) if !found.released => found.released = true,
            Some(_) | None => return Expectation::NotApplicable,
        }
        self.clock.acknowledge();
        Expectation::Done
    }

    /// Whether a demand or hold speaks of a span.
    pub(super) fn is_about(&self, about: About, id: SpanId) -> bool {
        let span = &self.spans[id.0];
        match about {
            About::All => true,
            About::Session(session) => span.session == session,
            About::Class(class) => span.content.class() == class,
            About::Span(one) => one == id,
            About::Original(original) => span.original == original,
            About::Summary(summary) => self.summaries[summary.0].contains(&id),
        }
    }

    /// Cancels the removal of those that are condemned (I43); which they were.
    pub(super) fn rescue(&mut self, originals: &[OriginalId]) -> Vec<OriginalId> {
        let mut rescued = Vec::new();
        for &original in originals {
            let stage = &mut self.originals[original.0].stage;
            if matches!(stage, Stage::Condemned { .. }) {
                *stage = Stage::Kept;
                rescued.push(original);
            }
        }
        rescued
    }

    fn exists(&self, about: About) -> bool {
        match about {
            About::All | About::Class(_) => true,
            About::Session(session) => self.spans.iter().any(|span| span.session == session),
            About::Span(span) => span.0 < self.spans.len(),
            About::Original(original) => original.0 < self.originals.len(),
            About::Summary(summary) => summary.0 < self.summaries.len(),
        }
    }

    /// The originals that a demand or hold is about, gone ones and others, each ascending.
    fn originals_about(&self, about: About) -> (Vec<OriginalId>, Vec<OriginalId>) {
        let all: BTreeSet<OriginalId> = self
            .spans()
            .filter(|&span| self.is_about(about, span))
            .map(|span| self.spans[span.0].original)
            .collect();
        all.into_iter().partition(|&original| self.is_gone(original))
    }

    /// A lease ends with the last need that it names.
    fn end_need(&mut self, need: Need, of: impl Fn(OriginalId) -> bool) {
        for lease in self.leases.iter_mut().filter(|lease| of(lease.original)) {
            lease.needs.remove(&need);
        }
        self.leases.retain(|lease| !lease.needs.is_empty());
    }
}
