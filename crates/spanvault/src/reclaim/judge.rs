//! Looks at one original that is due, from every side, and asks the gate.

use spanvault_gate::{
    LockEpoch, Refusal, RemovalPermit, RemovalView, Stage, VaultState, decide_condemn, decide_removal,
    permit_removal,
};
use spanvault_store::{Column, Store};
use spanvault_types::key::Table;
use spanvault_types::{Event, EvidentialClass, Position, ReasonKind, SpanRecorded, StoreTime};

use super::sessions::Sessions;
use super::{Act, ReclaimStep, refusal_of};
use crate::error::Result;
use crate::keepers::Keepers;
use crate::scoped::ScopeMembers;
use crate::vault::Vault;

/// Judges originals one by one, at one revision.
pub(super) struct Judge<'v> {
    vault: &'v Vault,
    keepers: Keepers,
    members: ScopeMembers,
    pub(super) state: VaultState,
    tables: Tables<'v>,
    sessions: Sessions,
    /// The record of a fate that was read last: one condemns many originals.
    fate: Option<(Position, Stage)>,
}

/// What the log has about originals, as it is when they are judged.
struct Tables<'v> {
    others: Column<'v>,
    fates: Column<'v>,
    leases: Column<'v>,
    cited_by: Column<'v>,
}

impl<'v> Tables<'v> {
    const fn of(store: &'v Store) -> Self {
        Self {
            others: store.column(Table::Occurrence),
            fates: store.column(Table::Fate),
            leases: store.column(Table::Lease),
            cited_by: store.column(Table::CitedBy),
        }
    }
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
    /// `sessions` is what is known of sessions at this revision.
    pub(super) fn new(vault: &'v Vault, keepers: Keepers, sessions: Sessions) -> Self {
        let state = vault.gate_state(&keepers);
        Self {
            vault,
            keepers,
            members: ScopeMembers::default(),
            state,
            tables: Tables::of(&vault.store),
            sessions,
            fate: None,
        }
    }

    /// What it got to know of sessions.
    pub(super) fn into_sessions(self) -> Sessions {
        self.sessions
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
        let event = self.vault.frame(original)?.event;
        let own = if let Event::SpanRecorded(span) = event { Some(span) } else { None };
        let others = self.tables.others.of(original)?;
        let occurrences = self.vault.occurrences_beside(original, own, others)?;
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
        let leased_by = self.tables.leases.of(original)?;
        let kept = self.keepers.of_leased(vault, original, occurrences, &mut self.members, leased_by)?;
        let mut cited_by: Vec<_> = self.tables.cited_by.of(original)?.collect();
        cited_by.dedup();
        let grace = kept.grace;
        let (live, is_shown) = self.sessions.live(vault, occurrences);
        let view = RemovalView {
            original,
            stage: Ok(stage),
            grace: Ok(grace),
            retention: Ok(kept.retention),
            leases: Ok(kept.leases),
            demands: Ok(kept.demands),
            holds: Ok(kept.holds),
            live,
            cited_by: Ok(cited_by),
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
            cited_by: view.cited_by.unwrap_or_default(),
            is_shown,
            grace_ends: self.state.now.after(grace).instant(),
        }))
    }

    /// How far the removal of an original has come.
    fn stage(&mut self, original: Position) -> Result<Stage> {
        let Some(last) = self.tables.fates.last(original)? else { return Ok(Stage::Kept) };
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
}
