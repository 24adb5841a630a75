//! The hash of long content out of those of its pieces, so that several threads can work on it.
//!
//! BLAKE3 is a tree: content that is cut into pieces of a power of two has a value for each piece, and the hash of the
//! whole is made of these. It is the very same hash.

use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

use crate::ContentHash;

/// The length of every piece but the last, in bytes. One that was read is still in the cache of its core when it is hashed.
pub const PIECE_BYTES: usize = 256 << 10;

/// What one piece contributes to the hash of content that has at least two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceHash([u8; 32]);

impl PieceHash {
    /// Hashes the piece with this number, counted from 0. Only the last piece may be shorter than [`PIECE_BYTES`], none
    /// longer or empty; otherwise what comes out names no content.
    pub fn of(number: usize, piece: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset((number as u64).saturating_mul(PIECE_BYTES as u64));
        Self(hasher.update(piece).finalize_non_root())
    }
}

impl ContentHash {
    /// The hash of content from those of its pieces, in order; `None` for fewer than two, which have no such form.
    pub fn of_pieces(pieces: &[PieceHash]) -> Option<Self> {
        let mut level: Vec<[u8; 32]> = pieces.iter().map(|piece| piece.0).collect();
        loop {
            if let [left, right] = level.as_slice() {
                return Some(Self::from_bytes(*merge_subtrees_root(left, right, Mode::Hash).as_bytes()));
            }
            if level.len() < 2 {
                return None;
            }
            level = level.chunks(2).filter_map(merged).collect();
        }
    }
}

/// Two neighbours as one; the last without a neighbour moves up as it is.
fn merged(neighbours: &[[u8; 32]]) -> Option<[u8; 32]> {
    match neighbours {
        [left, right] => Some(merge_subtrees_non_root(left, right, Mode::Hash)),
        [alone] => Some(*alone),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_pieces_is_the_hash_of_the_whole() {
        let mut content = vec![0; 9 * PIECE_BYTES + 1];
        blake3::Hasher::new().finalize_xof().fill(&mut content);
        for len in
            (2..=9).flat_map(|n| [1025, 1, 0].map(|less| n * PIECE_BYTES - less)).chain([content.len()])
        {
            let whole = &content[..len];
            let pieces: Vec<_> = whole
                .chunks(PIECE_BYTES)
                .enumerate()
                .map(|(number, piece)| PieceHash::of(number, piece))
                .collect();
            assert_eq!(ContentHash::of_pieces(&pieces), Some(ContentHash::of(whole)), "{len} bytes");
        }
        let first = PieceHash::of(0, &content[..PIECE_BYTES]);
        assert_eq!(ContentHash::of_pieces(&[first]), None);
        assert_eq!(ContentHash::of_pieces(&[]), None);
    }
}
