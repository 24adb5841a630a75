//! Acts on what is due, in steps, each under one hold of the writer lock.

use spanvault_gate::LockEpoch;
use spanvault_store::{FreeOptions, Removal};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{Condemned, Event, Operation, Position, Refused, RefusedItem, Rescued};

use super::judge::{Judge, Judged, Verdict};
use super::sessions::Sessions;
use super::{ReclaimReport, ReclaimStep};
use crate::error::Result;
use crate::keepers::Keepers;
use crate::vault::Vault;

/// How many originals are judged under one hold of the lock.
const STEP: usize = 1_024;

/// Judges each original again under the writer lock, writes the verdicts, and removes what the gate permits.
///
/// What is due only since the survey is left for the next run, so a run does what a dry run printed, or less (I48).
pub(super) fn apply(
    vault: &Vault,
    due: &[Position],
    told: &mut dyn FnMut(&ReclaimStep),
    report: &mut ReclaimReport,
) -> Result<()> {
    let mut known = Known::default();
    for step in due.chunks(STEP) {
        let commit = one_step(vault, step, &mut known, told, report)?;
        crate::index::follow(vault, commit);
    }
    // Bytes are unreachable since their tombstone; now the file system gets their room back.
    let mut writer = vault.store.lock()?;
    let freed = vault.store.free_space(&mut writer, FreeOptions::default(), &mut |_files| {})?;
    report.bytes_freed = freed.bytes_freed;
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that removes bytes: with permits of the gate, made under the lock that is held here, after \
              their verdicts are in the log; see RemovalPermit for the other two barriers"
)]
fn one_step(
    vault: &Vault,
    step: &[Position],
    known: &mut Known,
    told: &mut dyn FnMut(&ReclaimStep),
    report: &mut ReclaimReport,
) -> Result<Position> {
    let early = is_planted(Bug::KeepersBeforeTheLock).then(|| Keepers::load(vault));
    let mut writer = vault.store.lock()?;
    let sessions = known.at(writer.revision());
    let mut judge = Judge::new(vault, early.unwrap_or_else(|| Keepers::load(vault))?, sessions);
    let mut outcome = Outcome::default();
    for original in step {
        if let Some(judged) = judge.permit(*original, LockEpoch::new(writer.epoch()))? {
            told(&judged.step());
            report.add(&judged);
            outcome.take(judged);
        }
    }
    let Outcome { condemned, rescued, refused, removals } = outcome;
    // Removal comes first: its permits name the revision that they were decided at.
    let changes_sessions = !removals.is_empty();
    if changes_sessions {
        vault.store.remove(&mut writer, removals)?;
    }
    let mut batch = writer.begin();
    if !condemned.is_empty() {
        batch.push(Event::Condemned(Condemned { originals: condemned, at: judge.state.now }), None);
    }
    if !rescued.is_empty() {
        batch.push(Event::Rescued(Rescued { originals: rescued, by: Position::ZERO }), None);
    }
    if !refused.is_empty() && !is_planted(Bug::RefusalNotLogged) {
        let (operation, session) = (Operation::Reclaim, Position::ZERO);
        let (revision, at) = (judge.state.revision, judge.state.now);
        batch.push(Event::Refused(Refused { operation, session, revision, at, items: refused }), None);
    }
    let commit = if batch.is_empty() { writer.revision() } else { writer.commit(batch)? };
    if !changes_sessions {
        *known = Known { sessions: judge.into_sessions(), revision: writer.revision() };
    }
    Ok(commit)
}

/// What the step before got to know of sessions. It still holds where nothing was written since but that step's verdicts,
/// and none of them took bytes away.
#[derive(Default)]
struct Known {
    sessions: Sessions,
    revision: Position,
}

impl Known {
    /// What is known at this revision.
    fn at(&mut self, revision: Position) -> Sessions {
        let known = std::mem::take(self);
        if known.revision == revision { known.sessions } else { Sessions::default() }
    }
}

#[derive(Default)]
struct Outcome {
    condemned: Vec<Position>,
    rescued: Vec<Position>,
    refused: Vec<RefusedItem>,
    removals: Vec<Removal>,
}

impl Outcome {
    fn take(&mut self, judged: Judged) {
        let Judged { original, bytes, tokens, verdict, class, .. } = judged;
        let item = |refusal: spanvault_gate::Refusal| RefusedItem {
            subject: original,
            bytes,
            tokens,
            reasons: refusal.into_reasons(),
        };
        match verdict {
            Verdict::Condemn => self.condemned.push(original),
            Verdict::Remove(permit) => self.removals.extend(permit.map(|permit| Removal { permit, class })),
            Verdict::Rescue(refusal) => {
                self.rescued.push(original);
                self.refused.push(item(refusal));
            }
            Verdict::Refuse(refusal) => self.refused.push(item(refusal)),
        }
    }
}
