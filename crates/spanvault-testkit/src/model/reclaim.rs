//! Demotion and reclaiming: two runs, and everything asked again in the second (I35, I41 to I43).

use std::collections::BTreeSet;

use spanvault_types::{Expiry, ReasonKind, StoreTime, Ttl};

use super::keep::instant;
use super::{Model, Stage};
use crate::expect::{Expectation, Reclaim};
use crate::op::OriginalId;

impl Model {
    /// Moves what is past its hot TTL. Loses nothing and keeps nothing longer.
    pub(super) fn demote(&mut self, all: bool) -> Expectation {
        let due: Vec<OriginalId> = self
            .originals()
            .filter(|&original| self.originals[original.0].stage == Stage::Kept)
            .filter(|&original| !self.originals[original.0].cold)
            .filter(|&original| all || self.hot_until(original).is_past(self.now()))
            .collect();
        for original in &due {
            self.originals[original.0].cold = true;
        }
        if !due.is_empty() {
            self.clock.acknowledge();
        }
        Expectation::Demoted(due)
    }

    /// One run, in the order of the originals. With a suspect clock nothing goes (I39); what is needed again is rescued
    /// all the same.
    pub(super) fn reclaim(&mut self) -> Expectation {
        self.clock.note_suspicion();
        let mut run = Reclaim::default();
        for original in self.originals().filter(|&original| !self.is_gone(original)).collect::<Vec<_>>() {
            let against = self.against_condemning(original);
            match self.originals[original.0].stage {
                Stage::Kept if against.is_empty() => {
                    self.originals[original.0].stage = Stage::Condemned { since: self.now() };
                    run.condemned.push(original);
                }
                Stage::Condemned { since } if against.is_empty() => {
                    if self.is_full_grace(since) {
                        self.originals[original.0].stage = Stage::Gone;
                        run.reclaimed.push(original);
                    } else {
                        run.waiting.push(original);
                    }
                }
                Stage::Condemned { .. } if against != BTreeSet::from([ReasonKind::ClockUntrusted]) => {
                    self.originals[original.0].stage = Stage::Kept;
                    run.rescued.push(original);
                }
                Stage::Kept if !self.retention(original).is_past(self.now()) => {}
                Stage::Kept | Stage::Condemned { .. } => run.refused.push((original, against)),
                Stage::Gone => {}
            }
        }
        if !(run.condemned.is_empty() && run.reclaimed.is_empty() && run.rescued.is_empty()) {
            self.clock.acknowledge();
        }
        Expectation::Reclaimed(run)
    }

    /// The kinds of all reasons against condemning an original: empty where nothing rests on its bytes.
    pub fn against_condemning(&self, original: OriginalId) -> BTreeSet<ReasonKind> {
        let now = self.now();
        let mut against = BTreeSet::new();
        if self.is_clock_suspect() {
            against.insert(ReasonKind::ClockUntrusted);
        }
        let retention = self.retention(original);
        if !retention.is_past(now) {
            against.insert(ReasonKind::NotDue);
        }
        if !self.holds_of(original).is_empty() {
            against.insert(ReasonKind::Held);
        }
        let leases = self.leases.iter().filter(|lease| lease.original == original);
        if leases.clone().any(|lease| instant(lease.until).is_none_or(|end| now <= end)) {
            against.insert(ReasonKind::Leased);
        }
        for (_, horizon) in self.needs_of(original) {
            let needed = instant(horizon).is_none_or(|end| now <= end);
            // Where retention keeps it as long anyway, the need is no reason of its own.
            let longer = match (retention, instant(horizon)) {
                (Expiry::At(kept), Some(end)) => end > kept,
                (Expiry::At(_), None) => true,
                (Expiry::Never | Expiry::Forever, _) => false,
            };
            if needed && longer {
                against.insert(ReasonKind::ExpiresBeforeNeed);
            }
        }
        if self.spans_of(original).any(|(span, _)| self.is_live(span)) {
            against.insert(ReasonKind::OpenObligation);
        }
        if self.is_gone(original) {
            against.insert(ReasonKind::NotRetrievable);
        }
        against
    }

    /// Whether a reclaim run would remove an original's bytes now.
    pub fn may_be_removed(&self, original: OriginalId) -> bool {
        match self.originals[original.0].stage {
            Stage::Condemned { since } => {
                self.is_full_grace(since) && self.against_condemning(original).is_empty()
            }
            Stage::Kept | Stage::Gone => false,
        }
    }

    fn is_full_grace(&self, since: StoreTime) -> bool {
        let ready = Ttl::from_ms(self.grace_ms).ok().and_then(|grace| since.after(grace).instant());
        ready.is_some_and(|ready| self.now() >= ready)
    }

    fn hot_until(&self, original: OriginalId) -> Expiry {
        self.spans_of(original).map(|(_, span)| span.hot).max().unwrap_or(Expiry::Never)
    }
}
