//! Cuts files that hold one JSON object a line.
//!
//! A line that is no object is put aside whole; one that holds several objects, as concurrent writers leave
//! behind, gives several records of the same index. Nothing here knows a format: what an object says is for
//! the [`ReadLine`] of the format.

mod session;
#[cfg(test)]
mod tests;

use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;

use memchr::memchr;
use spanvault_types::{SpanContent, SpanKind};

use crate::importer::unread;
use crate::json::{Fault, Raw, is_space};
use crate::{ImportError, Limits, Piece, Quarantine, Record, Unparsed};
use session::Sessions;

const CHUNK_BYTES: usize = 128 << 10;
/// More white space than this is handed over in several gaps.
const GAP_BYTES_MAX: usize = 64 << 10;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// What one object says, and the session that it names.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) content: SpanContent,
    /// `None`: the session of the line before.
    pub(crate) session: Option<String>,
}

/// How a format reads one object. The answer depends on nothing but the object.
pub(crate) type ReadLine = fn(Raw<'_>) -> Line;

/// Cuts `source` into its lines.
pub(crate) fn cut(
    source: &mut dyn Read,
    limits: &Limits,
    read: ReadLine,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut cutter = Cutter {
        read,
        limits,
        sessions: Sessions::new(sink),
        line: Vec::new(),
        line_in_parts: false,
        gap: Vec::new(),
        offset: 0,
        index: 0,
    };
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut any = false;
    loop {
        let len = match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        any = true;
        if cutter.chunk(chunk.get(..len).unwrap_or_default()).is_break() {
            return Ok(());
        }
    }
    if !any {
        return Err(ImportError::EmptySource);
    }
    // A sink that breaks here has nothing left to miss.
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
    Ok(())
}

/// Reads one original of a line format.
pub(crate) fn parse(original: &[u8], read: ReadLine) -> Result<SpanContent, Unparsed> {
    let raw = Raw::whole(utf8(original)?)?;
    if raw.is_object() { Ok(read(raw).content) } else { Err(Unparsed::NotAnObject) }
}

/// The text that `bytes` are.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Unparsed> {
    std::str::from_utf8(bytes).map_err(|error| Unparsed::NotUtf8 { at: error.valid_up_to() as u64 })
}

struct Cutter<'a> {
    read: ReadLine,
    limits: &'a Limits,
    sessions: Sessions<'a>,
    /// The bytes of the current line that came with earlier chunks.
    line: Vec<u8>,
    /// Parts of the current line were handed over already, because it is larger than a body may be.
    line_in_parts: bool,
    /// Bytes since the last record.
    gap: Vec<u8>,
    /// The byte of the source at which the current line, or what is left of it, starts.
    offset: u64,
    /// The current line.
    index: u64,
}

impl Cutter<'_> {
    fn chunk(&mut self, mut chunk: &[u8]) -> ControlFlow<()> {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = rest.get(1..).unwrap_or_default();
            if self.line.is_empty() && !self.line_in_parts {
                self.line(line)?;
            } else {
                self.line.extend_from_slice(line);
                self.held_line()?;
            }
            self.line_in_parts = false;
            self.gap_bytes(b"\n")?;
            self.index += 1;
        }
        self.line.extend_from_slice(chunk);
        if self.line.len() > self.limits.record_bytes_max.max(self.limits.body_bytes_max) {
            self.line_in_parts = true;
            self.too_large_line()?;
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        self.held_line()?;
        self.flush_gap()?;
        self.sessions.flush()
    }

    /// Ends a line that came with several chunks.
    fn held_line(&mut self) -> ControlFlow<()> {
        if self.line_in_parts || self.line.len() > self.limits.record_bytes_max {
            return self.too_large_line();
        }
        let line = std::mem::take(&mut self.line);
        let flow = self.line(&line);
        self.line = line;
        self.line.clear();
        flow
    }

    /// Hands `self.line` over as it is, without a copy.
    fn too_large_line(&mut self) -> ControlFlow<()> {
        let mut bytes = std::mem::take(&mut self.line);
        if bytes.iter().copied().all(is_space) {
            return self.gap_bytes(&bytes);
        }
        let carriage_return = bytes.last() == Some(&b'\r');
        if carriage_return {
            bytes.pop();
        }
        self.record(bytes, Line { content: unread(SpanKind::TooLarge), session: None }, None)?;
        if carriage_return { self.gap_bytes(b"\r") } else { ControlFlow::Continue(()) }
    }

    fn line(&mut self, line: &[u8]) -> ControlFlow<()> {
        let line = if self.offset == 0 && line.starts_with(BOM) {
            self.gap_bytes(BOM)?;
            line.get(BOM.len()..).unwrap_or_default()
        } else {
            line
        };
        let text_end = line.iter().rposition(|byte| !is_space(*byte)).map_or(0, |last| last + 1);
        let (text, space_after) = line.split_at(text_end);
        match std::str::from_utf8(text) {
            Ok(text) => self.objects(text)?,
            Err(error) => {
                let space = text.iter().take_while(|byte| is_space(**byte)).count();
                let (space, text) = text.split_at(space);
                self.gap_bytes(space)?;
                let at = error.valid_up_to().saturating_sub(space.len()) as u64;
                self.quarantine(text, Unparsed::NotUtf8 { at })?;
            }
        }
        self.gap_bytes(space_after)
    }

    /// The objects of a line, of which there is one unless writers got in each other's way.
    fn objects(&mut self, text: &str) -> ControlFlow<()> {
        let mut at = 0;
        while at < text.len() {
            let space = text.bytes().skip(at).take_while(|byte| is_space(*byte)).count();
            let start = at + space;
            self.gap_bytes(text.as_bytes().get(at..start).unwrap_or_default())?;
            let rest = text.get(start..).unwrap_or_default();
            match Raw::first(rest, 0) {
                Ok(raw) if raw.is_object() => {
                    let line = (self.read)(raw);
                    self.record(raw.text().as_bytes().to_vec(), line, None)?;
                    at = start + raw.end();
                }
                Ok(_no_object) => return self.quarantine(rest.as_bytes(), Unparsed::NotAnObject),
                Err(fault @ (Fault::Truncated | Fault::Unexpected { .. })) => {
                    return self.quarantine(rest.as_bytes(), fault.into());
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn quarantine(&mut self, bytes: &[u8], reason: Unparsed) -> ControlFlow<()> {
        let quarantine = Quarantine { offset: self.offset, reason };
        let line = Line { content: unread(SpanKind::Quarantined), session: None };
        self.record(bytes.to_vec(), line, Some(quarantine))
    }

    fn record(&mut self, bytes: Vec<u8>, line: Line, quarantine: Option<Quarantine>) -> ControlFlow<()> {
        self.flush_gap()?;
        self.offset += bytes.len() as u64;
        let record = Record {
            bytes,
            session: String::new(),
            record: String::new(),
            index: self.index,
            content: line.content,
            quarantine,
        };
        self.sessions.record(record, line.session)
    }

    fn gap_bytes(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.offset += bytes.len() as u64;
        for part in bytes.chunks(GAP_BYTES_MAX) {
            self.gap.extend_from_slice(part);
            if self.gap.len() >= GAP_BYTES_MAX {
                self.flush_gap()?;
            }
        }
        ControlFlow::Continue(())
    }

    fn flush_gap(&mut self) -> ControlFlow<()> {
        if self.gap.is_empty() {
            return ControlFlow::Continue(());
        }
        self.sessions.gap(std::mem::take(&mut self.gap))
    }
}
