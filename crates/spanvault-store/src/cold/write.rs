//! Writes a pack.

use std::io;

use spanvault_env::DiskFile;
use spanvault_types::ContentHash;
use zstd::bulk::Compressor;

use super::pack::{Guide, Line, Method};
use super::{GUIDE_BYTES, LEVEL};
use crate::bytes::len_u64;
use crate::stamp::CheckKey;

/// A longer original has its own repetitions and needs no dictionary.
pub(crate) const DICTIONARY_HELPS_BYTES: usize = 64 << 10;
/// Entries are gathered up to this length and written at once.
const WRITE_BYTES: usize = 1 << 20;

/// A pack in the making. Nobody looks at its file before it is finished and renamed.
pub(crate) struct PackWriter<'a> {
    file: &'a dyn DiskFile,
    key: &'a CheckKey,
    id: u64,
    dictionary: &'a [u8],
    plain: Compressor<'static>,
    trained: Option<Compressor<'static>>,
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
    written: u64,
    lines: Vec<Line>,
}

impl<'a> PackWriter<'a> {
    /// Begins a pack in an empty file. An empty dictionary is none.
    pub(crate) fn new(
        file: &'a dyn DiskFile,
        key: &'a CheckKey,
        id: u64,
        dictionary: &'a [u8],
    ) -> io::Result<Self> {
        let trained = match dictionary {
            [] => None,
            dictionary => Some(Compressor::with_dictionary(LEVEL, dictionary)?),
        };
        let mut writer = Self {
            file,
            key,
            id,
            dictionary,
            plain: Compressor::new(LEVEL)?,
            trained,
            hasher: blake3::Hasher::new(),
            buffer: Vec::new(),
            written: len_u64(GUIDE_BYTES),
            lines: Vec::new(),
        };
        writer.put(dictionary)?;
        Ok(writer)
    }

    /// Adds an original.
    pub(crate) fn add(&mut self, position: u64, hash: ContentHash, bytes: &[u8]) -> io::Result<()> {
        let (method, stored) = match &mut self.trained {
            Some(trained) if bytes.len() <= DICTIONARY_HELPS_BYTES => {
                (Method::ZstdDictionary, trained.compress(bytes)?)
            }
            _ => (Method::Zstd, self.plain.compress(bytes)?),
        };
        let raw = len_u64(bytes.len());
        if stored.len() < bytes.len() {
            self.add_stored(Line { position, method, raw, hash, offset: 0, stored: 0 }, &stored)
        } else {
            self.add_stored(Line { position, method: Method::Raw, raw, hash, offset: 0, stored: 0 }, bytes)
        }
    }

    /// Adds an entry as another pack had it.
    pub(crate) fn add_stored(&mut self, line: Line, stored: &[u8]) -> io::Result<()> {
        let offset = self.written + len_u64(self.buffer.len());
        self.put(stored)?;
        self.lines.push(Line { offset, stored: len_u64(stored.len()), ..line });
        Ok(())
    }

    /// Ends the pack and makes it durable; its entry in the directory is not yet. Returns its length.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.put(self.dictionary)?;
        let index_offset = self.written + len_u64(self.buffer.len());
        let lines = std::mem::take(&mut self.lines);
        for (number, line) in (0..).zip(&lines) {
            self.put(&line.encode(self.id, number))?;
        }
        self.flush()?;
        let guide = Guide {
            id: self.id,
            count: len_u64(lines.len()),
            dictionary_len: len_u64(self.dictionary.len()),
            index_offset,
            dictionary_hash: *blake3::hash(self.dictionary).as_bytes(),
            content_hash: *self.hasher.finalize().as_bytes(),
        };
        self.file.write_at(&guide.encode(self.key, self.written), self.written)?;
        self.file.write_at(&guide.encode(self.key, 0), 0)?;
        self.file.sync()?;
        Ok(self.written + len_u64(GUIDE_BYTES))
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        if self.buffer.len() + bytes.len() > WRITE_BYTES {
            self.flush()?;
        }
        if bytes.len() > WRITE_BYTES {
            self.file.write_at(bytes, self.written)?;
            self.written += len_u64(bytes.len());
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(&self.buffer, self.written)?;
        self.written += len_u64(self.buffer.len());
        self.buffer.clear();
        Ok(())
    }
}
