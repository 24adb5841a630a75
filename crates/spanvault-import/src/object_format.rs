//! Formats whose records are JSON objects: all that such a format has to say, and the importer that it makes.

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::SpanContent;

use crate::document::{self, Frame, LineNames, Shape, Step};
use crate::json::Raw;
use crate::reading::{Reading, read_content, utf8};
use crate::source::opens_a_document;
use crate::{Confidence, Head, ImportError, Importer, Kept, Limits, Piece, Unparsed, lines};

/// A format of JSON objects.
pub(crate) trait ObjectFormat: Sync {
    /// The format's name, as `--format` and the log know it.
    const NAME: &'static str;
    /// Where the objects stand in a source.
    const LAYOUT: Layout;
    /// Which of the sessions that its objects name a source belongs to.
    const NAMED: Named = Named::Each;
    /// The member of a document whose text names the session; see [`Frame::session`].
    const SESSION_MEMBER: Option<&'static str> = None;
    /// Whether only one of the ways down is gone; see [`Frame::one_path`].
    const ONE_PATH: bool = false;
    /// Whether an element that is a list of objects is a record too.
    const LISTS: bool = false;
    /// Whether it changes no word of what it reads; see [`Importer::keeps_words`].
    const KEEPS_WORDS: bool = false;
    /// Whether a record may come again with more in it; see [`Importer::writes_again`].
    const WRITES_AGAIN: bool = false;

    /// How sure it is that a file which starts with `head` is its own; see [`Importer::detect`].
    fn recognise(head: &Head<'_>) -> Confidence;

    /// Reads one object. The answer depends on nothing but the object.
    fn read(object: Raw<'_>) -> Reading;

    /// Which records a compaction kept; see [`Importer::kept_by_compaction`]. The answer depends on nothing but the
    /// object, which has a summary.
    fn kept_by_compaction(_object: Raw<'_>) -> Kept {
        Kept::Nothing
    }

    /// The transcript that a source is part of; see [`Importer::transcript_of`].
    fn transcript_of(source: &str) -> &str {
        source
    }
}

/// Where the records of a source stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layout {
    /// One a line.
    Lines,
    /// In the arrays of one JSON document, at the end of these ways down; see [`Frame::paths`].
    Document(&'static [&'static [Step]]),
    /// As in a document, of which there is one on each line.
    DocumentLines(&'static [&'static [Step]], LineNames),
    /// The source is one JSON document, and that is the record.
    Whole,
    /// One a line; but a document over several lines, as some programs write beside them, is one record.
    LinesOrWhole,
}

/// Which session a record belongs to, of those that the records of a source name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// The last one that was named.
    Each,
    /// The first one: later ones are those of transcripts that this one quotes.
    First,
}

impl<T: ObjectFormat> Importer for T {
    fn format(&self) -> &'static str {
        T::NAME
    }

    fn detect(&self, head: &Head<'_>) -> Confidence {
        T::recognise(head)
    }

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        let shape = |paths| Shape {
            format: T::NAME,
            frame: Frame { paths, one_path: T::ONE_PATH, session: T::SESSION_MEMBER },
            read: T::read,
            lists: T::LISTS,
        };
        match T::LAYOUT {
            Layout::Lines => lines::cut(source, limits, T::read, T::NAMED, sink),
            Layout::Document(paths) => document::cut(source, limits, &shape(paths), sink),
            Layout::DocumentLines(paths, names) => {
                document::cut_lines(source, limits, &shape(paths), names, sink)
            }
            Layout::Whole => document::cut(source, limits, &shape(&[]), sink),
            Layout::LinesOrWhole => {
                let (is_document, mut source) = opens_a_document(source)?;
                if is_document {
                    document::cut(&mut source, limits, &shape(&[]), sink)
                } else {
                    lines::cut(&mut source, limits, T::read, T::NAMED, sink)
                }
            }
        }
    }

    fn source_bytes_max(&self, limits: &Limits) -> Option<u64> {
        match T::LAYOUT {
            Layout::Lines | Layout::DocumentLines(..) | Layout::LinesOrWhole => None,
            Layout::Document(_) | Layout::Whole => Some(limits.document_bytes_max),
        }
    }

    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed> {
        read_content(original, T::read, T::LISTS)
    }

    fn kept_by_compaction(&self, original: &[u8]) -> Kept {
        utf8(original).and_then(|text| Ok(Raw::whole(text)?)).map_or(Kept::Nothing, T::kept_by_compaction)
    }

    fn keeps_words(&self) -> bool {
        T::KEEPS_WORDS
    }

    fn writes_again(&self) -> bool {
        T::WRITES_AGAIN
    }

    fn transcript_of<'a>(&self, source: &'a str) -> &'a str {
        T::transcript_of(source)
    }
}
