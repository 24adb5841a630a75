//! Retention, and the floor of an original: what keeps it and until when (I33).

use spanvault_types::{Expiry, Horizon, StoreTime, Ttl};

use super::{Model, Need, Span};
use crate::expect::Expectation;
use crate::op::{HoldId, Length, OriginalId, Rule};

impl Model {
    pub(super) fn set_retention(&mut self, rule: Rule) -> Expectation {
        let zero = |length| length == Some(Length::Ms(0));
        if zero(rule.hot_for) || zero(rule.keep_for) || rule.grace_ms == Some(0) {
            return Expectation::Invalid;
        }
        if is_hot_longer_than_kept(rule) {
            return Expectation::Invalid;
        }
        let is_empty = rule.hot_for.is_none() && rule.keep_for.is_none() && rule.grace_ms.is_none();
        let nowhere =
            rule.session.is_some_and(|session| !self.spans.iter().any(|span| span.session == session));
        if is_empty || nowhere {
            return Expectation::NotApplicable;
        }
        let now = self.now();
        for span in self.spans.iter_mut().filter(|span| fits(rule, span)) {
            give(span, rule, now);
        }
        let in_force = self.rules.entry((rule.class, rule.session)).or_default();
        *in_force = Rule {
            class: rule.class,
            session: rule.session,
            hot_for: rule.hot_for.or(in_force.hot_for),
            keep_for: rule.keep_for.or(in_force.keep_for),
            grace_ms: None,
        };
        self.grace_ms = rule.grace_ms.unwrap_or(self.grace_ms);
        self.clock.acknowledge();
        Expectation::Done
    }

    /// Of the rules in force that fit a new span, the most specific one counts, for each of the two lengths by itself.
    pub(super) fn give_rules_in_force(&self, span: &mut Span) {
        let specific = |rule: &&Rule| u8::from(rule.class.is_some()) + 2 * u8::from(rule.session.is_some());
        let fitting: Vec<Rule> = self.rules.values().copied().filter(|rule| fits(*rule, span)).collect();
        let keeping = fitting.iter().filter(|rule| rule.keep_for.is_some()).max_by_key(specific);
        let heating = fitting.iter().filter(|rule| rule.hot_for.is_some()).max_by_key(specific);
        let keep_for = keeping.and_then(|rule| rule.keep_for);
        let hot_for = heating.and_then(|rule| rule.hot_for);
        give(span, Rule { hot_for, keep_for, ..Rule::default() }, span.recorded_at);
    }

    /// When the retention of an original ends: the longest of all spans that have it, leases left out.
    pub fn retention(&self, original: OriginalId) -> Expiry {
        self.spans_of(original).map(|(_, span)| span.keep).max().unwrap_or(Expiry::Never)
    }

    /// When an original expires: its retention or, where there is one, a lease that runs longer.
    pub fn expires_at(&self, original: OriginalId) -> Expiry {
        let retention = self.retention(original);
        if retention.instant().is_none() {
            return retention;
        }
        let leases = self.leases.iter().filter(|lease| lease.original == original);
        leases.filter_map(|lease| instant(lease.until)).map(Expiry::At).fold(retention, Ord::max)
    }

    /// What removal compares with store time; `Forever` also where only somebody's act can end it.
    pub fn kept_until(&self, original: OriginalId) -> Expiry {
        let ends = |until| instant(until).map_or(Expiry::Forever, Expiry::At);
        let mut floor = self.expires_at(original);
        for lease in self.leases.iter().filter(|lease| lease.original == original) {
            floor = floor.max(ends(lease.until));
        }
        for (_, horizon) in self.needs_of(original) {
            floor = floor.max(ends(horizon));
        }
        if self.holds_of(original).is_empty() { floor } else { Expiry::Forever }
    }

    /// The demands on an original that were not withdrawn, and the audit that is assumed where none was declared.
    pub(super) fn needs_of(&self, original: OriginalId) -> Vec<(Need, Horizon)> {
        let mut needs = Vec::new();
        let assumed = self
            .spans_of(original)
            .filter(|(_, span)| !span.demanded)
            .filter_map(|(_, span)| Some(later(span.recorded_at, self.audit_ms?)))
            .max();
        needs.extend(assumed.map(|horizon| (Need::Assumed, horizon)));
        for (at, demand) in self.demands.iter().enumerate() {
            let about = self.spans_of(original).any(|(span, _)| self.is_about(demand.about, span));
            if about && !demand.withdrawn {
                needs.push((Need::Declared(crate::op::DemandId(at)), demand.horizon));
            }
        }
        needs
    }

    /// The holds on an original that were not released.
    pub(super) fn holds_of(&self, original: OriginalId) -> Vec<HoldId> {
        let placed = self.holds.iter().enumerate().filter(|(_, hold)| !hold.released);
        placed
            .filter(|(_, hold)| self.spans_of(original).any(|(span, _)| self.is_about(hold.about, span)))
            .map(|(at, _)| HoldId(at))
            .collect()
    }
}

/// Nothing stays in the hot tier for longer than it stays at all.
fn is_hot_longer_than_kept(rule: Rule) -> bool {
    match (rule.hot_for, rule.keep_for) {
        (Some(Length::Ms(hot)), Some(Length::Ms(kept))) => hot > kept,
        (Some(Length::Forever), Some(Length::Ms(_))) => true,
        (_, Some(Length::Forever) | None) | (None, _) => false,
    }
}

fn fits(rule: Rule, span: &Span) -> bool {
    rule.class.is_none_or(|class| class == span.content.class())
        && rule.session.is_none_or(|session| session == span.session)
}

/// Lengthens what a span was given, from `now` on.
fn give(span: &mut Span, rule: Rule, now: StoreTime) {
    let now = now.max(span.recorded_at);
    if let Some(length) = rule.keep_for {
        span.keep = longer(span.keep, end(now, length));
    }
    if let Some(length) = rule.hot_for {
        span.hot = longer(span.hot, end(now, length));
    }
}

/// The longer of what was given and what is given now. No rule is not *forever*: the first one always counts.
fn longer(given: Expiry, now: Expiry) -> Expiry {
    if given == Expiry::Never { now } else { given.max(now) }
}

fn end(from: StoreTime, length: Length) -> Expiry {
    match length {
        Length::Ms(ms) => Ttl::from_ms(ms).map_or(Expiry::Never, |ttl| from.after(ttl)),
        Length::Forever => Expiry::Forever,
    }
}

/// An instant moved later; what does not fit is unknown, which is as good as for ever (I34).
pub(super) fn later(from: StoreTime, ms: u64) -> Horizon {
    from.as_ms().checked_add(ms).map_or(Horizon::Unknown, |ms| Horizon::Until(StoreTime::from_ms(ms)))
}

pub(super) const fn instant(horizon: Horizon) -> Option<StoreTime> {
    match horizon {
        Horizon::Until(at) => Some(at),
        Horizon::Unknown => None,
    }
}
