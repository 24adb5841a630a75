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
    /// A filter of a fitting size for these keys. Each is cut to [`probed_part`]'s length first.
    pub(crate) fn of<'k>(keys: impl Iterator<Item = &'k [u8]> + Clone) -> Self {
        let distinct = Distinct::new(keys.clone()).count();
        let blocks = (distinct * BITS_PER_KEY).div_ceil(BLOCK_BYTES * 8).max(1);
        let mut filter = Self { bits: vec![0; blocks * BLOCK_BYTES] };
        for probed in Distinct::new(keys) {
            filter.insert(&Probe::digest(probed));
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

    /// Whether keys with this probe may be here.
    pub(crate) fn may_hold(&self, probe: &Probe) -> bool {
        let (block, bits) = self.place(probe);
        let Some(block) = self.bits.get(block..block + BLOCK_BYTES) else { return true };
        bits.into_iter().all(|(byte, bit)| block.get(byte).is_some_and(|value| value & bit != 0))
    }

    fn insert(&mut self, probe: &Probe) {
        let (block, bits) = self.place(probe);
        let Some(block) = self.bits.get_mut(block..block + BLOCK_BYTES) else { return };
        for (byte, bit) in bits {
            if let Some(value) = block.get_mut(byte) {
                *value |= bit;
            }
        }
    }

    /// Where the block of a key begins, and its bits as bytes inside the block and masks.
    fn place(&self, probe: &Probe) -> (usize, [(usize, u8); PROBES as usize]) {
        let [low, high, rest @ ..] = probe.0;
        let blocks = (self.bits.len() / BLOCK_BYTES).max(1);
        let block = ((usize::from(high) << 16) | usize::from(low)) % blocks;
        let mut bits = [(0, 0); PROBES as usize];
        for (bit, digits) in bits.iter_mut().zip(rest) {
            let number = usize::from(digits) % (BLOCK_BYTES * 8);
            *bit = (number / 8, 1 << (number % 8));
        }
        (block * BLOCK_BYTES, bits)
    }
}

/// What a key is looked for by, in any number of filters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe([u16; 2 + PROBES as usize]);

impl Probe {
    /// `None` where `key` is too short a prefix to tell.
    pub(crate) fn of(key: &[u8]) -> Option<Self> {
        probed_part(key).map(Self::digest)
    }

    fn digest(probed: &[u8]) -> Self {
        let digest = blake3::hash(probed);
        let mut digits = [0; 2 + PROBES as usize];
        for (digit, pair) in digits.iter_mut().zip(digest.as_bytes().as_chunks::<2>().0) {
            *digit = u16::from_le_bytes(*pair);
        }
        Self(digits)
    }
}

/// The part of a key that the filter knows; `None` where `key` is a shorter prefix than that.
///
/// The table and one position, or the first eight bytes of a hash, tell most segments apart; record identities share
/// their session, so they are known whole.
fn probed_part(key: &[u8]) -> Option<&[u8]> {
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
            let probed = probed_part(self.keys.next()?);
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
        let may_hold = |key: &[u8]| filter.may_hold(&Probe::of(key).unwrap());
        assert!(keys.iter().all(|key| may_hold(key)));
        assert!(may_hold(&key::key(Table::Span, &[Position::new(7)])));
        assert!(Probe::of(&[Table::Original as u8]).is_none(), "too short to tell");
        let wrong = (2000..12_000).filter(|n| may_hold(&hash(*n))).count();
        assert!(wrong < 300, "{wrong} of 10000");
        assert!(filter.as_bytes().len() < 2200 * 10 / 8 + 64);
        assert_eq!(Filter::from_bytes(filter.as_bytes()), Some(filter));
    }
}
