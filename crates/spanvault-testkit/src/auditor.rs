//! Reads a log from its first event and says what in it is unlawful.
//!
//! Unlike [`crate::Model`] it needs no history of what was asked for: whoever wrote the log, in whichever order and with
//! whatever crashes between, these things never stand in it. It checks what the log alone can show, so it is silent about
//! what is open in a span, and about scopes that have to be read out of originals.

use std::collections::BTreeMap;

use spanvault_types::{
    AssumptionSet, DemandDeclared, DemandRef, Event, EvidentialClass, Expiry, HoldPlaced, Horizon, Lease,
    Position, RetentionSet, Scope, SpanRecorded, StoreTime, Ttl, TtlRule,
};

use crate::expect::Violation;
use crate::model::{AUDIT_MS, GRACE_MS};

/// Where the removal of an original stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Condemned(StoreTime),
    Gone,
}

/// A demand or a hold.
#[derive(Debug)]
struct Standing<T> {
    what: T,
    ended: bool,
}

/// What the log has said so far.
#[derive(Debug, Default)]
pub struct Auditor {
    spans: BTreeMap<Position, SpanRecorded>,
    occurrences: BTreeMap<Position, Vec<Position>>,
    rules: Vec<(Position, RetentionSet)>,
    /// The newest setting of the assumed audit.
    assumption: Option<AssumptionSet>,
    demands: BTreeMap<Position, Standing<DemandDeclared>>,
    holds: BTreeMap<Position, Standing<HoldPlaced>>,
    leases: Vec<Lease>,
    fates: BTreeMap<Position, Fate>,
    now: StoreTime,
    condemned: u64,
    reclaimed: u64,
}

impl Auditor {
    /// How many originals were condemned and how many reclaimed so far.
    pub const fn freed(&self) -> (u64, u64) {
        (self.condemned, self.reclaimed)
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// What is unlawful about it.
    pub fn take(&mut self, at: Position, event: &Event) -> Result<(), Violation> {
        match event {
            Event::SpanRecorded(span) => {
                self.occurrences.entry(span.original).or_default().push(at);
                self.spans.insert(at, span.clone());
            }
            Event::Summarised(summary) => {
                for original in summary.citations.iter().map(|citation| citation.at) {
                    check(self.fate(original) == Fate::Kept, "I23", || {
                        format!("the summary at {at} was permitted on {original}, condemned or gone by then")
                    })?;
                }
                self.leases.extend(summary.permit.leases.iter().cloned());
            }
            Event::RetentionSet(rule) => self.rules.push((at, rule.clone())),
            Event::AssumptionSet(set) => self.assumption = Some(set.clone()),
            Event::DemandDeclared(what) => {
                for original in self.members(&what.scope, &what.originals) {
                    check(self.fate(original) != Fate::Gone, "I36", || {
                        format!("the demand at {at} was taken on though {original} is gone")
                    })?;
                }
                self.demands.insert(at, Standing { what: what.clone(), ended: false });
            }
            Event::DemandWithdrawn(end) => {
                if let Some(demand) = self.demands.get_mut(&end.demand) {
                    demand.ended = true;
                }
            }
            Event::HoldPlaced(what) => {
                self.holds.insert(at, Standing { what: what.clone(), ended: false });
            }
            Event::HoldReleased(end) => {
                if let Some(hold) = self.holds.get_mut(&end.hold) {
                    hold.ended = true;
                }
            }
            Event::Condemned(condemned) => {
                for original in &condemned.originals {
                    check(self.fate(*original) == Fate::Kept, "I41", || {
                        format!("{original} is condemned at {at} though it is condemned or gone")
                    })?;
                    self.nothing_rests_on(*original, condemned.at)?;
                    self.fates.insert(*original, Fate::Condemned(condemned.at));
                    self.condemned += 1;
                }
            }
            Event::Rescued(rescued) => {
                for original in &rescued.originals {
                    check(self.fate(*original) != Fate::Gone, "I43", || {
                        format!("{original} is rescued at {at} though it is gone")
                    })?;
                    self.fates.insert(*original, Fate::Kept);
                }
            }
            Event::Reclaimed(gone) => {
                let original = gone.original.at;
                let Fate::Condemned(since) = self.fate(original) else {
                    return Err(violation("I41", format!("{original} goes at {at} and was not condemned")));
                };
                let grace_ends = StoreTime::from_ms(since.as_ms() + self.grace_ms());
                check(gone.at >= grace_ends, "I41", || {
                    format!("{original} goes at {at} before its grace is over")
                })?;
                self.nothing_rests_on(original, gone.at)?;
                self.fates.insert(original, Fate::Gone);
                self.reclaimed += 1;
            }
            Event::Commit(commit) => {
                check(commit.clock.store >= self.now, "I5", || {
                    format!("store time goes back in the commit at {at}")
                })?;
                self.now = commit.clock.store;
            }
            Event::SessionOpened(_)
            | Event::GapStored
            | Event::SummaryImported(_)
            | Event::SourceOpened(_)
            | Event::SourceExtended(_)
            | Event::Refused(_)
            | Event::IndexClosed(_)
            | Event::Demoted(_)
            | Event::ClockConfirmed(_)
            | Event::ClockSuspected(_)
            | Event::Checkpointed(_)
            | Event::SpanSuperseded(_) => {}
        }
        Ok(())
    }

    /// What must be true at the end of the log too: nothing that is held or needed waits to go (I43).
    ///
    /// # Errors
    /// What is unlawful.
    pub fn finish(&self) -> Result<(), Violation> {
        for (original, fate) in &self.fates {
            if matches!(fate, Fate::Condemned(_)) {
                self.nobody_keeps(*original, self.now)?;
            }
        }
        Ok(())
    }

    fn fate(&self, original: Position) -> Fate {
        self.fates.get(&original).copied().unwrap_or(Fate::Kept)
    }

    /// Retention, demands, leases and holds at an instant of store time (I35).
    fn nothing_rests_on(&self, original: Position, now: StoreTime) -> Result<(), Violation> {
        let is_over = self.retention(original).instant().is_some_and(|end| now > end);
        check(is_over, "I35", || format!("{original} is let go at {now:?} before its retention has ended"))?;
        self.nobody_keeps(original, now)
    }

    fn nobody_keeps(&self, original: Position, now: StoreTime) -> Result<(), Violation> {
        let is_after = |horizon: Horizon| match horizon {
            Horizon::Unknown => true,
            Horizon::Until(end) => end > now,
        };
        for (at, hold) in self.holds.iter().filter(|(_at, hold)| !hold.ended) {
            check(!self.covers(&hold.what.scope, &hold.what.originals, original), "I27", || {
                format!("{original} is let go though the hold at {at} keeps it")
            })?;
        }
        let mut was_demanded = false;
        for (at, demand) in &self.demands {
            if self.covers(&demand.what.scope, &demand.what.originals, original) {
                was_demanded = true;
                check(demand.ended || !is_after(demand.what.horizon), "I35", || {
                    format!("{original} is let go though the demand at {at} needs it")
                })?;
            }
        }
        for lease in self.leases.iter().filter(|lease| lease.original == original) {
            let stands = lease.demands.iter().any(|demand| match demand {
                DemandRef::Assumed => false,
                DemandRef::Declared(at) => self.demands.get(at).is_some_and(|demand| !demand.ended),
            });
            check(!stands || !is_after(lease.until), "I21", || {
                format!("{original} is let go though a lease keeps it")
            })?;
        }
        let assumed_ms = self.assumption.as_ref().map_or(Some(AUDIT_MS), |set| set.audit_for.map(Ttl::as_ms));
        if let Some(ms) = assumed_ms.filter(|_ms| !was_demanded) {
            let needed_until = self.spans_of(original).map(|(_at, span)| span.recorded_at.plus_ms(ms)).max();
            check(needed_until.is_none_or(|end| end <= now), "I35", || {
                format!("{original} is let go though an audit is assumed until then")
            })?;
        }
        Ok(())
    }

    fn spans_of(&self, original: Position) -> impl Iterator<Item = (Position, &SpanRecorded)> {
        let at = self.occurrences.get(&original).into_iter().flatten();
        at.filter_map(|at| Some((*at, self.spans.get(at)?)))
    }

    /// The longest of what the rules gave to its spans (I4, I33).
    fn retention(&self, original: Position) -> Expiry {
        self.spans_of(original).map(|(at, span)| self.given(at, span)).max().unwrap_or(Expiry::Never)
    }

    fn given(&self, at: Position, span: &SpanRecorded) -> Expiry {
        let covering = || {
            self.rules.iter().filter(|(_set, rule)| {
                let class = rule.class.is_none_or(|class: EvidentialClass| class == span.class);
                class && rule.session.is_none_or(|session| session == span.session)
            })
        };
        let expiry = |from: StoreTime, rule: &RetentionSet| match rule.keep_for? {
            TtlRule::Forever => Some(Expiry::Forever),
            TtlRule::For(ttl) => Some(from.after(ttl)),
        };
        let first = covering()
            .filter(|(set, rule)| *set < at && rule.keep_for.is_some())
            .max_by_key(|(set, rule)| ((rule.session.is_some(), rule.class.is_some()), *set));
        let later = covering().filter(|(set, _rule)| *set > at);
        let given = first.into_iter().filter_map(|(_set, rule)| expiry(span.recorded_at, rule));
        given.chain(later.filter_map(|(_set, rule)| expiry(rule.at, rule))).max().unwrap_or(Expiry::Never)
    }

    /// The last grace that was set for the whole vault; a generator that sets others must not be audited.
    fn grace_ms(&self) -> u64 {
        let set = self.rules.iter().rev().find_map(|(_at, rule)| rule.grace);
        set.map_or(GRACE_MS, Ttl::as_ms)
    }

    fn covers(&self, scope: &Scope, named: &[Position], original: Position) -> bool {
        named.contains(&original)
            || match scope {
                Scope::Original(at) => *at == original,
                Scope::All | Scope::Session(_) | Scope::Class(_) => {
                    self.spans_of(original).any(|(_at, span)| speaks_of(scope, span))
                }
                Scope::Span(_) | Scope::Summary(_) | Scope::Tool(_) | Scope::Path(_) => false,
            }
    }

    /// The originals that a new demand is about.
    fn members(&self, scope: &Scope, named: &[Position]) -> Vec<Position> {
        let spoken = self.occurrences.keys().copied().filter(|original| self.covers(scope, named, *original));
        spoken.collect()
    }
}

fn speaks_of(scope: &Scope, span: &SpanRecorded) -> bool {
    match scope {
        Scope::All => true,
        Scope::Session(session) => span.session == *session,
        Scope::Class(class) => span.class == *class,
        Scope::Tool(_) | Scope::Path(_) | Scope::Span(_) | Scope::Original(_) | Scope::Summary(_) => false,
    }
}

fn check(holds: bool, invariant: &'static str, what: impl Fn() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(violation(invariant, what())) }
}

fn violation(invariant: &'static str, what: String) -> Violation {
    Violation { invariant, what }
}
