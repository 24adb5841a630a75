//! Writes the file of a run entry by entry: no run is ever in memory as a whole.

use std::collections::BTreeMap;
use std::io;

use spanvault_env::DiskFile;
use spanvault_types::Position;

use super::Term;
use super::draft::Share;
use super::layout::{BLOCK_BYTES, Foot, MAGIC, check_of, push_ascending, push_varint};

/// So much is handed to the disk at once, in bytes.
const WRITE_BYTES: usize = 256 << 10;

/// What a run covers, and who read it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) first: Position,
    pub(super) last: Position,
    /// The chain value of the commit at `last`.
    pub(super) chain: [u8; 32],
    pub(super) reader: [u8; 32],
}

/// A run that is being written.
pub(super) struct RunWriter {
    file: Box<dyn DiskFile>,
    extent: Extent,
    /// Bytes that are in the file.
    written: u64,
    /// Bytes that go there next.
    buffer: Vec<u8>,
    /// Entries that have no checksum yet, and the term of the last of them.
    block: Vec<u8>,
    last: u64,
    directory: Vec<(Term, u64)>,
}

impl RunWriter {
    /// Begins a run in an empty file.
    pub(super) fn begin(file: Box<dyn DiskFile>, extent: Extent) -> Self {
        let (buffer, block, directory) = (MAGIC.to_vec(), Vec::new(), Vec::new());
        Self { file, extent, written: 0, buffer, block, last: 0, directory }
    }

    /// Adds a term, which comes after all before it, with the spans that hold it, ascending.
    pub(super) fn entry(&mut self, term: Term, positions: &[u64]) -> io::Result<()> {
        if self.block.is_empty() {
            self.directory.push((term, self.end()));
            self.last = term.get();
        }
        push_varint(&mut self.block, term.get() - self.last);
        self.last = term.get();
        push_ascending(&mut self.block, self.extent.first.get(), positions);
        if self.block.len() >= BLOCK_BYTES { self.seal() } else { Ok(()) }
    }

    /// Ends the run with what is known of the spans as a whole.
    pub(super) fn finish(mut self, unread: &[u64], sessions: &BTreeMap<Position, Share>) -> io::Result<()> {
        if !self.block.is_empty() {
            self.seal()?;
        }
        let directory_at = self.end();
        let mut tables = Vec::new();
        for (term, offset) in &self.directory {
            tables.extend_from_slice(&term.get().to_le_bytes());
            tables.extend_from_slice(&offset.to_le_bytes());
        }
        let unread_at = directory_at + tables.len() as u64;
        push_ascending(&mut tables, self.extent.first.get(), unread);
        let sessions_at = directory_at + tables.len() as u64;
        for (session, share) in sessions {
            for field in
                [session.get(), share.spans, share.read, share.read_bytes, u64::from(share.is_nameless)]
            {
                tables.extend_from_slice(&field.to_le_bytes());
            }
        }
        for share in sessions.values() {
            tables.extend_from_slice(&share.sum.to_bytes());
        }
        let Extent { first, last, chain, reader } = self.extent;
        let tables_end = directory_at + tables.len() as u64;
        let mut foot = Foot {
            tables_end,
            first,
            last,
            chain,
            reader,
            directory_at,
            unread_at,
            sessions_at,
            check: [0; 32],
        };
        foot.check = check_of(&tables, &foot);
        self.buffer.append(&mut tables);
        self.buffer.extend(foot.to_bytes());
        self.write()
    }

    const fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn seal(&mut self) -> io::Result<()> {
        let crc = crc32fast::hash(&self.block);
        self.buffer.append(&mut self.block);
        self.buffer.extend_from_slice(&crc.to_le_bytes());
        if self.buffer.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
