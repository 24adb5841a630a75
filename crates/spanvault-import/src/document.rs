//! Cuts files that are one JSON document.
//!
//! The elements of the arrays that a [`Shape`] points to are the originals; all that stands between them is
//! kept as gaps. The document is walked over as it is read: of a well-formed one, no more than the current
//! element is in memory. Where it is broken, what follows the last whole element is put aside.

mod structure;
#[cfg(test)]
mod tests;

use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;

use spanvault_types::{SpanContent, SpanKind};

use crate::importer::{is_session_name, unread};
use crate::json::Raw;
use crate::lines::{ReadLine, utf8};
use crate::{ImportError, Limits, Piece, Quarantine, Record, Unparsed};
use structure::{Signal, Structure};

const CHUNK_BYTES: usize = 128 << 10;
/// More bytes between elements than this are handed over in several gaps.
const GAP_BYTES_MAX: usize = 1 << 20;

/// Where the originals stand in the documents of a format.
pub(crate) struct Shape {
    pub(crate) format: &'static str,
    /// The ways down to them; the first one that fits the kind of the root is taken. Each ends in
    /// [`Step::Each`], and any earlier `Each` makes one transcript of each element.
    pub(crate) paths: &'static [&'static [Step]],
    pub(crate) read: ReadLine,
}

/// One step down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into the member of an object with this name.
    Member(&'static str),
    /// Into every element of an array.
    Each,
}

/// Cuts `source` into the elements that `shape` points to.
pub(crate) fn cut(
    source: &mut dyn Read,
    limits: &Limits,
    shape: &Shape,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut cutter = Cutter {
        shape,
        limits,
        sink,
        structure: Structure::new(shape.paths),
        pending: Vec::new(),
        element: None,
        element_in_parts: false,
        broken: None,
        offset: 0,
        session: None,
    };
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut total: u64 = 0;
    loop {
        let len = match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        total += len as u64;
        if total > limits.document_bytes_max {
            let bytes_max = limits.document_bytes_max;
            return Err(ImportError::DocumentTooLarge { format: shape.format, bytes_max });
        }
        if cutter.chunk(chunk.get(..len).unwrap_or_default()).is_break() {
            return Ok(());
        }
    }
    if total == 0 {
        return Err(ImportError::EmptySource);
    }
    // A sink that breaks here has nothing left to miss.
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
    Ok(())
}

struct Cutter<'a> {
    shape: &'a Shape,
    limits: &'a Limits,
    sink: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    structure: Structure,
    /// Bytes that are not handed over yet: of the current element, or of the gap before the next one.
    pending: Vec<u8>,
    /// Whether `pending` belongs to an element, and to which.
    element: Option<Place>,
    /// Parts of the element were handed over already, because it is larger than a body may be.
    element_in_parts: bool,
    /// Why the rest of the document cannot be read.
    broken: Option<Unparsed>,
    /// The byte of the source at which `pending` starts.
    offset: u64,
    /// The last session that an element named.
    session: Option<String>,
}

/// The transcript and the index of an element.
#[derive(Debug, Clone)]
struct Place {
    record: String,
    index: u64,
}

impl Cutter<'_> {
    fn chunk(&mut self, chunk: &[u8]) -> ControlFlow<()> {
        let mut done = 0;
        let mut at = 0;
        while self.broken.is_none() {
            let Some(rest) = chunk.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let (used, signal) = self.structure.walk(rest);
            at += used;
            self.pending.extend_from_slice(chunk.get(done..at).unwrap_or_default());
            done = at;
            match signal {
                Signal::More => {}
                Signal::Begins { record, index } => {
                    self.gap()?;
                    self.element = Some(Place { record, index });
                }
                Signal::Ends => self.element()?,
                Signal::Broken => {
                    let at = self.offset + self.pending.len() as u64;
                    self.broken = Some(Unparsed::Malformed { at });
                    if self.element.is_none() {
                        self.gap()?;
                    }
                }
            }
            self.relieve()?;
        }
        self.pending.extend_from_slice(chunk.get(done..).unwrap_or_default());
        self.relieve()
    }

    fn end(&mut self) -> ControlFlow<()> {
        if self.broken.is_some() || !self.structure.is_complete() {
            return self.remainder();
        }
        self.gap()
    }

    /// Hands over what is pending where it is more than is kept at once.
    fn relieve(&mut self) -> ControlFlow<()> {
        let len = self.pending.len();
        if self.broken.is_some() {
            return if len > self.limits.record_bytes_max {
                self.remainder()
            } else {
                ControlFlow::Continue(())
            };
        }
        match &self.element {
            None if len > GAP_BYTES_MAX => self.gap(),
            Some(place) if len > self.limits.body_bytes_max.max(self.limits.record_bytes_max) => {
                let place = place.clone();
                self.element_in_parts = true;
                self.record(place, unread(SpanKind::TooLarge), None)
            }
            None | Some(_) => ControlFlow::Continue(()),
        }
    }

    fn gap(&mut self) -> ControlFlow<()> {
        if self.pending.is_empty() {
            return ControlFlow::Continue(());
        }
        let bytes = std::mem::take(&mut self.pending);
        self.offset += bytes.len() as u64;
        (self.sink)(Piece::Gap(bytes))
    }

    /// Ends the current element.
    fn element(&mut self) -> ControlFlow<()> {
        let Some(place) = self.element.take() else { return ControlFlow::Continue(()) };
        let in_parts = std::mem::take(&mut self.element_in_parts);
        if in_parts || self.pending.len() > self.limits.record_bytes_max {
            return self.record(place, unread(SpanKind::TooLarge), None);
        }
        match read(&self.pending, self.shape.read) {
            Ok((content, session)) => self.record_of(place, session, content, None),
            Err(reason) => self.record(place, unread(SpanKind::Quarantined), Some(reason)),
        }
    }

    /// Puts aside what is pending, of a document that is broken or cut off.
    fn remainder(&mut self) -> ControlFlow<()> {
        let place = self.element.take().unwrap_or_else(|| {
            let (record, index) = self.structure.next_place();
            Place { record, index }
        });
        let reason = self.broken.clone().unwrap_or(Unparsed::Truncated);
        self.record(place, unread(SpanKind::Quarantined), Some(reason))
    }

    fn record(&mut self, place: Place, content: SpanContent, reason: Option<Unparsed>) -> ControlFlow<()> {
        self.record_of(place, None, content, reason)
    }

    fn record_of(
        &mut self,
        place: Place,
        session: Option<String>,
        content: SpanContent,
        reason: Option<Unparsed>,
    ) -> ControlFlow<()> {
        if self.pending.is_empty() {
            return ControlFlow::Continue(());
        }
        let bytes = std::mem::take(&mut self.pending);
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        let Place { record, index } = place;
        self.session = session.filter(is_session_name).or_else(|| self.session.take());
        let session = self.session.clone().unwrap_or_else(|| record.clone());
        let quarantine = reason.map(|reason| Quarantine { offset, reason });
        (self.sink)(Piece::Span(Record { bytes, session, record, index, content, quarantine }))
    }
}

fn read(bytes: &[u8], read: ReadLine) -> Result<(SpanContent, Option<String>), Unparsed> {
    let raw = Raw::whole(utf8(bytes)?)?;
    if !raw.is_object() {
        return Err(Unparsed::NotAnObject);
    }
    let line = read(raw);
    Ok((line.content, line.session))
}
