//! What an evaluation is handed: spans in source order, read one by one when they are needed.

use std::sync::Arc;

use spanvault_evidence::Registry;
use spanvault_types::{ContentHash, Position, Role, SetSum, SpanContent, SpanKind};

use super::sieve::Sieve;
use super::terms::Need;

/// What is known of a span without reading its bytes.
#[derive(Debug, Clone)]
pub struct AskSpan {
    /// The span.
    pub span: Position,
    /// The frame that holds its original.
    pub original: Position,
    /// The content hash of its original; a tombstone still knows it.
    pub hash: ContentHash,
    /// Length of the original in bytes.
    pub bytes: u64,
    /// The name of its session.
    pub session: Arc<str>,
    /// The record that opened its session.
    pub session_at: Position,
    /// The path of its source; empty where it was recorded directly.
    pub source: Arc<str>,
    /// The record that opened its source; zero where it was recorded directly.
    pub source_at: Position,
    /// The transcript inside a source that holds many; empty otherwise.
    pub record: Arc<str>,
    /// The index in the source.
    pub index: u64,
    /// Who speaks.
    pub role: Role,
    /// The strongest part, as recorded.
    pub kind: SpanKind,
    /// When, in milliseconds after the epoch, if the record says so.
    pub timestamp_ms: Option<i64>,
}

/// The spans of one transcript in source order: what calls are paired with results in.
///
/// A transcript is one record of one source, or one session where spans were recorded directly. A file in which two
/// sessions are interleaved is best handed over as one transcript, so that ordinals count in the order of the file;
/// each span names its own session.
#[derive(Debug, Clone)]
pub struct Transcript {
    /// The path of its source; empty where its spans were recorded directly.
    pub source: Arc<str>,
    /// Which transcript of the source; empty where the source is one.
    pub record: Arc<str>,
    /// Its spans in source order. Those that a newer state of the source superseded are left out.
    pub spans: Vec<AskSpan>,
}

/// Transcripts, one at a time.
pub type Transcripts<'a, E> = Box<dyn Iterator<Item = Result<Transcript, E>> + 'a>;

/// Which transcripts an evaluation wants. Handing over more than these is harmless, fewer is not.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Within {
    /// Only transcripts with spans of the session of this full name.
    pub session: Option<Arc<str>>,
    /// Only sources with this path, or with a path that ends in it in whole components.
    pub source: Option<String>,
    /// Only this record.
    pub record: Option<String>,
}

/// What can be seen of a span.
#[derive(Debug, Clone)]
pub enum Sight {
    /// Its original, verified and parsed.
    Seen(SpanContent),
    /// Nothing, or bytes that were never parsed.
    Unseen {
        /// Why.
        reason: UnseenReason,
        /// The tombstone, where there is one.
        tombstone: Option<Position>,
    },
}

/// Why the content of a span cannot be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnseenReason {
    /// Its bytes were removed after their retention ended.
    Reclaimed,
    /// Its bytes were erased.
    Erased,
    /// Its bytes do not have its hash.
    Corrupt,
    /// Its bytes are not where they should be.
    Missing,
    /// Its bytes could not be read as a record; a search for bytes still reads them.
    Quarantined,
    /// Its bytes are above the size limit for parsing; a search for bytes still reads them.
    TooLarge,
}

/// The spans in which calls that are asked for can be, where that is known without reading all of them.
pub struct Narrowed<'a, E> {
    /// Transcripts, of which spans may be left out that hold neither a call that is asked for, nor its result, nor
    /// anything that could be either.
    pub transcripts: Transcripts<'a, E>,
    /// What was left out: it is searched, in that it is known to hold nothing.
    pub ruled_out: RuledOut,
    /// How many calls that were left out cannot be seen through and so may be ones that are asked for.
    pub opaque_left_out: u64,
}

impl<E> std::fmt::Debug for Narrowed<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Narrowed")
            .field("ruled_out", &self.ruled_out)
            .field("opaque_left_out", &self.opaque_left_out)
            .finish_non_exhaustive()
    }
}

/// Spans that are known to hold nothing that is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuledOut {
    /// The sessions that have some.
    pub sessions: Vec<Position>,
    /// How many there are, records of the runtime among them.
    pub spans: u64,
    /// How many of them were read when they were posted.
    pub read: u64,
    /// The bytes of the originals of those that were read.
    pub read_bytes: u64,
    /// The content hashes of those that were read.
    pub sum: SetSum,
}

/// Where an evaluation gets its spans from.
///
/// A failure to read a single original is no error but a [`Sight::Unseen`]; errors are for what prevents any answer.
///
/// Spans are read on several threads at once.
pub trait Originals: Sync {
    /// What prevents an answer.
    type Error: Send;

    /// What is known of the tools that are called.
    fn registry(&self) -> Arc<Registry> {
        Arc::default()
    }

    /// The full name of the session of that name, or of the only one whose name starts with it.
    ///
    /// # Errors
    /// Where there is none, or several start with it.
    fn session(&self, name: &str) -> Result<Arc<str>, Self::Error>;

    /// The path by which a source is known that a question calls `path`: `../runs/a.jsonl` may lead to one.
    ///
    /// # Errors
    /// Where sources cannot be listed.
    fn source_path(&self, path: &str) -> Result<String, Self::Error> {
        Ok(path.to_owned())
    }

    /// The transcripts, one after the other, in the order in which they were recorded.
    ///
    /// # Errors
    /// Where the spans cannot be listed.
    fn transcripts(&self, within: &Within) -> Result<Transcripts<'_, Self::Error>, Self::Error>;

    /// Only the spans that meet one of `needs`, in the session of that full name or in all, with the spans that the
    /// pairing of their calls rests on. What is not certain is handed over, never ruled out.
    ///
    /// `None` where nothing is known that would help: then [`Originals::transcripts`] is asked. Of spans that meet a need
    /// only because a call in them cannot be seen through, `opaque_max` are handed over, and the calls in the others are
    /// counted.
    ///
    /// # Errors
    /// Where the spans cannot be listed.
    fn narrowed(
        &self,
        _session: Option<&Arc<str>>,
        _needs: &[Need],
        _opaque_max: Option<usize>,
    ) -> Result<Option<Narrowed<'_, Self::Error>>, Self::Error> {
        Ok(None)
    }

    /// All transcripts, of which spans may be left out whose originals were read and verified now, and say nothing that
    /// `sieve` lets through. What is not certain is handed over, never left out.
    ///
    /// `None` where that is not to be had: then [`Originals::transcripts`] is asked.
    ///
    /// # Errors
    /// Where the spans cannot be listed.
    fn sifted(&self, _sieve: &Sieve) -> Result<Option<Narrowed<'_, Self::Error>>, Self::Error> {
        Ok(None)
    }

    /// What can be seen of `span`.
    ///
    /// # Errors
    /// Where reading fails in a way that says nothing about this span.
    fn read(&self, span: &AskSpan) -> Result<Sight, Self::Error>;

    /// What can be seen of `span`; `None` where its original was verified and says nothing that `sieve` lets through.
    ///
    /// # Errors
    /// As [`Originals::read`].
    fn sift(&self, span: &AskSpan, _sieve: &Sieve) -> Result<Option<Sight>, Self::Error> {
        self.read(span).map(Some)
    }

    /// The exact, verified bytes of the original of `span`; `None` where they cannot be had.
    ///
    /// # Errors
    /// Where reading fails in a way that says nothing about this span.
    fn bytes(&self, span: &AskSpan) -> Result<Option<Vec<u8>>, Self::Error>;
}
