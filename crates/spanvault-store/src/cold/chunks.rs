//! Long originals in a pack: cut where their content says, and each piece stored once.
//!
//! An image that recurs in hundreds of records is there once, wherever in them it stands: the cuts follow the content,
//! so they fall on the same bytes again. Each piece has its own hash, so that a part of a long original can be read and
//! verified without the rest.

use fastcdc::v2020::FastCDC;

use crate::bytes::{Fields, put_u48};

/// Originals from this length on are cut, in bytes.
pub(crate) const CHUNKED_BYTES_MIN: usize = 256 << 10;
/// The shortest piece, the usual one, and the longest.
const PIECE_BYTES: [usize; 3] = [4 << 10, 16 << 10, PIECE_BYTES_MAX];

/// The longest piece, in bytes.
pub(super) const PIECE_BYTES_MAX: usize = 64 << 10;

const PIECE_LINE_BYTES: usize = 52;
const HASH_BYTES: usize = 32;

/// One piece of a long original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it is stored in the pack.
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    /// Its length.
    pub(crate) raw: u64,
    pub(crate) packed: Packed,
    pub(crate) hash: [u8; HASH_BYTES],
}

/// How a piece is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Packed {
    AsItIs = 1,
    Zstd = 2,
}

/// The pieces of `bytes`.
pub(super) fn cut(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let [min, usual, max] = PIECE_BYTES;
    FastCDC::new(bytes, min, usual, max)
        .filter_map(|cut| bytes.get(cut.offset..cut.offset.checked_add(cut.length)?))
}

/// The list of the pieces of one original, in order, with its own hash.
pub(super) fn encode(pieces: &[Piece]) -> Vec<u8> {
    let mut list = Vec::with_capacity(pieces.len() * PIECE_LINE_BYTES + HASH_BYTES);
    for piece in pieces {
        for number in [piece.offset, piece.stored, piece.raw] {
            put_u48(&mut list, number);
        }
        list.extend_from_slice(&[piece.packed as u8, 0]);
        list.extend_from_slice(&piece.hash);
    }
    let hash = blake3::hash(&list);
    list.extend_from_slice(hash.as_bytes());
    list
}

/// The pieces of a list, if it is as it was written.
pub(super) fn decode(list: &[u8]) -> Option<Vec<Piece>> {
    let (lines, hash) = list.split_last_chunk::<HASH_BYTES>()?;
    if blake3::hash(lines) != *hash {
        return None;
    }
    let mut fields = Fields::new(lines);
    let mut pieces = Vec::with_capacity(lines.len() / PIECE_LINE_BYTES);
    while !fields.is_empty() {
        let (offset, stored, raw) = (fields.u48()?, fields.u48()?, fields.u48()?);
        let packed = match fields.array()? {
            [1, 0] => Packed::AsItIs,
            [2, 0] => Packed::Zstd,
            _ => return None,
        };
        pieces.push(Piece { offset, stored, raw, packed, hash: fields.array()? });
    }
    Some(pieces)
}
