//! Looks at one original that is due, from every side, and asks the gate.

use std::collections::{BTreeSet, HashMap};

use spanvault_gate::{
    LiveMark, LockEpoch, Refusal, RemovalPermit, RemovalView, Stage, Unknown, VaultState, decide_condemn,
    decide_removal, permit_removal,
};
use spanvault_types::key::{self, Table};
use spanvault_types::{EvidentialClass, Position, ReasonKind, SpanRecorded, StoreTime};

use super::{Act, ReclaimStep, refusal_of};
use crate::error::Result;
use crate::keepers::Keepers;
use crate::liveness::{gate_mark, live_reasons};
use crate::scoped::ScopeMembers;
use crate::vault::Vault;

/// How many sessions are remembered at once.
const SESSIONS_MAX: usize = 32;

/// Judges originals one by one, at one revision.
pub(super) struct Judge<'v> {
    vault: &'v Vault,
    keepers: Keepers,
    members: ScopeMembers,
    pub(super) state: VaultState,
    sessions: HashMap<Position, Option<OpenSession>>,
}

/// What is open in a session, and what its context shows verbatim.
struct OpenSession {
    live: HashMap<Position, Vec<LiveMark>>,
    shown: BTreeSet<Position>,
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
        Self { vault, keepers, members: ScopeMembers::default(), state, sessions: HashMap::new() }
    }

    /// What would happen to an original; `None` where it is gone.
    pub(super) fn judge(&mut self, original: Position) -> Result<Option<Judged>> {
        self.judged(original, None)
    }

    /// What happens to an original under the writer lock; `None` where it is gone.
    pub(super) fn permit(&mut self, original: Position, lock: LockEpoch) -> Result<Option<Judged>> {
        self.judged(original, Some(lock))
    }

    fn judged(&mut self, original: Position, lock: Option<LockEpoch>) -> Result<Option<Judged>> {
        let vault = self.vault;
        let stage = vault.stage(original)?;
        if stage == Stage::Gone {
            return Ok(None);
        }
        let occurrences = vault.occurrences(original)?;
        let kept = self.keepers.of(vault, original, &occurrences, &mut self.members)?;
        let mut cited_by = vault.positions(&key::key(Table::CitedBy, &[original]))?;
        cited_by.dedup();
        let grace = kept.grace;
        let (live, is_shown) = self.live(&occurrences);
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
            let Some(session) = self.session(span.session) else { return (Err(Unknown), true) };
            marks.extend(session.live.get(at).into_iter().flatten().copied());
            is_shown |= session.shown.contains(at);
        }
        (Ok(marks), is_shown)
    }

    /// What is open in a session; `None` where it cannot be read.
    fn session(&mut self, session: Position) -> Option<&OpenSession> {
        if self.sessions.len() >= SESSIONS_MAX && !self.sessions.contains_key(&session) {
            self.sessions.clear();
        }
        let vault = self.vault;
        self.sessions.entry(session).or_insert_with(|| open_session(vault, session).ok()).as_ref()
    }
}

fn open_session(vault: &Vault, session: Position) -> Result<OpenSession> {
    let view = vault.view(session)?;
    let live = live_reasons(&view, &view.read());
    let mut open = OpenSession { live: HashMap::new(), shown: BTreeSet::new() };
    for (row, reasons) in view.rows.iter().zip(live) {
        if row.is_conversation() && row.stands_in.is_none() {
            open.shown.insert(row.at);
        }
        if !reasons.is_empty() {
            let marks = reasons
                .iter()
                .map(|reason| gate_mark(reason.kind, reason.range, reason.used_by.map(|span| span.0)));
            open.live.insert(row.at, marks.collect());
        }
    }
    Ok(open)
}
