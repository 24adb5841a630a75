//! What a vault holds, what keeps it, what was refused, and what would free the most.

use std::collections::BTreeMap;

use spanvault_store::{BodyState, Whereabouts};
use spanvault_types::{
    DemandRef, Event, Expiry, Horizon, Operation, Position, Reason, ReasonKind, StoreTime,
};

use crate::error::{Error, Result};
use crate::ids::{DemandId, HoldId};
use crate::keepers::{Keepers, Kept};
use crate::scoped::ScopeMembers;
use crate::vault::Vault;

/// How much of something there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    /// Spans or originals.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their estimated tokens.
    pub tokens: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64, tokens: u64) {
        self.count += 1;
        self.bytes += bytes;
        self.tokens += tokens;
    }
}

/// What a vault holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Sessions.
    pub sessions: u64,
    /// Spans.
    pub spans: u64,
    /// Originals in the hot tier.
    pub hot: Amount,
    /// Originals in the cold tier; their bytes before compression.
    pub cold: Amount,
    /// Originals whose bytes are gone.
    pub reclaimed: Amount,
    /// Originals that are damaged or missing.
    pub damaged: Amount,
    /// Summaries.
    pub summaries: u64,
    /// Citations of all summaries.
    pub citations: u64,
    /// Bytes of the vault's files.
    pub disk_bytes: u64,
}

/// Why originals are kept, by what keeps them. One original may count under several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptBy {
    /// No rule ever made them due.
    pub no_rule: Amount,
    /// A rule said *forever*.
    pub forever: Amount,
    /// Their retention has not ended.
    pub retention: Amount,
    /// The assumed audit.
    pub assumed_audit: Amount,
    /// Each demand in force.
    pub demands: BTreeMap<DemandId, Amount>,
    /// Each hold in force.
    pub holds: BTreeMap<HoldId, Amount>,
    /// Leases in force.
    pub leases: Amount,
    /// Each session, by name.
    pub sessions: BTreeMap<String, Amount>,
}

/// Something that could be done to make originals due, and how much it would let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relief {
    /// Withdraw a demand.
    WithdrawDemand(DemandId),
    /// Release a hold.
    ReleaseHold(HoldId),
    /// Assume no audit.
    AssumeNoAudit,
}

/// What the planner needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacity {
    /// What keeps originals.
    pub kept: KeptBy,
    /// What was refused last, by reason; a span counts once, by its latest verdict (I87).
    pub refused: BTreeMap<ReasonKind, Amount>,
    /// Verdicts in the log: permits and refusals.
    pub verdicts: u64,
    /// The earliest instant at which a refused thing could pass.
    pub earliest_pass: Option<StoreTime>,
    /// The demand in force that ends first, and when.
    pub oldest_need: Option<(Option<DemandId>, StoreTime)>,
    /// Bytes of originals that came in a day, over the last seven days of store time.
    pub bytes_per_day: u64,
    /// Bytes of originals that are there.
    pub bytes: u64,
    /// When the budget is reached at this rate; `None` without a budget or growth.
    pub full_at: Option<StoreTime>,
    /// What would let most originals go, best first: bytes that only that one thing keeps beyond their retention.
    pub reliefs: Vec<(Relief, Amount)>,
}

const DAY_MS: u64 = 86_400_000;

impl Vault {
    /// Counts what the vault holds.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged; what the disk says.
    pub fn stats(&self) -> Result<Stats> {
        let counts = self.store.counts();
        let mut stats = Stats {
            sessions: self.sessions()?.len() as u64,
            summaries: counts.summaries,
            citations: counts.citations,
            disk_bytes: self.disk_bytes()?,
            ..Stats::default()
        };
        self.each_original(&mut |original| {
            stats.spans += original.spans;
            let amount = match self.store.whereabouts(original.at) {
                Whereabouts::Hot | Whereabouts::Condemned { .. } => &mut stats.hot,
                Whereabouts::Cold { .. } => &mut stats.cold,
                Whereabouts::Reclaimed { .. } => &mut stats.reclaimed,
                Whereabouts::Corrupt | Whereabouts::Missing | Whereabouts::Nothing => &mut stats.damaged,
            };
            amount.add(original.bytes, original.tokens);
            Ok(())
        })?;
        Ok(stats)
    }

    /// Adds up what keeps originals and what was refused, and says what would free the most.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged.
    pub fn capacity(&self, budget_bytes: Option<u64>) -> Result<Capacity> {
        let keepers = Keepers::load(self)?;
        let mut members = ScopeMembers::default();
        let now = self.now();
        let mut sum = Sum::default();
        self.each_original(&mut |original| {
            if !self.store.whereabouts(original.at).is_retrievable() {
                return Ok(());
            }
            let occurrences = self.occurrences(original.at)?;
            let kept = keepers.of(self, original.at, &occurrences, &mut members)?;
            for (_at, span) in &occurrences {
                let name = self.session_at(span.session)?.name;
                sum.kept.sessions.entry(name).or_default().add(original.bytes, original.tokens);
            }
            let recorded_at = occurrences.iter().map(|(_at, span)| span.recorded_at).min();
            sum.take(&original, &kept, now, recorded_at);
            Ok(())
        })?;
        let (refused, earliest_pass, verdicts) = self.refused_amounts()?;
        let bytes_per_day = sum.bytes_per_day(now);
        let full_at = budget_bytes.and_then(|budget| {
            let days = budget.saturating_sub(sum.bytes).checked_div(bytes_per_day)?;
            Some(now.plus_ms(days.saturating_mul(DAY_MS)))
        });
        let mut reliefs = sum.reliefs;
        reliefs.sort_by_key(|(_relief, amount)| std::cmp::Reverse(amount.bytes));
        Ok(Capacity {
            kept: sum.kept,
            refused,
            verdicts,
            earliest_pass,
            oldest_need: sum.oldest_need,
            bytes_per_day,
            bytes: sum.bytes,
            full_at,
            reliefs,
        })
    }

    /// Bytes of all files of the vault.
    fn disk_bytes(&self) -> Result<u64> {
        let disk = &self.options.env.disk;
        let mut total = 0;
        let mut directories = vec![self.dir.clone()];
        while let Some(directory) = directories.pop() {
            let listed = disk.list(&directory).map_err(|source| {
                Error::internal(format!("list {}", directory.display())).with_source(source)
            })?;
            for entry in listed {
                if entry.is_dir {
                    directories.push(directory.join(entry.name));
                } else {
                    total += entry.len;
                }
            }
        }
        Ok(total)
    }

    /// Gives every original that a span has, in order.
    fn each_original(&self, sink: &mut dyn FnMut(OriginalAmount) -> Result<()>) -> Result<()> {
        for frame in self.store.frames(Position::ZERO.next()) {
            let frame = frame.map_err(Error::from)?;
            let Event::SpanRecorded(span) = &frame.event else { continue };
            if span.original != frame.at {
                continue;
            }
            let bytes = match frame.body {
                BodyState::Hot { len } | BodyState::Dropped { len } => len,
                BodyState::None => span.bytes,
            };
            let spans = self.occurrences(frame.at)?.len() as u64;
            sink(OriginalAmount { at: frame.at, bytes, tokens: span.tokens, spans })?;
        }
        Ok(())
    }

    fn refused_amounts(&self) -> Result<(BTreeMap<ReasonKind, Amount>, Option<StoreTime>, u64)> {
        let mut refused: BTreeMap<ReasonKind, Amount> = BTreeMap::new();
        let mut earliest: Option<StoreTime> = None;
        let mut verdicts = self.store.counts().summaries;
        self.refusals(&mut |refusal| {
            verdicts += 1;
            // A demand that was not taken on keeps nothing and frees nothing.
            if refusal.is_superseded || refusal.operation == Operation::Demand {
                return Ok(());
            }
            let mut kinds: Vec<ReasonKind> = refusal.reasons.iter().map(Reason::kind).collect();
            kinds.dedup();
            for kind in kinds {
                refused.entry(kind).or_default().add(refusal.bytes, refusal.tokens);
            }
            let passes = refusal
                .reasons
                .iter()
                .map(passes_at)
                .try_fold(StoreTime::default(), |latest, at| Some(latest.max(at?)));
            earliest = earliest.into_iter().chain(passes).min();
            Ok(())
        })?;
        Ok((refused, earliest, verdicts))
    }
}

/// An original with its amount.
struct OriginalAmount {
    at: Position,
    bytes: u64,
    tokens: u64,
    spans: u64,
}

#[derive(Default)]
struct Sum {
    kept: KeptBy,
    oldest_need: Option<(Option<DemandId>, StoreTime)>,
    bytes: u64,
    recent_bytes: u64,
    first_recorded: Option<StoreTime>,
    reliefs: Vec<(Relief, Amount)>,
}

impl Sum {
    fn take(
        &mut self,
        original: &OriginalAmount,
        kept: &Kept,
        now: StoreTime,
        recorded_at: Option<StoreTime>,
    ) {
        let OriginalAmount { bytes, tokens, .. } = *original;
        self.bytes += bytes;
        if let Some(at) = recorded_at {
            self.first_recorded = Some(self.first_recorded.map_or(at, |first| first.min(at)));
            if now.as_ms().saturating_sub(at.as_ms()) < 7 * DAY_MS {
                self.recent_bytes += bytes;
            }
        }
        match kept.retention {
            Expiry::Never => self.kept.no_rule.add(bytes, tokens),
            Expiry::Forever => self.kept.forever.add(bytes, tokens),
            Expiry::At(at) if now <= at => self.kept.retention.add(bytes, tokens),
            Expiry::At(_past) => {}
        }
        if !kept.leases.is_empty() {
            self.kept.leases.add(bytes, tokens);
        }
        let mut keepers = Vec::new();
        for demand in &kept.demands {
            let id = match demand.demand {
                DemandRef::Assumed => {
                    self.kept.assumed_audit.add(bytes, tokens);
                    keepers.push(Relief::AssumeNoAudit);
                    None
                }
                DemandRef::Declared(at) => {
                    self.kept.demands.entry(DemandId(at)).or_default().add(bytes, tokens);
                    keepers.push(Relief::WithdrawDemand(DemandId(at)));
                    Some(DemandId(at))
                }
            };
            if let Horizon::Until(until) = demand.horizon
                && until >= now
                && self.oldest_need.is_none_or(|(_id, oldest)| until < oldest)
            {
                self.oldest_need = Some((id, until));
            }
        }
        for hold in &kept.holds {
            self.kept.holds.entry(HoldId(*hold)).or_default().add(bytes, tokens);
            keepers.push(Relief::ReleaseHold(HoldId(*hold)));
        }
        if let ([only], true) = (keepers.as_slice(), kept.retention.is_past(now)) {
            match self.reliefs.iter_mut().find(|(relief, _amount)| relief == only) {
                Some((_relief, amount)) => amount.add(bytes, tokens),
                None => self.reliefs.push((only.clone(), Amount { count: 1, bytes, tokens })),
            }
        }
    }

    fn bytes_per_day(&self, now: StoreTime) -> u64 {
        let age_ms = self.first_recorded.map_or(0, |first| now.as_ms().saturating_sub(first.as_ms()));
        let days = (age_ms.min(7 * DAY_MS)).div_ceil(DAY_MS).max(1);
        self.recent_bytes / days
    }
}

/// When a reason goes away by itself, if time alone can bring that.
fn passes_at(reason: &Reason) -> Option<StoreTime> {
    let horizon = |until: &Horizon| match until {
        Horizon::Until(at) => Some(*at),
        Horizon::Unknown => None,
    };
    match reason {
        Reason::ExpiresBeforeNeed { needed_until, .. } => horizon(needed_until),
        Reason::Leased { until, .. } => horizon(until),
        Reason::NotDue { kept_until } => kept_until.instant(),
        Reason::NotCondemned { ready_at } => ready_at.and_then(Expiry::instant),
        Reason::NoPointer
        | Reason::NotRetrievable { .. }
        | Reason::Held { .. }
        | Reason::OpenObligation { .. }
        | Reason::UnabsorbedNegative { .. }
        | Reason::DanglingReference { .. }
        | Reason::DishonestSummary { .. }
        | Reason::SummaryNotAdmitted { .. }
        | Reason::ClockUntrusted
        | Reason::Unreadable
        | Reason::StorePoisoned
        | Reason::NoSpace => None,
    }
}
