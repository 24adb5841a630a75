//! The short index of a pack: its blocks as they lie in the file, its originals by position.
//!
//! Where a block begins follows from the ones before it, and where an original begins in its block from those before it
//! there: they lie in it by position. It is read as a whole when a pack is opened, so that one read gets an original.

use spanvault_types::varint::{folded, put_varint, unfolded};

use super::NAME_BYTES;
use super::line::{Known, Line, Method};
use crate::bytes::{Fields, len_u64};
use crate::stamp::{CHECK_BYTES, CheckKey, Place};

/// Set beside the length of a block that does not begin where the one before it ends.
const APART: u64 = 8;
const METHOD_BITS: u32 = 4;

/// A block as the file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) offset: u64,
    /// With the names behind it.
    pub(super) stored: u64,
    pub(super) method: Method,
}

/// One original: in which of the blocks, and its length. One that was reclaimed is in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) position: u64,
    pub(super) block: Option<u32>,
    pub(super) raw: u64,
}

/// Puts an index together; the first block begins at `begin` or behind it. `entries` ascend by position, and lie so in
/// their blocks.
pub(super) fn encode(blocks: &[Block], entries: &[Entry], begin: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, len_u64(blocks.len()));
    let mut end = begin;
    for block in blocks {
        let gap = block.offset.saturating_sub(end);
        let apart = if gap > 0 { APART } else { 0 };
        put_varint(&mut out, block.stored << METHOD_BITS | apart | u64::from(block.method as u8));
        if gap > 0 {
            put_varint(&mut out, gap);
        }
        end = block.offset + block.stored;
    }
    let (mut position, mut before) = (0, 0);
    for entry in entries {
        let number = entry.block.map_or(0, |block| i64::from(block) + 1);
        put_varint(&mut out, entry.position.saturating_sub(position));
        put_varint(&mut out, folded(number - before));
        if entry.block.is_some() {
            put_varint(&mut out, entry.raw);
            before = number;
        }
        position = entry.position;
    }
    out
}

/// An index with the check that it has at `place`.
pub(super) fn sealed(index: &[u8], key: &CheckKey, place: Place) -> Vec<u8> {
    [index, &key.check(index, place)].concat()
}

/// A block, and what the originals in it add up to.
#[derive(Debug)]
struct Summed {
    block: Block,
    raw: u64,
    originals: u32,
}

/// Where an original is in its block.
#[derive(Debug)]
struct Located {
    entry: Entry,
    start: u64,
    number: u32,
}

/// An index that was read.
#[derive(Debug)]
pub(super) struct Index {
    blocks: Vec<Summed>,
    originals: Vec<Located>,
}

impl Index {
    /// Reads an index of `count` originals that stands at `place`, and whose blocks lie in `begin..end`; `None` where it is
    /// not as it was written.
    pub(super) fn decode(
        bytes: &[u8],
        key: &CheckKey,
        place: Place,
        count: u64,
        (begin, end): (u64, u64),
    ) -> Option<Self> {
        let (index, check) = bytes.split_last_chunk::<CHECK_BYTES>()?;
        if key.check(index, place) != *check {
            return None;
        }
        let mut fields = Fields::new(index);
        let mut read = Self { blocks: Vec::new(), originals: Vec::new() };
        let mut next = begin;
        for _ in 0..fields.varint()? {
            let packed = fields.varint()?;
            let apart = if packed & APART == 0 { 0 } else { fields.varint()? };
            let method = Method::from_number(u8::try_from(packed & (APART - 1)).ok()?)?;
            let (offset, stored) = (next.checked_add(apart)?, packed >> METHOD_BITS);
            next = offset.checked_add(stored).filter(|next| *next <= end)?;
            read.blocks.push(Summed { block: Block { offset, stored, method }, raw: 0, originals: 0 });
        }
        let (mut position, mut before) = (0_u64, 0_i64);
        for _ in 0..count {
            position = position.checked_add(fields.varint()?)?;
            let number = before.checked_add(unfolded(fields.varint()?))?;
            let block = u32::try_from(number).ok()?.checked_sub(1);
            let raw = if block.is_some() { fields.varint()? } else { 0 };
            let (mut start, mut nth) = (0, 0);
            if let Some(block) = block {
                let sums = read.blocks.get_mut(usize::try_from(block).ok()?)?;
                (start, nth) = (sums.raw, sums.originals);
                sums.raw = start.checked_add(raw)?;
                sums.originals = nth.checked_add(1)?;
                before = number;
            }
            read.originals.push(Located { entry: Entry { position, block, raw }, start, number: nth });
        }
        let has_names = |sums: &Summed| {
            u64::from(sums.originals) * len_u64(NAME_BYTES) <= sums.block.stored && sums.originals > 0
        };
        (fields.is_empty() && read.blocks.iter().all(has_names)).then_some(read)
    }

    /// The line of the original with this number.
    pub(super) fn line(&self, number: u64) -> Option<Line> {
        let found = self.originals.get(usize::try_from(number).ok()?)?;
        let Entry { position, block, raw } = found.entry;
        let Some(block) = block else { return Some(Line::dropped(position)) };
        let sums = self.blocks.get(usize::try_from(block).ok()?)?;
        let known = Known::Name {
            number: usize::try_from(found.number).ok()?,
            of: usize::try_from(sums.originals).ok()?,
        };
        let Block { offset, stored, method } = sums.block;
        Some(Line { position, method, offset, stored, block: sums.raw, start: found.start, raw, known })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use spanvault_env::Env;

    use super::*;
    use crate::stamp::VaultId;

    const PLACE: Place = Place { file: 7, offset: 900 };

    fn key() -> CheckKey {
        VaultId::random(&*Env::simulated(3).0.random).check_key()
    }

    /// Blocks: the gap before each, its length, and its method.
    fn blocks() -> impl Strategy<Value = Vec<(u64, u64, u8)>> {
        let block = (prop_oneof![Just(0_u64), 1..99_999_u64], 800..1_u64 << 40, 1..5_u8);
        prop::collection::vec(block, 1..9)
    }

    /// Originals: how far each is from the one before, in which block, and its length.
    fn originals() -> impl Strategy<Value = Vec<(u64, u8, u64)>> {
        let original = (1..1_u64 << 33, any::<u8>(), 0..1_u64 << 40);
        prop::collection::vec(original, 0..60)
    }

    proptest! {
        #[test]
        fn an_index_reads_back_and_no_other_bytes_do(blocks in blocks(), originals in originals(), flip: prop::sample::Index) {
            let mut end = 120;
            let mut stored = Vec::new();
            for (gap, len, method) in blocks {
                let method = Method::from_number(method).unwrap();
                stored.push(Block { offset: end + gap, stored: len, method });
                end += gap + len;
            }
            // No block is empty.
            let every = (0..stored.len()).map(|block| (1, u8::try_from(block + 1).unwrap(), 5));
            let mut position = 0;
            let mut entries = Vec::new();
            for (ahead, block, raw) in every.chain(originals) {
                position += ahead;
                let block = u32::from(block) % (u32::try_from(stored.len()).unwrap() + 1);
                let raw = if block == 0 { 0 } else { raw };
                entries.push(Entry { position, block: block.checked_sub(1), raw });
            }
            let bytes = sealed(&encode(&stored, &entries, 120), &key(), PLACE);
            let count = entries.len() as u64;
            let read = Index::decode(&bytes, &key(), PLACE, count, (120, end)).unwrap();
            let mut starts = vec![(0, 0); stored.len()];
            for (number, entry) in (0..).zip(&entries) {
                let line = read.line(number).unwrap();
                prop_assert_eq!(line.position, entry.position);
                let Some(block) = entry.block.map(|block| block as usize) else {
                    prop_assert_eq!(line.method, Method::Dropped);
                    continue;
                };
                let (start, nth) = &mut starts[block];
                prop_assert_eq!((line.start, line.raw), (*start, entry.raw));
                prop_assert_eq!((line.offset, line.stored), (stored[block].offset, stored[block].stored));
                let Known::Name { number, of } = line.known else { panic!("{line:?}") };
                prop_assert!(number == *nth && number < of);
                *start += entry.raw;
                *nth += 1;
            }
            prop_assert!(read.line(count).is_none());
            let elsewhere = Place { offset: 901, ..PLACE };
            prop_assert!(Index::decode(&bytes, &key(), elsewhere, count, (120, end)).is_none());
            prop_assert!(Index::decode(&bytes, &key(), PLACE, count, (120, end - 1)).is_none());
            let mut flipped = bytes.clone();
            flipped[flip.index(bytes.len())] ^= 4;
            prop_assert!(Index::decode(&flipped, &key(), PLACE, count, (120, end)).is_none());
        }

        #[test]
        fn i71_no_bytes_make_the_reader_of_an_index_panic(bytes: Vec<u8>, count in 0..1_000_u64) {
            let sealed = sealed(&bytes, &key(), PLACE);
            if let Some(index) = Index::decode(&sealed, &key(), PLACE, count, (120, 1 << 40)) {
                prop_assert!((0..count).all(|number| index.line(number).is_some()));
            }
        }
    }
}
