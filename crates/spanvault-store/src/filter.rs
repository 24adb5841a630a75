//! A Bloom filter over the keys of one sealed segment.
//!
//! It says "certainly not here" without a read, for about ten bits a key. One cache line serves one key.

use spanvault_types::key::Table;

const BLOCK_BYTES: usize = 64;
const BITS_PER_KEY: usize = 10;
const PROBES: u32 = 6;

/// The filter's bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    bits: Vec<u8>,
}

impl Filter {
    /// A filter of a fitting size for these keys. Each is cut to [`probe`]'s length first.
    pub(crate) fn of<'k>(keys: impl Iterator<Item = &'k [u8]> + Clone) -> Self {
        let distinct = Distinct::new(keys.clone()).count();
        let blocks = (distinct * BITS_PER_KEY).div_ceil(BLOCK_BYTES * 8).max(1);
        let mut filter = Self { bits: vec![0; blocks * BLOCK_BYTES] };
        for probed in Distinct::new(keys) {
            filter.insert(probed);
        }
        filter
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let whole = !bytes.is_empty() && bytes.len().is_multiple_of(BLOCK_BYTES);
        whole.then(|| Self { bits: bytes.to_vec() })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bits
    }

    /// Whether keys that start with `prefix` may be here.
    pub(crate) fn may_hold(&self, prefix: &[u8]) -> bool {
        let Some(probed) = probe(prefix) else { return true };
        let (block, bits) = self.place(probed);
        let Some(block) = self.bits.get(block..block + BLOCK_BYTES) else { return true };
        bits.into_iter().all(|(byte, bit)| block.get(byte).is_some_and(|value| value & bit != 0))
    }

    fn insert(&mut self, probed: &[u8]) {
        let (block, bits) = self.place(probed);
        let Some(block) = self.bits.get_mut(block..block + BLOCK_BYTES) else { return };
        for (byte, bit) in bits {
            if let Some(value) = block.get_mut(byte) {
                *value |= bit;
            }
        }
    }

    /// Where the block of a key begins, and its bits as bytes inside the block and masks.
    fn place(&self, probed: &[u8]) -> (usize, [(usize, u8); PROBES as usize]) {
        let [a, b, c, d, rest @ ..] = *blake3::hash(probed).as_bytes();
        let blocks = (self.bits.len() / BLOCK_BYTES).max(1);
        let block = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(0) % blocks;
        let mut bits = [(0, 0); PROBES as usize];
        for (bit, pair) in bits.iter_mut().zip(rest.as_chunks::<2>().0) {
            let number = usize::from(u16::from_le_bytes(*pair)) % (BLOCK_BYTES * 8);
            *bit = (number / 8, 1 << (number % 8));
        }
        (block * BLOCK_BYTES, bits)
    }
}

/// The part of a key that the filter knows; `None` where `key` is a shorter prefix than that.
///
/// The table and one position, or the first eight bytes of a hash, tell most segments apart; record identities share
/// their session, so they are known whole.
fn probe(key: &[u8]) -> Option<&[u8]> {
    let len = if key.first() == Some(&(Table::EventKey as u8)) { 25 } else { 9 };
    key.get(..len)
}

/// The probes of sorted keys, each once.
#[derive(Debug, Clone)]
struct Distinct<'k, I> {
    keys: I,
    last: Option<&'k [u8]>,
}

impl<I> Distinct<'_, I> {
    const fn new(keys: I) -> Self {
        Self { keys, last: None }
    }
}

impl<'k, I: Iterator<Item = &'k [u8]>> Iterator for Distinct<'k, I> {
    type Item = &'k [u8];

    fn next(&mut self) -> Option<&'k [u8]> {
        loop {
            let probed = probe(self.keys.next()?);
            if let Some(probed) = probed
                && self.last != Some(probed)
            {
                self.last = Some(probed);
                return Some(probed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanvault_types::{ContentHash, Position, key};

    #[test]
    fn a_filter_knows_every_key_and_few_others() {
        let hash = |n: u32| key::original(&ContentHash::of(&n.to_le_bytes()));
        let mut keys: Vec<_> = (0..2000).map(hash).collect();
        keys.extend((0..100).map(|n| key::key(Table::Span, &[Position::new(7), Position::new(n)])));
        keys.extend((0..100_u8).map(|n| key::event_key(Position::new(7), &[n; 16])));
        keys.sort();
        let filter = Filter::of(keys.iter().map(Vec::as_slice));
        assert!(keys.iter().all(|key| filter.may_hold(key)));
        assert!(filter.may_hold(&key::key(Table::Span, &[Position::new(7)])));
        assert!(filter.may_hold(&[Table::Original as u8]), "a prefix that is too short to tell");
        let wrong = (2000..12_000).filter(|n| filter.may_hold(&hash(*n))).count();
        assert!(wrong < 300, "{wrong} of 10000");
        assert!(filter.as_bytes().len() < 2200 * 10 / 8 + 64);
        assert_eq!(Filter::from_bytes(filter.as_bytes()), Some(filter));
    }
}
