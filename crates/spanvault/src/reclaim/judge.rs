//! Looks at one original that is due, from every side, and asks the gate.

use std::collections::HashMap;

use spanvault_gate::{
    LiveMark, LockEpoch, Refusal, RemovalPermit, RemovalView, Stage, Unknown, VaultState, decide_condemn,
    decide_removal, permit_removal,
};
use spanvault_types::key::{self, Table};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{EvidentialClass, Position, ReasonKind, SpanRecorded, StoreTime};

use super::{Act, ReclaimStep, refusal_of};
use crate::error::Result;
use crate::keepers::Keepers;
use crate::liveness::{gate_mark, live_reasons};
use crate::scoped::ScopeMembers;
use crate::vault::Vault;

/// How many spans are remembered at once of the sessions that were looked at: many agents record side by side, and their
/// originals come by turns.
const SPANS_MAX: usize = 1 << 20;

/// Judges originals one by one, at one revision.
pub(super) struct Judge<'v> {
    vault: &'v Vault,
    keepers: Keepers,
    members: ScopeMembers,
    pub(super) state: VaultState,
    sessions: HashMap<Position, OpenSession>,
    /// How many of their spans are remembered.
    spans: usize,
    /// The record of a fate that was read last: one condemns many originals.
    fate: Option<(Position, Stage)>,
}

/// A session, as far as it had to be looked at.
#[derive(Default)]
struct OpenSession {
    /// Spans that a permit put behind a summary and in which nothing can have opened since, ascending.
    settled: Vec<Position>,
    /// What its texts say, once one of its other spans was asked about.
    reading: Option<Result<Reading, Unknown>>,
}

/// What is open in a session, and what its context shows verbatim.
struct Reading {
    live: HashMap<Position, Vec<LiveMark>>,
    /// Ascending.
    shown: Vec<Position>,
}

/// What the gate says about one original.
pub(super) enum Verdict {
    /// Its grace may begin.
    Condemn,
    /// Its bytes may go; the permit is there only under the writer lock.
    Remove(Option<RemovalPermit>),
    /// It is condemned, and something rests on it.
    Rescue(Refusal),
    /// Something rests on it, or its grace is not over.
    Refuse(Refusal),
}

/// An original with the gate's verdict.
pub(super) struct Judged {
    pub(super) original: Position,
    pub(super) bytes: u64,
    pub(super) tokens: u64,
    pub(super) verdict: Verdict,
    /// The strictest class of the spans that have it.
    pub(super) class: EvidentialClass,
    cited_by: Vec<Position>,
    is_shown: bool,
    /// When its grace would be over if it were condemned now.
    pub(super) grace_ends: Option<StoreTime>,
}

impl Judged {
    pub(super) fn step(&self) -> ReclaimStep {
        let act = match &self.verdict {
            Verdict::Condemn => Act::Condemn,
            Verdict::Remove(_) => Act::Reclaim,
            Verdict::Rescue(refusal) => Act::Rescue { reasons: refusal.reasons().to_vec() },
            Verdict::Refuse(refusal) => Act::Refuse { reasons: refusal.reasons().to_vec() },
        };
        let (original, bytes) = (self.original, self.bytes);
        ReclaimStep { original, bytes, act, cited_by: self.cited_by.clone(), is_shown: self.is_shown }
    }
}

impl<'v> Judge<'v> {
    pub(super) fn new(vault: &'v Vault, keepers: Keepers) -> Self {
        let state = vault.gate_state(&keepers);
        Self {
            vault,
            keepers,
            members: ScopeMembers::default(),
            state,
            sessions: HashMap::new(),
            spans: 0,
            fate: None,
        }
    }

    /// What would happen to an original, whose spans are `occurrences`; `None` where it is gone.
    pub(super) fn judge(
        &mut self,
        original: Position,
        occurrences: &[(Position, SpanRecorded)],
    ) -> Result<Option<Judged>> {
        self.judged(original, occurrences, None)
    }

    /// What happens to an original under the writer lock; `None` where it is gone.
    pub(super) fn permit(&mut self, original: Position, lock: LockEpoch) -> Result<Option<Judged>> {
        let occurrences = self.vault.occurrences(original)?;
        self.judged(original, &occurrences, Some(lock))
    }

    fn judged(
        &mut self,
        original: Position,
        occurrences: &[(Position, SpanRecorded)],
        lock: Option<LockEpoch>,
    ) -> Result<Option<Judged>> {
        let vault = self.vault;
        let stage = self.stage(original)?;
        if stage == Stage::Gone {
            return Ok(None);
        }
        let kept = self.keepers.of(vault, original, occurrences, &mut self.members)?;
        let mut cited_by = vault.positions(&key::key(Table::CitedBy, &[original]))?;
        cited_by.dedup();
        let grace = kept.grace;
        let (live, is_shown) = self.live(occurrences);
        let view = RemovalView {
            original,
            stage: Ok(stage),
            grace: Ok(grace),
            retention: Ok(kept.retention),
            leases: Ok(kept.leases),
            demands: Ok(kept.demands),
            holds: Ok(kept.holds),
            live,
            cited_by: Ok(cited_by.clone()),
        };
        let verdict = match stage {
            Stage::Gone => return Ok(None),
            Stage::Kept => match refusal_of(decide_condemn(&self.state, &view)) {
                None => Verdict::Condemn,
                Some(refusal) => Verdict::Refuse(refusal),
            },
            Stage::Condemned { .. } => self.removal(&view, lock),
        };
        let first = occurrences.first().map(|(_at, span)| span);
        Ok(Some(Judged {
            original,
            bytes: first.map_or(0, |span| span.bytes),
            tokens: first.map_or(0, |span| span.tokens),
            verdict,
            class: occurrences
                .iter()
                .map(|(_at, span)| span.class)
                .max()
                .unwrap_or(EvidentialClass::SideEffecting),
            cited_by,
            is_shown,
            grace_ends: self.state.now.after(grace).instant(),
        }))
    }

    /// How far the removal of an original has come.
    fn stage(&mut self, original: Position) -> Result<Stage> {
        let Some(last) = self.vault.last_fate(original)? else { return Ok(Stage::Kept) };
        match self.fate {
            Some((at, stage)) if at == last => Ok(stage),
            _ => {
                let stage = self.vault.stage_after(last, original)?;
                self.fate = Some((last, stage));
                Ok(stage)
            }
        }
    }

    fn removal(&self, view: &RemovalView, lock: Option<LockEpoch>) -> Verdict {
        let refused = match lock {
            Some(lock) => match permit_removal(lock, &self.state, view) {
                Ok(permit) => return Verdict::Remove(Some(permit)),
                Err(refusal) => refusal,
            },
            None => match refusal_of(decide_removal(&self.state, view)) {
                None => return Verdict::Remove(None),
                Some(refusal) => refusal,
            },
        };
        // A clock in doubt or a grace that is not over is no reason to start the grace anew.
        let only_waits = refused.kinds().iter().all(|kind| {
            matches!(kind, ReasonKind::NotCondemned | ReasonKind::ClockUntrusted | ReasonKind::StorePoisoned)
        });
        if only_waits { Verdict::Refuse(refused) } else { Verdict::Rescue(refused) }
    }

    /// What is open in the spans that have an original, and whether a context shows one of them verbatim.
    fn live(&mut self, occurrences: &[(Position, SpanRecorded)]) -> (Result<Vec<LiveMark>, Unknown>, bool) {
        let mut marks = Vec::new();
        let mut is_shown = false;
        for (at, span) in occurrences {
            let Ok(session) = self.session(span.session) else { return (Err(Unknown), true) };
            if session.settled.binary_search(at).is_ok() {
                continue;
            }
            let Some(reading) = self.reading(span.session) else { return (Err(Unknown), true) };
            if !is_planted(Bug::OpenIgnored) {
                marks.extend(reading.live.get(at).into_iter().flatten().copied());
            }
            is_shown |= reading.shown.binary_search(at).is_ok();
        }
        (Ok(marks), is_shown)
    }

    fn session(&mut self, session: Position) -> Result<&mut OpenSession> {
        if !self.sessions.contains_key(&session) {
            self.make_room();
            let settled = settled(self.vault, session)?;
            self.spans += settled.len() + 1;
            self.sessions.insert(session, OpenSession { settled, reading: None });
        }
        Ok(self.sessions.entry(session).or_default())
    }

    /// What the texts of a session say; `None` where they cannot be read.
    fn reading(&mut self, session: Position) -> Option<&Reading> {
        let is_read = self.sessions.get(&session).is_some_and(|known| known.reading.is_some());
        if !is_read {
            self.make_room();
            let reading = read(self.vault, session).map_err(|_unreadable| Unknown);
            self.spans += reading.as_ref().map_or(1, |reading| reading.shown.len() + reading.live.len());
            self.sessions.entry(session).or_default().reading = Some(reading);
        }
        self.sessions.get(&session)?.reading.as_ref()?.as_ref().ok()
    }

    fn make_room(&mut self) {
        if self.spans >= SPANS_MAX {
            self.sessions.clear();
            self.spans = 0;
        }
    }
}

/// The spans of a session that need not be read again to know that nothing is open in them: a permit put them behind a
/// summary, so all that they had promised was discharged then, and what is said later reopens nothing. Only a checkpoint
/// that carried something, or a newer state of a source, can have changed that: where there is either, all is read.
fn settled(vault: &Vault, session: Position) -> Result<Vec<Position>> {
    for table in [key::key(Table::Checkpoint, &[session]), key::key(Table::Superseded, &[])] {
        if vault.store.scan_last(&table)?.is_some() {
            return Ok(Vec::new());
        }
    }
    let mut settled = Vec::new();
    for at in vault.positions(&key::key(Table::Summary, &[session]))? {
        settled.extend(vault.summary_at(at)?.spans);
    }
    settled.sort_unstable();
    settled.dedup();
    Ok(settled)
}

fn read(vault: &Vault, session: Position) -> Result<Reading> {
    let view = vault.view(session)?;
    let live = live_reasons(&view, &view.read());
    let mut open = Reading { live: HashMap::new(), shown: Vec::new() };
    for (row, reasons) in view.rows.iter().zip(live) {
        if row.is_conversation() && row.stands_in.is_none() {
            open.shown.push(row.at);
        }
        if !reasons.is_empty() {
            let marks = reasons
                .iter()
                .map(|reason| gate_mark(reason.kind, reason.range, reason.used_by.map(|span| span.0)));
            open.live.insert(row.at, marks.collect());
        }
    }
    open.shown.sort_unstable();
    Ok(open)
}
