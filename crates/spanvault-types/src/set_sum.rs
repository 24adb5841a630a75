//! A digest of a set that can be added up in pieces.

use std::fmt;

use crate::ContentHash;

/// Lanes of a sum.
const LANES: usize = 1024;

/// The key under which a content hash is stretched into lanes.
const KEY: &[u8; 32] = b"spanvault: a searched set, sum 1";

/// A digest of a collection of content hashes that does not depend on their order (the lattice hash of Bellare and
/// Micciancio, with 1024 lanes of 16 bits).
///
/// Each hash is stretched to 2,048 bytes, and the sum holds their lane-wise sum modulo 2^16. So two sums of parts make
/// the sum of the whole, and a part can be taken away again; to find two collections with the same sum is as hard as a
/// lattice problem. A hash that is added twice counts twice.
///
/// ```
/// use spanvault_types::{ContentHash, SetSum};
///
/// let (a, b) = (ContentHash::of(b"a"), ContentHash::of(b"b"));
/// let mut whole = SetSum::of([a, b]);
/// assert_eq!(whole.root(), SetSum::of([b, a]).root());
/// whole.take_away(&SetSum::of([a]));
/// assert_eq!(whole, SetSum::of([b]));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SetSum(Vec<u16>);

impl SetSum {
    /// Bytes of a sum as it is stored.
    pub const BYTES: usize = 2 * LANES;

    /// The sum of `hashes`.
    pub fn of(hashes: impl IntoIterator<Item = ContentHash>) -> Self {
        let mut sum = Self::default();
        for hash in hashes {
            sum.add(&hash);
        }
        sum
    }

    /// Adds one hash.
    pub fn add(&mut self, hash: &ContentHash) {
        self.each(&stretched(hash), u16::wrapping_add);
    }

    /// Takes away one hash that was added.
    pub fn remove(&mut self, hash: &ContentHash) {
        self.each(&stretched(hash), u16::wrapping_sub);
    }

    /// Adds all that `other` is the sum of.
    pub fn combine(&mut self, other: &Self) {
        for (lane, more) in self.0.iter_mut().zip(&other.0) {
            *lane = lane.wrapping_add(*more);
        }
    }

    /// Takes away all that `other` is the sum of.
    pub fn take_away(&mut self, other: &Self) {
        for (lane, less) in self.0.iter_mut().zip(&other.0) {
            *lane = lane.wrapping_sub(*less);
        }
    }

    /// The digest: BLAKE3 of the lanes, little-endian.
    pub fn root(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }

    /// The lanes, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|lane| lane.to_le_bytes()).collect()
    }

    /// Takes lanes that were stored; `None` where it is not as many bytes as a sum has.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == Self::BYTES).then(|| Self(lanes(bytes).collect()))
    }

    fn each(&mut self, stretched: &[u8], apply: fn(u16, u16) -> u16) {
        for (lane, other) in self.0.iter_mut().zip(lanes(stretched)) {
            *lane = apply(*lane, other);
        }
    }
}

impl Default for SetSum {
    fn default() -> Self {
        Self(vec![0; LANES])
    }
}

impl fmt::Debug for SetSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SetSum({})", ContentHash::from_bytes(self.root()))
    }
}

fn stretched(hash: &ContentHash) -> [u8; SetSum::BYTES] {
    let mut bytes = [0; SetSum::BYTES];
    blake3::Hasher::new_keyed(KEY).update(hash.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

fn lanes(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u8) -> ContentHash {
        ContentHash::of(&[n])
    }

    #[test]
    fn the_order_does_not_matter_and_parts_add_up() {
        let mut parts = SetSum::of([hash(3), hash(1)]);
        parts.combine(&SetSum::of([hash(2)]));
        assert_eq!(parts.root(), SetSum::of([hash(1), hash(2), hash(3)]).root());
        parts.remove(&hash(2));
        assert_eq!(parts, SetSum::of([hash(1), hash(3)]));
    }

    #[test]
    fn a_missing_and_a_repeated_hash_change_the_root() {
        let roots = [
            SetSum::default().root(),
            SetSum::of([hash(1)]).root(),
            SetSum::of([hash(1), hash(1)]).root(),
            SetSum::of([hash(1), hash(2)]).root(),
        ];
        for (n, root) in roots.iter().enumerate() {
            assert!(!roots[..n].contains(root), "{n}");
        }
    }

    #[test]
    fn what_was_stored_is_read_again() {
        let sum = SetSum::of([hash(7), hash(8)]);
        assert_eq!(SetSum::from_bytes(&sum.to_bytes()), Some(sum));
        assert_eq!(SetSum::from_bytes(&[0; 12]), None);
    }
}
