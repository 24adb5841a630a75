//! The sessions of a vault as lists show them.

use std::collections::{BTreeSet, HashSet};

use spanvault_types::key::{self, Table};
use spanvault_types::{Position, StoreTime};

use crate::error::Result;
use crate::session::Session;
use crate::vault::Vault;

/// A session and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its name.
    pub session: String,
    /// The format of the source that it came from first.
    pub format: String,
    /// The paths of the files that it has spans of.
    pub sources: Vec<String>,
    /// Its spans, without those that a newer state of their source superseded.
    pub spans: u64,
    /// Bytes of their originals.
    pub bytes: u64,
    /// Estimated tokens of all of them.
    pub tokens: u64,
    /// Summaries that stand in its context.
    pub summaries: u64,
    /// Spans that those stand for.
    pub summarised: u64,
    /// Its checkpoints.
    pub checkpoints: u64,
    /// Store time of the first recording.
    pub first_recorded: Option<StoreTime>,
    /// Store time of the last recording.
    pub last_recorded: Option<StoreTime>,
}

impl Vault {
    /// Every session with how much it holds, oldest first.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged.
    pub fn session_infos(&self) -> Result<Vec<SessionInfo>> {
        self.sessions()?.iter().map(|session| self.session_info(session)).collect()
    }

    fn session_info(&self, session: &Session<'_>) -> Result<SessionInfo> {
        let at = session.id();
        let mut superseded = self.store.column(Table::Superseded);
        let mut info = SessionInfo {
            session: session.name().to_owned(),
            format: self.session_at(at)?.format,
            sources: Vec::new(),
            spans: 0,
            bytes: 0,
            tokens: 0,
            summaries: 0,
            summarised: 0,
            checkpoints: self.positions(&key::key(Table::Checkpoint, &[at]))?.len() as u64,
            first_recorded: None,
            last_recorded: None,
        };
        let mut sources = BTreeSet::new();
        for span in self.positions(&key::key(Table::Span, &[at]))? {
            let recorded = self.span_at(span)?;
            info.first_recorded = info.first_recorded.or(Some(recorded.recorded_at));
            info.last_recorded = info.last_recorded.max(Some(recorded.recorded_at));
            sources.extend(Some(recorded.source).filter(|source| *source != Position::ZERO));
            if superseded.last(span)?.is_none() {
                info.spans += 1;
                info.bytes += recorded.bytes;
                info.tokens += recorded.tokens;
            }
        }
        for source in sources {
            info.sources.push(self.source_at(source)?.path);
        }
        let mut summarised = HashSet::new();
        for summary in self.positions(&key::key(Table::Summary, &[at]))? {
            if self.positions(&key::key(Table::CoveredBy, &[summary]))?.is_empty() {
                info.summaries += 1;
                summarised.extend(self.summary_at(summary)?.spans);
            }
        }
        info.summarised = summarised.len() as u64;
        Ok(info)
    }

    /// The name of the session whose opening stands at `at`.
    ///
    /// # Errors
    /// `NotFound` where no session was opened there; `Corrupt` where its record is damaged.
    pub fn session_name(&self, at: Position) -> Result<String> {
        Ok(self.session_at(at)?.name)
    }

    /// The sessions that the newest state of a file has spans in, the one recorded first coming first.
    ///
    /// `path` is the path of the file, or its end in whole components.
    ///
    /// # Errors
    /// `NotFound` where no source has that path, `Invalid` where several have.
    pub fn sessions_of_source(&self, path: &str) -> Result<Vec<Session<'_>>> {
        let spans = self.spans_of_source(self.one_source(path)?)?;
        let mut sessions: Vec<Position> = Vec::new();
        let mut met = HashSet::new();
        for (span, _index) in spans {
            let session = self.span_at(span)?.session;
            if met.insert(session) {
                sessions.push(session);
            }
        }
        sessions.into_iter().map(|at| Ok(Session::new(self, at, self.session_at(at)?.name))).collect()
    }
}
