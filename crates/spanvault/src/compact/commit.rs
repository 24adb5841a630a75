//! Decides again under the writer lock and writes everything as one batch.

use spanvault_evidence::LiveMark;
use spanvault_gate::{
    CompactionRequest, Decision, LockEpoch, Refusal, SpanView, SummaryView, VaultState, decide_compaction,
    permit_compaction,
};
use spanvault_store::{Batch, Writer};
use spanvault_types::key::{self, Table};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{
    CarriedKind, ContentHash, Event, Mode, Operation, OriginalRef, PermitRecord, Position, Refused,
    RefusedItem, Summarised, WayOut,
};

use super::draft::{Drafts, SummaryDraft};
use super::insight::Insight;
use super::plan::{CompactionPlan, RefusedSpan};
use super::{Preserved, SummaryMade};
use crate::error::{Error, Result};
use crate::ids::{SpanId, SummaryId};
use crate::keepers::Keepers;
use crate::scoped::ScopeMembers;
use crate::session::Session;
use crate::vault::Vault;

/// Which refusals a commit writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusals {
    /// Those of the plan and those of the drafts.
    All,
    /// Those of the drafts only: the caller asked for one range.
    OfDrafts,
}

/// What a commit did.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) summaries: Vec<SummaryMade>,
    pub(super) preserved: Vec<Preserved>,
    pub(super) replaced_spans: usize,
    pub(super) replaced_tokens: u64,
}

impl Outcome {
    /// What a commit of these drafts would do, as far as the plan knows.
    pub(super) fn foreseen(plan: &CompactionPlan, drafts: &Drafts) -> Self {
        let mut outcome = Self::default();
        for draft in &drafts.written {
            match draft.view.admission {
                Ok(()) => outcome.add(draft, None, draft.mode, draft.generation(&plan.insight)),
                Err(why) => {
                    let reasons = vec![spanvault_types::Reason::SummaryNotAdmitted { why }];
                    outcome.preserved.extend(plan.insight.rows_of(&draft.rows).map(|row| Preserved {
                        span: SpanId(row.at),
                        reasons: reasons.clone(),
                        ways_out: vec![WayOut::EmitHonestSummary, WayOut::PreserveVerbatim],
                        live: Vec::new(),
                    }));
                }
            }
        }
        outcome.preserved.extend(plan.refused.iter().cloned().map(Preserved::from));
        outcome.keep_company(plan, drafts);
        outcome
    }

    fn add(&mut self, draft: &SummaryDraft, summary: Option<SummaryId>, mode: Mode, generation: u32) {
        self.replaced_spans += draft.rows.len();
        self.replaced_tokens += draft.replaced_tokens;
        self.summaries.push(SummaryMade {
            summary,
            generation,
            covers: draft.rows.len(),
            mode,
            tokens: draft.tokens(),
            degraded: draft.is_degraded,
            fidelity: draft.manifest.fidelity(),
        });
    }

    /// Adds the candidates that stay although nobody refused them.
    fn keep_company(&mut self, plan: &CompactionPlan, drafts: &Drafts) {
        let stays = plan.company.iter().chain(&drafts.no_shorter);
        self.preserved.extend(stays.filter_map(|n| plan.insight.row(*n)).map(|row| Preserved {
            span: SpanId(row.at),
            reasons: Vec::new(),
            ways_out: Vec::new(),
            live: Vec::new(),
        }));
        self.preserved.sort_by_key(|preserved| preserved.span);
    }
}

impl From<RefusedSpan> for Preserved {
    fn from(refused: RefusedSpan) -> Self {
        let ways_out = refused.refusal.ways_out().to_vec();
        Self { span: refused.span, reasons: refused.refusal.into_reasons(), ways_out, live: refused.live }
    }
}

impl SummaryDraft {
    fn generation(&self, insight: &Insight) -> u32 {
        let deepest = insight.summaries_of(&self.summaries).map(|row| row.summary.generation).max();
        deepest.unwrap_or(0) + 1
    }
}

impl Session<'_> {
    pub(super) fn commit(
        &self,
        plan: &CompactionPlan,
        drafts: &Drafts,
        refusals: Refusals,
    ) -> Result<Outcome> {
        let vault = self.vault;
        let mut writer = vault.store.lock()?;
        let insight = current(vault, plan)?;
        let insight = insight.as_ref().unwrap_or(&plan.insight);
        let keepers = Keepers::load(vault)?;
        let state = vault.gate_state(&keepers);
        let mut judge = Judge { vault, insight, keepers, members: ScopeMembers::default(), state, plan };
        let mut outcome = Outcome::default();
        let mut batch = writer.begin();
        let mut refused: Vec<RefusedSpan> = Vec::new();
        for draft in &drafts.written {
            judge.settle(&writer, &mut batch, draft, &mut outcome, &mut refused)?;
        }
        for n in &drafts.too_open {
            refused.extend(judge.decide(*n, &judge.all_marks(*n)));
        }
        if refusals == Refusals::All {
            for n in plan.refused.iter().map(|refused| refused.row) {
                refused.extend(judge.decide(n, &judge.obligations(n)));
            }
        }
        refused.sort_by_key(|refused| refused.span);
        if !refused.is_empty() {
            batch.push(Event::Refused(judge.record(&refused)), None);
        }
        let preserved = refused.into_iter().map(Preserved::from);
        let refused = preserved.len();
        outcome.preserved.extend(preserved);
        if refusals == Refusals::All {
            outcome.keep_company(plan, drafts);
        }
        if !batch.is_empty() {
            let commit = writer.commit(batch)?;
            drop(writer);
            crate::index::follow(vault, commit);
            tracing::info!(
                session = %self.id(),
                commit = %commit,
                summaries = outcome.summaries.len(),
                spans = outcome.replaced_spans,
                refused,
                "compacted a session"
            );
        }
        Ok(outcome)
    }
}

/// The session read again, where something happened in it since the plan; `None` where the plan still sees it all.
fn current(vault: &Vault, plan: &CompactionPlan) -> Result<Option<Insight>> {
    let view = &plan.insight.view;
    let mut newest = vault.store.scan_last(&key::key(Table::Span, &[view.session]))?;
    for table in [Table::Summary, Table::Checkpoint] {
        newest = newest.max(vault.store.scan_last(&key::key(table, &[view.session]))?);
    }
    let superseded = vault.positions(&key::key(Table::Superseded, &[]))?;
    let changed = superseded.into_iter().chain(newest.map(|(_key, at)| at)).max();
    if changed.is_none_or(|at| at <= view.revision) {
        return Ok(None);
    }
    Insight::read(vault, view.session, plan.options.keep, plan.options.over).map(Some)
}

/// Decides under the writer lock.
struct Judge<'a> {
    vault: &'a Vault,
    insight: &'a Insight,
    keepers: Keepers,
    members: ScopeMembers,
    state: VaultState,
    plan: &'a CompactionPlan,
}

impl Judge<'_> {
    /// Row `n` of the plan as a row of the session as it is now.
    fn row_now(&self, n: usize) -> Option<usize> {
        let at = self.plan.insight.row(n)?.at;
        match self.insight.row(n) {
            Some(row) if row.at == at => Some(n),
            _moved => self.insight.view.row_of(at),
        }
    }

    fn obligations(&self, n: usize) -> Vec<LiveMark> {
        self.row_now(n).map_or_else(Vec::new, |n| self.insight.obligations(n).cloned().collect())
    }

    fn all_marks(&self, n: usize) -> Vec<LiveMark> {
        self.row_now(n).and_then(|n| self.insight.marks.get(n)).cloned().unwrap_or_default()
    }

    /// What is open in row `n` and not carried by `draft`.
    fn uncarried(&self, n: usize, draft: &SummaryDraft) -> Vec<LiveMark> {
        let span = self.plan.insight.row(n).map(|row| row.at);
        let is_carried = |mark: &LiveMark| {
            mark.kind != CarriedKind::Obligation
                && draft.digest.carried.iter().any(|carried| {
                    Some(carried.span) == span && carried.kind == mark.kind && carried.range == mark.range
                })
        };
        self.all_marks(n).into_iter().filter(|mark| !is_carried(mark)).collect()
    }

    fn view(&mut self, n: usize, marks: &[LiveMark]) -> SpanView {
        let live: Vec<_> = marks.iter().map(|mark| self.insight.gate_mark(mark)).collect();
        let now = self.row_now(n).unwrap_or(usize::MAX);
        self.insight.gate_view(self.vault, &self.keepers, &mut self.members, now, &live)
    }

    fn request(&self, summary: SummaryView) -> CompactionRequest {
        CompactionRequest { mode: self.plan.options.expiry.mode(self.vault.options.extend_budget), summary }
    }

    /// The verdict on one span without a summary, where it is a refusal.
    fn decide(&mut self, n: usize, marks: &[LiveMark]) -> Option<RefusedSpan> {
        let view = self.view(n, marks);
        match decide_compaction(&self.state, &self.request(SummaryView::FORESEEN), &view) {
            Decision::Permit(_terms) => None,
            Decision::Refuse(refusal) => Some(self.plan.insight.refused(n, refusal)),
        }
    }

    /// Permits a draft and puts it into the batch, or refuses its spans.
    fn settle(
        &mut self,
        writer: &Writer<'_>,
        batch: &mut Batch,
        draft: &SummaryDraft,
        outcome: &mut Outcome,
        refused: &mut Vec<RefusedSpan>,
    ) -> Result<()> {
        if !self.still_stands(draft) {
            return Ok(());
        }
        let closure = self.plan.insight.closure(&draft.rows, &draft.summaries);
        let mut views = Vec::with_capacity(closure.len());
        for n in &closure {
            let marks = self.uncarried(*n, draft);
            views.push(self.view(*n, &marks));
        }
        let hash = ContentHash::of(draft.text.as_bytes());
        let permitted = permit_compaction(
            LockEpoch::new(writer.epoch()),
            &self.state,
            &self.request(draft.view),
            &views,
            hash,
        );
        match permitted {
            Ok(permit) => {
                let mode = permit.mode();
                let at = batch.next();
                let event = Summarised {
                    session: self.insight.view.session,
                    generation: draft.generation(&self.plan.insight),
                    spans: permit.spans().to_vec(),
                    summaries: self.plan.insight.summaries_of(&draft.summaries).map(|row| row.at).collect(),
                    citations: self.citations(&closure)?,
                    mode,
                    summarizer: draft.summarizer.to_owned(),
                    tokens: draft.tokens(),
                    degraded: draft.is_degraded,
                    manifest: draft
                        .manifest
                        .encode()
                        .map_err(|source| Error::internal("write a manifest").with_source(source))?,
                    digest: draft.digest.render(at),
                    fidelity: draft.manifest.fidelity(),
                    permit: recorded(permit.into_record()),
                };
                batch.push(Event::Summarised(Box::new(event)), Some(draft.text.clone().into_bytes()));
                outcome.add(draft, Some(SummaryId(at)), mode, draft.generation(&self.plan.insight));
            }
            Err(refusal) => {
                let of_span: std::collections::HashMap<Position, Refusal> =
                    refusal.spans.into_iter().collect();
                for n in &draft.rows {
                    let Some(at) = self.plan.insight.row(*n).map(|row| row.at) else { continue };
                    let its_own = of_span.get(&at).unwrap_or(&refusal.all);
                    refused.push(self.plan.insight.refused(*n, its_own.clone()));
                }
            }
        }
        Ok(())
    }

    /// Whether nobody else replaced one of the draft's spans or summaries since the plan.
    fn still_stands(&self, draft: &SummaryDraft) -> bool {
        let spans = draft.rows.iter().all(|n| {
            self.row_now(*n).and_then(|n| self.insight.row(n)).is_some_and(|row| row.stands_in.is_none())
        });
        let summaries = self.plan.insight.summaries_of(&draft.summaries).all(|planned| {
            self.insight.view.summaries.iter().any(|row| row.at == planned.at && row.covered_by.is_none())
        });
        spans && summaries
    }

    /// One citation for every original of the closure.
    fn citations(&self, closure: &[usize]) -> Result<Vec<OriginalRef>> {
        let mut originals: Vec<Position> =
            self.plan.insight.rows_of(closure).map(|row| row.span.original).collect();
        originals.sort_unstable();
        originals.dedup();
        originals.into_iter().map(|at| self.vault.citation_of(at)).collect()
    }

    fn record(&self, refused: &[RefusedSpan]) -> Refused {
        Refused {
            operation: Operation::Compact,
            session: self.insight.view.session,
            revision: self.state.revision,
            at: self.state.now,
            items: refused
                .iter()
                .map(|refused| {
                    let row = self.plan.insight.row(refused.row);
                    RefusedItem {
                        subject: refused.span.0,
                        bytes: row.map_or(0, |row| row.span.bytes),
                        tokens: row.map_or(0, |row| row.span.tokens),
                        reasons: refused.refusal.reasons().to_vec(),
                    }
                })
                .collect(),
        }
    }
}

/// The permit as the log keeps it.
fn recorded(mut permit: PermitRecord) -> PermitRecord {
    if is_planted(Bug::PermitWithoutLeases) {
        permit.leases.clear();
    }
    permit
}
