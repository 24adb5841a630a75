//! The hash chain over the events of the log.
//!
//! A link covers what stays for ever: position, schema, event and the commitment to the body. It covers neither body,
//! salt nor content hash, so bodies can be demoted, reclaimed or erased and the chain still verifies.

use spanvault_types::codec::CodecError;
use spanvault_types::{Commit, Commitment};

use crate::segment::COMMIT_KIND;

/// A value of the chain.
pub(crate) type ChainValue = [u8; 32];

/// The chain value before the first batch of a vault.
pub(crate) const GENESIS: ChainValue = [0; 32];

/// The links of one batch, on the way to its chain value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    links: Vec<u8>,
    /// What is hashed next: short, and in one piece, for that is what hashing is quickest with.
    hashed: Vec<u8>,
}

impl Links {
    pub(crate) fn add(&mut self, seq: u64, kind: u16, event: &[u8], commitment: Option<&Commitment>) {
        let link = link(&mut self.hashed, seq, kind, event, commitment);
        self.links.extend_from_slice(&link);
    }

    /// Adds the links of the frames that come next.
    pub(crate) fn append(&mut self, next: &Self) {
        self.links.extend_from_slice(&next.links);
    }

    /// The chain value of the batch that `commit` ends, at position `seq`. Its own `chain` field is not looked at.
    pub(crate) fn close(&self, seq: u64, commit: &Commit) -> Result<ChainValue, CodecError> {
        let open = Commit { chain: GENESIS, ..commit.clone() };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&commit.prev_chain);
        hasher.update(&self.links);
        hasher.update(&link(&mut Vec::new(), seq, COMMIT_KIND, &open.chained_bytes()?, None));
        Ok(*hasher.finalize().as_bytes())
    }
}

/// What the chain has of one frame; `hashed` is room to work in.
fn link(
    hashed: &mut Vec<u8>,
    seq: u64,
    kind: u16,
    event: &[u8],
    commitment: Option<&Commitment>,
) -> [u8; 32] {
    hashed.clear();
    hashed.extend_from_slice(&seq.to_le_bytes());
    hashed.extend_from_slice(&kind.to_le_bytes());
    hashed.extend_from_slice(event);
    hashed.extend_from_slice(commitment.map_or([0; 32].as_slice(), |commitment| commitment.as_bytes()));
    *blake3::hash(hashed).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanvault_types::{ClockStamp, Counts, Position};

    fn commit() -> Commit {
        Commit {
            first: Position::new(1),
            durable: Position::ZERO,
            prev_chain: GENESIS,
            chain: GENESIS,
            counts: Counts::default(),
            clock: ClockStamp::default(),
        }
    }

    #[test]
    fn every_part_of_a_batch_is_in_the_chain() {
        let commitment = Commitment::from_bytes([1; 32]);
        let chain = |seq, kind, event: &[u8], commitment: Option<&Commitment>, commit: &Commit| {
            let mut links = Links::default();
            links.add(seq, kind, event, commitment);
            links.close(seq + 1, commit).unwrap()
        };
        let good = chain(1, 4, b"event", Some(&commitment), &commit());
        assert_eq!(good, chain(1, 4, b"event", Some(&commitment), &commit()));
        let mut later = commit();
        later.counts.originals = 1;
        for other in [
            chain(2, 4, b"event", Some(&commitment), &commit()),
            chain(1, 5, b"event", Some(&commitment), &commit()),
            chain(1, 4, b"evenT", Some(&commitment), &commit()),
            chain(1, 4, b"event", None, &commit()),
            chain(1, 4, b"event", Some(&commitment), &later),
        ] {
            assert_ne!(good, other);
        }
    }

    #[test]
    fn the_chain_does_not_cover_the_field_that_holds_it() {
        let stated = Commit { chain: [9; 32], ..commit() };
        assert_eq!(
            Links::default().close(1, &commit()).unwrap(),
            Links::default().close(1, &stated).unwrap()
        );
    }
}
