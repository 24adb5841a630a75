//! What speaks against one span, rule by rule.

use std::collections::{BTreeMap, BTreeSet};

use spanvault_types::{
    DemandRef, EvidentialClass, Expiry, Horizon, Lease, Position, Reason, TtlRule, WayOut,
};

use super::{CompactionRequest, ExpiryMode};
use crate::keep::{covers, expires_at, in_force, needed_until, strictly_after};
use crate::reasons::Reasons;
use crate::state::{ClockTrust, StoreState, VaultState};
use crate::view::{OriginalView, Presence, Reading, SpanView};

/// A span with everything that speaks against each thing that could be done to it.
#[derive(Debug)]
pub(super) struct Examined {
    pub(super) span: Position,
    /// The strictest class in its closure, as the gate reads it; the strictest there is where it cannot be read.
    pub(super) class: EvidentialClass,
    /// Speaks against any summary in its place.
    pub(super) against_any: Reasons,
    /// Speaks against a summary that points to its originals.
    pub(super) against_rewrite: Reasons,
    /// Speaks against a summary that would be the only survivor.
    pub(super) against_substitution: Reasons,
    /// The leases that a pointer rewrite gives.
    pub(super) leases: Vec<Lease>,
}

pub(super) fn examine(state: &VaultState, request: &CompactionRequest, view: &SpanView) -> Examined {
    let mut span = Examined {
        span: view.span,
        class: EvidentialClass::Narrative,
        against_any: Reasons::new(),
        against_rewrite: Reasons::new(),
        against_substitution: Reasons::new(),
        leases: Vec::new(),
    };
    span.vault(state);
    span.admission(request);
    span.liveness(view);
    match &view.originals {
        Ok(originals) if !originals.is_empty() => {
            for original in originals {
                span.class_of(original.reading.ok());
                span.pointer(original);
                span.presence(original);
                span.coverage(state, request.mode, original);
                span.holds(original);
                span.leased(state, original);
            }
        }
        Ok(_) | Err(_) => {
            span.class_of(None);
            span.against_any.add_unreadable();
        }
    }
    sort_leases(&mut span.leases);
    span
}

/// By original and end, each once, so that the same state and request give the same permit (I30).
pub(super) fn sort_leases(leases: &mut Vec<Lease>) {
    leases.sort_unstable_by(|a, b| (a.original, a.until, &a.demands).cmp(&(b.original, b.until, &b.demands)));
    leases.dedup();
}

impl Examined {
    /// I22: a store that cannot write the verdict down, or does not know its own rules, gives none.
    fn vault(&mut self, state: &VaultState) {
        match state.store {
            StoreState::Ok => {}
            StoreState::Poisoned => self.against_any.add(Reason::StorePoisoned, [WayOut::Reopen]),
            StoreState::NoSpace => self.against_any.add(Reason::NoSpace, [WayOut::FreeSpace]),
        }
        if state.policy.is_err() {
            self.against_any.add_unreadable();
        }
    }

    fn admission(&mut self, request: &CompactionRequest) {
        if let Err(why) = request.summary.admission {
            self.against_any.add(Reason::SummaryNotAdmitted { why }, [WayOut::EmitHonestSummary]);
        }
    }

    /// I26: whatever the class, the retention or the caller.
    fn liveness(&mut self, view: &SpanView) {
        match &view.live {
            Ok(marks) => self.against_any.add_live(marks),
            Err(_unknown) => self.against_any.add_unreadable(),
        }
    }

    /// I28: the strictest class governs, and a class that cannot be read is the strictest.
    fn class_of(&mut self, reading: Option<Reading>) {
        if reading.is_none() {
            self.against_any.add_unreadable();
        }
        self.class = self.class.max(reading.map_or(EvidentialClass::SideEffecting, Reading::read_as));
    }

    fn pointer(&mut self, view: &OriginalView) {
        if !view.cited {
            self.against_rewrite.add(Reason::NoPointer, [WayOut::EmitHonestSummary]);
        }
    }

    /// I23: there means hashed within the verify window, not listed and not supposed.
    fn presence(&mut self, view: &OriginalView) {
        let original = view.original;
        match view.presence {
            Ok(Presence::HotVerified | Presence::ColdVerified) => {}
            Ok(Presence::HotStale | Presence::ColdStale | Presence::Corrupt | Presence::Missing) => {
                self.against_rewrite.add(Reason::NotRetrievable { original }, [WayOut::Verify]);
            }
            Ok(Presence::Condemned | Presence::Reclaimed | Presence::Erased) => {
                self.against_rewrite.add(Reason::NotRetrievable { original }, []);
            }
            Err(_unknown) => self.against_any.add_unreadable(),
        }
    }

    /// I24, I25: every demand that still needs the original is covered by its expiry; I21: and by a lease from now on.
    fn coverage(&mut self, state: &VaultState, mode: ExpiryMode, view: &OriginalView) {
        let (Ok(retention), Ok(leases), Ok(demands)) = (view.retention, &view.leases, &view.demands) else {
            self.against_any.add_unreadable();
            return;
        };
        let expiry = expires_at(retention, leases);
        let mut needs: BTreeMap<Horizon, BTreeSet<DemandRef>> = BTreeMap::new();
        for demand in demands {
            let need = needed_until(demand.horizon, view.reach);
            if state.clock == ClockTrust::Trusted && !in_force(need, state.now) {
                continue;
            }
            needs.entry(need).or_default().insert(demand.demand);
            if !covers(expiry, need) && !can_be_extended(state, mode, need) {
                self.against_rewrite.add(
                    Reason::ExpiresBeforeNeed {
                        expires_at: expiry,
                        needed_until: need,
                        demand: demand.demand,
                    },
                    [
                        WayOut::ExtendRetention { until: need },
                        WayOut::WithdrawDemand { demand: demand.demand },
                    ],
                );
            }
        }
        // I39: what was compared above is worth nothing if store time itself is in doubt.
        if state.clock == ClockTrust::Suspect && expiry.instant().is_some() && !needs.is_empty() {
            self.against_rewrite.add(Reason::ClockUntrusted, [WayOut::ConfirmClock]);
        }
        self.leases.extend(needs.into_iter().map(|(until, demands)| Lease {
            original: view.original,
            until,
            demands: demands.into_iter().collect(),
        }));
    }

    /// I27: a hold forbids that the summary becomes the only survivor, nothing else.
    fn holds(&mut self, view: &OriginalView) {
        match &view.holds {
            Ok(holds) => {
                for &hold in holds {
                    self.against_substitution.add(Reason::Held { hold }, [WayOut::ReleaseHold { hold }]);
                }
            }
            Err(_unknown) => self.against_any.add_unreadable(),
        }
    }

    /// A lease forbids what a hold forbids, until it ends, which a clock in doubt cannot tell (I39). That leases are
    /// unreadable is said by the rule of coverage.
    fn leased(&mut self, state: &VaultState, view: &OriginalView) {
        for lease in view.leases.iter().flatten() {
            if in_force(lease.until, state.now) {
                self.against_substitution.add_lease(lease);
                if let Horizon::Until(at) = lease.until {
                    self.against_substitution.offer(WayOut::Wait { until: strictly_after(Expiry::At(at)) });
                }
            } else if state.clock == ClockTrust::Suspect {
                self.against_substitution.add(Reason::ClockUntrusted, [WayOut::ConfirmClock]);
            }
        }
    }
}

/// Whether a lease of the permit may close the gap. None can, where nobody knows how wide it is (I25).
fn can_be_extended(state: &VaultState, mode: ExpiryMode, need: Horizon) -> bool {
    match (mode, need) {
        (ExpiryMode::Check, _) | (ExpiryMode::Extend { .. }, Horizon::Unknown) => false,
        (ExpiryMode::Extend { budget: TtlRule::Forever }, Horizon::Until(_)) => true,
        (ExpiryMode::Extend { budget: TtlRule::For(budget) }, Horizon::Until(_)) => {
            covers(state.now.after(budget), need)
        }
    }
}
