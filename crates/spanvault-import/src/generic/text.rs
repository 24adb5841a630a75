//! Text of any kind, in blocks of lines.

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::{SpanContent, SpanKind};

use crate::importer::unread;
use crate::json::is_space;
use crate::source::{read_chunks, take_line};
use crate::{Confidence, Head, ImportError, Importer, Limits, Piece, Record, Unparsed};

/// The name of this format.
pub(super) const NAME: &str = "generic_text";
/// A block ends with the line that makes it this long, if no empty line ended it before.
const BLOCK_BYTES: usize = 64 << 10;
/// Of so many bytes of text at most one is a control character or no UTF-8.
const STRANGE_BYTES: usize = 16;

/// Text: a record is a block of lines without an empty one between them, its index the first of them.
pub(crate) struct GenericText;

impl Importer for GenericText {
    fn format(&self) -> &'static str {
        NAME
    }

    fn detect(&self, head: &Head<'_>) -> Confidence {
        if is_text(head.bytes()) { Confidence::Possible } else { Confidence::No }
    }

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        let block_bytes = limits.record_bytes_max.clamp(1, BLOCK_BYTES);
        let mut cutter = Cutter {
            sink,
            block_bytes,
            block: Vec::new(),
            block_index: 0,
            line: Vec::new(),
            gap: Vec::new(),
            index: 0,
        };
        if read_chunks(source, |chunk| Ok(cutter.chunk(chunk)))?.is_continue() {
            // A sink that breaks here has nothing left to miss.
            let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
        }
        Ok(())
    }

    fn parse(&self, _original: &[u8]) -> Result<SpanContent, Unparsed> {
        Ok(unread(SpanKind::Quarantined))
    }
}

/// Whether bytes are text for the most part.
fn is_text(head: &[u8]) -> bool {
    let broken: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let is_control =
        |byte: &&u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    let strange = broken + head.iter().filter(is_control).count();
    strange <= head.len() / STRANGE_BYTES
}

struct Cutter<'a> {
    sink: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    block_bytes: usize,
    /// The whole lines of the current block.
    block: Vec<u8>,
    /// The first of them.
    block_index: u64,
    /// What has come of the current line.
    line: Vec<u8>,
    /// White space since the last block.
    gap: Vec<u8>,
    /// The current line.
    index: u64,
}

impl Cutter<'_> {
    fn chunk(&mut self, mut chunk: &[u8]) -> ControlFlow<()> {
        while let Some(ends) = take_line(&mut self.line, &mut chunk, self.block_bytes) {
            if ends {
                self.whole_line()?;
                self.index += 1;
            } else {
                // A line that is longer than a block goes in parts of its own.
                self.end_block()?;
                self.whole_line()?;
                self.end_block()?;
            }
        }
        ControlFlow::Continue(())
    }

    fn whole_line(&mut self) -> ControlFlow<()> {
        if self.line.iter().copied().all(is_space) {
            self.end_block()?;
            self.gap.append(&mut self.line);
            return if self.gap.len() >= self.block_bytes {
                self.flush_gap()
            } else {
                ControlFlow::Continue(())
            };
        }
        if self.block.is_empty() {
            self.flush_gap()?;
            self.block_index = self.index;
        }
        self.block.append(&mut self.line);
        if self.block.len() >= self.block_bytes { self.end_block() } else { ControlFlow::Continue(()) }
    }

    /// Hands the block over, without the white space at its end.
    fn end_block(&mut self) -> ControlFlow<()> {
        let Some(last) = self.block.iter().rposition(|byte| !is_space(*byte)) else {
            return ControlFlow::Continue(());
        };
        self.gap = self.block.split_off(last + 1);
        (self.sink)(Piece::Span(Record {
            bytes: std::mem::take(&mut self.block),
            session: String::new(),
            record: String::new(),
            index: self.block_index,
            content: unread(SpanKind::Quarantined),
            quarantine: None,
        }))
    }

    fn flush_gap(&mut self) -> ControlFlow<()> {
        if self.gap.is_empty() {
            return ControlFlow::Continue(());
        }
        (self.sink)(Piece::Gap(std::mem::take(&mut self.gap)))
    }

    fn end(&mut self) -> ControlFlow<()> {
        if !self.line.is_empty() {
            self.whole_line()?;
        }
        self.end_block()?;
        self.flush_gap()
    }
}
