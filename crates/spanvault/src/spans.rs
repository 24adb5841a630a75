//! Lists the spans of a vault with what was read in them.

use spanvault_evidence::Obligation;
use spanvault_types::key::{self, Table};
use spanvault_types::{ByteRange, ContentHash, EvidentialClass, Expiry, Position, Role, SpanKind};

use crate::error::Result;
use crate::ids::{SpanId, SummaryId};
use crate::keepers::Keepers;
use crate::liveness::{LiveReason, live_reasons};
use crate::scoped::ScopeMembers;
use crate::vault::Vault;
use crate::view::SessionView;

/// Which spans to list.
#[derive(Debug, Clone, Default)]
pub struct SpanFilter {
    /// Only this session, by name or unique start of it.
    pub session: Option<String>,
    /// Only the newest state of this file, by path or its end in whole components.
    pub source: Option<String>,
}

/// The tier of an original, as lists show it.
pub use spanvault_store::Whereabouts;

/// A promise that a span makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedObligation {
    /// The words that promise it, as they stand.
    pub words: String,
    /// Where they stand in the original.
    pub range: ByteRange,
    /// The span that keeps the promise, if one does.
    pub discharged_by: Option<SpanId>,
}

/// One span as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanInfo {
    /// Its id.
    pub span: SpanId,
    /// The content hash of its original; `None` only where damage hides it.
    pub hash: Option<ContentHash>,
    /// The name of its session.
    pub session: String,
    /// The path of the file that it came from; empty where it was recorded directly.
    pub source: String,
    /// The transcript inside the file.
    pub record: String,
    /// Its index in the source.
    pub index: u64,
    /// Who speaks.
    pub role: Role,
    /// The strongest part.
    pub kind: SpanKind,
    /// Bytes of the original.
    pub bytes: u64,
    /// Estimated tokens.
    pub tokens: u64,
    /// Milliseconds after the epoch, if the record says.
    pub timestamp_ms: Option<i64>,
    /// The evidential class.
    pub class: EvidentialClass,
    /// Whether its own claim is negative or empty.
    pub negative: bool,
    /// The promises that it makes.
    pub opens: Vec<OpenedObligation>,
    /// The spans whose promises it keeps.
    pub discharges: Vec<SpanId>,
    /// Why it is live; empty where it is quiescent.
    pub live: Vec<LiveReason>,
    /// Where its bytes are.
    pub tier: Whereabouts,
    /// When its retention ends.
    pub expires_at: Expiry,
    /// The summary that stands for it in the context.
    pub summary: Option<SummaryId>,
    /// The imported summary that it holds the text of, where its source's own runtime had compacted.
    pub imported: Option<SummaryId>,
}

impl Vault {
    /// Gives every span that `filter` lets through to `sink`, session by session, in order.
    ///
    /// # Errors
    /// `NotFound` or `Invalid` for the names in the filter; what `sink` says; `Corrupt` where the log is damaged.
    pub fn spans(&self, filter: &SpanFilter, sink: &mut dyn FnMut(SpanInfo) -> Result<()>) -> Result<()> {
        let in_source = match &filter.source {
            Some(path) => Some(self.spans_of_source(self.one_source(path)?)?),
            None => None,
        };
        let sessions = match (&filter.session, &in_source) {
            (Some(name), _) => vec![self.find_session(name)?],
            (None, Some(spans)) => self.sessions_of(spans.iter().map(|(span, _index)| *span))?,
            (None, None) => self.sessions()?.iter().map(|session| session.at).collect(),
        };
        for session in sessions {
            self.list_session(session, in_source.as_deref(), sink)?;
        }
        Ok(())
    }

    /// The spans of a source's newest state with their index in it, sorted by position.
    pub(crate) fn spans_of_source(&self, source: Position) -> Result<Vec<(Position, u64)>> {
        let mut spans: Vec<_> = self
            .recipe(source)?
            .iter()
            .flat_map(|(_at, piece)| piece.runs.iter().flat_map(crate::ingest::pieces_of))
            .filter_map(|(at, index)| index.map(|index| (at, index)))
            .collect();
        spans.sort_unstable();
        Ok(spans)
    }

    fn sessions_of(&self, spans: impl Iterator<Item = Position>) -> Result<Vec<Position>> {
        let mut sessions = Vec::new();
        for span in spans {
            let session = self.span_at(span)?.session;
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    pub(crate) fn list_session(
        &self,
        session: Position,
        in_source: Option<&[(Position, u64)]>,
        sink: &mut dyn FnMut(SpanInfo) -> Result<()>,
    ) -> Result<()> {
        let name = self.session_at(session)?.name;
        let view = self.view(session)?;
        let reading = view.read();
        let live = live_reasons(&view, &reading);
        let keepers = Keepers::load(self)?;
        let mut members = ScopeMembers::default();
        for (n, row) in view.rows.iter().enumerate() {
            let index = match in_source {
                Some(spans) => {
                    let Ok(found) = spans.binary_search_by_key(&row.at, |(span, _index)| *span) else {
                        continue;
                    };
                    spans.get(found).map_or(row.span.index, |(_span, index)| *index)
                }
                None => row.span.index,
            };
            let occurrences = self.occurrences(row.span.original)?;
            let kept = keepers.of(self, row.span.original, &occurrences, &mut members)?;
            let read = reading.spans.get(n);
            sink(SpanInfo {
                span: SpanId(row.at),
                hash: self.hash_at(row.span.original)?,
                session: name.clone(),
                source: self.source_path_of(row.span.source)?,
                record: row.span.record.clone(),
                index,
                role: row.span.role,
                kind: row.span.kind,
                bytes: row.span.bytes,
                tokens: row.span.tokens,
                timestamp_ms: row.span.timestamp_ms,
                class: read.filter(|_read| row.content().is_some()).map_or(row.span.class, |read| read.class),
                negative: read.is_some_and(|read| read.negative),
                opens: read.map_or_else(Vec::new, |read| {
                    read.opens.iter().map(|opened| opened_obligation(&view, opened)).collect()
                }),
                discharges: read.map_or_else(Vec::new, |read| {
                    read.discharges
                        .iter()
                        .filter_map(|n| view.rows.get(*n))
                        .map(|row| SpanId(row.at))
                        .collect()
                }),
                live: live.get(n).cloned().unwrap_or_default(),
                tier: self.store.whereabouts(row.span.original),
                expires_at: kept.expires_at(),
                summary: row.stands_in.map(SummaryId),
                imported: self.imported_from(row.at)?,
            })?;
        }
        Ok(())
    }

    /// The first imported summary that the span at `at` holds the text of.
    pub(crate) fn imported_from(&self, at: Position) -> Result<Option<SummaryId>> {
        Ok(self.positions(&key::key(Table::ImportedFrom, &[at]))?.first().copied().map(SummaryId))
    }

    pub(crate) fn source_path_of(&self, source: Position) -> Result<String> {
        if source == Position::ZERO { Ok(String::new()) } else { Ok(self.source_at(source)?.path) }
    }
}

fn opened_obligation(view: &SessionView, opened: &Obligation) -> OpenedObligation {
    OpenedObligation {
        words: opened.words.clone(),
        range: opened.range,
        discharged_by: opened.discharged_by.and_then(|n| view.rows.get(n)).map(|row| SpanId(row.at)),
    }
}
