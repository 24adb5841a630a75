//! What keeps originals: retention rules, demands, holds and leases, and the instants that follow from them.
//!
//! Everything here is read from the log (I46). What cannot be read is an error, and callers treat an error as a
//! reason to keep.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use spanvault_gate::{DemandView, LeaseView};
use spanvault_types::key::{self, Table};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{
    AssumptionSet, DemandDeclared, DemandRef, Event, EvidentialClass, Expiry, HoldPlaced, Horizon, Lease,
    Position, RetentionSet, SpanRecorded, StoreTime, Ttl, TtlRule,
};

use crate::error::{Error, Result};
use crate::scoped::{ScopeMembers, Scoped};
use crate::vault::Vault;

/// How long after its recording an audit is assumed where nobody said anything: 90 days.
pub const ASSUMED_AUDIT_MS: u64 = 90 * 86_400_000;
/// How long the condemned wait where nobody said anything: 24 hours.
pub const GRACE: Ttl = Ttl::days(1);

/// Everything that can keep an original, read once for one decision.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    pub(crate) rules: Vec<(Position, RetentionSet)>,
    /// The newest setting of the assumed audit.
    assumption: Option<(Position, AssumptionSet)>,
    /// The newest event of policy; [`Position::ZERO`] for the defaults.
    pub(crate) policy: Position,
    pub(crate) demands: Vec<Standing<DemandDeclared>>,
    pub(crate) holds: Vec<Standing<HoldPlaced>>,
    permits: Permits,
}

/// A declared demand or a placed hold.
#[derive(Debug)]
pub(crate) struct Standing<T> {
    pub(crate) at: Position,
    pub(crate) what: T,
    /// The record that withdrew or released it.
    ended_at: Option<Position>,
}

impl<T> Standing<T> {
    fn load(vault: &Vault, ends: Table, at: Position, what: T) -> Result<Self> {
        let ended_at = vault.positions(&key::key(ends, &[at]))?.first().copied();
        Ok(Self { at, what, ended_at })
    }

    /// Whether it was neither withdrawn nor released.
    const fn stands(&self) -> bool {
        self.ended_at.is_none()
    }
}

impl Standing<DemandDeclared> {
    const fn scoped(&self) -> Scoped<'_> {
        Scoped { scope: &self.what.scope, named: self.what.originals.as_slice(), set_at: self.at }
    }

    /// Whether it takes the place of the assumed audit of a span in its scope: of every span that was there when it
    /// was declared, and of those that were recorded while it was in force. Its end does not bring the audit back.
    fn replaces_audit_of(&self, at: Position, span: &SpanRecorded) -> bool {
        let was_withdrawn = self.ended_at.is_some_and(|end| end < at);
        let was_over = matches!(self.what.horizon, Horizon::Until(end) if end < span.recorded_at);
        at < self.at || !(was_withdrawn || was_over)
    }
}

impl Standing<HoldPlaced> {
    const fn scoped(&self) -> Scoped<'_> {
        Scoped { scope: &self.what.scope, named: self.what.originals.as_slice(), set_at: self.at }
    }
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

/// For each span of an original the first demand that took the place of its assumed audit, if one did.
struct Audits(Vec<(Position, Option<Position>)>);

impl Keepers {
    pub(crate) fn load(vault: &Vault) -> Result<Self> {
        let mut keepers = Self::default();
        for at in vault.positions(&key::key(Table::Rule, &[]))? {
            keepers.policy = at;
            let event = vault.frame(at)?.event;
            if let Event::RetentionSet(rule) = event {
                keepers.rules.push((at, rule));
            } else if let Event::AssumptionSet(assumption) = event {
                keepers.assumption = Some((at, assumption));
            } else {
                return Err(mislaid(at, &event));
            }
        }
        for at in vault.positions(&key::key(Table::Demand, &[]))? {
            let event = vault.frame(at)?.event;
            let Event::DemandDeclared(what) = event else { return Err(mislaid(at, &event)) };
            keepers.demands.push(Standing::load(vault, Table::DemandEnd, at, what)?);
        }
        for at in vault.positions(&key::key(Table::Hold, &[]))? {
            let event = vault.frame(at)?.event;
            let Event::HoldPlaced(what) = event else { return Err(mislaid(at, &event)) };
            keepers.holds.push(Standing::load(vault, Table::HoldEnd, at, what)?);
        }
        Ok(keepers)
    }

    /// Whether any rule ever gave anything an expiry.
    pub(crate) fn gives_expiry(&self) -> bool {
        self.rules.iter().any(|(_at, rule)| matches!(rule.keep_for, Some(TtlRule::For(_))))
    }

    /// The length of the assumed audit; `None` where the policy assumes none.
    pub(crate) fn assumed_audit_ms(&self) -> Option<u64> {
        self.assumption.as_ref().map_or(Some(ASSUMED_AUDIT_MS), |(_at, set)| set.audit_for.map(Ttl::as_ms))
    }

    /// What keeps the original at `original`, whose spans are `occurrences`.
    pub(crate) fn of(
        &self,
        vault: &Vault,
        original: Position,
        occurrences: &[(Position, SpanRecorded)],
        members: &mut ScopeMembers,
    ) -> Result<Kept> {
        let leased_by = vault.positions(&key::key(Table::Lease, &[original]))?;
        self.of_leased(vault, original, occurrences, members, leased_by)
    }

    /// As [`Keepers::of`], where the records are known that gave it a lease.
    pub(crate) fn of_leased(
        &self,
        vault: &Vault,
        original: Position,
        occurrences: &[(Position, SpanRecorded)],
        members: &mut ScopeMembers,
        leased_by: impl IntoIterator<Item = Position>,
    ) -> Result<Kept> {
        let mut demands = Vec::new();
        // Span by span: bytes that occur outside of a demand's scope too keep their assumed audit there (I33).
        let mut audits = Audits(occurrences.iter().map(|(at, _span)| (*at, None)).collect());
        for demand in &self.demands {
            let scoped = demand.scoped();
            if !scoped.covers(vault, original, occurrences, members)? {
                continue;
            }
            for ((at, span), (_at, replaced_by)) in occurrences.iter().zip(&mut audits.0) {
                if demand.replaces_audit_of(*at, span) && scoped.speaks_of(vault, *at, span, members)? {
                    replaced_by.get_or_insert(demand.at);
                }
            }
            let is_forgotten =
                demand.what.horizon == Horizon::Unknown && is_planted(Bug::UnknownNeedsNothing);
            if demand.stands() && !is_forgotten {
                let (demand, horizon) = (DemandRef::Declared(demand.at), demand.what.horizon);
                demands.push(DemandView { demand, horizon });
            }
        }
        let assumed = occurrences.iter().zip(&audits.0).filter(|(_span, (_at, by))| by.is_none());
        if let Some(ms) = self.assumed_audit_ms()
            && let Some(recorded_at) = assumed.map(|((_at, span), _by)| span.recorded_at).max()
        {
            let horizon = Horizon::Until(recorded_at.plus_ms(ms));
            demands.push(DemandView { demand: DemandRef::Assumed, horizon });
        }
        let mut holds = Vec::new();
        for hold in self.holds.iter().filter(|hold| hold.stands() && !is_planted(Bug::HoldIgnored)) {
            if hold.scoped().covers(vault, original, occurrences, members)? {
                holds.push(hold.at);
            }
        }
        let leases = self.leases(vault, original, &demands, &audits, leased_by)?;
        let each = || occurrences.iter().map(|(at, span)| self.retention_of(*at, span));
        let longest = if is_planted(Bug::ShortestRetention) { each().min() } else { each().max() };
        let retention = longest.unwrap_or(Expiry::Never);
        let grace = occurrences.iter().map(|(_at, span)| self.grace(span)).max().unwrap_or(GRACE);
        Ok(Kept { retention, demands, holds, leases, grace })
    }

    /// Leases that still stand: those with a demand that is in force. A new setting of the assumed audit ends the
    /// leases that were given for the one before; so do demands that take its place, also where the same bytes are
    /// recorded again later, and an audit of them is assumed anew.
    fn leases(
        &self,
        vault: &Vault,
        original: Position,
        demands: &[DemandView],
        audits: &Audits,
        leased_by: impl IntoIterator<Item = Position>,
    ) -> Result<Vec<LeaseView>> {
        let assumed_since = self.assumption.as_ref().map_or(Position::ZERO, |(at, _set)| *at);
        let is_assumed = demands.iter().any(|standing| standing.demand == DemandRef::Assumed);
        let in_force = |given_by: Position, demand: &DemandRef| match demand {
            DemandRef::Assumed => {
                is_assumed && given_by > assumed_since && !self.replace_audits_after(given_by, audits)
            }
            DemandRef::Declared(at) => {
                self.demands.iter().any(|standing| standing.at == *at && standing.stands())
            }
        };
        let mut found = Vec::new();
        for given_by in leased_by {
            for lease in on(original, &self.permits.leases(vault, given_by)?) {
                if lease.demands.iter().any(|demand| in_force(given_by, demand)) {
                    found.push(LeaseView { given_by, until: lease.until, demands: lease.demands.to_vec() });
                }
            }
        }
        Ok(found)
    }

    /// Whether there was an instant after `since` at which demands had taken the place of every assumed audit.
    fn replace_audits_after(&self, since: Position, audits: &Audits) -> bool {
        let mut later = self.demands.iter().map(|demand| demand.at).filter(|at| *at > since);
        later.any(|now| {
            let mut there = audits.0.iter().filter(|(at, _by)| *at < now);
            there.all(|(_at, by)| by.is_some_and(|by| by <= now))
        })
    }

    /// When the retention of one span ends; `Never` where no rule says so.
    pub(crate) fn retention_of(&self, at: Position, span: &SpanRecorded) -> Expiry {
        self.given(at, span, |rule| rule.keep_for)
    }

    /// When the time of one span in the hot tier ends; `Never` where no rule says so.
    pub(crate) fn cools_at(&self, at: Position, span: &SpanRecorded) -> Expiry {
        self.given(at, span, |rule| rule.hot_for)
    }

    /// What the rules gave to one span: the most specific one in force when it was recorded, and every later one that
    /// covers it, from the instant that it was set; whichever is longest (I4).
    fn given(
        &self,
        at: Position,
        span: &SpanRecorded,
        length: fn(&RetentionSet) -> Option<TtlRule>,
    ) -> Expiry {
        let covering = || {
            let rules = self.rules.iter().filter(|(_at, rule)| rule.covers(span));
            rules.filter_map(|(set, rule)| Some((*set, rule, length(rule)?)))
        };
        let at_recording = covering()
            .filter(|(set, _rule, _length)| *set < at)
            .max_by_key(|(set, rule, _length)| (rule.rank(), *set))
            .map(|(_set, _rule, length)| expiry_of(span.recorded_at, length));
        let later = covering().filter(|(set, _rule, _length)| *set > at);
        let later = later.map(|(_set, rule, length)| expiry_of(rule.at, length));
        at_recording.into_iter().chain(later).max().unwrap_or(Expiry::Never)
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

fn expiry_of(from: StoreTime, ttl: TtlRule) -> Expiry {
    match ttl {
        TtlRule::For(ttl) => from.after(ttl),
        TtlRule::Forever => Expiry::Forever,
    }
}

/// The leases of the permits that were looked at last: one permit gives them on many originals, and those follow each
/// other.
#[derive(Debug, Default)]
struct Permits(RefCell<Looked>);

#[derive(Debug, Default)]
struct Looked {
    /// By permit, sorted by original.
    leases: HashMap<Position, Rc<[Given]>>,
    /// How many leases these are.
    count: usize,
}

/// A lease as it is kept at hand: those of one permit mostly name the same demands.
#[derive(Debug)]
struct Given {
    original: Position,
    until: Horizon,
    demands: Rc<[DemandRef]>,
}

impl Permits {
    /// How many leases are remembered, beside those of the newest permit.
    const LEASES_MAX: usize = 1 << 17;

    /// The leases that the record at `given_by` gave, sorted by original.
    fn leases(&self, vault: &Vault, given_by: Position) -> Result<Rc<[Given]>> {
        if let Some(leases) = self.0.borrow().leases.get(&given_by) {
            return Ok(Rc::clone(leases));
        }
        let event = vault.frame(given_by)?.event;
        let leases: Rc<[Given]> = if let Event::Summarised(summary) = event {
            shared(summary.permit.leases)
        } else {
            Rc::default()
        };
        let mut looked = self.0.borrow_mut();
        if looked.count + leases.len() > Self::LEASES_MAX {
            *looked = Looked::default();
        }
        looked.count += leases.len() + 1;
        looked.leases.insert(given_by, Rc::clone(&leases));
        Ok(leases)
    }
}

/// Leases sorted by original; neighbours that name the same demands share the list of them.
fn shared(leases: Vec<Lease>) -> Rc<[Given]> {
    let mut last: Rc<[DemandRef]> = Rc::default();
    let mut found: Vec<Given> = leases
        .into_iter()
        .map(|Lease { original, until, demands }| {
            if *last != *demands {
                last = demands.into();
            }
            Given { original, until, demands: Rc::clone(&last) }
        })
        .collect();
    found.sort_by_key(|lease| lease.original);
    found.into()
}

/// Those of sorted leases that are on one original.
fn on(original: Position, leases: &[Given]) -> &[Given] {
    let start = leases.partition_point(|lease| lease.original < original);
    let rest = leases.get(start..).unwrap_or_default();
    let len = rest.partition_point(|lease| lease.original == original);
    rest.get(..len).unwrap_or_default()
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
