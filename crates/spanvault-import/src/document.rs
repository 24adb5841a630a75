//! Cuts files that are one JSON document.
//!
//! The elements of the arrays that a [`Shape`] points to are the originals; all that stands between them is
//! kept as gaps. The document is walked over as it is read: of a well-formed one, no more than the current
//! element is in memory. Where it is broken, what follows the last whole element is put aside.

mod structure;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::{SpanContent, SpanKind};

use crate::importer::{is_session_name, unread};
use crate::reading::{ReadObject, Reading, read_record};
use crate::source::read_chunks;
use crate::{ImportError, Limits, Piece, Quarantine, Record, Unparsed};
use structure::{Place, Signal, Structure};

/// More bytes between elements than this are handed over in several gaps.
const GAP_BYTES_MAX: usize = 1 << 20;

/// Where the originals stand in the documents of a format.
pub(crate) struct Shape {
    pub(crate) format: &'static str,
    pub(crate) frame: Frame,
    pub(crate) read: ReadObject,
    /// Whether an original may be a list of objects.
    pub(crate) lists: bool,
}

/// What stands around the originals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// The ways down to the originals. Each ends in [`Step::Each`], and any earlier `Each` makes one transcript of
    /// each element. Where two ways would share a transcript, the later one has the whole way to its array as
    /// the transcript's name. No way at all means that the document itself is the original.
    pub(crate) paths: &'static [&'static [Step]],
    /// Of several ways, only the first one on which an element stands is gone.
    pub(crate) one_path: bool,
    /// The member of the root object whose text names the session, where it stands before the originals.
    pub(crate) session: Option<&'static str>,
}

/// One step down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into the member of an object with this name.
    Member(&'static str),
    /// Into every element of an array.
    Each,
    /// Into every member of an object, its name included: the last step of a way.
    EachMember,
}

/// How the transcripts of a file are named that holds a document on each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineNames {
    /// By a JSON pointer, as if the lines were an array: `/3`.
    Place,
    /// By the line and the way to the array in it: `line 3 /history`.
    LineAndPlace,
}

/// Cuts `source` into the elements that `shape` points to.
pub(crate) fn cut(
    source: &mut dyn Read,
    limits: &Limits,
    shape: &Shape,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut cutter = Cutter::new(limits, shape, None, sink);
    let bytes_max = limits.document_bytes_max;
    let mut total: u64 = 0;
    let flow = read_chunks(source, |chunk| {
        total += chunk.len() as u64;
        if total > bytes_max {
            return Err(ImportError::DocumentTooLarge { format: shape.format, bytes_max });
        }
        Ok(cutter.chunk(chunk))
    })?;
    if flow.is_continue() {
        // A sink that breaks here has nothing left to miss.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
    }
    Ok(())
}

/// Cuts a source that holds a document on each line.
///
/// A source whose first document goes over several lines is taken for that one document. There is no largest
/// size: of each document no more than an element is in memory.
pub(crate) fn cut_lines(
    source: &mut dyn Read,
    limits: &Limits,
    shape: &Shape,
    names: LineNames,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut cutter = Cutter::new(limits, shape, Some((0, names)), sink);
    let mut line = 0;
    let mut one_document = false;
    let flow = read_chunks(source, |chunk| {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let Some(end) = part.strip_suffix(b"\n").filter(|_| !one_document) else {
                if cutter.chunk(part).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                continue;
            };
            let mut flow = cutter.chunk(end);
            one_document = line == 0 && cutter.is_open();
            if flow.is_continue() && !one_document {
                line += 1;
                flow = cutter.restart(Some((line, names)));
            }
            if flow.is_break() || cutter.chunk(b"\n").is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if flow.is_continue() {
        // A sink that breaks here has nothing left to miss.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
    }
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

impl<'a> Cutter<'a> {
    fn new(
        limits: &'a Limits,
        shape: &'a Shape,
        line: Option<(u64, LineNames)>,
        sink: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Self {
        Self {
            shape,
            limits,
            sink,
            structure: Structure::new(shape.frame, line),
            pending: Vec::new(),
            element: None,
            element_in_parts: false,
            broken: None,
            offset: 0,
            session: None,
        }
    }

    /// Whether the document has begun, is sound so far, and goes on.
    fn is_open(&self) -> bool {
        self.broken.is_none() && !self.structure.is_complete()
    }

    /// Ends the document and begins the next one.
    fn restart(&mut self, line: Option<(u64, LineNames)>) -> ControlFlow<()> {
        self.end()?;
        self.structure = Structure::new(self.shape.frame, line);
        self.element = None;
        self.broken = None;
        self.session = None;
        ControlFlow::Continue(())
    }

    fn chunk(&mut self, mut chunk: &[u8]) -> ControlFlow<()> {
        while !chunk.is_empty() {
            if self.broken.is_some() {
                return self.hold(chunk);
            }
            let (used, signal) = self.structure.walk(chunk);
            let (walked, rest) = chunk.split_at(used);
            self.hold(walked)?;
            chunk = rest;
            match signal {
                Signal::More => {}
                Signal::Begins(place) => {
                    self.gap()?;
                    self.element = Some(place);
                }
                Signal::Ends => self.element()?,
                Signal::Broken => {
                    if self.element.is_none() {
                        self.gap()?;
                    }
                    self.broken = Some(Unparsed::Malformed { at: self.pending.len() as u64 });
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        if self.broken.is_some() || !self.structure.is_complete() { self.remainder() } else { self.gap() }
    }

    /// Adds to what is pending. Of that no more is kept than its kind allows; what does not fit goes in parts,
    /// cut at the same bytes however the source's bytes arrive.
    fn hold(&mut self, mut bytes: &[u8]) -> ControlFlow<()> {
        while !bytes.is_empty() {
            let bytes_max = match (&self.broken, &self.element) {
                (Some(_), _) => self.limits.record_bytes_max.max(1),
                (None, Some(_)) => self.limits.body_bytes(),
                (None, None) => GAP_BYTES_MAX,
            };
            if self.pending.len() >= bytes_max {
                self.part()?;
            }
            let room = bytes_max.saturating_sub(self.pending.len());
            let (fits, rest) = bytes.split_at(room.min(bytes.len()));
            self.pending.extend_from_slice(fits);
            bytes = rest;
        }
        ControlFlow::Continue(())
    }

    /// Hands over what is pending though more of it is to come.
    fn part(&mut self) -> ControlFlow<()> {
        if self.broken.is_some() {
            return self.remainder();
        }
        let Some(place) = self.element.clone() else { return self.gap() };
        self.element_in_parts = true;
        self.record(place, unread(SpanKind::TooLarge), None)
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
        match read_record(&self.pending, self.shape.read, self.shape.lists) {
            Ok(Reading { content, session }) => self.record_of(place, session, content, None),
            Err(reason) => self.record(place, unread(SpanKind::Quarantined), Some(reason)),
        }
    }

    /// Puts aside what is pending, of a document that is broken or cut off.
    fn remainder(&mut self) -> ControlFlow<()> {
        let place = self.element.take().unwrap_or_else(|| self.structure.next_place());
        // What comes after the first part is wrong from its start.
        let wrong = self.broken.is_some().then_some(Unparsed::Malformed { at: 0 });
        let reason = std::mem::replace(&mut self.broken, wrong).unwrap_or(Unparsed::Truncated);
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
        let Place { record, session: place, index } = place;
        let named = session.or_else(|| self.structure.session());
        self.session = named.filter(is_session_name).or_else(|| self.session.take());
        let session = self.session.clone().unwrap_or(place);
        let quarantine = reason.map(|reason| Quarantine { offset, reason });
        (self.sink)(Piece::Span(Record { bytes, session, record, index, content, quarantine }))
    }
}
