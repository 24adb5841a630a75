//! What an evaluation is handed: spans in source order, read one by one when they are needed.

use std::sync::Arc;

use spanvault_types::{ContentHash, Position, Role, SpanContent, SpanKind};

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
    /// The path of its source; empty where it was recorded directly.
    pub source: Arc<str>,
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

/// Where an evaluation gets its spans from.
///
/// A failure to read a single original is no error but a [`Sight::Unseen`]; errors are for what prevents any answer.
pub trait Originals {
    /// What prevents an answer.
    type Error;

    /// The full name of the session of that name, or of the only one whose name starts with it.
    ///
    /// # Errors
    /// Where there is none, or several start with it.
    fn session(&self, name: &str) -> Result<Arc<str>, Self::Error>;

    /// The transcripts, one after the other, in the order in which they were recorded.
    ///
    /// # Errors
    /// Where the spans cannot be listed.
    fn transcripts(&self, within: &Within) -> Result<Transcripts<'_, Self::Error>, Self::Error>;

    /// What can be seen of `span`.
    ///
    /// # Errors
    /// Where reading fails in a way that says nothing about this span.
    fn read(&self, span: &AskSpan) -> Result<Sight, Self::Error>;

    /// The exact, verified bytes of the original of `span`; `None` where they cannot be had.
    ///
    /// # Errors
    /// Where reading fails in a way that says nothing about this span.
    fn bytes(&self, span: &AskSpan) -> Result<Option<Vec<u8>>, Self::Error>;
}
