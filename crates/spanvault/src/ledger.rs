//! The log as a ledger: what was refused, and what happened.

use spanvault_types::key::{self, Table};
use spanvault_types::{Event, Operation, Position, Reason, StoreTime, WayOut};

use crate::catalog::AnySummary;
use crate::error::{Error, Result};
use crate::vault::Vault;

/// One refused span or original, as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalInfo {
    /// The refusal's position in the log.
    pub at: Position,
    /// Store time of the decision.
    pub decided_at: StoreTime,
    /// What was asked for.
    pub operation: Operation,
    /// The name of the session; empty where the request was about none.
    pub session: String,
    /// The span, or the original for a reclaim.
    pub subject: Position,
    /// Its bytes.
    pub bytes: u64,
    /// Its estimated tokens.
    pub tokens: u64,
    /// All reasons.
    pub reasons: Vec<Reason>,
    /// What can be done about them, each once; any of them may not be enough alone.
    pub ways_out: Vec<WayOut>,
    /// Whether a later verdict about the same subject stands in the log (I87).
    pub is_superseded: bool,
}

/// One event of the log, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its position.
    pub at: Position,
    /// What it records.
    pub event: Event,
}

/// The ways out of a logged refusal: the log keeps its reasons, and they say what can be done.
fn ways_out(operation: Operation, reasons: &[Reason]) -> Vec<WayOut> {
    let mut ways: Vec<WayOut> = reasons.iter().flat_map(Reason::ways_out).collect();
    if operation == Operation::Compact {
        ways.push(WayOut::PreserveVerbatim);
    }
    ways.sort();
    ways.dedup();
    ways
}

impl Vault {
    /// Gives every refusal to `sink`, oldest first.
    ///
    /// # Errors
    /// What `sink` says; `Corrupt` where the log is damaged.
    pub fn refusals(&self, sink: &mut dyn FnMut(RefusalInfo) -> Result<()>) -> Result<()> {
        for at in self.positions(&key::key(Table::Verdict, &[]))? {
            let Event::Refused(refused) = self.frame(at)?.event else { continue };
            let session = if refused.session == Position::ZERO {
                String::new()
            } else {
                self.session_at(refused.session)?.name
            };
            for item in refused.items {
                let is_superseded = self.latest_verdict(item.subject)?.is_some_and(|latest| latest > at);
                sink(RefusalInfo {
                    at,
                    decided_at: refused.at,
                    operation: refused.operation,
                    session: session.clone(),
                    subject: item.subject,
                    bytes: item.bytes,
                    tokens: item.tokens,
                    ways_out: ways_out(refused.operation, &item.reasons),
                    reasons: item.reasons,
                    is_superseded,
                })?;
            }
        }
        Ok(())
    }

    /// The newest verdict about a span or original: a refusal, a summary that replaced it, or a tombstone.
    pub(crate) fn latest_verdict(&self, subject: Position) -> Result<Option<Position>> {
        let refused = self.positions(&key::key(Table::Refusal, &[subject]))?.last().copied();
        let event = self.frame(subject)?.event;
        let original = if let Event::SpanRecorded(span) = event { span.original } else { subject };
        let mut permitted = None;
        for at in self.positions(&key::key(Table::CitedBy, &[original]))? {
            // That another program replaced a span is no verdict.
            if let AnySummary::Made(summary) = self.any_summary_at(at)?
                && summary.spans.binary_search(&subject).is_ok()
            {
                permitted = Some(at);
            }
        }
        let mut gone = None;
        for at in self.positions(&key::key(Table::Fate, &[original]))? {
            if matches!(self.frame(at)?.event, Event::Reclaimed(_)) {
                gone = Some(at);
            }
        }
        Ok(refused.max(permitted).max(gone))
    }

    /// Gives every event of the log from `from` on to `sink`, in order.
    ///
    /// # Errors
    /// What `sink` says; `Corrupt` where a frame cannot be read.
    pub fn log(&self, from: Position, sink: &mut dyn FnMut(LogEntry) -> Result<()>) -> Result<()> {
        for frame in self.store.frames(from) {
            let frame = frame.map_err(Error::from)?;
            sink(LogEntry { at: frame.at, event: frame.event })?;
        }
        Ok(())
    }
}
