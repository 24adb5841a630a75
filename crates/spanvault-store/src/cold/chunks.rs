//! Long originals in a pack: cut where their content says, and each piece stored once.
//!
//! An image that recurs in hundreds of records is there once, wherever in them it stands: the cuts follow the content,
//! so they fall on the same bytes again. What is encoded in base64 and long is cut out whole before that: nothing of what
//! stands around an image is in a piece with it. Each piece has its own hash, so that a part of a long original can be
//! read and verified without the rest.

use std::ops::Range;

use fastcdc::v2020::FastCDC;

use crate::bytes::{Fields, put_u48};

/// Originals from this length on are cut, in bytes, whatever is in them.
const CHUNKED_BYTES_MIN: usize = 256 << 10;
/// A run of base64 of this length, in bytes, is something that may recur: an image, a document. What has one is cut.
const RUN_BYTES_MIN: usize = 8 << 10;
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

/// Whether an original is stored in pieces.
pub(super) fn is_cut(bytes: &[u8]) -> bool {
    bytes.len() >= CHUNKED_BYTES_MIN || (bytes.len() >= RUN_BYTES_MIN && runs(bytes).next().is_some())
}

/// The pieces of `bytes`.
pub(super) fn cut(bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for run in runs(bytes) {
        cut_by_content(bytes.get(from..run.start).unwrap_or_default(), &mut pieces);
        from = run.end;
        cut_by_content(bytes.get(run).unwrap_or_default(), &mut pieces);
    }
    cut_by_content(bytes.get(from..).unwrap_or_default(), &mut pieces);
    pieces
}

fn cut_by_content<'a>(bytes: &'a [u8], pieces: &mut Vec<&'a [u8]>) {
    let [min, usual, max] = PIECE_BYTES;
    let cuts = FastCDC::new(bytes, min, usual, max);
    pieces.extend(cuts.filter_map(|cut| bytes.get(cut.offset..cut.offset.checked_add(cut.length)?)));
}

/// The long runs of characters of base64.
fn runs(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let is_outside =
        |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let mut at = 0;
    bytes.split(is_outside).filter_map(move |run| {
        let start = at;
        at += run.len() + 1;
        (run.len() >= RUN_BYTES_MIN).then_some(start..start + run.len())
    })
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Characters of base64 without any pattern.
    fn encoded(seed: u64, len: usize) -> Vec<u8> {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        let mut bytes = vec![0; len];
        hasher.finalize_xof().fill(&mut bytes);
        bytes.into_iter().map(|byte| DIGITS[usize::from(byte % 64)]).collect()
    }

    #[test]
    fn pieces_put_together_are_the_original_whatever_is_in_it() {
        let image = encoded(1, 100_000);
        let short = encoded(2, RUN_BYTES_MIN - 1);
        let cases = [
            Vec::new(),
            image.clone(),
            [b"{\"data\":\"", &image[..], b"\"}"].concat(),
            [&image[..], b" ", &image, b"\n", &short].concat(),
            vec![0xff; 300_000],
        ];
        for bytes in cases {
            assert_eq!(cut(&bytes).concat(), bytes);
            assert!(cut(&bytes).iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE_BYTES_MAX));
        }
    }

    #[test]
    fn an_image_has_the_same_pieces_whatever_stands_around_it() {
        let image = encoded(3, 90_000);
        let of_image: HashSet<Vec<u8>> = cut(&image).into_iter().map(<[u8]>::to_vec).collect();
        for n in 0..20_u64 {
            let around = "what is said before ".repeat(usize::try_from(n).unwrap() * 40);
            let bytes = [around.as_bytes(), b"\"", &image, b"\" and after ", around.as_bytes()].concat();
            let pieces = cut(&bytes);
            let others: usize =
                pieces.iter().filter(|piece| !of_image.contains(**piece)).map(|piece| piece.len()).sum();
            assert_eq!(others, bytes.len() - image.len());
        }
    }

    #[test]
    fn what_has_a_long_run_is_cut_and_short_text_is_not() {
        assert!(is_cut(&[b"{\"data\":\"", &encoded(4, RUN_BYTES_MIN)[..], b"\"}"].concat()));
        assert!(!is_cut(&[b"{\"data\":\"", &encoded(4, RUN_BYTES_MIN - 1)[..], b"\"}"].concat()));
        assert!(!is_cut("words and words ".repeat(10_000).as_bytes()));
        assert!(is_cut("words and words ".repeat(20_000).as_bytes()));
    }
}
