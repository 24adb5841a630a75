//! The blocks of a sidecar: each is read with one call and carries its own checksum.

use spanvault_types::varint::{folded, put_varint, unfolded};

use super::{SLOT_BYTES, SLOTS_PER_BLOCK, Version};
use crate::bytes::{Fields, len_u64, put_u48};
use crate::segment::{Entry, KEY_BYTES_MAX, KeyRange, ShortKey, Slot, UNKNOWN};

const CRC_BYTES: usize = 4;

/// Puts a checksum behind a block.
fn seal(mut block: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&block);
    block.extend_from_slice(&crc.to_le_bytes());
    block
}

/// The content of a block, if it is as it was written.
fn opened(block: &[u8]) -> Option<&[u8]> {
    let (content, crc) = block.split_at_checked(block.len().checked_sub(CRC_BYTES)?)?;
    (crc32fast::hash(content).to_le_bytes() == *crc).then_some(content)
}

/// Length of a block of `count` slots of version 1.
pub(super) const fn slot_block_bytes(count: usize) -> usize {
    count * SLOT_BYTES + CRC_BYTES
}

pub(super) fn encode_slots(slots: &[Slot], version: Version) -> Vec<u8> {
    let mut block = Vec::with_capacity(slot_block_bytes(slots.len()));
    let mut last = Slot { offset: 0, time: 0 };
    for slot in slots {
        match version {
            Version::One => {
                put_u48(&mut block, slot.offset);
                put_u48(&mut block, slot.time);
            }
            Version::Two => {
                put_step(&mut block, &mut last.offset, slot.offset);
                put_step(&mut block, &mut last.time, slot.time);
            }
        }
    }
    seal(block)
}

/// Appends how far `value` lies from the last one that was known; 0 where it is not known itself.
fn put_step(block: &mut Vec<u8>, last: &mut u64, value: u64) {
    if value == UNKNOWN {
        put_varint(block, 0);
        return;
    }
    let step = value.wrapping_sub(*last).cast_signed();
    put_varint(block, folded(step) + 1);
    *last = value;
}

/// What [`put_step`] appends.
fn take_step(fields: &mut Fields<'_>, last: &mut u64) -> Option<u64> {
    let Some(step) = fields.varint()?.checked_sub(1) else { return Some(UNKNOWN) };
    *last = last.checked_add_signed(unfolded(step)).filter(|value| *value < UNKNOWN)?;
    Some(*last)
}

pub(super) fn decode_slots(block: &[u8], version: Version) -> Option<Vec<Slot>> {
    let mut fields = Fields::new(opened(block)?);
    let mut slots = Vec::with_capacity(block.len() / SLOT_BYTES);
    let mut last = Slot { offset: 0, time: 0 };
    while !fields.is_empty() {
        slots.push(match version {
            Version::One => Slot { offset: fields.u48()?, time: fields.u48()? },
            Version::Two => Slot {
                offset: take_step(&mut fields, &mut last.offset)?,
                time: take_step(&mut fields, &mut last.time)?,
            },
        });
    }
    Some(slots)
}

/// The slots of a full block.
const TABLE_SLOTS: usize = 256;
const _: () = assert!(TABLE_SLOTS as u64 == SLOTS_PER_BLOCK, "a table holds a block");

/// A block of slots in memory.
#[derive(Debug)]
pub(crate) struct SlotTable {
    slots: [Slot; TABLE_SLOTS],
    len: usize,
}

impl SlotTable {
    /// `None` where they are too many for a block.
    pub(super) fn new(slots: &[Slot]) -> Option<Self> {
        let mut table = [Slot::LOST; TABLE_SLOTS];
        table.get_mut(..slots.len())?.copy_from_slice(slots);
        Some(Self { slots: table, len: slots.len() })
    }

    pub(super) fn as_slice(&self) -> &[Slot] {
        self.slots.get(..self.len).unwrap_or_default()
    }
}

/// In the first byte of an entry: its key has another length than the one before, which follows.
const OTHER_LENGTH: u8 = 1 << 6;

/// Takes entries until the block is full. Each key leaves out what it shares with the one before.
pub(super) fn encode_keys(
    entries: &mut std::iter::Peekable<impl Iterator<Item = Entry>>,
    first: u64,
    version: Version,
) -> Vec<u8> {
    let bytes = version.key_block_bytes();
    let mut block = Vec::with_capacity(bytes + 64);
    let mut last = ShortKey::EMPTY;
    while block.len() < bytes
        && let Some(entry) = entries.next()
    {
        let (before, key) = (last.as_slice(), entry.key.as_slice());
        let shared = shared_bytes(before, key);
        match version {
            Version::One => {
                put_varint(&mut block, len_u64(shared));
                put_varint(&mut block, len_u64(key.len() - shared));
            }
            // Keys are shorter than the flag.
            Version::Two if key.len() == before.len() => block.push(shared.to_le_bytes()[0]),
            Version::Two => {
                block.extend([shared.to_le_bytes()[0] | OTHER_LENGTH, key.len().to_le_bytes()[0]]);
            }
        }
        block.extend_from_slice(key.get(shared..).unwrap_or_default());
        put_varint(&mut block, entry.at - first);
        last = entry.key;
    }
    seal(block)
}

/// Entries from one mark to the next.
const ENTRIES_PER_MARK: usize = 8;

/// A block of keys in memory, as it stands in the file, and where in it a search may begin.
#[derive(Debug)]
pub(crate) struct KeyBlock {
    version: Version,
    content: Box<[u8]>,
    marks: Box<[Mark]>,
}

/// An entry that can be read without those before it.
#[derive(Debug)]
struct Mark {
    /// The key before it.
    before: ShortKey,
    offset: u32,
}

impl KeyBlock {
    /// The content of a block, if it is as it was written.
    pub(super) fn open(block: &[u8], version: Version) -> Option<Self> {
        let content = opened(block)?;
        let mut steps = Steps::new(version, content, 0, 0)?;
        let (mut bytes, mut count) = ([0; KEY_BYTES_MAX], 0_usize);
        let mut marks = Vec::new();
        while !steps.fields.is_empty() {
            let step = steps.next()?;
            bytes.get_mut(step.shared..steps.len)?.copy_from_slice(step.fresh);
            count += 1;
            if count.is_multiple_of(ENTRIES_PER_MARK) {
                let offset = u32::try_from(content.len() - steps.fields.len()).ok()?;
                marks.push(Mark { before: ShortKey::new(bytes.get(..steps.len)?)?, offset });
            }
        }
        Some(Self { version, content: content.into(), marks: marks.into() })
    }

    /// Appends the entries that lie in `range`; `None` where the block does not decode.
    pub(super) fn entries_in(&self, first: u64, range: &KeyRange, found: &mut Vec<Entry>) -> Option<()> {
        let wanted = range.from.as_slice();
        let passed = self.marks.partition_point(|mark| mark.before < range.from);
        let mark = passed.checked_sub(1).and_then(|last| self.marks.get(last));
        let before = mark.map_or(&[][..], |mark| mark.before.as_slice());
        let offset = mark.map_or(0, |mark| mark.offset as usize);
        let mut steps = Steps::new(self.version, &self.content, offset, before.len())?;
        // How much the key before has in common with what is wanted, which comes after it.
        let mut agreed = shared_bytes(before, wanted);
        let mut step = loop {
            if steps.fields.is_empty() {
                return Some(());
            }
            let step = steps.next()?;
            if step.shared > agreed {
                // It differs from what is wanted where the key before did.
                continue;
            }
            let (known, rest) = wanted.split_at_checked(step.shared)?;
            let more = shared_bytes(step.fresh, rest);
            agreed = known.len() + more;
            match (step.fresh.get(more), rest.get(more)) {
                (_, None) => break step,
                (Some(byte), Some(wanted)) if byte > wanted => break step,
                _ => {}
            }
        };
        let mut bytes = [0; KEY_BYTES_MAX];
        bytes.get_mut(..step.shared)?.copy_from_slice(wanted.get(..step.shared)?);
        loop {
            bytes.get_mut(step.shared..steps.len)?.copy_from_slice(step.fresh);
            let key = bytes.get(..steps.len)?;
            if range.ends_before(key) {
                return Some(());
            }
            found.push(Entry { key: ShortKey::new(key)?, at: first.checked_add(step.at)? });
            if steps.fields.is_empty() {
                return Some(());
            }
            step = steps.next()?;
        }
    }
}

/// Goes through the entries of a block without putting their keys together.
struct Steps<'b> {
    version: Version,
    fields: Fields<'b>,
    /// The length of the last key.
    len: usize,
}

/// An entry as it stands in its block.
struct Step<'b> {
    /// How many bytes its key has in common with the one before.
    shared: usize,
    fresh: &'b [u8],
    /// Its position, counted from the first of the segment.
    at: u64,
}

impl<'b> Steps<'b> {
    /// From the entry at `offset` on, before which stands a key of `len` bytes.
    fn new(version: Version, content: &'b [u8], offset: usize, len: usize) -> Option<Self> {
        Some(Self { version, fields: Fields::new(content.get(offset..)?), len })
    }

    /// The next entry; `None` where it does not decode.
    fn next(&mut self) -> Option<Step<'b>> {
        let (shared, fresh) = match self.version {
            Version::One => {
                let shared = usize::try_from(self.fields.varint()?).ok()?;
                (shared, usize::try_from(self.fields.varint()?).ok()?)
            }
            Version::Two => {
                let first = self.fields.u8()?;
                let shared = usize::from(first & !OTHER_LENGTH);
                let len = if first & OTHER_LENGTH == 0 { self.len } else { usize::from(self.fields.u8()?) };
                (shared, len.checked_sub(shared)?)
            }
        };
        let len = shared.checked_add(fresh)?;
        if shared > self.len || len > KEY_BYTES_MAX {
            return None;
        }
        self.len = len;
        Some(Step { shared, fresh: self.fields.bytes(fresh)?, at: self.fields.varint()? })
    }
}

fn shared_bytes(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use spanvault_types::Position;
    use spanvault_types::key::{Table, key};

    use super::*;

    const BOTH: [Version; 2] = [Version::One, Version::Two];

    fn decode_keys(block: &[u8], first: u64, version: Version) -> Option<Vec<Entry>> {
        let mut found = Vec::new();
        KeyBlock::open(block, version)?.entries_in(first, &KeyRange::all(), &mut found)?;
        Some(found)
    }

    proptest! {
        #[test]
        fn key_blocks_read_back(
            keys in prop::collection::btree_set((prop::collection::vec(any::<u8>(), 0..41), 0_u64..9999), 1..400),
        ) {
            let entries: Vec<_> =
                keys.iter().map(|(key, at)| Entry { key: ShortKey::new(key).unwrap(), at: at + 5 }).collect();
            for version in BOTH {
                let mut rest = entries.iter().copied().peekable();
                let mut found = Vec::new();
                while rest.peek().is_some() {
                    let block = encode_keys(&mut rest, 5, version);
                    found.extend(decode_keys(&block, 5, version).unwrap());
                }
                prop_assert_eq!(&found, &entries);
            }
        }

        #[test]
        fn a_block_gives_the_entries_of_a_range_and_no_other(
            keys in prop::collection::btree_set((prop::collection::vec(0_u8..4, 0..6), 0_u64..9), 1..200),
            prefix in prop::collection::vec(0_u8..4, 0..4),
        ) {
            let entries: Vec<_> =
                keys.iter().map(|(key, at)| Entry { key: ShortKey::new(key).unwrap(), at: *at }).collect();
            let block = encode_keys(&mut entries.iter().copied().peekable(), 0, Version::Two);
            let mut found = Vec::new();
            let range = KeyRange::prefix(&prefix).unwrap();
            KeyBlock::open(&block, Version::Two).unwrap().entries_in(0, &range, &mut found).unwrap();
            let wanted: Vec<_> =
                entries.into_iter().filter(|entry| entry.key.as_slice().starts_with(&prefix)).collect();
            prop_assert_eq!(found, wanted);
        }

        #[test]
        fn a_search_in_a_block_finds_what_reading_all_of_it_finds(
            digests in prop::collection::vec(prop::collection::vec(0_u8..3, 32), 1..120),
            fields in prop::collection::vec(0_u8..200, 0..60),
            wanted in prop::collection::vec(0_u8..3, 32), len in 0_usize..=33, field in 0_u8..200,
        ) {
            let table = Table::Original as u8;
            let mut keys: Vec<Vec<u8>> = digests.iter().map(|digest| [&[table], &digest[..]].concat()).collect();
            keys.extend(fields.iter().map(|n| key(Table::Occurrence, &[Position::new(7), Position::new((*n).into())])));
            let mut entries: Vec<_> =
                (0..).zip(&keys).map(|(at, key)| Entry { key: ShortKey::new(key).unwrap(), at }).collect();
            entries.sort_unstable();
            let mut rest = entries.iter().copied().peekable();
            let block = KeyBlock::open(&encode_keys(&mut rest, 0, Version::Two), Version::Two).unwrap();
            let held = entries.len() - rest.count();
            let prefixes = [
                [&[table], &wanted[..]].concat()[..len].to_vec(),
                keys[0][..len.min(keys[0].len())].to_vec(),
                key(Table::Occurrence, &[Position::new(7), Position::new(field.into())]),
            ];
            let wide = KeyRange::positions(Table::Occurrence, 5, 9).unwrap();
            for range in prefixes.iter().filter_map(|prefix| KeyRange::prefix(prefix)).chain([wide, KeyRange::all()]) {
                let mut found = Vec::new();
                block.entries_in(0, &range, &mut found).unwrap();
                prop_assert_eq!(&found[..], range.of(&entries[..held]));
            }
        }

        #[test]
        fn slot_blocks_read_back(slots in prop::collection::vec((0..=(1_u64 << 48) - 1, 0..=(1_u64 << 48) - 1), 0..256)) {
            let slots: Vec<_> = slots.into_iter().map(|(offset, time)| Slot { offset, time }).collect();
            for version in BOTH {
                prop_assert_eq!(decode_slots(&encode_slots(&slots, version), version), Some(slots.clone()));
            }
            prop_assert_eq!(encode_slots(&slots, Version::One).len(), slot_block_bytes(slots.len()));
        }

        #[test]
        fn i16_a_damaged_block_is_not_read(at: prop::sample::Index, bit in 0..8, more in prop::collection::vec(any::<u8>(), 0..9)) {
            let entries = (0..50_u64).map(|at| Entry { key: ShortKey::new(&at.to_be_bytes()).unwrap(), at });
            let mut block = encode_keys(&mut entries.peekable(), 0, Version::Two);
            let at = at.index(block.len());
            block[at] ^= 1_u8 << bit;
            block.extend(more);
            prop_assert_eq!(decode_keys(&block, 0, Version::Two), None);
        }

        #[test]
        fn i71_no_bytes_make_the_block_decoders_panic(bytes: Vec<u8>) {
            let sealed = seal(bytes);
            for version in BOTH {
                let _slots = decode_slots(&sealed, version);
                let keys = KeyBlock::open(&sealed, version);
                let _found = keys.and_then(|keys| keys.entries_in(1, &KeyRange::all(), &mut Vec::new()));
            }
        }
    }
}
