//! Builds one batch of recorded spans under the writer lock.
//!
//! Ingest and [`crate::Session::record`] both write through here, so equal bytes are stored once, ordinals have no
//! gaps, and a batch is all there or not.

use std::collections::{HashMap, HashSet};

use spanvault_store::{Batch, Body, Durability, Whereabouts, Writer};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{
    ContentHash, Event, EvidentialClass, Position, Rescued, SessionOpened, SpanContent, SpanKind,
    SpanRecorded, key, key::Table,
};

use crate::error::Result;
use crate::options::IndexKind;
use crate::postings::SpanTerms;
use crate::vault::Vault;

/// A span that is about to be recorded.
pub(crate) struct NewSpan<'a> {
    pub(crate) session: Position,
    pub(crate) source: Position,
    pub(crate) record: String,
    pub(crate) index: u64,
    pub(crate) content: &'a SpanContent,
    pub(crate) class: EvidentialClass,
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: ContentHash,
    /// What [`Vault::terms_of`] gave of it.
    pub(crate) terms: Option<SpanTerms>,
}

/// What the log has under a record's own identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Nothing.
    New,
    /// A span with the same bytes.
    Same(Position),
    /// A span with other bytes.
    OtherBytes(Position),
}

/// A record's own identity, as the log keeps it.
type EventKey = [u8; 16];

/// One batch in the making; holds the writer lock.
pub(crate) struct Recorder<'v> {
    vault: &'v Vault,
    writer: Writer<'v>,
    batch: Batch,
    /// Bodies of this batch, and those in the log that it met.
    bodies: HashMap<ContentHash, Position>,
    /// Event keys of this batch.
    identities: HashMap<(Position, EventKey), Vec<(Position, ContentHash)>>,
    /// Sessions that this batch records in, by name.
    sessions: HashMap<String, Position>,
    /// Those of them that it opened.
    opened: HashSet<Position>,
    /// The next ordinal of each session that this batch records in.
    ordinals: HashMap<Position, u64>,
    /// Condemned originals that this batch records again.
    rescued: HashSet<Position>,
    /// What was read of spans of this batch, for those who post them.
    posted: Vec<(Position, SpanTerms)>,
    /// Bytes of bodies that were not known before.
    pub(crate) bytes_new: u64,
}

impl<'v> Recorder<'v> {
    pub(crate) fn start(vault: &'v Vault) -> Result<Self> {
        let writer = vault.store.lock()?;
        let batch = writer.begin();
        Ok(Self {
            vault,
            writer,
            batch,
            bodies: HashMap::new(),
            identities: HashMap::new(),
            sessions: HashMap::new(),
            opened: HashSet::new(),
            ordinals: HashMap::new(),
            rescued: HashSet::new(),
            posted: Vec::new(),
            bytes_new: 0,
        })
    }

    /// The session of that name, opened by this batch where there is none.
    pub(crate) fn session(&mut self, name: &str, format: &str) -> Result<Position> {
        if let Some(at) = self.sessions.get(name) {
            return Ok(*at);
        }
        let at = if let Some(at) = self.vault.session_named(name)? {
            at
        } else {
            let opened = SessionOpened { name: name.to_owned(), format: format.to_owned() };
            let at = self.push(Event::SessionOpened(opened), None);
            self.opened.insert(at);
            at
        };
        self.sessions.insert(name.to_owned(), at);
        Ok(at)
    }

    pub(crate) fn push(&mut self, event: Event, body: Option<Vec<u8>>) -> Position {
        self.batch.push(event, body)
    }

    /// Stores the bytes between records.
    pub(crate) fn gap(&mut self, bytes: Vec<u8>, hash: ContentHash) -> Result<Position> {
        if let Some(at) = self.stored(&hash)? {
            return Ok(at);
        }
        self.bytes_new += bytes.len() as u64;
        let at = self.batch.push_body(Event::GapStored, Body::hashed(bytes, hash));
        self.bodies.insert(hash, at);
        Ok(at)
    }

    /// Records a span; its bytes are stored only where nobody has them yet (I15).
    pub(crate) fn span(&mut self, span: NewSpan<'_>) -> Result<Position> {
        let known = self.stored(&span.hash)?;
        let ordinal = self.next_ordinal(span.session)?;
        self.ordinals.insert(span.session, ordinal + 1);
        let at = self.batch.next();
        let bytes = span.bytes.len() as u64;
        let event_key = span.content.event_key.as_deref().map(key::event_key_of);
        let event = SpanRecorded {
            session: span.session,
            ordinal,
            source: span.source,
            record: span.record,
            index: span.index,
            original: known.unwrap_or(at),
            bytes,
            tokens: tokens_of(span.content, bytes),
            role: span.content.role,
            kind: span.content.kind,
            class: span.class,
            timestamp_ms: span.content.timestamp_ms,
            recorded_at: self.vault.now(),
            event_key,
        };
        self.posted.extend(span.terms.map(|terms| (at, terms)));
        if let Some(event_key) = event_key {
            self.identities.entry((span.session, event_key)).or_default().push((at, span.hash));
        }
        let event = Event::SpanRecorded(event);
        if let Some(original) = known {
            self.push(event, None);
            self.rescue(original, at);
        } else {
            self.bytes_new += bytes;
            self.bodies.insert(span.hash, at);
            self.batch.push_body(event, Body::hashed(span.bytes, span.hash));
        }
        Ok(at)
    }

    /// What is recorded again is needed again: if it was condemned, a full grace begins when it is due once more (I37).
    fn rescue(&mut self, original: Position, by: Position) {
        let is_condemned = matches!(self.vault.store.whereabouts(original), Whereabouts::Condemned { .. });
        if is_condemned && self.rescued.insert(original) {
            self.push(Event::Rescued(Rescued { originals: vec![original], by }), None);
        }
    }

    /// What the log and this batch have under `event_key`, apart from the spans that `is_taken` claims.
    pub(crate) fn identity(
        &self,
        session: Position,
        event_key: &[u8; 16],
        hash: &ContentHash,
        is_taken: &dyn Fn(Position) -> bool,
    ) -> Result<Identity> {
        let mut found = Vec::new();
        for at in self.vault.positions(&key::event_key(session, event_key))? {
            found.push((at, self.vault.hash_at(self.vault.span_at(at)?.original)?));
        }
        if let Some(fresh) = self.identities.get(&(session, *event_key)) {
            found.extend(fresh.iter().map(|(at, hash)| (*at, Some(*hash))));
        }
        let same = found.iter().find(|(at, found)| *found == Some(*hash) && !is_taken(*at));
        Ok(match (same, found.iter().find(|(_at, found)| *found != Some(*hash))) {
            (Some((at, _hash)), _) => Identity::Same(*at),
            (None, Some((at, _hash))) => Identity::OtherBytes(*at),
            (None, None) => Identity::New,
        })
    }

    /// A span of this session with these bytes at this index that has no identity of its own. A session that this batch
    /// opened has none yet, and what all sessions share (a prompt, "ok") stands in too many others to look at each.
    pub(crate) fn anonymous(
        &self,
        session: Position,
        hash: &ContentHash,
        index: u64,
    ) -> Result<Option<Position>> {
        if self.opened.contains(&session) {
            return Ok(None);
        }
        let Some(original) = self.vault.original_of(hash)? else { return Ok(None) };
        let found =
            self.vault.occurrences(original)?.into_iter().find(|(_at, span)| {
                span.session == session && span.index == index && span.event_key.is_none()
            });
        Ok(found.map(|(at, _span)| at))
    }

    /// Writes the batch; what it gives must be passed to [`Vault::make_durable`] before anything is acknowledged.
    pub(crate) fn append(mut self) -> Result<Position> {
        let commit = self.writer.append(self.batch)?;
        self.vault.ahead.add(self.posted);
        Ok(commit)
    }

    /// The frame that holds these bytes, in this batch or retrievable in the log. What is retrievable stays so as long as
    /// this holds the lock.
    fn stored(&mut self, hash: &ContentHash) -> Result<Option<Position>> {
        if let Some(at) = self.bodies.get(hash) {
            return Ok(Some(*at));
        }
        let found = self.vault.original_of(hash)?.filter(|at| {
            is_planted(Bug::GoneForStored) || self.vault.store.whereabouts(*at).is_retrievable()
        });
        if let Some(at) = found {
            self.bodies.insert(*hash, at);
        }
        Ok(found)
    }

    /// The ordinal of the next span of a session.
    pub(crate) fn next_ordinal(&mut self, session: Position) -> Result<u64> {
        if let Some(next) = self.ordinals.get(&session) {
            return Ok(*next);
        }
        let next = self.vault.span_count(session)?;
        self.ordinals.insert(session, next);
        Ok(next)
    }
}

impl Vault {
    /// What is to be posted of a span that is about to be recorded; `None` where nobody can read it, or nothing is posted.
    /// Whoever reads the span again from the log, as its record was read, finds the same.
    pub(crate) fn terms_of(
        &self,
        session: Position,
        content: &SpanContent,
        hash: ContentHash,
    ) -> Option<SpanTerms> {
        let is_posted = is_parsed(content.kind) && self.options.index == IndexKind::Sled;
        is_posted.then(|| SpanTerms::of(session, content, hash, &self.registry))
    }

    /// Makes everything up to `commit` durable; one sync serves all who wait.
    pub(crate) fn make_durable(&self, commit: Position) -> Result<()> {
        self.settle(commit, Durability::Sync)
    }

    /// Makes everything up to `commit` as durable as is asked.
    pub(crate) fn settle(&self, commit: Position, durability: Durability) -> Result<()> {
        self.store.settle(commit, durability)?;
        crate::index::follow(self, commit);
        Ok(())
    }

    /// How many spans a session has.
    pub(crate) fn span_count(&self, session: Position) -> Result<u64> {
        let last = self.store.scan_last(&key::key(Table::Span, &[session]))?;
        Ok(last.and_then(|(found, _at)| key::field(&found, 1)).map_or(0, |ordinal| ordinal.get() + 1))
    }
}

/// Whether anything can be asked of what a span of this kind says.
const fn is_parsed(kind: SpanKind) -> bool {
    kind.was_parsed() && !matches!(kind, SpanKind::Meta)
}

/// The estimated tokens of a span; of bytes that could not be parsed, all count.
fn tokens_of(content: &SpanContent, bytes: u64) -> u64 {
    if content.kind.was_parsed() {
        spanvault_evidence::tokens_of_span(content)
    } else {
        spanvault_evidence::tokens_of_bytes(bytes)
    }
}
