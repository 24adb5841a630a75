//! A session as it stands: its spans in order, what replaced them, and what can be read of them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use spanvault_evidence::{Registry, SessionReading, SpanDebts, SpanText, debts_since, read_session};
use spanvault_store::Store;
use spanvault_types::key::{self, Table};
use spanvault_types::{Checkpointed, Event, Position, Role, SpanContent, SpanKind, SpanRecorded, Summarised};

use crate::catalog::{is_other, source_at};
use crate::error::{Error, Result};
use crate::ingest::record_format;
use crate::vault::Vault;

/// A session at one revision.
pub(crate) struct SessionView {
    pub(crate) session: Position,
    pub(crate) revision: Position,
    /// Its spans in order, without those that a newer state of their source superseded.
    pub(crate) rows: Vec<SpanRow>,
    /// All its summaries, oldest first.
    pub(crate) summaries: Vec<SummaryRow>,
    /// Its checkpoints, oldest first.
    pub(crate) checkpoints: Vec<(Position, Checkpointed)>,
    /// What the vault knows of tools.
    pub(crate) registry: Arc<Registry>,
}

/// One span of a view.
pub(crate) struct SpanRow {
    pub(crate) at: Position,
    pub(crate) span: SpanRecorded,
    pub(crate) sight: Sight,
    /// The summary that stands for it in the context, if one does.
    pub(crate) stands_in: Option<Position>,
}

/// One summary of a view.
pub(crate) struct SummaryRow {
    pub(crate) at: Position,
    pub(crate) summary: Box<Summarised>,
    /// Its text, without the digest.
    pub(crate) text: String,
    /// The summary that covers it, if one does.
    pub(crate) covered_by: Option<Position>,
}

/// What can be read of a span.
pub(crate) enum Sight {
    /// Its content and exact bytes.
    Seen(Arc<SpanContent>, Arc<Vec<u8>>),
    /// No part of the conversation: nothing was read.
    Meta,
    /// Its bytes cannot be had.
    Unseen(Error),
}

impl SpanRow {
    pub(crate) fn content(&self) -> Option<&Arc<SpanContent>> {
        match &self.sight {
            Sight::Seen(content, _bytes) => Some(content),
            Sight::Meta | Sight::Unseen(_) => None,
        }
    }

    pub(crate) fn is_conversation(&self) -> bool {
        self.span.kind.is_conversation()
    }
}

impl Vault {
    /// Loads a session and reads its conversation.
    pub(crate) fn view(&self, session: Position) -> Result<SessionView> {
        let revision = self.revision();
        let summaries = self.summary_rows(session)?;
        let stands_in = stand_ins(&summaries);
        let formats = Formats::default();
        let mut rows = Vec::new();
        let mut bodies = self.store.bodies();
        for at in self.session_spans(session)? {
            let (frame, original) = bodies.read(at)?;
            let Event::SpanRecorded(span) = frame.event else {
                return Err(is_other("a span", at, &frame.event));
            };
            let sight = match original {
                Some(original) if span.kind != SpanKind::Meta => {
                    self.seen(&span, original.bytes, &formats)?
                }
                _ => self.sight(&span, &formats)?,
            };
            rows.push(SpanRow { at, sight, stands_in: stands_in.get(&at).copied(), span });
        }
        let checkpoints = self
            .positions(&key::key(Table::Checkpoint, &[session]))?
            .into_iter()
            .map(|at| Ok((at, self.checkpoint_at(at)?)))
            .collect::<Result<_>>()?;
        let registry = Arc::clone(&self.registry);
        Ok(SessionView { session, revision, rows, summaries, checkpoints, registry })
    }

    fn summary_rows(&self, session: Position) -> Result<Vec<SummaryRow>> {
        self.positions(&key::key(Table::Summary, &[session]))?
            .into_iter()
            .map(|at| {
                let covered_by = self.positions(&key::key(Table::CoveredBy, &[at]))?.last().copied();
                let text = String::from_utf8_lossy(&self.bytes_at(at)?).into_owned();
                Ok(SummaryRow { at, summary: self.summary_at(at)?, text, covered_by })
            })
            .collect()
    }

    /// The spans of a session in order, without those that a newer state of their source superseded.
    pub(crate) fn session_spans(&self, session: Position) -> Result<Vec<Position>> {
        let mut superseded = self.store.column(Table::Superseded);
        let mut spans = Vec::new();
        for at in self.positions(&key::key(Table::Span, &[session]))? {
            if superseded.last(at)?.is_none() {
                spans.push(at);
            }
        }
        Ok(spans)
    }

    /// Whether a newer state of its source superseded any span of a session.
    pub(crate) fn has_superseded_spans(&self, session: Position) -> Result<bool> {
        if self.store.scan_last(&key::key(Table::Superseded, &[]))?.is_none() {
            return Ok(false);
        }
        let mut superseded = self.store.column(Table::Superseded);
        for at in self.positions(&key::key(Table::Span, &[session]))? {
            if superseded.last(at)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The spans that a newer state of their source replaced.
    pub(crate) fn superseded_spans(&self) -> Result<HashSet<Position>> {
        let entries = self.entries(&key::key(Table::Superseded, &[]))?;
        Ok(entries.iter().filter_map(|(found, _at)| key::field(found, 0)).collect())
    }

    /// Reads what can be read of a span.
    pub(crate) fn sight(&self, span: &SpanRecorded, formats: &Formats) -> Result<Sight> {
        if span.kind == SpanKind::Meta {
            return Ok(Sight::Meta);
        }
        match self.bytes_at(span.original) {
            Ok(bytes) => self.seen(span, bytes, formats),
            Err(error) if error.is_about_an_original() => Ok(Sight::Unseen(error)),
            Err(error) => Err(error),
        }
    }

    fn seen(&self, span: &SpanRecorded, bytes: Vec<u8>, formats: &Formats) -> Result<Sight> {
        let content = self.content_of(span, &bytes, formats)?;
        Ok(Sight::Seen(Arc::new(content), Arc::new(bytes)))
    }

    /// Parses the bytes of a span as its source's format says.
    pub(crate) fn content_of(
        &self,
        span: &SpanRecorded,
        bytes: &[u8],
        formats: &Formats,
    ) -> Result<SpanContent> {
        content_of(&self.store, span, bytes, formats)
    }
}

/// As [`Vault::content_of`], for whoever has the log alone.
pub(crate) fn content_of(
    store: &Store,
    span: &SpanRecorded,
    bytes: &[u8],
    formats: &Formats,
) -> Result<SpanContent> {
    let unparsed = |kind| unread(span.role, kind, span.timestamp_ms);
    if !span.kind.was_parsed() {
        return Ok(unparsed(span.kind));
    }
    let Format { name, .. } = formats.of(store, span.source, span.session)?;
    // What was parsed when it was recorded parses again; a program that no longer can must not guess.
    Ok(spanvault_import::parse(&name, bytes).unwrap_or_else(|_unparsed| unparsed(SpanKind::Quarantined)))
}

/// The content of a span of which nothing was read.
pub(crate) const fn unread(role: Role, kind: SpanKind, timestamp_ms: Option<i64>) -> SpanContent {
    SpanContent { role, kind, timestamp_ms, event_key: None, parts: Vec::new() }
}

/// Which summary stands for each span: the outermost that covers it.
fn stand_ins(summaries: &[SummaryRow]) -> HashMap<Position, Position> {
    let mut found = HashMap::new();
    for row in summaries.iter().filter(|row| row.covered_by.is_none()) {
        found.extend(row.summary.spans.iter().map(|span| (*span, row.at)));
    }
    found
}

/// Remembers the format of each source while a session is read.
#[derive(Default)]
pub(crate) struct Formats(RwLock<HashMap<Position, Format>>);

/// The format of the records of a source.
#[derive(Clone)]
pub(crate) struct Format {
    pub(crate) name: Arc<str>,
    /// Whether the words of what an original says stand in its bytes.
    pub(crate) keeps_words: bool,
}

impl Formats {
    /// The format of a source, or of the spans of a session that were recorded one by one.
    pub(crate) fn of(&self, store: &Store, source: Position, session: Position) -> Result<Format> {
        // Spans that were recorded one by one have no source: their session names the format.
        let owner = if source == Position::ZERO { session } else { source };
        if let Some(format) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&owner) {
            return Ok(format.clone());
        }
        let name: Arc<str> = match source {
            Position::ZERO => spanvault_import::CHAT_JSON.into(),
            source => record_format(&source_at(store, source)?.format).into(),
        };
        let format = Format { keeps_words: spanvault_import::keeps_words(&name), name };
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(owner, format.clone());
        Ok(format)
    }
}

impl SessionView {
    /// Reads the evidence of the whole session. Index n of the reading is row n.
    pub(crate) fn read(&self) -> SessionReading {
        let texts = self.texts();
        read_session(&texts.iter().map(OwnedText::as_text).collect::<Vec<_>>(), &self.registry)
    }

    /// Reads what the rows from number `from` on owe.
    pub(crate) fn debts_since(&self, from: usize) -> Vec<SpanDebts> {
        let texts = self.texts();
        debts_since(&texts.iter().map(OwnedText::as_text).collect::<Vec<_>>(), &self.registry, from)
    }

    /// The content of every row; of those that cannot be seen, an empty one of the recorded kind.
    pub(crate) fn texts(&self) -> Vec<OwnedText> {
        self.rows
            .iter()
            .map(|row| match &row.sight {
                Sight::Seen(content, bytes) => {
                    OwnedText { content: Arc::clone(content), original: Arc::clone(bytes) }
                }
                Sight::Meta | Sight::Unseen(_) => OwnedText {
                    content: Arc::new(unread(row.span.role, row.span.kind, row.span.timestamp_ms)),
                    original: Arc::default(),
                },
            })
            .collect()
    }

    /// Estimated tokens of the context as it stands.
    pub(crate) fn tokens_in_context(&self) -> u64 {
        let spans = self.rows.iter().filter(|row| row.is_conversation() && row.stands_in.is_none());
        let summaries = self.summaries.iter().filter(|row| row.covered_by.is_none());
        let checkpoint = self.checkpoints.last().map_or(0, |(_at, checkpoint)| checkpoint.tokens);
        spans.map(|row| row.span.tokens).sum::<u64>()
            + summaries.map(|row| row.summary.tokens).sum::<u64>()
            + checkpoint
    }

    /// Row number of a span.
    pub(crate) fn row_of(&self, span: Position) -> Option<usize> {
        self.rows.iter().position(|row| row.at == span)
    }
}

/// Shared ownership of what a [`SpanText`] borrows.
pub(crate) struct OwnedText {
    content: Arc<SpanContent>,
    original: Arc<Vec<u8>>,
}

impl OwnedText {
    pub(crate) fn as_text(&self) -> SpanText<'_> {
        SpanText { content: &self.content, original: &self.original }
    }
}
