//! The trait that every format implements, and what it hands over.

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::{Role, SpanContent, SpanKind};

use crate::{Head, ImportError, Kept, Unparsed};

/// The mark that some programs put at the start of UTF-8 files.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";
/// A longer name of a session is taken for none.
const SESSION_NAME_BYTES_MAX: usize = 512;

/// Reads one transcript format.
pub trait Importer: Sync {
    /// The format's name, as `--format` and the log know it.
    fn format(&self) -> &'static str;

    /// How sure this importer is that a file with this head is its own.
    fn detect(&self, head: &Head<'_>) -> Confidence;

    /// Cuts a source into pieces, in order, in memory that does not grow with the source.
    ///
    /// The pieces put together are the bytes that were read, whatever they were (I76). A record that cannot be
    /// read becomes a quarantined span and the next one is tried. When `sink` breaks, the rest is left unread
    /// and the answer is `Ok`: whoever owns the sink knows why.
    ///
    /// # Errors
    /// [`ImportError::Read`], [`ImportError::EmptySource`], and [`ImportError::DocumentTooLarge`], which may
    /// come after pieces were handed over: see [`Importer::source_bytes_max`].
    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError>;

    /// The largest source that [`Importer::cut`] takes, in bytes; `None` where any size is taken.
    fn source_bytes_max(&self, _limits: &Limits) -> Option<u64> {
        None
    }

    /// Reads one original. The answer depends on nothing but its bytes, and equals the
    /// [`Record::content`] that `cut` gave for them.
    ///
    /// # Errors
    /// [`Unparsed`] where they are no record of this format.
    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed>;

    /// Which records a compaction kept, of a record that has a summary of the source's own runtime: nothing, where
    /// the format does not say. The answer depends on nothing but its bytes.
    fn kept_by_compaction(&self, _original: &[u8]) -> Kept {
        Kept::Nothing
    }

    /// Whether a program of this format writes a record again under the same identity, further down in the same
    /// source, when more came of it: the last one is then what was said, and those before it are not said once more.
    fn writes_again(&self) -> bool {
        false
    }

    /// Whether every word of what [`Importer::parse`] says stands in the bytes: whether it does nothing with the texts of an
    /// original but decode JSON, cut out pieces, join them with something between, and add words of its own that are
    /// listed in `words.rs`.
    fn keeps_words(&self) -> bool {
        false
    }

    /// The path of the transcript that a source of this path is part of: its own, unless the format keeps every record
    /// in a file of its own, and so a transcript in a folder.
    fn transcript_of<'a>(&self, source: &'a str) -> &'a str {
        source
    }
}

/// How sure an importer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Not its format.
    No,
    /// It could read it, and so could others.
    Possible,
    /// It looks like its format, though its surest marks are not in the head.
    Likely,
    /// Its format.
    Certain,
}

/// How much an importer reads at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// A record of more bytes is handed over unparsed, with kind [`SpanKind::TooLarge`].
    pub record_bytes_max: usize,
    /// A record of more bytes is handed over in several spans of the same index, all too large.
    pub body_bytes_max: usize,
    /// A format that is one JSON document is refused above this size.
    pub document_bytes_max: u64,
    /// A container is refused that unpacks to more.
    pub unpacked_bytes_max: u64,
}

impl Limits {
    /// The most bytes that are held of one record: what is larger goes in parts. Never 0.
    pub(crate) fn body_bytes(&self) -> usize {
        self.body_bytes_max.max(self.record_bytes_max).max(1)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            record_bytes_max: 32 << 20,
            body_bytes_max: 1 << 30,
            document_bytes_max: 256 << 20,
            unpacked_bytes_max: 4 << 30,
        }
    }
}

/// The next bytes of a source.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A record: an original.
    Span(Record),
    /// Bytes between records: line ends, white space, the frame of a JSON document. Never empty.
    Gap(Vec<u8>),
}

impl Piece {
    /// The bytes of the source that this piece stands for.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Span(record) => &record.bytes,
            Self::Gap(bytes) => bytes,
        }
    }
}

/// One record of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The original: its exact bytes, never empty.
    pub bytes: Vec<u8>,
    /// The session that it belongs to: see [`Record::session_name`].
    pub session: String,
    /// The transcript inside a source that holds many, as a JSON pointer; empty otherwise.
    pub record: String,
    /// The index in the source, as `docs/guides/importing.md` counts it for each format.
    pub index: u64,
    /// What it says.
    pub content: SpanContent,
    /// Why and where it could not be read, if it could not.
    pub quarantine: Option<Quarantine>,
}

impl Record {
    /// The record as one of the file `member` of a container: that is the transcript, or holds it.
    #[must_use]
    pub fn inside(mut self, member: &str) -> Self {
        if member.is_empty() {
            return self;
        }
        if self.session.is_empty() || self.session.starts_with('/') {
            self.session = format!("/{member}{}", self.session);
        }
        self.record = format!("/{member}{}", self.record);
        self
    }

    /// The name of the session, in a source that is itself called `source`.
    ///
    /// A transcript that names its session keeps that name. Where it has none, [`Record::session`] is empty or
    /// starts with `/`, and is what the source's own name continues with.
    pub fn session_name(&self, source: &str) -> String {
        if self.session.is_empty() || self.session.starts_with('/') {
            format!("{source}{}", self.session)
        } else {
            self.session.clone()
        }
    }
}

/// Why a record was put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// The byte of the source at which the record starts.
    pub offset: u64,
    /// What is wrong with it.
    pub reason: Unparsed,
}

/// Whether a name that a transcript gives its session can be taken.
///
/// One that starts with a slash would be read as the rest of the source's own, see [`Record::session_name`].
#[expect(clippy::ptr_arg, reason = "what Option::filter asks for")]
pub(crate) fn is_session_name(name: &String) -> bool {
    (1..=SESSION_NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('/')
}

/// The content of a span that holds nothing readable.
pub(crate) const fn unread(kind: SpanKind) -> SpanContent {
    SpanContent { role: Role::System, kind, timestamp_ms: None, event_key: None, parts: Vec::new() }
}
