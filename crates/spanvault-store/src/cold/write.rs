//! Writes a pack.

use std::collections::HashMap;
use std::io;

use spanvault_env::DiskFile;
use spanvault_types::ContentHash;
use spanvault_types::planted::{Bug, is_planted};
use zstd::bulk::Compressor;

use super::chunks::{self, Packed, Piece};
use super::guide::Guide;
use super::index::{self, Block, Entry};
use super::line::Method;
use super::packing::Packing;
use super::{GUIDE_BYTES, LEVEL, NAME_BYTES, Version, ZSTD_MAGIC, dictionary};
use crate::bytes::len_u64;
use crate::stamp::{CHECK_BYTES, CheckKey, Place};

/// A longer original has its own repetitions: no sample of it is needed.
pub(crate) const DICTIONARY_HELPS_BYTES: usize = 64 << 10;
/// Blocks are gathered up to this length and written at once.
const WRITE_BYTES: usize = 1 << 20;

/// An original of a block that has its bytes already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) position: u64,
    pub(crate) name: [u8; NAME_BYTES],
    /// Its length.
    pub(crate) raw: u64,
}

impl Member {
    pub(crate) fn new(position: u64, hash: &ContentHash, raw: u64) -> Self {
        let name = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        Self { position, name, raw }
    }
}

/// Originals that are to be compressed together.
#[derive(Debug, Default)]
struct Gathered {
    group: u64,
    members: Vec<Member>,
    bytes: Vec<u8>,
}

/// A pack in the making. Nobody looks at its file before it is finished and renamed.
pub(crate) struct PackWriter<'a> {
    file: &'a dyn DiskFile,
    key: &'a CheckKey,
    id: u64,
    packing: Packing,
    /// As it is stored.
    dictionary: Vec<u8>,
    plain: Compressor<'static>,
    trained: Option<Compressor<'static>>,
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
    written: u64,
    gathered: Gathered,
    blocks: Vec<Block>,
    entries: Vec<Entry>,
    /// The pieces that are in the pack.
    pieces: HashMap<[u8; 32], Piece>,
}

impl<'a> PackWriter<'a> {
    /// Begins a pack in an empty file. An empty dictionary is none.
    pub(crate) fn new(
        file: &'a dyn DiskFile,
        key: &'a CheckKey,
        id: u64,
        dictionary: &[u8],
        packing: Packing,
    ) -> io::Result<Self> {
        let (trained, stored) = match dictionary {
            [] => (None, Vec::new()),
            dictionary => {
                let mut trained = Compressor::with_dictionary(LEVEL, dictionary)?;
                // There is one it can be.
                trained.include_dictid(false)?;
                (Some(trained), dictionary::packed(dictionary)?)
            }
        };
        let mut writer = Self {
            file,
            key,
            id,
            packing,
            dictionary: stored.clone(),
            plain: Compressor::new(LEVEL)?,
            trained,
            hasher: blake3::Hasher::new(),
            buffer: Vec::new(),
            written: len_u64(GUIDE_BYTES),
            gathered: Gathered::default(),
            blocks: Vec::new(),
            entries: Vec::new(),
            pieces: HashMap::new(),
        };
        writer.put(&stored)?;
        Ok(writer)
    }

    /// Adds an original. Those that share a block are of one group, and come one after the other by position.
    pub(crate) fn add(
        &mut self,
        position: u64,
        group: u64,
        hash: &ContentHash,
        bytes: &[u8],
    ) -> io::Result<()> {
        let member = Member::new(position, hash, len_u64(bytes.len()));
        if chunks::is_cut(bytes) {
            self.close_block()?;
            return self.add_in_pieces(member, bytes);
        }
        let gathered = &self.gathered;
        let is_next = gathered.group == group
            && gathered.members.last().is_some_and(|last| last.position < position)
            && gathered.bytes.len() + bytes.len() <= self.packing.block_bytes();
        if !is_next {
            self.close_block()?;
        }
        self.gathered.group = group;
        self.gathered.members.push(member);
        self.gathered.bytes.extend_from_slice(bytes);
        if self.gathered.bytes.len() >= self.packing.block_bytes() {
            self.close_block()?;
        }
        Ok(())
    }

    /// How long the pack is so far; what is still gathered counts as it is.
    pub(crate) fn len(&self) -> u64 {
        self.offset() + len_u64(self.gathered.bytes.len())
    }

    /// Where in the file comes what is put next.
    fn offset(&self) -> u64 {
        self.written + len_u64(self.buffer.len())
    }

    fn close_block(&mut self) -> io::Result<()> {
        let Gathered { members, bytes, .. } = std::mem::take(&mut self.gathered);
        if members.is_empty() { Ok(()) } else { self.add_together(&members, &bytes) }
    }

    /// Adds a block of originals whose bytes, one after the other, are `bytes`.
    pub(crate) fn add_together(&mut self, members: &[Member], bytes: &[u8]) -> io::Result<()> {
        let (method, packed) = match &mut self.trained {
            Some(trained) => (Method::ZstdDictionary, trained.compress(bytes)?),
            None => (Method::Zstd, self.plain.compress(bytes)?),
        };
        let packed = packed.strip_prefix(&ZSTD_MAGIC).unwrap_or(&packed);
        if packed.len() < bytes.len() {
            self.add_packed(members, method, packed)
        } else {
            self.add_packed(members, Method::Raw, bytes)
        }
    }

    /// Adds a block that is packed already, as [`super::Pack::packed`] gives it.
    pub(crate) fn add_packed(&mut self, members: &[Member], method: Method, packed: &[u8]) -> io::Result<()> {
        let names = members.iter().flat_map(|member| member.name);
        let mut stored = packed.to_vec();
        stored.extend(names);
        let block = u32::try_from(self.blocks.len()).map_err(io::Error::other)?;
        self.blocks.push(Block { offset: self.offset(), stored: len_u64(stored.len()), method });
        self.put(&stored)?;
        let entry =
            |member: &Member| Entry { position: member.position, block: Some(block), raw: member.raw };
        self.entries.extend(members.iter().map(entry));
        Ok(())
    }

    /// Adds the number of an original that was reclaimed, and nothing of it.
    pub(crate) fn add_dropped(&mut self, position: u64) {
        self.entries.push(Entry { position, block: None, raw: 0 });
    }

    fn add_in_pieces(&mut self, member: Member, bytes: &[u8]) -> io::Result<()> {
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
        self.add_packed(&[member], Method::Chunked, &chunks::encode(&list))
    }

    /// Adds an original in pieces as another pack had it; `stored` gives the bytes of a piece that is not here yet.
    pub(crate) fn add_stored_pieces<E: From<io::Error>>(
        &mut self,
        member: Member,
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
        Ok(self.add_packed(&[member], Method::Chunked, &chunks::encode(&list))?)
    }

    fn put_piece(&mut self, piece: Piece, stored: &[u8]) -> io::Result<Piece> {
        let piece = Piece { offset: self.offset(), stored: len_u64(stored.len()), ..piece };
        self.put(stored)?;
        self.pieces.insert(piece.hash, piece);
        Ok(piece)
    }

    /// Ends the pack and makes it durable; its entry in the directory is not yet. Returns its length.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.close_block()?;
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_by_key(|entry| entry.position);
        let dictionary = std::mem::take(&mut self.dictionary);
        let begin = len_u64(GUIDE_BYTES + dictionary.len());
        let index = index::encode(&self.blocks, &entries, begin);
        let index_len = u32::try_from(index.len() + CHECK_BYTES).map_err(io::Error::other)?;
        let index_offset = self.offset();
        self.put_index(&index)?;
        self.put(&dictionary)?;
        self.put_index(&index)?;
        self.flush()?;
        let guide = Guide {
            version: Version::Blocks,
            index_len,
            id: self.id,
            count: len_u64(entries.len()),
            dictionary_len: len_u64(dictionary.len()),
            index_offset,
            dictionary_hash: *blake3::hash(&dictionary).as_bytes(),
            content_hash: *self.hasher.finalize().as_bytes(),
        };
        self.file.write_at(&guide.encode(self.key, self.written), self.written)?;
        self.file.write_at(&guide.encode(self.key, 0), 0)?;
        if !is_planted(Bug::PackNotSynced) {
            self.file.sync()?;
        }
        Ok(self.written + len_u64(GUIDE_BYTES))
    }

    fn put_index(&mut self, index: &[u8]) -> io::Result<()> {
        let place = Place { file: self.id, offset: self.offset() };
        self.put(&index::sealed(index, self.key, place))
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
