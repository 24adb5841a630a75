//! The same in a log and runs of postings, without a vault around them: nothing is read, and no gate is asked.

use std::path::Path;

use spanvault_env::Env;
use spanvault_index::postings::RunDraft;
use spanvault_store::{Access, Store, StoreOptions};
use spanvault_types::{Event, OriginalRef, Position, SessionOpened, SummaryImported};

use super::{Made, Parts, Work, bodies, told};
use crate::bulk::span;
use crate::postings::{Pair, open_runs, push_run};
use crate::processor::spent;
use crate::records::Exchange;
use crate::{Outcome, check};

/// How many sessions are posted in one run.
const STRETCH_SESSIONS: usize = 16;

impl Work {
    /// Puts everything into a new log and new runs, handed the terms ready.
    ///
    /// # Errors
    /// What the disk says, or where not all is there.
    pub fn into_log(&self, dir: &Path) -> Outcome<Parts> {
        let mut parts = Parts::default();
        let (store, _report) = Store::open(Env::real(), dir, Access::Write, StoreOptions::default())?;
        let mut runs = open_runs(&dir.join("postings"));
        let mut draft = RunDraft::default();
        let mut terms = self.pairs.chunk_by(|left, right| left.span == right.span);
        for (n, (session, made)) in self.sessions.iter().zip(&self.summaries).enumerate() {
            let (spans, recording) = spent(|| {
                let spans = record(&store, n, session)?;
                for (at, pairs) in spans.iter().zip(&mut terms) {
                    for Pair { term, .. } in pairs {
                        draft.post(*term, *at);
                    }
                }
                Ok(spans)
            })?;
            parts.recording += recording;
            let opened = spans.first().copied().unwrap_or_default().get().saturating_sub(1);
            parts.citing += spent(|| summarize(&store, n, Position::new(opened), session, made, &spans))?.1;
            if (n + 1).is_multiple_of(STRETCH_SESSIONS) {
                let stretch = std::mem::take(&mut draft);
                parts.recording += spent(|| push_run(&mut runs, stretch, store.head().position))?.1;
            }
        }
        let originals = store.counts().originals;
        check(originals == (self.spans() + self.summaries()) as u64, || format!("{originals} originals"))?;
        parts.closing = spent(|| {
            if !self.sessions.len().is_multiple_of(STRETCH_SESSIONS) {
                push_run(&mut runs, draft, store.head().position)?;
            }
            drop(store);
            Ok(())
        })?
        .1;
        Ok(parts)
    }
}

/// Records the spans of a session; gives their positions, which begin behind that of the session.
fn record(store: &Store, n: usize, exchanges: &[Exchange]) -> Outcome<Vec<Position>> {
    let mut writer = store.lock()?;
    let mut batch = writer.begin();
    let opened = SessionOpened { name: super::name(n), format: String::new() };
    let session = batch.push(Event::SessionOpened(opened), None);
    let mut spans = Vec::new();
    for (ordinal, body) in (0..).zip(bodies(exchanges)) {
        let event = span(session, ordinal, batch.next(), body.len() as u64);
        spans.push(batch.push(Event::SpanRecorded(event), Some(body.to_vec())));
    }
    writer.commit(batch)?;
    Ok(spans)
}

/// Cites what the vault's summaries cite.
fn summarize(
    store: &Store,
    n: usize,
    session: Position,
    exchanges: &[Exchange],
    summaries: &[Made],
    spans: &[Position],
) -> Outcome {
    let mut rest = spans.iter();
    let mut cited = Vec::new();
    for made in summaries {
        let count = usize::try_from(made.cited.end - made.cited.start)?;
        let citations = rest.by_ref().take(count).map(|at| {
            let commitment = store.frame(*at)?.commitment.ok_or("a span has no commitment")?;
            Ok(OriginalRef { at: *at, commitment })
        });
        cited.push(citations.collect::<Outcome<Vec<_>>>()?);
    }
    let mut writer = store.lock()?;
    let mut batch = writer.begin();
    for (part, citations) in cited.into_iter().enumerate() {
        let text = format!("{n}: {}", told(exchanges, part));
        let event = span(session, (spans.len() + part) as u64, batch.next(), text.len() as u64);
        let text = batch.push(Event::SpanRecorded(event), Some(text.into_bytes()));
        let summary = SummaryImported {
            session,
            span: text,
            generation: 1,
            spans: citations.iter().map(|cited| cited.at).collect(),
            summaries: Vec::new(),
            citations,
            manifest: Vec::new(),
            fidelity: Vec::new(),
        };
        batch.push(Event::SummaryImported(Box::new(summary)), None);
    }
    writer.commit(batch)?;
    Ok(())
}
