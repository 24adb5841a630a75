//! Formats whose records are JSON objects: all that such a format has to say, and the importer that it makes.

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::SpanContent;

use crate::document::{self, LineNames, Shape, Step};
use crate::json::Raw;
use crate::reading::{Reading, read_content, utf8};
use crate::{Confidence, ImportError, Importer, Kept, Limits, Piece, Unparsed, lines};

/// A format of JSON objects.
pub(crate) trait ObjectFormat: Sync {
    /// The format's name, as `--format` and the log know it.
    const NAME: &'static str;
    /// Where the objects stand in a source.
    const LAYOUT: Layout;

    /// How sure it is that a file which starts with `head` is its own; see [`Importer::detect`].
    fn recognise(head: &[u8]) -> Confidence;

    /// Reads one object. The answer depends on nothing but the object.
    fn read(object: Raw<'_>) -> Reading;

    /// Which records a compaction kept; see [`Importer::kept_by_compaction`]. The answer depends on nothing but the
    /// object, which has a summary.
    fn kept_by_compaction(_object: Raw<'_>) -> Kept {
        Kept::Nothing
    }
}

/// Where the records of a source stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layout {
    /// One a line.
    Lines,
    /// In the arrays of one JSON document, at the end of these ways down; see [`Shape::paths`].
    Document(&'static [&'static [Step]]),
    /// As in a document, of which there is one on each line.
    DocumentLines(&'static [&'static [Step]], LineNames),
}

impl<T: ObjectFormat> Importer for T {
    fn format(&self) -> &'static str {
        T::NAME
    }

    fn detect(&self, head: &[u8]) -> Confidence {
        T::recognise(head)
    }

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        match T::LAYOUT {
            Layout::Lines => lines::cut(source, limits, T::read, sink),
            Layout::Document(paths) => {
                document::cut(source, limits, &Shape { format: T::NAME, paths, read: T::read }, sink)
            }
            Layout::DocumentLines(paths, names) => {
                let shape = Shape { format: T::NAME, paths, read: T::read };
                document::cut_lines(source, limits, &shape, names, sink)
            }
        }
    }

    fn source_bytes_max(&self, limits: &Limits) -> Option<u64> {
        match T::LAYOUT {
            Layout::Lines | Layout::DocumentLines(..) => None,
            Layout::Document(_) => Some(limits.document_bytes_max),
        }
    }

    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed> {
        read_content(original, T::read)
    }

    fn kept_by_compaction(&self, original: &[u8]) -> Kept {
        utf8(original).and_then(|text| Ok(Raw::whole(text)?)).map_or(Kept::Nothing, T::kept_by_compaction)
    }
}
