//! Reads a pack.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use spanvault_env::DiskFile;
use spanvault_env::sync::Mutex;
use spanvault_types::ContentHash;
use zstd::dict::DecoderDictionary;

use super::chunks::{self, Packed, Piece};
use super::dictionary;
use super::guide::Guide;
use super::index::Index;
use super::line::{Known, LINE_BYTES, Line, Method};
use super::unpack::unpack;
use super::{GUIDE_BYTES, NAME_BYTES, Version, ZSTD_MAGIC};
use crate::bytes::len_u64;
use crate::long;
use crate::segment::hash_at;
use crate::sidecar::Unusable;
use crate::stamp::{CheckKey, Place};
use crate::window::{WINDOW_BYTES, Window};

type Result<T> = std::result::Result<T, Unusable>;

/// Unpacked blocks that are kept at hand: whoever reads one original after the other, of some sessions at a time, unpacks
/// each block once.
const KEPT_MAX: usize = 4;

/// An opened pack.
pub(crate) struct Pack {
    file: Arc<dyn DiskFile>,
    /// Its length when it was opened; it never changes.
    len: u64,
    guide: Guide,
    dictionary: Option<(Vec<u8>, DecoderDictionary<'static>)>,
    /// `None` where each line is read by itself.
    index: Option<Index>,
    /// Blocks of several originals, by where they are stored.
    kept: Mutex<VecDeque<(u64, Arc<Unpacked>)>>,
}

/// A block as it was packed.
#[derive(Debug)]
pub(crate) struct Unpacked {
    bytes: Vec<u8>,
    names: Vec<u8>,
}

impl Unpacked {
    /// The bytes that a line says are its original, not verified, and the name that stands for them.
    pub(crate) fn of(&self, line: &Line) -> Option<(&[u8], [u8; NAME_BYTES])> {
        let (start, end) = (usize::try_from(line.start).ok()?, line.start.checked_add(line.raw)?);
        let bytes = self.bytes.get(start..usize::try_from(end).ok()?)?;
        Some((bytes, line.name_in(&self.names)?))
    }
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack").field("guide", &self.guide).finish_non_exhaustive()
    }
}

impl Pack {
    /// Opens the pack `id`; of all that it has twice one copy suffices.
    pub(crate) fn open(file: Arc<dyn DiskFile>, key: &CheckKey, id: u64) -> Result<Self> {
        let len = file.len()?;
        let end = len.saturating_sub(len_u64(GUIDE_BYTES));
        let mut found = None;
        for offset in [0, end] {
            let bytes = read(&*file, len, offset, len_u64(GUIDE_BYTES))?;
            found = found.or_else(|| Guide::decode(&bytes, key, id, offset));
        }
        let guide = found.ok_or(Unusable::Damaged)?;
        let dictionary = load_dictionary(&*file, len, &guide)?;
        let index = match guide.version {
            Version::Lines | Version::LinesAndPieces => None,
            Version::Blocks => Some(load_index(&*file, len, key, &guide)?),
        };
        Ok(Self { file, len, guide, dictionary, index, kept: Mutex::default() })
    }

    pub(crate) const fn count(&self) -> u64 {
        self.guide.count
    }

    pub(crate) fn dictionary(&self) -> &[u8] {
        self.dictionary.as_ref().map_or(&[], |(bytes, _prepared)| bytes)
    }

    /// The line of the original with this number.
    pub(crate) fn line(&self, number: u64) -> Result<Line> {
        if let Some(index) = &self.index {
            return index.line(number).ok_or(Unusable::Damaged);
        }
        let bytes = self.read(self.line_offset(number)?, len_u64(LINE_BYTES))?;
        Line::decode(&bytes, self.guide.id, number).ok_or(Unusable::Damaged)
    }

    /// As [`Pack::line`], out of `window`, which is read on where the line is not in it.
    pub(crate) fn line_in(&self, window: &mut Window, number: u64) -> Result<Line> {
        if self.index.is_some() {
            return self.line(number);
        }
        let bytes = window.bytes(&*self.file, self.line_offset(number)?, LINE_BYTES)?;
        bytes.and_then(|bytes| Line::decode(bytes, self.guide.id, number)).ok_or(Unusable::Damaged)
    }

    fn line_offset(&self, number: u64) -> Result<u64> {
        let offset = number.checked_mul(len_u64(LINE_BYTES)).filter(|_| number < self.guide.count);
        offset.and_then(|offset| self.guide.index_offset.checked_add(offset)).ok_or(Unusable::Damaged)
    }

    /// The bytes of a block as they are stored.
    fn stored(&self, line: &Line) -> Result<Vec<u8>> {
        self.check_extent(line)?;
        self.read(line.offset, line.stored)
    }

    /// A block as a new pack has it, and the names behind it.
    pub(crate) fn packed(&self, line: &Line) -> Result<(Vec<u8>, Vec<u8>)> {
        let (packed, names) = split(line, Cow::Owned(self.stored(line)?))?;
        let is_frame = self.index.is_none() && matches!(line.method, Method::Zstd | Method::ZstdDictionary);
        let frame = if is_frame { packed.strip_prefix(&ZSTD_MAGIC) } else { None };
        Ok((frame.map_or_else(|| packed.to_vec(), <[u8]>::to_vec), names))
    }

    /// Whether a block lies where blocks do.
    fn check_extent(&self, line: &Line) -> Result<()> {
        let end = line.offset.checked_add(line.stored);
        if end.is_some_and(|end| end <= self.guide.index_offset) { Ok(()) } else { Err(Unusable::Damaged) }
    }

    /// The original of a line and its hash, which is the one that the pack knows it by: all of it, or how it begins.
    pub(crate) fn original(&self, line: &Line) -> Result<(ContentHash, Vec<u8>)> {
        self.original_from(line, || Ok(Cow::Owned(self.stored(line)?)))
    }

    /// As [`Pack::original`], out of `window`, which is read on where the block is not in it.
    pub(crate) fn original_in(&self, window: &mut Window, line: &Line) -> Result<(ContentHash, Vec<u8>)> {
        self.check_extent(line)?;
        let len = usize::try_from(line.stored).ok().filter(|len| *len <= WINDOW_BYTES);
        let Some(len) = len else { return self.original(line) };
        self.original_from(line, || {
            let stored = window.bytes(&*self.file, line.offset, len)?;
            stored.map(Cow::Borrowed).ok_or(Unusable::Damaged)
        })
    }

    fn original_from<'a>(
        &self,
        line: &Line,
        stored: impl FnOnce() -> Result<Cow<'a, [u8]>>,
    ) -> Result<(ContentHash, Vec<u8>)> {
        let (bytes, name) = if line.together() == 1 {
            let Unpacked { bytes, names } = self.unpacked(line, stored()?)?;
            (bytes, line.name_in(&names))
        } else {
            let block = self.kept_or(line, stored)?;
            let (bytes, name) = block.of(line).ok_or(Unusable::Damaged)?;
            (bytes.to_vec(), Some(name))
        };
        let hash = long::hash_of(&bytes);
        let is_known = match line.known {
            Known::Hash(known) => hash == known,
            Known::Name { .. } => name == hash.as_bytes().first_chunk().copied(),
        };
        if is_known && len_u64(bytes.len()) == line.raw { Ok((hash, bytes)) } else { Err(Unusable::Damaged) }
    }

    /// The block of a line, unpacked: each original in it is still to be verified.
    pub(crate) fn block(&self, line: &Line) -> Result<Arc<Unpacked>> {
        self.kept_or(line, || Ok(Cow::Owned(self.stored(line)?)))
    }

    /// The block of a line out of those at hand, or unpacked and kept.
    fn kept_or<'a>(
        &self,
        line: &Line,
        stored: impl FnOnce() -> Result<Cow<'a, [u8]>>,
    ) -> Result<Arc<Unpacked>> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at_hand = kept().iter().find(|(at, _)| *at == line.offset).map(|(_, block)| Arc::clone(block));
        if let Some(block) = at_hand {
            return Ok(block);
        }
        let block = Arc::new(self.unpacked(line, stored()?)?);
        let mut kept = kept();
        kept.push_front((line.offset, Arc::clone(&block)));
        kept.truncate(KEPT_MAX);
        Ok(block)
    }

    fn unpacked(&self, line: &Line, stored: Cow<'_, [u8]>) -> Result<Unpacked> {
        let (packed, names) = split(line, stored)?;
        let bytes = match (line.method, &self.dictionary) {
            (Method::Raw, _) => packed.into_owned(),
            (Method::Zstd, _) => unpack(&self.frame(&packed), line.block, None)?,
            (Method::ZstdDictionary, Some((_, prepared))) => {
                unpack(&self.frame(&packed), line.block, Some(prepared))?
            }
            (Method::Chunked, _) => self.joined(line, &packed, 0..line.raw)?,
            (Method::ZstdDictionary, None) | (Method::Dropped, _) => return Err(Unusable::Damaged),
        };
        if len_u64(bytes.len()) == line.block {
            Ok(Unpacked { bytes, names })
        } else {
            Err(Unusable::Damaged)
        }
    }

    /// The zstd frame that a block is packed as.
    fn frame<'a>(&self, packed: &'a [u8]) -> Cow<'a, [u8]> {
        if self.index.is_some() { [&ZSTD_MAGIC, packed].concat().into() } else { packed.into() }
    }

    /// A stretch of an original, out of the pieces that it lies in, each of them verified. `None` where the original is
    /// not in pieces.
    pub(crate) fn stretch(&self, line: &Line, range: &Range<u64>) -> Result<Option<Vec<u8>>> {
        if line.method != Method::Chunked {
            return Ok(None);
        }
        let (list, _names) = self.packed(line)?;
        self.joined(line, &list, range.clone()).map(Some)
    }

    /// The pieces of an original; none where it is not in pieces.
    pub(crate) fn pieces(&self, line: &Line) -> Result<Vec<Piece>> {
        if line.method != Method::Chunked {
            return Ok(Vec::new());
        }
        let (list, _names) = self.packed(line)?;
        Self::pieces_of(&list)
    }

    /// The pieces of a list.
    pub(crate) fn pieces_of(list: &[u8]) -> Result<Vec<Piece>> {
        chunks::decode(list).ok_or(Unusable::Damaged)
    }

    /// The bytes of a piece as they are stored.
    pub(crate) fn stored_piece(&self, piece: &Piece) -> Result<Vec<u8>> {
        if piece.offset.checked_add(piece.stored).is_none_or(|end| end > self.guide.index_offset) {
            return Err(Unusable::Damaged);
        }
        self.read(piece.offset, piece.stored)
    }

    /// The bytes of `range` of the original whose list of pieces is `list`.
    fn joined(&self, line: &Line, list: &[u8], range: Range<u64>) -> Result<Vec<u8>> {
        let pieces = chunks::decode(list).ok_or(Unusable::Damaged)?;
        let lens = pieces.iter().try_fold(0_u64, |sum, piece| sum.checked_add(piece.raw));
        if lens != Some(line.raw) {
            return Err(Unusable::Damaged);
        }
        let mut bytes = Vec::new();
        let mut begin = 0;
        for piece in &pieces {
            let end = begin + piece.raw;
            if begin < range.end && range.start < end {
                let whole = self.piece(piece)?;
                let (from, to) = (range.start.max(begin) - begin, range.end.min(end) - begin);
                let part = usize::try_from(from).ok().zip(usize::try_from(to).ok());
                let part = part.and_then(|(from, to)| whole.get(from..to)).ok_or(Unusable::Damaged)?;
                bytes.extend_from_slice(part);
            }
            begin = end;
        }
        Ok(bytes)
    }

    /// A piece: it hashes to its hash.
    fn piece(&self, piece: &Piece) -> Result<Vec<u8>> {
        let stored = self.stored_piece(piece)?;
        let raw = usize::try_from(piece.raw).map_err(|_overflow| Unusable::Damaged)?;
        let bytes = match piece.packed {
            Packed::AsItIs => stored,
            Packed::Zstd if raw <= chunks::PIECE_BYTES_MAX => unpack(&stored, piece.raw, None)?,
            Packed::Zstd => return Err(Unusable::Damaged),
        };
        let is_whole = bytes.len() == raw && *blake3::hash(&bytes).as_bytes() == piece.hash;
        if is_whole { Ok(bytes) } else { Err(Unusable::Damaged) }
    }

    fn read(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        read(&*self.file, self.len, offset, len)
    }

    /// Whether every byte between the guides is as it was written, and both guides are.
    pub(crate) fn is_whole(&self, key: &CheckKey) -> Result<bool> {
        let guide_len = len_u64(GUIDE_BYTES);
        let end = self.guide.end();
        if end.checked_add(guide_len) != Some(self.file.len()?) {
            return Ok(false);
        }
        for offset in [0, end] {
            let bytes = self.read(offset, guide_len)?;
            if Guide::decode(&bytes, key, self.guide.id, offset) != Some(self.guide) {
                return Ok(false);
            }
        }
        let hash = hash_at(&*self.file, guide_len, end - guide_len)?;
        Ok(hash.is_some_and(|hash| *hash.as_bytes() == self.guide.content_hash))
    }
}

/// What is stored of a block: what was packed, and the names behind it.
fn split<'a>(line: &Line, stored: Cow<'a, [u8]>) -> Result<(Cow<'a, [u8]>, Vec<u8>)> {
    let packed = stored.len().checked_sub(line.names_len()).ok_or(Unusable::Damaged)?;
    let names = stored.get(packed..).unwrap_or_default().to_vec();
    let stored = match stored {
        Cow::Owned(mut bytes) => {
            bytes.truncate(packed);
            Cow::Owned(bytes)
        }
        Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(..packed).unwrap_or_default()),
    };
    Ok((stored, names))
}

/// Whichever copy is intact; a pack whose dictionary is lost still gives what was packed without it.
fn load_dictionary(
    file: &dyn DiskFile,
    len: u64,
    guide: &Guide,
) -> Result<Option<(Vec<u8>, DecoderDictionary<'static>)>> {
    if guide.dictionary_len == 0 {
        return Ok(None);
    }
    for offset in guide.dictionaries() {
        let stored = read(file, len, offset, guide.dictionary_len)?;
        if *blake3::hash(&stored).as_bytes() == guide.dictionary_hash {
            let bytes = match guide.version {
                Version::Lines | Version::LinesAndPieces => stored,
                Version::Blocks => dictionary::unpacked(&stored).ok_or(Unusable::Damaged)?,
            };
            let prepared = DecoderDictionary::copy(&bytes);
            return Ok(Some((bytes, prepared)));
        }
    }
    Ok(None)
}

/// Whichever copy is intact.
fn load_index(file: &dyn DiskFile, len: u64, key: &CheckKey, guide: &Guide) -> Result<Index> {
    let extent = (len_u64(GUIDE_BYTES).saturating_add(guide.dictionary_len), guide.index_offset);
    for offset in guide.indexes() {
        let bytes = read(file, len, offset, u64::from(guide.index_len))?;
        let place = Place { file: guide.id, offset };
        if let Some(index) = Index::decode(&bytes, key, place, guide.count, extent) {
            return Ok(index);
        }
    }
    Err(Unusable::Damaged)
}

/// `len` bytes at `offset` of a file of `end` bytes, allocated only if the file has them; fewer at its end.
fn read(file: &dyn DiskFile, end: u64, offset: u64, len: u64) -> Result<Vec<u8>> {
    let there = end.saturating_sub(offset).min(len);
    let mut bytes = vec![0; usize::try_from(there).map_err(|_overflow| Unusable::Damaged)?];
    let read = file.read_at(&mut bytes, offset)?;
    bytes.truncate(read);
    Ok(bytes)
}

#[cfg(test)]
mod tests;
