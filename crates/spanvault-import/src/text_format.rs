//! Formats whose records are runs of lines of text: all that such a format has to say, and how it is cut.

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::{SpanContent, SpanKind};

use crate::importer::unread;
use crate::reading::utf8;
use crate::source::{read_chunks, take_line};
use crate::{ImportError, Limits, Piece, Quarantine, Record, Unparsed};

/// As much of a line is looked at to tell what it is.
const LINE_START_BYTES: usize = 4096;

/// What a line of a text is to its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// It begins a record.
    Begins,
    /// It begins a record, and with it a session that is named so; see [`Record::session_name`].
    BeginsSession(String),
    /// It belongs to the record before it.
    Continues,
    /// It stands between records.
    Between,
}

/// Tells the lines of one source apart, in order.
pub(crate) trait LineTeller: Default {
    /// What a line is; `line` comes without its end, and only the start of a very long one.
    fn tell(&mut self, line: &str) -> Line;

    /// The session of the record that a line which begins one begins, where it is not the current one.
    fn aside(&self, _line: &str, _session: &str) -> Option<String> {
        None
    }
}

/// How a format reads one record. The answer depends on nothing but the text.
pub(crate) type ReadText = fn(&str) -> SpanContent;

/// Reads what the bytes of a record say.
pub(crate) fn read_text(bytes: &[u8], read: ReadText) -> Result<SpanContent, Unparsed> {
    utf8(bytes).map(read)
}

/// Cuts `source` at the lines that `T` tells to begin records. The index of a record is the line, from 0, that
/// it begins with.
pub(crate) fn cut<T: LineTeller>(
    source: &mut dyn Read,
    limits: &Limits,
    read: ReadText,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut cutter = Cutter {
        limits,
        read,
        sink,
        teller: T::default(),
        line: Vec::new(),
        line_in_parts: false,
        lines: 0,
        pending: Vec::new(),
        pending_line: 0,
        pending_session: None,
        in_record: false,
        in_parts: false,
        offset: 0,
        session: String::new(),
    };
    let flow = read_chunks(source, |chunk| Ok(cutter.chunk(chunk)))?;
    if flow.is_continue() {
        // A sink that breaks here has nothing left to miss.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
    }
    Ok(())
}

struct Cutter<'a, T> {
    limits: &'a Limits,
    read: ReadText,
    sink: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    teller: T,
    /// The current line, as far as it is known.
    line: Vec<u8>,
    /// The start of the line was told and handed on already, because it is longer than a body may be.
    line_in_parts: bool,
    lines: u64,
    /// The current record, or else what stands between records.
    pending: Vec<u8>,
    pending_line: u64,
    pending_session: Option<String>,
    in_record: bool,
    /// Parts of the record were handed over already.
    in_parts: bool,
    /// The byte of the source at which `pending` starts.
    offset: u64,
    session: String,
}

impl<T: LineTeller> Cutter<'_, T> {
    fn chunk(&mut self, mut chunk: &[u8]) -> ControlFlow<()> {
        while let Some(ends) = take_line(&mut self.line, &mut chunk, self.limits.body_bytes()) {
            self.line_so_far()?;
            self.line_in_parts = !ends;
            self.lines += u64::from(ends);
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        self.line_so_far()?;
        self.flush()
    }

    /// Tells what the held line is, and adds it to what it belongs to.
    fn line_so_far(&mut self) -> ControlFlow<()> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return ControlFlow::Continue(());
        }
        if !self.line_in_parts {
            let start = line.get(..LINE_START_BYTES).unwrap_or(&line);
            let start = String::from_utf8_lossy(start);
            let start = if self.lines == 0 { start.trim_start_matches('\u{feff}') } else { &start };
            let start = start.trim_end_matches(['\n', '\r']);
            let told = self.teller.tell(start);
            let begins = matches!(told, Line::Begins | Line::BeginsSession(_));
            if begins || (told == Line::Between) == self.in_record {
                self.flush()?;
                self.pending_line = self.lines;
                self.in_record = told != Line::Between;
            }
            if let Line::BeginsSession(name) = told {
                self.session = name;
            }
            if begins {
                self.pending_session = self.teller.aside(start, &self.session);
            }
        }
        if self.pending.len() + line.len() > self.limits.body_bytes() {
            self.part()?;
        }
        self.pending.extend_from_slice(&line);
        self.line = line;
        self.line.clear();
        ControlFlow::Continue(())
    }

    /// Hands over what is pending though more of it is to come.
    fn part(&mut self) -> ControlFlow<()> {
        if !self.in_record {
            return self.flush();
        }
        self.in_parts = true;
        let bytes = std::mem::take(&mut self.pending);
        self.record(bytes, unread(SpanKind::TooLarge), None)
    }

    /// Ends what is pending. White space at the end of a record is no part of it.
    fn flush(&mut self) -> ControlFlow<()> {
        let mut bytes = std::mem::take(&mut self.pending);
        let in_parts = std::mem::take(&mut self.in_parts);
        if !self.in_record {
            return self.gap(bytes);
        }
        let end = bytes.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
        let space = bytes.split_off(end);
        if in_parts || bytes.len() > self.limits.record_bytes_max {
            self.record(bytes, unread(SpanKind::TooLarge), None)?;
        } else {
            match read_text(&bytes, self.read) {
                Ok(content) => self.record(bytes, content, None)?,
                // A text has no end that it must reach: what is cut off is just no character.
                Err(reason) => self.record(bytes, unread(SpanKind::Quarantined), Some(reason))?,
            }
        }
        self.gap(space)
    }

    fn record(&mut self, bytes: Vec<u8>, content: SpanContent, reason: Option<Unparsed>) -> ControlFlow<()> {
        if bytes.is_empty() {
            return ControlFlow::Continue(());
        }
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        (self.sink)(Piece::Span(Record {
            bytes,
            session: self.pending_session.clone().unwrap_or_else(|| self.session.clone()),
            record: String::new(),
            index: self.pending_line,
            content,
            quarantine: reason.map(|reason| Quarantine { offset, reason }),
        }))
    }

    fn gap(&mut self, bytes: Vec<u8>) -> ControlFlow<()> {
        if bytes.is_empty() {
            return ControlFlow::Continue(());
        }
        self.offset += bytes.len() as u64;
        (self.sink)(Piece::Gap(bytes))
    }
}
