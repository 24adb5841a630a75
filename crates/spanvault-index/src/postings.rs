//! Which spans may hold a term: immutable, sorted, checksummed files, one for each stretch of the log.
//!
//! A run covers the frames from one position to another and says for each term (64 bits of a hash, so that no text of
//! an original stands here) in which spans of that stretch it occurs. A posting is never evidence: it says where to
//! look. What a run is good for is the other direction: a span of its stretch that is not listed under a term does not
//! hold it, unless the span is listed as *unread*. So a run also keeps, for each session, how many spans it has in the
//! stretch and the sum of the content hashes of those that were read: what an answer that rules them out covers.
//!
//! Runs are made from the log, behind it, and never synced: one that is torn, missing, of another log, or made by a
//! program that reads otherwise is left out, and its stretch is read instead. [`Runs`] are the ones that count;
//! [`RunDraft`] makes another.

mod draft;
mod layout;
mod merge;
mod run;
mod runs;
mod writer;

pub use draft::{RunDraft, Share};
pub use run::Run;
pub use runs::{Runs, RunsIter, RunsLog, STRETCH_FRAMES_MAX};

/// A piece of a term that is longer than this, in bytes, is hashed apart: all of it at once, which is several times faster
/// than behind what stands before it.
const PIECE_BYTES_MAX: usize = 1 << 10;

/// Sixty-four bits of the hash of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u64);

impl Term {
    /// The term of a kind and the pieces that it is made of. Pieces are told apart: `["ab", "c"]` and `["a", "bc"]` are
    /// two terms.
    pub fn new(kind: u8, pieces: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[kind]);
        for piece in pieces {
            hasher.update(&(piece.len() as u64).to_le_bytes());
            if piece.len() > PIECE_BYTES_MAX {
                hasher.update(blake3::hash(piece).as_bytes());
            } else {
                hasher.update(piece);
            }
        }
        let mut short = [0; 8];
        hasher.finalize_xof().fill(&mut short);
        Self(u64::from_le_bytes(short))
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests;
