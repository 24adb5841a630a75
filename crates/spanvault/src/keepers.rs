//! What keeps originals: retention rules, demands, holds and leases, and the instants that follow from them.
//!
//! Everything here is read from the log (I46). What cannot be read is an error, and callers treat an error as a
//! reason to keep.

use std::collections::HashMap;

use spanvault_gate::{DemandView, LeaseView};
use spanvault_types::key::{self, Table};
use spanvault_types::{
    AssumptionSet, DemandDeclared, DemandRef, Event, EvidentialClass, Expiry, HoldPlaced, Horizon, Position,
    RetentionSet, Scope, SpanRecorded, StoreTime, Ttl, TtlRule,
};

use crate::error::{Error, Result};
use crate::vault::Vault;

/// How long after its recording an audit is assumed where nobody said anything: 90 days.
pub const ASSUMED_AUDIT_MS: u64 = 90 * 86_400_000;
/// How long the condemned wait where nobody said anything: 24 hours.
pub const GRACE: Ttl = Ttl::days(1);

/// Everything that can keep an original, read once for one decision.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    pub(crate) rules: Vec<(Position, RetentionSet)>,
    assumption: Option<AssumptionSet>,
    /// The newest event of policy; [`Position::ZERO`] for the defaults.
    pub(crate) policy: Position,
    pub(crate) demands: Vec<Standing<DemandDeclared>>,
    pub(crate) holds: Vec<Standing<HoldPlaced>>,
}

/// A declared demand or a placed hold.
#[derive(Debug)]
pub(crate) struct Standing<T> {
    pub(crate) at: Position,
    pub(crate) what: T,
    /// Whether it was withdrawn or released.
    pub(crate) is_over: bool,
}

/// Why one original stays, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// When its retention ends: the longest of its spans (I33). Leases are left out.
    pub(crate) retention: Expiry,
    /// Every demand in force on it, the assumed audit included.
    pub(crate) demands: Vec<DemandView>,
    /// Every hold in force on it.
    pub(crate) holds: Vec<Position>,
    /// Every lease on it whose demands have not all ended.
    pub(crate) leases: Vec<LeaseView>,
    /// How long it must have been condemned.
    pub(crate) grace: Ttl,
}

impl Kept {
    /// From TTLs and, where a TTL gives an expiry at all, leases.
    pub(crate) fn expires_at(&self) -> Expiry {
        spanvault_gate::expires_at(self.retention, &self.leases)
    }
}

impl Keepers {
    pub(crate) fn load(vault: &Vault) -> Result<Self> {
        let mut keepers = Self::default();
        for at in vault.positions(&key::key(Table::Rule, &[]))? {
            keepers.policy = at;
            let event = vault.frame(at)?.event;
            if let Event::RetentionSet(rule) = event {
                keepers.rules.push((at, rule));
            } else if let Event::AssumptionSet(assumption) = event {
                keepers.assumption = Some(assumption);
            } else {
                return Err(mislaid(at, &event));
            }
        }
        for at in vault.positions(&key::key(Table::Demand, &[]))? {
            let is_over = !vault.positions(&key::key(Table::DemandEnd, &[at]))?.is_empty();
            let event = vault.frame(at)?.event;
            let Event::DemandDeclared(what) = event else { return Err(mislaid(at, &event)) };
            keepers.demands.push(Standing { at, what, is_over });
        }
        for at in vault.positions(&key::key(Table::Hold, &[]))? {
            let is_over = !vault.positions(&key::key(Table::HoldEnd, &[at]))?.is_empty();
            let event = vault.frame(at)?.event;
            let Event::HoldPlaced(what) = event else { return Err(mislaid(at, &event)) };
            keepers.holds.push(Standing { at, what, is_over });
        }
        Ok(keepers)
    }

    /// Whether any rule ever gave anything an expiry.
    pub(crate) fn gives_expiry(&self) -> bool {
        self.rules.iter().any(|(_at, rule)| matches!(rule.keep_for, Some(TtlRule::For(_))))
    }

    /// The length of the assumed audit; `None` where the policy assumes none.
    pub(crate) fn assumed_audit_ms(&self) -> Option<u64> {
        self.assumption.as_ref().map_or(Some(ASSUMED_AUDIT_MS), |set| set.audit_for.map(Ttl::as_ms))
    }

    /// What keeps the original at `original`, whose spans are `occurrences`.
    pub(crate) fn of(
        &self,
        vault: &Vault,
        original: Position,
        occurrences: &[(Position, SpanRecorded)],
        members: &mut ScopeMembers,
    ) -> Result<Kept> {
        let mut demands = Vec::new();
        let mut was_covered = false;
        for demand in &self.demands {
            let scope = &demand.what.scope;
            if scope_covers(vault, scope, &demand.what.originals, demand.at, original, occurrences, members)?
            {
                was_covered = true;
                if !demand.is_over {
                    demands.push(DemandView {
                        demand: DemandRef::Declared(demand.at),
                        horizon: demand.what.horizon,
                    });
                }
            }
        }
        if !was_covered
            && let Some(ms) = self.assumed_audit_ms()
            && let Some(recorded_at) = occurrences.iter().map(|(_at, span)| span.recorded_at).max()
        {
            let horizon = Horizon::Until(recorded_at.plus_ms(ms));
            demands.push(DemandView { demand: DemandRef::Assumed, horizon });
        }
        let mut holds = Vec::new();
        for hold in self.holds.iter().filter(|hold| !hold.is_over) {
            let what = &hold.what;
            if scope_covers(vault, &what.scope, &what.originals, hold.at, original, occurrences, members)? {
                holds.push(hold.at);
            }
        }
        let leases = self.leases(vault, original, &demands)?;
        let retention =
            occurrences.iter().map(|(at, span)| self.retention_of(*at, span)).max().unwrap_or(Expiry::Never);
        let grace = occurrences.iter().map(|(_at, span)| self.grace(span)).max().unwrap_or(GRACE);
        Ok(Kept { retention, demands, holds, leases, grace })
    }

    /// Leases that still stand: those with a demand that is in force.
    fn leases(&self, vault: &Vault, original: Position, demands: &[DemandView]) -> Result<Vec<LeaseView>> {
        let in_force = |demand: &DemandRef| match demand {
            DemandRef::Assumed => demands.iter().any(|standing| standing.demand == *demand),
            DemandRef::Declared(at) => {
                self.demands.iter().any(|standing| standing.at == *at && !standing.is_over)
            }
        };
        let mut found = Vec::new();
        for given_by in vault.positions(&key::key(Table::Lease, &[original]))? {
            let Event::Summarised(summary) = vault.frame(given_by)?.event else { continue };
            let on_it = summary.permit.leases.into_iter().filter(|lease| lease.original == original);
            found.extend(on_it.filter(|lease| lease.demands.iter().any(in_force)).map(|lease| LeaseView {
                given_by,
                until: lease.until,
                demands: lease.demands,
            }));
        }
        Ok(found)
    }

    /// When the retention of one span ends: the rule in force when it was recorded, and every later one that
    /// covers it, whichever keeps longest (I4).
    pub(crate) fn retention_of(&self, at: Position, span: &SpanRecorded) -> Expiry {
        let covering = || self.rules.iter().filter(|(_at, rule)| rule.covers(span));
        let at_recording = covering()
            .filter(|(set, rule)| *set < at && rule.keep_for.is_some())
            .max_by_key(|(set, rule)| (rule.rank(), *set))
            .map(|(_set, rule)| (span.recorded_at, rule.keep_for));
        let later = covering().filter(|(set, _rule)| *set > at).map(|(_set, rule)| (rule.at, rule.keep_for));
        at_recording
            .into_iter()
            .chain(later)
            .filter_map(|(from, keep_for)| keep_for.map(|ttl| expiry_of(from, ttl)))
            .max()
            .unwrap_or(Expiry::Never)
    }

    /// When a span is past its time in the hot tier; `Never` where no rule says so.
    pub(crate) fn cools_at(&self, span: &SpanRecorded) -> Expiry {
        self.rules
            .iter()
            .filter(|(_at, rule)| rule.covers(span) && rule.hot_for.is_some())
            .max_by_key(|(set, rule)| (rule.rank(), *set))
            .and_then(|(_set, rule)| rule.hot_for)
            .map_or(Expiry::Never, |ttl| expiry_of(span.recorded_at, ttl))
    }

    fn grace(&self, span: &SpanRecorded) -> Ttl {
        self.rules
            .iter()
            .filter(|(_at, rule)| rule.covers(span) && rule.grace.is_some())
            .max_by_key(|(set, rule)| (rule.rank(), *set))
            .and_then(|(_set, rule)| rule.grace)
            .unwrap_or(GRACE)
    }
}

/// Whether a scope, set at `set_at` when it covered the originals `named`, covers this original.
fn scope_covers(
    vault: &Vault,
    scope: &Scope,
    named: &[Position],
    set_at: Position,
    original: Position,
    occurrences: &[(Position, SpanRecorded)],
    members: &mut ScopeMembers,
) -> Result<bool> {
    let any = |test: &dyn Fn(&SpanRecorded) -> bool| occurrences.iter().any(|(_at, span)| test(span));
    Ok(match scope {
        Scope::All => true,
        Scope::Session(session) => any(&|span| span.session == *session),
        Scope::Class(class) => any(&|span| span.class == *class),
        Scope::Original(named) => original == *named,
        Scope::Span(_) | Scope::Summary(_) => named.binary_search(&original).is_ok(),
        Scope::Tool(_) | Scope::Path(_) => {
            if named.binary_search(&original).is_ok() {
                return Ok(true);
            }
            // Spans that came later are in scope if they are such calls or their results.
            for (at, span) in occurrences.iter().filter(|(at, _span)| *at > set_at) {
                if members.contains(vault, scope, set_at, span.session, *at)? {
                    return Ok(true);
                }
            }
            false
        }
    })
}

/// Which spans of a session a scope that has to be read covers; read once per session and scope.
#[derive(Debug, Default)]
pub(crate) struct ScopeMembers(HashMap<(Position, Position), Vec<Position>>);

impl ScopeMembers {
    fn contains(
        &mut self,
        vault: &Vault,
        scope: &Scope,
        set_at: Position,
        session: Position,
        span: Position,
    ) -> Result<bool> {
        if let Some(members) = self.0.get(&(set_at, session)) {
            return Ok(members.binary_search(&span).is_ok());
        }
        let members = vault.spans_in_scope(session, scope)?;
        let found = members.binary_search(&span).is_ok();
        self.0.insert((set_at, session), members);
        Ok(found)
    }
}

fn expiry_of(from: StoreTime, ttl: TtlRule) -> Expiry {
    match ttl {
        TtlRule::For(ttl) => from.after(ttl),
        TtlRule::Forever => Expiry::Forever,
    }
}

/// How a rule applies to a span.
trait Rule {
    /// Whether the rule is about this span.
    fn covers(&self, span: &SpanRecorded) -> bool;
    /// The more specific rule has the higher rank: session and class, session, class, everything.
    fn rank(&self) -> u8;
}

impl Rule for RetentionSet {
    fn covers(&self, span: &SpanRecorded) -> bool {
        let class_fits = self.class.is_none_or(|class: EvidentialClass| class == span.class);
        class_fits && self.session.is_none_or(|session| session == span.session)
    }

    fn rank(&self) -> u8 {
        u8::from(self.class.is_some()) + 2 * u8::from(self.session.is_some())
    }
}

fn mislaid(at: Position, event: &Event) -> Error {
    Error::internal(format!("read the policy: the log has schema {} at {at}", event.schema()))
}
