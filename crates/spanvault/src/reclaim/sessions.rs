//! What judging has to know of sessions: what is open in their spans, and what their contexts show verbatim.

use std::collections::HashMap;

use spanvault_gate::{LiveMark, Unknown};
use spanvault_types::key::{self, Table};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{Position, SpanRecorded};

use crate::error::Result;
use crate::liveness::{gate_mark, live_reasons_since};
use crate::vault::Vault;
use crate::view::SpanRow;

/// How many spans are remembered at once of the sessions that were looked at: many agents record side by side, and their
/// originals come by turns.
const SPANS_MAX: usize = 1 << 20;

/// The sessions that were looked at, at one revision.
#[derive(Default)]
pub(super) struct Sessions {
    known: HashMap<Position, OpenSession>,
    /// How many of their spans are remembered.
    spans: usize,
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

impl Sessions {
    /// What is open in the spans that have an original, and whether a context shows one of them verbatim.
    pub(super) fn live(
        &mut self,
        vault: &Vault,
        occurrences: &[(Position, SpanRecorded)],
    ) -> (Result<Vec<LiveMark>, Unknown>, bool) {
        let mut marks = Vec::new();
        let mut is_shown = false;
        for (at, span) in occurrences {
            let Ok(session) = self.session(vault, span.session) else { return (Err(Unknown), true) };
            if session.settled.binary_search(at).is_ok() {
                continue;
            }
            let Some(reading) = self.reading(vault, span.session) else { return (Err(Unknown), true) };
            if !is_planted(Bug::OpenIgnored) {
                marks.extend(reading.live.get(at).into_iter().flatten().copied());
            }
            is_shown |= reading.shown.binary_search(at).is_ok();
        }
        (Ok(marks), is_shown)
    }

    fn session(&mut self, vault: &Vault, session: Position) -> Result<&mut OpenSession> {
        if !self.known.contains_key(&session) {
            self.make_room();
            let settled = settled(vault, session)?;
            self.spans += settled.len() + 1;
            self.known.insert(session, OpenSession { settled, reading: None });
        }
        Ok(self.known.entry(session).or_default())
    }

    /// What the texts of a session say; `None` where they cannot be read.
    fn reading(&mut self, vault: &Vault, session: Position) -> Option<&Reading> {
        let is_read = self.known.get(&session).is_some_and(|known| known.reading.is_some());
        if !is_read {
            self.make_room();
            let settled = &self.session(vault, session).ok()?.settled;
            let reading = read(vault, session, settled).map_err(|_unreadable| Unknown);
            self.spans += reading.as_ref().map_or(1, |reading| reading.shown.len() + reading.live.len());
            self.known.entry(session).or_default().reading = Some(reading);
        }
        self.known.get(&session)?.reading.as_ref()?.as_ref().ok()
    }

    fn make_room(&mut self) {
        if self.spans >= SPANS_MAX {
            self.known.clear();
            self.spans = 0;
        }
    }
}

/// The spans of a session that need not be read again to know that nothing is open in them: a permit put them behind a
/// summary, so all that they had promised was discharged then, and what is said later reopens nothing. Only a checkpoint
/// that carried something, or a newer state of a source, can have changed that: where there is either, all is read.
fn settled(vault: &Vault, session: Position) -> Result<Vec<Position>> {
    let has_checkpoint = vault.store.scan_last(&key::key(Table::Checkpoint, &[session]))?.is_some();
    if has_checkpoint || vault.has_superseded_spans(session)? {
        return Ok(Vec::new());
    }
    let mut settled = Vec::new();
    for at in vault.positions(&key::key(Table::Summary, &[session]))? {
        settled.extend(vault.summary_at(at)?.spans);
    }
    settled.sort_unstable();
    settled.dedup();
    Ok(settled)
}

/// Reads what is open in a session, from its first span on that is not settled: only those are asked about.
fn read(vault: &Vault, session: Position, settled: &[Position]) -> Result<Reading> {
    let view = vault.view(session)?;
    let is_asked = |row: &SpanRow| row.is_conversation() && settled.binary_search(&row.at).is_err();
    let from = view.rows.iter().position(is_asked).unwrap_or(view.rows.len());
    let live = live_reasons_since(&view, from);
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
