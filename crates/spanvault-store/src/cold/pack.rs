//! Reads a pack.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use spanvault_env::DiskFile;
use spanvault_types::ContentHash;
use zstd::dict::DecoderDictionary;

use super::chunks::{self, Packed, Piece};
use super::unpack::unpack;
use super::{GUIDE_BYTES, LINE_BYTES, MAGIC, VERSION, VERSION_CHUNKED};
use crate::bytes::{Fields, len_u64, put_u48};
use crate::long;
use crate::segment::hash_at;
use crate::sidecar::Unusable;
use crate::stamp::{CHECK_BYTES, CheckKey, Place};
use crate::window::{WINDOW_BYTES, Window};

type Result<T> = std::result::Result<T, Unusable>;

/// How an entry is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Method {
    /// Not at all: it was reclaimed.
    Dropped = 0,
    /// As it is.
    Raw = 1,
    Zstd = 2,
    /// With the pack's dictionary.
    ZstdDictionary = 3,
    /// In pieces; what is stored is the list of them.
    Chunked = 4,
}

/// One line of the index: where an original is in the pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) position: u64,
    pub(crate) method: Method,
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    pub(crate) raw: u64,
    pub(crate) hash: ContentHash,
}

impl Line {
    pub(super) fn encode(&self, pack: u64, number: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LINE_BYTES);
        bytes.extend_from_slice(&self.position.to_le_bytes());
        put_u48(&mut bytes, self.offset);
        put_u48(&mut bytes, self.stored);
        put_u48(&mut bytes, self.raw);
        bytes.extend_from_slice(&[self.method as u8, 0]);
        bytes.extend_from_slice(self.hash.as_bytes());
        let crc = line_crc(&bytes, pack, number);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8], pack: u64, number: u64) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let content = fields.bytes(LINE_BYTES - 4)?;
        if fields.u32()? != line_crc(content, pack, number) {
            return None;
        }
        let mut fields = Fields::new(content);
        let (position, offset, stored, raw) = (fields.u64()?, fields.u48()?, fields.u48()?, fields.u48()?);
        let method = match fields.array()? {
            [0, 0] => Method::Dropped,
            [1, 0] => Method::Raw,
            [2, 0] => Method::Zstd,
            [3, 0] => Method::ZstdDictionary,
            [4, 0] => Method::Chunked,
            _ => return None,
        };
        Some(Self { position, method, offset, stored, raw, hash: ContentHash::from_bytes(fields.array()?) })
    }
}

/// A line is good in one place of one pack only.
fn line_crc(content: &[u8], pack: u64, number: u64) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(content);
    crc.update(&pack.to_le_bytes());
    crc.update(&number.to_le_bytes());
    crc.finalize()
}

/// What stands at both ends of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guide {
    pub(super) version: u32,
    pub(super) id: u64,
    pub(super) count: u64,
    pub(super) dictionary_len: u64,
    pub(super) index_offset: u64,
    pub(super) dictionary_hash: [u8; 32],
    /// Of everything between the two guides.
    pub(super) content_hash: [u8; 32],
}

impl Guide {
    pub(super) fn encode(&self, key: &CheckKey, offset: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(GUIDE_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        for number in [self.id, self.count, self.dictionary_len, self.index_offset] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.dictionary_hash);
        bytes.extend_from_slice(&self.content_hash);
        let check = key.check(&bytes, Place { file: self.id, offset });
        bytes.extend_from_slice(&check);
        bytes
    }

    fn decode(bytes: &[u8], key: &CheckKey, id: u64, offset: u64) -> Option<Self> {
        let (checked, check) = bytes.split_at_checked(GUIDE_BYTES - CHECK_BYTES)?;
        if key.check(checked, Place { file: id, offset }) != *check {
            return None;
        }
        let mut fields = Fields::new(checked);
        let (magic, version) = (fields.array()?, fields.u32()?);
        let is_known = magic == MAGIC && matches!(version, VERSION | VERSION_CHUNKED);
        if !is_known || (fields.u32()?, fields.u64()?) != (0, id) {
            return None;
        }
        Some(Self {
            version,
            id,
            count: fields.u64()?,
            dictionary_len: fields.u64()?,
            index_offset: fields.u64()?,
            dictionary_hash: fields.array()?,
            content_hash: fields.array()?,
        })
    }
}

/// An opened pack.
pub(crate) struct Pack {
    file: Arc<dyn DiskFile>,
    /// Its length when it was opened; it never changes.
    len: u64,
    guide: Guide,
    dictionary: Option<(Vec<u8>, DecoderDictionary<'static>)>,
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack").field("guide", &self.guide).finish_non_exhaustive()
    }
}

impl Pack {
    /// Opens the pack `id`; one of its two guides suffices.
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
        Ok(Self { file, len, guide, dictionary })
    }

    pub(crate) const fn count(&self) -> u64 {
        self.guide.count
    }

    pub(crate) fn dictionary(&self) -> &[u8] {
        self.dictionary.as_ref().map_or(&[], |(bytes, _prepared)| bytes)
    }

    /// The line of the entry with this number.
    pub(crate) fn line(&self, number: u64) -> Result<Line> {
        let bytes = self.read(self.line_offset(number)?, len_u64(LINE_BYTES))?;
        Line::decode(&bytes, self.guide.id, number).ok_or(Unusable::Damaged)
    }

    /// As [`Pack::line`], out of `window`, which is read on where the line is not in it.
    pub(crate) fn line_in(&self, window: &mut Window, number: u64) -> Result<Line> {
        let bytes = window.bytes(&*self.file, self.line_offset(number)?, LINE_BYTES)?;
        bytes.and_then(|bytes| Line::decode(bytes, self.guide.id, number)).ok_or(Unusable::Damaged)
    }

    fn line_offset(&self, number: u64) -> Result<u64> {
        let offset = number.checked_mul(len_u64(LINE_BYTES)).filter(|_| number < self.guide.count);
        offset.and_then(|offset| self.guide.index_offset.checked_add(offset)).ok_or(Unusable::Damaged)
    }

    /// The bytes of an entry as they are stored.
    pub(crate) fn stored(&self, line: &Line) -> Result<Vec<u8>> {
        self.check_extent(line)?;
        self.read(line.offset, line.stored)
    }

    /// Whether an entry lies where entries do.
    fn check_extent(&self, line: &Line) -> Result<()> {
        let end = line.offset.checked_add(line.stored);
        if end.is_some_and(|end| end <= self.guide.index_offset) { Ok(()) } else { Err(Unusable::Damaged) }
    }

    /// The original of an entry: it hashes to the line's hash.
    pub(crate) fn original(&self, line: &Line) -> Result<Vec<u8>> {
        self.unpacked(line, Cow::Owned(self.stored(line)?))
    }

    /// As [`Pack::original`], out of `window`, which is read on where the entry is not in it.
    pub(crate) fn original_in(&self, window: &mut Window, line: &Line) -> Result<Vec<u8>> {
        self.check_extent(line)?;
        let len = usize::try_from(line.stored).ok().filter(|len| *len <= WINDOW_BYTES);
        let Some(len) = len else { return self.original(line) };
        let stored = window.bytes(&*self.file, line.offset, len)?.ok_or(Unusable::Damaged)?;
        self.unpacked(line, Cow::Borrowed(stored))
    }

    fn unpacked(&self, line: &Line, stored: Cow<'_, [u8]>) -> Result<Vec<u8>> {
        let raw = usize::try_from(line.raw).map_err(|_overflow| Unusable::Damaged)?;
        let bytes = match (line.method, &self.dictionary) {
            (Method::Raw, _) => stored.into_owned(),
            (Method::Zstd, _) => unpack(&stored, line.raw, None)?,
            (Method::ZstdDictionary, Some((_, prepared))) => unpack(&stored, line.raw, Some(prepared))?,
            (Method::Chunked, _) => self.joined(line, &stored, 0..line.raw)?,
            (Method::ZstdDictionary, None) | (Method::Dropped, _) => return Err(Unusable::Damaged),
        };
        if bytes.len() == raw && long::hash_of(&bytes) == line.hash {
            Ok(bytes)
        } else {
            Err(Unusable::Damaged)
        }
    }

    /// A stretch of an original, out of the pieces that it lies in, each of them verified. `None` where the original is
    /// not in pieces.
    pub(crate) fn stretch(&self, line: &Line, range: &Range<u64>) -> Result<Option<Vec<u8>>> {
        if line.method != Method::Chunked {
            return Ok(None);
        }
        self.joined(line, &self.stored(line)?, range.clone()).map(Some)
    }

    /// The pieces of an entry; none where it is not in pieces.
    pub(crate) fn pieces(&self, line: &Line) -> Result<Vec<Piece>> {
        if line.method != Method::Chunked {
            return Ok(Vec::new());
        }
        chunks::decode(&self.stored(line)?).ok_or(Unusable::Damaged)
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
        let end = self.guide.index_offset + self.guide.count * len_u64(LINE_BYTES);
        if self.file.len()? != end + guide_len {
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

/// Whichever copy is intact; a pack whose dictionary is lost still gives what was packed without it.
fn load_dictionary(
    file: &dyn DiskFile,
    len: u64,
    guide: &Guide,
) -> Result<Option<(Vec<u8>, DecoderDictionary<'static>)>> {
    if guide.dictionary_len == 0 {
        return Ok(None);
    }
    let second = guide.index_offset.checked_sub(guide.dictionary_len).ok_or(Unusable::Damaged)?;
    for offset in [len_u64(GUIDE_BYTES), second] {
        let bytes = read(file, len, offset, guide.dictionary_len)?;
        if *blake3::hash(&bytes).as_bytes() == guide.dictionary_hash {
            let prepared = DecoderDictionary::copy(&bytes);
            return Ok(Some((bytes, prepared)));
        }
    }
    Ok(None)
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
