//! Writes a pack.

use std::collections::HashMap;
use std::io;

use spanvault_env::DiskFile;
use spanvault_types::ContentHash;
use spanvault_types::planted::{Bug, is_planted};
use zstd::bulk::Compressor;

use super::chunks::{self, CHUNKED_BYTES_MIN, Packed, Piece};
use super::pack::{Guide, Line, Method};
use super::{GUIDE_BYTES, LEVEL, VERSION, VERSION_CHUNKED};
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
    /// The pieces that are in the pack.
    pieces: HashMap<[u8; 32], Piece>,
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
            pieces: HashMap::new(),
        };
        writer.put(dictionary)?;
        Ok(writer)
    }

    /// Adds an original.
    pub(crate) fn add(&mut self, position: u64, hash: ContentHash, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() >= CHUNKED_BYTES_MIN {
            return self.add_in_pieces(position, hash, bytes);
        }
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

    /// How long the pack is so far.
    pub(crate) fn len(&self) -> u64 {
        self.written + len_u64(self.buffer.len())
    }

    fn add_in_pieces(&mut self, position: u64, hash: ContentHash, bytes: &[u8]) -> io::Result<()> {
        let mut list = Vec::new();
        for content in chunks::cut(bytes) {
            let piece_hash = *blake3::hash(content).as_bytes();
            if let Some(known) = self.pieces.get(&piece_hash) {
                list.push(*known);
                continue;
            }
            let packed = self.plain.compress(content)?;
            let (packed, stored) = if packed.len() < content.len() {
                (Packed::Zstd, packed.as_slice())
            } else {
                (Packed::AsItIs, content)
            };
            let raw = len_u64(content.len());
            list.push(self.put_piece(Piece { offset: 0, stored: 0, raw, packed, hash: piece_hash }, stored)?);
        }
        let line =
            Line { position, method: Method::Chunked, raw: len_u64(bytes.len()), hash, offset: 0, stored: 0 };
        self.add_stored(line, &chunks::encode(&list))
    }

    /// Adds an entry in pieces as another pack had it; `stored` gives the bytes of a piece that is not here yet.
    pub(crate) fn add_stored_pieces<E: From<io::Error>>(
        &mut self,
        line: Line,
        pieces: &[Piece],
        stored: impl Fn(&Piece) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let mut list = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let here = match self.pieces.get(&piece.hash) {
                Some(known) => *known,
                None => self.put_piece(*piece, &stored(piece)?)?,
            };
            list.push(here);
        }
        Ok(self.add_stored(line, &chunks::encode(&list))?)
    }

    fn put_piece(&mut self, piece: Piece, stored: &[u8]) -> io::Result<Piece> {
        let piece = Piece { offset: self.len(), stored: len_u64(stored.len()), ..piece };
        self.put(stored)?;
        self.pieces.insert(piece.hash, piece);
        Ok(piece)
    }

    /// Adds an entry as another pack had it.
    pub(crate) fn add_stored(&mut self, line: Line, stored: &[u8]) -> io::Result<()> {
        let offset = self.len();
        self.put(stored)?;
        self.lines.push(Line { offset, stored: len_u64(stored.len()), ..line });
        Ok(())
    }

    /// Ends the pack and makes it durable; its entry in the directory is not yet. Returns its length.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.put(self.dictionary)?;
        let index_offset = self.len();
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(|line| line.position);
        for (number, line) in (0..).zip(&lines) {
            self.put(&line.encode(self.id, number))?;
        }
        self.flush()?;
        let is_chunked = lines.iter().any(|line| line.method == Method::Chunked);
        let guide = Guide {
            version: if is_chunked { VERSION_CHUNKED } else { VERSION },
            id: self.id,
            count: len_u64(lines.len()),
            dictionary_len: len_u64(self.dictionary.len()),
            index_offset,
            dictionary_hash: *blake3::hash(self.dictionary).as_bytes(),
            content_hash: *self.hasher.finalize().as_bytes(),
        };
        self.file.write_at(&guide.encode(self.key, self.written), self.written)?;
        self.file.write_at(&guide.encode(self.key, 0), 0)?;
        if !is_planted(Bug::PackNotSynced) {
            self.file.sync()?;
        }
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
