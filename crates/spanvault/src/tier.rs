//! Moves originals that are past their time in the hot tier to cold packs: copied, read back, and only then switched.

use spanvault_store::{FreeOptions, Progress, Whereabouts};
use spanvault_types::{Event, Expiry, Position, StoreTime};

use crate::error::{Error, Result};
use crate::keepers::Keepers;
use crate::reclaim::Run;
use crate::vault::Vault;

/// Which originals a tier run demotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cooling {
    /// Those that the rules of retention say.
    ByRule,
    /// Those that were recorded at least this many milliseconds of store time ago; 0: all of them. Demotion loses
    /// nothing, so this may be zero.
    After(u64),
}

/// What a tier run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TierReport {
    /// Originals that were demoted, or would be.
    pub demoted: u64,
    /// Their bytes.
    pub bytes_before: u64,
    /// What they take in the cold tier.
    pub bytes_after: u64,
    /// Bytes that the file system got back.
    pub bytes_freed: u64,
}

/// How many originals are demoted under one hold of the writer lock.
const STEP: usize = 4_096;

impl Vault {
    /// Demotes what is past its time in the hot tier.
    ///
    /// # Errors
    /// What the disk says; `Corrupt` where an original does not read back: it stays hot, and so does everything that
    /// would have gone with it.
    pub fn demote(
        &self,
        cooling: Cooling,
        run: Run,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<TierReport> {
        let cooled = self.cooled(cooling)?;
        let mut report = TierReport::default();
        if run == Run::Dry {
            report.demoted = cooled.len() as u64;
            report.bytes_before = cooled.iter().map(|(_at, bytes)| bytes).sum();
            return Ok(report);
        }
        let total = cooled.len() as u64;
        for step in cooled.chunks(STEP) {
            let originals: Vec<Position> = step.iter().map(|(at, _bytes)| *at).collect();
            let mut writer = self.store.lock()?;
            let done = report.demoted;
            let demoted = self.store.demote(&mut writer, &originals, &mut |of_step| {
                progress(Progress { done: done + of_step.done, total });
            })?;
            report.demoted += demoted.demoted;
            report.bytes_before += demoted.bytes_before;
            report.bytes_after += demoted.bytes_after;
        }
        if report.demoted > 0 {
            let mut writer = self.store.lock()?;
            let freed = self.store.free_space(&mut writer, FreeOptions::default(), &mut |_files| {})?;
            report.bytes_freed = freed.bytes_freed;
            tracing::info!(
                originals = report.demoted,
                bytes_before = report.bytes_before,
                bytes_after = report.bytes_after,
                "demoted originals"
            );
        }
        Ok(report)
    }

    /// The originals in the hot tier that are past their time there, session by session, with their bytes.
    fn cooled(&self, cooling: Cooling) -> Result<Vec<(Position, u64)>> {
        let keepers = Keepers::load(self)?;
        let now = self.now();
        let mut found = Vec::new();
        for frame in self.store.frames(Position::ZERO.next()) {
            let frame = frame.map_err(Error::from)?;
            let Event::SpanRecorded(span) = &frame.event else { continue };
            if span.original != frame.at {
                continue;
            }
            let occurrences = self.occurrences(frame.at)?;
            let cools_at = occurrences.iter().map(|(at, span)| match cooling {
                Cooling::ByRule => keepers.cools_at(*at, span),
                Cooling::After(ms) => cools_after(span.recorded_at, ms),
            });
            let (session, cools_at) = (span.session, cools_at.max().unwrap_or(Expiry::Never));
            let is_due = match cooling {
                Cooling::ByRule => cools_at.is_past(now),
                Cooling::After(_ms) => cools_at.instant().is_some_and(|at| now >= at),
            };
            if is_due && self.store.whereabouts(frame.at) == Whereabouts::Hot {
                let spanvault_store::BodyState::Hot { len } = frame.body else { continue };
                found.push((session, frame.at, len));
            }
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_session, at, len)| (at, len)).collect())
    }
}

fn cools_after(recorded_at: StoreTime, ms: u64) -> Expiry {
    recorded_at.as_ms().checked_add(ms).map_or(Expiry::Never, |at| Expiry::At(StoreTime::from_ms(at)))
}
