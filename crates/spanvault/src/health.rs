//! How a vault is: what an operator has to know before trusting it (I88).

use spanvault_env::ClockState;
use spanvault_evidence::Lowered;
use spanvault_store::{Damage, Whereabouts};
use spanvault_types::key::{self, Table};
use spanvault_types::{Event, Position, StoreTime};

use crate::error::Result;
use crate::ids::SummaryId;
use crate::vault::Vault;

/// The state of a vault at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Store time of this report.
    pub at: StoreTime,
    /// The last position that it looked at.
    pub revision: Position,
    /// Whether a write or sync failed, so that only reopening helps.
    pub is_poisoned: bool,
    /// Whether deletions may rest on the clock.
    pub clock: ClockState,
    /// How far store time lags behind the wall clock, in milliseconds: time spent down. Never suspicion.
    pub lag_ms: i64,
    /// Originals that wait for their grace.
    pub condemned: u64,
    /// Since when the oldest of them waits.
    pub oldest_condemned: Option<StoreTime>,
    /// Bytes that are kept free for the ledger and for freeing; 0 where this is a reader.
    pub reserve_bytes: u64,
    /// How many positions the index lags behind the log; `None` where none is open.
    pub index_gap: Option<u64>,
    /// Summaries with an original that is damaged or missing: they serve no question any more.
    pub at_risk: Vec<SummaryId>,
    /// Summaries with an original that was reclaimed: *evidence expired*.
    pub expired: u64,
    /// All damage met so far.
    pub damage: Vec<Damage>,
    /// Overrides in the log: clock confirmations, releases and withdrawals.
    pub overrides: u64,
    /// Tools that read as doing less than their names are known to do, because the vault's registry says so.
    pub lowered_tools: Vec<Lowered>,
}

impl Health {
    /// Whether nothing needs an operator.
    pub fn is_sound(&self) -> bool {
        !self.is_poisoned
            && self.clock == ClockState::Trusted
            && self.at_risk.is_empty()
            && self.damage.is_empty()
    }
}

impl Vault {
    /// Looks the vault over. Reads the log, no originals: see [`Vault::verify`] for those.
    ///
    /// # Errors
    /// `Corrupt` where the log is too damaged to be looked over.
    pub fn health(&self) -> Result<Health> {
        let (condemned, oldest_condemned) = self.condemned()?;
        let (at_risk, expired) = self.summaries_at_risk()?;
        let revision = self.revision();
        let index_gap = self.index.applied().map(|applied| revision.get().saturating_sub(applied.get()));
        let mut overrides = self.entries(&key::key(Table::DemandEnd, &[]))?.len() as u64;
        overrides += self.entries(&key::key(Table::HoldEnd, &[]))?.len() as u64;
        for at in self.positions(&key::key(Table::Clock, &[]))? {
            overrides += u64::from(matches!(self.frame(at)?.event, Event::ClockConfirmed(_)));
        }
        Ok(Health {
            at: self.now(),
            revision,
            is_poisoned: self.store.is_poisoned(),
            clock: self.store.clock_state(),
            lag_ms: self.store.clock().lag_ms(),
            condemned,
            oldest_condemned,
            reserve_bytes: self.store.reserve_bytes(),
            index_gap,
            at_risk,
            expired,
            damage: self.store.damage(),
            overrides,
            lowered_tools: self.registry.lowered().to_vec(),
        })
    }

    /// How many originals wait for their grace, and since when the oldest of them does.
    fn condemned(&self) -> Result<(u64, Option<StoreTime>)> {
        let (mut count, mut oldest) = (0, None);
        let mut last = None;
        for (found, _at) in self.entries(&key::key(Table::Fate, &[]))? {
            let Some(original) = key::field(&found, 0) else { continue };
            if last == Some(original) {
                continue;
            }
            last = Some(original);
            if let spanvault_gate::Stage::Condemned { since } = self.stage(original)? {
                count += 1;
                oldest = Some(oldest.map_or(since, |earlier: StoreTime| earlier.min(since)));
            }
        }
        Ok((count, oldest))
    }

    /// The summaries whose evidence is damaged, and the number of those whose evidence has expired.
    fn summaries_at_risk(&self) -> Result<(Vec<SummaryId>, u64)> {
        let (mut at_risk, mut expired) = (Vec::new(), 0);
        let mut summaries = self.positions(&key::key(Table::Summary, &[]))?;
        summaries.extend(self.positions(&key::key(Table::Imported, &[]))?);
        for at in summaries {
            let summary = self.any_summary_at(at)?;
            let (mut is_damaged, mut is_expired) = (false, false);
            for citation in summary.citations() {
                match self.store.whereabouts(citation.at) {
                    Whereabouts::Hot | Whereabouts::Cold { .. } | Whereabouts::Condemned { .. } => {}
                    Whereabouts::Reclaimed { .. } => is_expired = true,
                    Whereabouts::Corrupt | Whereabouts::Missing | Whereabouts::Nothing => is_damaged = true,
                }
            }
            if is_damaged {
                at_risk.push(SummaryId(at));
            }
            expired += u64::from(is_expired);
        }
        Ok((at_risk, expired))
    }
}
