//! Questions to a vault: hands the originals of its sessions and sources to [`crate::ask`].

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use spanvault_evidence::Registry;
use spanvault_store::Whereabouts;
use spanvault_types::{ContentHash, Event, Position, Role, SpanKind, SpanRecorded};

use crate::ask::{
    self, Answer, AskError, AskSpan, Narrowed, Need, Originals, Query, QueryError, Sieve, Sight, Transcript,
    Transcripts, UnseenReason, Within,
};
use crate::catalog::is_other;
use crate::error::{Error, ErrorKind, Result};
use crate::postings::Known;
use crate::threads::map_in_order;
use crate::vault::Vault;
use crate::view::{Format, Formats, unread};

impl Vault {
    /// Answers a question from the originals, with evidence and coverage.
    ///
    /// *Insufficient* is an answer, not an error.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::SpanDraft;
    /// use spanvault::ask::{Query, Verdict, glob};
    ///
    /// session.record(SpanDraft::tool_call("write_file", serde_json::json!({"path": "/etc/app/conf.yaml"})))?;
    /// session.record(SpanDraft::tool_result("", "written"))?;
    /// let answer = vault.ask(&Query::calls("write_file").arg("path", glob("/etc/**")))?;
    /// assert_eq!(answer.answer, Verdict::Present);
    /// assert_eq!(answer.evidence.len(), 2, "the call and its result");
    ///
    /// let answer = vault.ask(&Query::calls("write_file").arg("path", glob("/usr/**")))?;
    /// assert_eq!(answer.answer, Verdict::Absent);
    /// assert!(answer.coverage.complete);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a query that makes no sense; `NotFound` where its scope names nothing that was recorded.
    pub fn ask(&self, query: &Query) -> Result<Answer> {
        ask::evaluate(query, &VaultOriginals::new(self)).map_err(failed)
    }

    /// Answers several questions, in order; what they read in common is read once. What is wrong with one of them
    /// stands in its place.
    ///
    /// # Errors
    /// `Corrupt` where the originals cannot be listed.
    pub fn ask_all(&self, queries: &[Query]) -> Result<Vec<Result<Answer>>> {
        let answers = ask::evaluate_all(queries, &VaultOriginals::new(self))?;
        Ok(answers.into_iter().map(|answer| answer.map_err(failed)).collect())
    }
}

fn failed(error: AskError<Error>) -> Error {
    match error {
        AskError::Originals(error) => error,
        AskError::Query(error) => error.into(),
        nothing @ AskError::NothingThere { .. } => Error::not_found(nothing.to_string())
            .with_hint("\"spanvault sessions\" lists sessions and their sources"),
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        Self::invalid(error.to_string()).with_source(error)
    }
}

/// How many sessions are listed at once.
const SESSIONS_AT_ONCE: usize = 32;

/// A span with the hash of its original, where its own frame has it.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) at: Position,
    pub(crate) span: SpanRecorded,
    pub(crate) hash: Option<ContentHash>,
}

impl Vault {
    pub(crate) fn span_and_hash_at(&self, at: Position) -> Result<Recorded> {
        let frame = self.frame(at)?;
        let Event::SpanRecorded(span) = frame.event else { return Err(is_other("a span", at, &frame.event)) };
        let hash = frame.hash.filter(|_hash| span.original == at);
        Ok(Recorded { at, span, hash })
    }
}

/// The originals of a vault, as questions see them.
///
/// Where a question names a source, its transcripts are the records of the newest state of that file, with the
/// indexes that they have in it. Otherwise they are sessions, with every span that was ever recorded in them.
pub(crate) struct VaultOriginals<'v> {
    pub(crate) vault: &'v Vault,
    pub(crate) formats: Formats,
    /// What postings tell, once somebody asked; `None` where they are of no use.
    pub(crate) known: OnceLock<Option<Arc<Known>>>,
}

impl<'v> VaultOriginals<'v> {
    pub(crate) fn new(vault: &'v Vault) -> Self {
        Self { vault, formats: Formats::default(), known: OnceLock::new() }
    }

    fn of_source(&self, source: Position) -> Result<Vec<Transcript>> {
        let path: Arc<str> = self.vault.source_at(source)?.path.into();
        let mut records: Vec<(Arc<str>, Vec<AskSpan>)> = Vec::new();
        let mut at_record: HashMap<Arc<str>, usize> = HashMap::new();
        let mut names = Names::default();
        let mut lost = self.vault.store.unread_records()?.split_off(&source);
        for (_piece_at, piece) in self.vault.recipe(source)? {
            for (at, index) in piece.runs.iter().flat_map(crate::ingest::pieces_of) {
                let Some(index) = index else { continue };
                let Some(recorded) = self.readable(at, &mut lost)? else { continue };
                let record: Arc<str> = recorded.span.record.as_str().into();
                let ask_span = self.ask_span(&recorded, index, Arc::clone(&path), &mut names)?;
                let n = *at_record.entry(Arc::clone(&record)).or_insert_with(|| {
                    records.push((record, Vec::new()));
                    records.len() - 1
                });
                if let Some((_record, spans)) = records.get_mut(n) {
                    spans.push(ask_span);
                }
            }
        }
        Ok(records
            .into_iter()
            .map(|(record, spans)| Transcript { source: Arc::clone(&path), record, spans })
            .map(|transcript| with_lost(transcript, &lost, None))
            .collect())
    }

    pub(crate) fn of_session(&self, session: Position) -> Result<Transcript> {
        let mut spans = Vec::new();
        let mut lost = self.vault.store.unread_records()?.split_off(&session);
        for at in self.vault.session_spans(session)? {
            spans.extend(self.readable(at, &mut lost)?);
        }
        let transcript = self.of_spans(spans)?;
        if lost.is_empty() {
            return Ok(transcript);
        }
        let session = (session, self.vault.session_at(session)?.name.into());
        Ok(with_lost(transcript, &lost, Some(&session)))
    }

    /// The span at `at`; where its record is damaged, that is noted among the `lost`.
    fn readable(&self, at: Position, lost: &mut BTreeSet<Position>) -> Result<Option<Recorded>> {
        match self.vault.span_and_hash_at(at) {
            Ok(recorded) => Ok(Some(recorded)),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                lost.insert(at);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// A transcript of spans of one session, in their order.
    pub(crate) fn of_spans(&self, recorded: impl IntoIterator<Item = Recorded>) -> Result<Transcript> {
        let mut names = Names::default();
        let mut spans = Vec::new();
        for recorded in recorded {
            let source = names.source(self.vault, recorded.span.source)?;
            let index = recorded.span.index;
            spans.push(self.ask_span(&recorded, index, source, &mut names)?);
        }
        let (source, record) = spans.first().map_or_else(
            || (Arc::from(""), Arc::from("")),
            |first: &AskSpan| (Arc::clone(&first.source), Arc::clone(&first.record)),
        );
        Ok(Transcript { source, record, spans })
    }

    fn ask_span(
        &self,
        Recorded { at, span, hash }: &Recorded,
        index: u64,
        source: Arc<str>,
        names: &mut Names,
    ) -> Result<AskSpan> {
        let hash = match hash {
            Some(hash) => *hash,
            None => self.vault.hash_at(span.original)?.unwrap_or(ContentHash::from_bytes([0; 32])),
        };
        Ok(AskSpan {
            span: *at,
            original: span.original,
            hash,
            bytes: span.bytes,
            session: names.session(self.vault, span.session)?,
            session_at: span.session,
            source,
            source_at: span.source,
            record: span.record.as_str().into(),
            index,
            role: span.role,
            kind: span.kind,
            timestamp_ms: span.timestamp_ms,
        })
    }

    fn unseen(&self, original: Position, error: &Error) -> Sight {
        let reason = match (error.kind(), self.vault.store.whereabouts(original)) {
            (ErrorKind::Insufficient, _) => UnseenReason::Reclaimed,
            (_, Whereabouts::Missing) => UnseenReason::Missing,
            _damaged => UnseenReason::Corrupt,
        };
        Sight::Unseen { reason, tombstone: error.tombstone() }
    }
}

impl Originals for VaultOriginals<'_> {
    type Error = Error;

    fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.vault.registry)
    }

    fn session(&self, name: &str) -> Result<Arc<str>> {
        let at = self.vault.find_session(name)?;
        Ok(self.vault.session_at(at)?.name.into())
    }

    fn source_path(&self, path: &str) -> Result<String> {
        // What is the end of a path as it is recorded stays so: several sources may have it.
        match self.vault.find_sources(path)?.as_slice() {
            [only] => Ok(self.vault.source_at(*only)?.path),
            _none_or_several => Ok(path.to_owned()),
        }
    }

    fn transcripts(&self, within: &Within) -> Result<Transcripts<'_, Error>> {
        if let Some(path) = &within.source {
            let sources = self.vault.find_sources(path)?;
            let all = sources.into_iter().flat_map(|source| match self.of_source(source) {
                Ok(transcripts) => transcripts.into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            });
            return Ok(Box::new(all));
        }
        let sessions = match &within.session {
            Some(name) => self.vault.session_named(name)?.into_iter().collect(),
            None => self.vault.sessions()?.iter().map(crate::Session::id).collect::<Vec<_>>(),
        };
        let mut listed = VecDeque::new();
        if within.session.is_none() {
            // The record of a whole session may be lost, so that no other transcript tells of it.
            let lost = self.vault.store.unread_records()?;
            let nothing = Transcript { source: Arc::from(""), record: Arc::from(""), spans: Vec::new() };
            listed.extend((!lost.is_empty()).then(|| Ok(with_lost(nothing, &lost, None))));
        }
        let mut sessions = sessions.into_iter();
        Ok(Box::new(std::iter::from_fn(move || {
            if listed.is_empty() {
                let some: Vec<Position> = sessions.by_ref().take(SESSIONS_AT_ONCE).collect();
                listed.extend(map_in_order(&some, |session| self.of_session(*session)));
            }
            listed.pop_front()
        })))
    }

    fn narrowed(
        &self,
        session: Option<&Arc<str>>,
        needs: &[Need],
        opaque_max: Option<usize>,
    ) -> Result<Option<Narrowed<'_, Error>>> {
        crate::postings::narrowed(self, session, needs, opaque_max)
    }

    fn sifted(&self, sieve: &Sieve) -> Result<Option<Narrowed<'_, Error>>> {
        crate::postings::sifted(self, sieve)
    }

    fn read(&self, span: &AskSpan) -> Result<Sight> {
        let sight = self.look(span, |_format, _bytes| false)?;
        // Nothing was ruled out, so there is one.
        Ok(sight.unwrap_or_else(|| Sight::Seen(unread(span.role, span.kind, span.timestamp_ms))))
    }

    fn sift(&self, span: &AskSpan, sieve: &Sieve) -> Result<Option<Sight>> {
        self.look(span, |format, bytes| format.keeps_words && sieve.rules_out(bytes))
    }

    fn bytes(&self, span: &AskSpan) -> Result<Option<Vec<u8>>> {
        match self.vault.bytes_at(span.original) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_about_an_original() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl VaultOriginals<'_> {
    /// What can be seen of a span; `None` where `is_ruled_out` says so of its format and its verified bytes.
    fn look(
        &self,
        span: &AskSpan,
        is_ruled_out: impl FnOnce(&Format, &[u8]) -> bool,
    ) -> Result<Option<Sight>> {
        match span.kind {
            SpanKind::Meta => {
                return Ok(Some(Sight::Seen(unread(span.role, span.kind, span.timestamp_ms))));
            }
            SpanKind::Quarantined => return self.unparsed(span, UnseenReason::Quarantined).map(Some),
            SpanKind::TooLarge => return self.unparsed(span, UnseenReason::TooLarge).map(Some),
            SpanKind::Thinking
            | SpanKind::Message
            | SpanKind::CompactSummary
            | SpanKind::ToolResult
            | SpanKind::ToolCall => {}
        }
        let bytes = match self.vault.bytes_at(span.original) {
            Ok(bytes) => bytes,
            Err(error) if error.is_about_an_original() => {
                return Ok(Some(self.unseen(span.original, &error)));
            }
            Err(error) => return Err(error),
        };
        let format = self.formats.of(&self.vault.store, span.source_at, span.session_at)?;
        if is_ruled_out(&format, &bytes) {
            return Ok(None);
        }
        Ok(Some(match spanvault_import::parse(&format.name, &bytes) {
            Ok(content) if content.kind != SpanKind::Quarantined => Sight::Seen(content),
            // What was parsed when it was recorded parses again; a program that no longer can must not guess.
            Ok(_) | Err(_) => Sight::Unseen { reason: UnseenReason::Quarantined, tombstone: None },
        }))
    }

    /// Bytes that were never parsed; where they are gone, that is the reason that counts.
    fn unparsed(&self, span: &AskSpan, reason: UnseenReason) -> Result<Sight> {
        if self.vault.store.whereabouts(span.original).is_retrievable() {
            return Ok(Sight::Unseen { reason, tombstone: None });
        }
        match self.vault.bytes_at(span.original) {
            Ok(_bytes) => Ok(Sight::Unseen { reason, tombstone: None }),
            Err(error) if error.is_about_an_original() => Ok(self.unseen(span.original, &error)),
            Err(error) => Err(error),
        }
    }
}

/// A transcript with records that nobody can read, each in its place: each may have been a span of it, by anybody and of
/// any kind, so it is one that cannot be seen (I66). `session`: that of all its spans, where it is one.
fn with_lost(
    mut transcript: Transcript,
    lost: &BTreeSet<Position>,
    session: Option<&(Position, Arc<str>)>,
) -> Transcript {
    for at in lost {
        let place = transcript.spans.partition_point(|span| span.span < *at);
        let before = place.checked_sub(1).and_then(|before| transcript.spans.get(before));
        let beside = before.or(transcript.spans.first());
        let (session_at, session) = session
            .cloned()
            .or_else(|| beside.map(|span| (span.session_at, Arc::clone(&span.session))))
            .unwrap_or_else(|| (*at, Arc::from("")));
        let span = AskSpan {
            span: *at,
            original: *at,
            hash: ContentHash::from_bytes([0; 32]),
            bytes: 0,
            session,
            session_at,
            source: Arc::clone(&transcript.source),
            source_at: beside.map_or(Position::ZERO, |span| span.source_at),
            record: Arc::clone(&transcript.record),
            index: before.map_or(0, |span| span.index.saturating_add(1)),
            role: Role::User,
            // Of bytes that were never parsed nobody takes role or kind for known.
            kind: SpanKind::Quarantined,
            timestamp_ms: None,
        };
        transcript.spans.insert(place, span);
    }
    transcript
}

/// Names of sessions and sources, looked up once.
#[derive(Default)]
struct Names {
    sessions: HashMap<Position, Arc<str>>,
    sources: HashMap<Position, Arc<str>>,
}

impl Names {
    fn session(&mut self, vault: &Vault, at: Position) -> Result<Arc<str>> {
        if let Some(name) = self.sessions.get(&at) {
            return Ok(Arc::clone(name));
        }
        let name: Arc<str> = vault.session_at(at)?.name.into();
        self.sessions.insert(at, Arc::clone(&name));
        Ok(name)
    }

    fn source(&mut self, vault: &Vault, at: Position) -> Result<Arc<str>> {
        if let Some(path) = self.sources.get(&at) {
            return Ok(Arc::clone(path));
        }
        let path: Arc<str> = vault.source_path_of(at)?.into();
        self.sources.insert(at, Arc::clone(&path));
        Ok(path)
    }
}
