//! Frees the bytes of originals that nothing rests on any more, in two runs a full grace apart.
//!
//! A run surveys what is due, and then goes over it again in small steps under the writer lock: what is due is
//! condemned; what has been condemned for a full grace is asked about again and removed, its tombstone durable before
//! its bytes go; what is needed again is rescued. A dry run judges what the same survey finds as it comes, and keeps
//! none of it. A run that meets anything that it cannot read removes nothing (I47).

mod apply;
mod judge;
mod sessions;

use std::collections::BTreeMap;

use spanvault_gate::{Decision, Stage};
use spanvault_store::Whereabouts;
use spanvault_types::key::{self, Table};
use spanvault_types::{Event, Position, Reason, ReasonKind, SpanRecorded, StoreTime, WayOut};

use crate::error::{Error, ErrorKind, Result};
use crate::keepers::Keepers;
use crate::vault::Vault;
use judge::{Judge, Judged, Verdict};
use sessions::Sessions;

/// Whether a run acts or only says what it would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Says what a run would do at this revision and instant; writes nothing.
    Dry,
    /// Acts.
    Real,
}

/// What a run did to one original, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReclaimStep {
    /// The original.
    pub original: Position,
    /// Its bytes.
    pub bytes: u64,
    /// What is done.
    pub act: Act,
    /// Summaries that cite it and will say *evidence expired* once it is gone.
    pub cited_by: Vec<Position>,
    /// Whether the context of a session still shows it verbatim: a tombstone will stand in its place.
    pub is_shown: bool,
}

/// What a run does to an original that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Nothing rests on it: its grace begins.
    Condemn,
    /// Its bytes go.
    Reclaim,
    /// It was condemned, and is needed again.
    Rescue {
        /// Why.
        reasons: Vec<Reason>,
    },
    /// Something rests on it, or its grace is not over.
    Refuse {
        /// Why.
        reasons: Vec<Reason>,
    },
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReclaimReport {
    /// Originals whose bytes are there and whose retention has ended, or that had been condemned.
    pub due: u64,
    /// Those that were condemned now.
    pub condemned: u64,
    /// Those that had been condemned and are needed again.
    pub rescued: u64,
    /// Those whose bytes are gone now.
    pub reclaimed: u64,
    /// Those that something rests on, or whose grace is not over.
    pub refused: u64,
    /// How many were refused for each reason.
    pub reasons: BTreeMap<ReasonKind, u64>,
    /// Bytes that the file system got back.
    pub bytes_freed: u64,
    /// The earliest instant at which another run could do more, if time alone can bring that.
    pub next_at: Option<StoreTime>,
}

impl Vault {
    /// Condemns what is due, and removes what has been condemned for a full grace and is still not needed.
    ///
    /// `told` gets every step; after a dry run nothing has changed.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// use spanvault::Run;
    ///
    /// let report = vault.reclaim(Run::Dry, &mut |step| println!("{step:?}"))?;
    /// assert_eq!(report.due, 0, "without a rule of retention nothing is ever due");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Corrupt` where a record of the log cannot be read: nothing was removed, because that record may be a reason
    /// to keep. What the disk says; what was done before the error is in the log.
    pub fn reclaim(&self, run: Run, told: &mut dyn FnMut(&ReclaimStep)) -> Result<ReclaimReport> {
        let mut report = ReclaimReport::default();
        if run == Run::Dry {
            let mut judge = Judge::new(self, Keepers::load(self)?, Sessions::default());
            self.survey(&mut |original, occurrences| {
                if let Some(judged) = judge.judge(original, &occurrences)? {
                    told(&judged.step());
                    report.add(&judged);
                }
                Ok(())
            })?;
            return Ok(report);
        }
        let mut due = Vec::new();
        self.survey(&mut |original, _occurrences| {
            due.push(original);
            Ok(())
        })?;
        self.note_suspicion()?;
        apply::apply(self, &due, told, &mut report)?;
        tracing::info!(
            due = report.due,
            condemned = report.condemned,
            reclaimed = report.reclaimed,
            rescued = report.rescued,
            refused = report.refused,
            bytes_freed = report.bytes_freed,
            "reclaimed originals"
        );
        Ok(report)
    }

    /// Gives the originals whose retention has ended or that are condemned, and whose bytes are there, oldest first,
    /// each with its spans.
    ///
    /// Being given is no permission: see [`spanvault_gate::decide_removal`].
    fn survey(
        &self,
        found: &mut dyn FnMut(Position, Vec<(Position, SpanRecorded)>) -> Result<()>,
    ) -> Result<()> {
        let keepers = Keepers::load(self)?;
        if !keepers.gives_expiry() {
            return Ok(());
        }
        let now = self.now();
        let mut others = self.store.column(Table::Occurrence);
        for found_there in self.store.originals(Position::ZERO.next()) {
            let (original, span, place) = found_there.map_err(|error| {
                Error::from(error)
                    .with_hint("nothing was removed: a record that cannot be read may be a reason to keep")
            })?;
            let is_past = |at: &Position, span: &SpanRecorded| keepers.retention_of(*at, span).is_past(now);
            let is_condemned = match place {
                // A rule that was set since may keep it longer: then it is rescued, and its grace begins anew.
                Whereabouts::Condemned { .. } => true,
                Whereabouts::Hot | Whereabouts::Cold { .. } if is_past(&original, &span) => false,
                Whereabouts::Hot
                | Whereabouts::Cold { .. }
                | Whereabouts::Reclaimed { .. }
                | Whereabouts::Corrupt
                | Whereabouts::Missing
                | Whereabouts::Nothing => continue,
            };
            let occurrences = self.occurrences_beside(original, Some(span), others.of(original)?)?;
            if is_condemned || occurrences.iter().all(|(at, span)| is_past(at, span)) {
                found(original, occurrences)?;
            }
        }
        Ok(())
    }

    /// How far the removal of an original has come, as the log tells it.
    pub(crate) fn stage(&self, original: Position) -> Result<Stage> {
        self.last_fate(original)?.map_or(Ok(Stage::Kept), |last| self.stage_after(last, original))
    }

    /// The last record that condemned, rescued or reclaimed an original.
    fn last_fate(&self, original: Position) -> Result<Option<Position>> {
        Ok(self.store.scan_last(&key::key(Table::Fate, &[original]))?.map(|(_key, at)| at))
    }

    /// How far the removal of an original has come with the record at `last`.
    fn stage_after(&self, last: Position, original: Position) -> Result<Stage> {
        let event = self.frame(last)?.event;
        if let Event::Condemned(condemned) = event {
            return Ok(Stage::Condemned { since: condemned.at });
        }
        if matches!(event, Event::Rescued(_)) {
            return Ok(Stage::Kept);
        }
        if matches!(event, Event::Reclaimed(_)) {
            return Ok(Stage::Gone);
        }
        let schema = event.schema();
        let message = format!("read the fate of original {original}: the log has schema {schema} at {last}");
        Err(Error::new(ErrorKind::Corrupt, message))
    }
}

impl ReclaimReport {
    fn add(&mut self, judged: &Judged) {
        self.due += 1;
        let refusal = match &judged.verdict {
            Verdict::Condemn => {
                self.condemned += 1;
                None
            }
            Verdict::Remove(_) => {
                self.reclaimed += 1;
                None
            }
            Verdict::Rescue(refusal) => {
                self.rescued += 1;
                Some(refusal)
            }
            Verdict::Refuse(refusal) => {
                self.refused += 1;
                Some(refusal)
            }
        };
        for kind in refusal.into_iter().flat_map(spanvault_gate::Refusal::kinds) {
            *self.reasons.entry(kind).or_default() += 1;
        }
        let waits = refusal
            .into_iter()
            .flat_map(spanvault_gate::Refusal::ways_out)
            .filter_map(|way| if let WayOut::Wait { until } = way { until.instant() } else { None });
        let after_grace = matches!(judged.verdict, Verdict::Condemn).then_some(judged.grace_ends).flatten();
        self.next_at = self.next_at.into_iter().chain(waits).chain(after_grace).min();
    }
}

/// The decision of the gate, without what it was permitted on.
fn refusal_of<T>(decision: Decision<T>) -> Option<spanvault_gate::Refusal> {
    match decision {
        Decision::Permit(_) => None,
        Decision::Refuse(refusal) => Some(refusal),
    }
}
