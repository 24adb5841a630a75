//! Cuts files that hold one JSON object a line.
//!
//! A line that is no object is put aside whole; one that holds several objects, as concurrent writers leave
//! behind, gives several records of the same index. Nothing here knows a format: what an object says is for
//! the [`ReadObject`] of the format.

mod session;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::ControlFlow;

use memchr::memchr;
use spanvault_types::SpanKind;

use crate::importer::{BOM, unread};
use crate::json::{Raw, is_space, skip_space};
use crate::object_format::Named;
use crate::reading::{ReadObject, Reading, utf8};
use crate::source::read_chunks;
use crate::{ImportError, Limits, Piece, Quarantine, Record, Unparsed};
use session::Sessions;

/// More white space than this is handed over in several gaps.
const GAP_BYTES_MAX: usize = 64 << 10;

/// Cuts `source` into its lines.
pub(crate) fn cut(
    source: &mut dyn Read,
    limits: &Limits,
    read: ReadObject,
    named: Named,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut cutter = Cutter {
        read,
        limits,
        sessions: Sessions::new(named, sink),
        line: Vec::new(),
        line_in_parts: false,
        gap: Vec::new(),
        offset: 0,
        index: 0,
    };
    if read_chunks(source, |chunk| Ok(cutter.chunk(chunk)))?.is_continue() {
        // A sink that breaks here has nothing left to miss.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
    }
    Ok(())
}

struct Cutter<'a> {
    read: ReadObject,
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
            let whole = self.line.is_empty() && !self.line_in_parts;
            if whole && line.len() <= self.limits.record_bytes_max {
                self.line(line)?;
            } else {
                self.hold(line)?;
                self.held_line()?;
            }
            self.line_in_parts = false;
            self.gap_bytes(b"\n")?;
            self.index += 1;
        }
        self.hold(chunk)
    }

    /// Adds to the held line. What is too large even for a body goes in parts, cut at the same bytes however
    /// the source's bytes arrive.
    fn hold(&mut self, mut bytes: &[u8]) -> ControlFlow<()> {
        let bytes_max = self.limits.body_bytes();
        while !bytes.is_empty() {
            if self.line.len() >= bytes_max {
                self.line_in_parts = true;
                self.too_large_line()?;
            }
            let room = bytes_max.saturating_sub(self.line.len());
            let (fits, rest) = bytes.split_at(room.min(bytes.len()));
            self.line.extend_from_slice(fits);
            bytes = rest;
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        self.held_line()?;
        self.flush_gap()?;
        self.sessions.flush()
    }

    /// Ends the held line.
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
        self.record(bytes, Reading { content: unread(SpanKind::TooLarge), session: None }, None)?;
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
            Err(_not_utf8) => {
                let (space, text) = text.split_at(skip_space(text, 0));
                self.gap_bytes(space)?;
                if let Err(reason) = utf8(text) {
                    self.quarantine(text, reason)?;
                }
            }
        }
        self.gap_bytes(space_after)
    }

    /// The objects of a line, of which there is one unless writers got in each other's way.
    fn objects(&mut self, text: &str) -> ControlFlow<()> {
        let mut rest = text;
        while !rest.is_empty() {
            let (space, found) = rest.split_at(skip_space(rest.as_bytes(), 0));
            self.gap_bytes(space.as_bytes())?;
            match Raw::first(found, 0) {
                Ok(raw) if raw.is_object() => {
                    let reading = (self.read)(raw);
                    let (object, after) = found.split_at(raw.end());
                    self.record(object.as_bytes().to_vec(), reading, None)?;
                    rest = after;
                }
                Ok(_no_object) => return self.quarantine(found.as_bytes(), Unparsed::NotAnObject),
                Err(fault) => return self.quarantine(found.as_bytes(), fault.into()),
            }
        }
        ControlFlow::Continue(())
    }

    fn quarantine(&mut self, bytes: &[u8], reason: Unparsed) -> ControlFlow<()> {
        let quarantine = Quarantine { offset: self.offset, reason };
        let reading = Reading { content: unread(SpanKind::Quarantined), session: None };
        self.record(bytes.to_vec(), reading, Some(quarantine))
    }

    fn record(
        &mut self,
        bytes: Vec<u8>,
        reading: Reading,
        quarantine: Option<Quarantine>,
    ) -> ControlFlow<()> {
        self.flush_gap()?;
        self.offset += bytes.len() as u64;
        let record = Record {
            bytes,
            session: String::new(),
            record: String::new(),
            index: self.index,
            content: reading.content,
            quarantine,
        };
        self.sessions.record(record, reading.session)
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
