//! The blocks of a sidecar: each is read with one call and carries its own checksum.

use super::{KEY_BLOCK_BYTES, SLOT_BYTES};
use crate::bytes::{Fields, len_u64, put_u48, put_varint};
use crate::segment::{Entry, KEY_BYTES_MAX, KeyRange, ShortKey, Slot};

const CRC_BYTES: usize = 4;

/// Puts a checksum behind a block.
fn seal(mut block: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&block);
    block.extend_from_slice(&crc.to_le_bytes());
    block
}

/// The content of a block, if it is as it was written.
pub(super) fn opened(block: &[u8]) -> Option<&[u8]> {
    let (content, crc) = block.split_at_checked(block.len().checked_sub(CRC_BYTES)?)?;
    (crc32fast::hash(content).to_le_bytes() == *crc).then_some(content)
}

/// Length of a block of `count` slots.
pub(super) const fn slot_block_bytes(count: usize) -> usize {
    count * SLOT_BYTES + CRC_BYTES
}

pub(super) fn encode_slots(slots: &[Slot]) -> Vec<u8> {
    let mut block = Vec::with_capacity(slot_block_bytes(slots.len()));
    for slot in slots {
        put_u48(&mut block, slot.offset);
        put_u48(&mut block, slot.time);
    }
    seal(block)
}

pub(super) fn decode_slots(block: &[u8]) -> Option<Vec<Slot>> {
    let mut fields = Fields::new(opened(block)?);
    let mut slots = Vec::with_capacity(block.len() / SLOT_BYTES);
    while !fields.is_empty() {
        slots.push(Slot { offset: fields.u48()?, time: fields.u48()? });
    }
    Some(slots)
}

/// Takes entries until the block is full. Each key leaves out what it shares with the one before.
pub(super) fn encode_keys(
    entries: &mut std::iter::Peekable<impl Iterator<Item = Entry>>,
    first: u64,
) -> Vec<u8> {
    let mut block = Vec::with_capacity(KEY_BLOCK_BYTES + 64);
    let mut last: Option<ShortKey> = None;
    while block.len() < KEY_BLOCK_BYTES
        && let Some(entry) = entries.next()
    {
        let key = entry.key.as_slice();
        let shared = last.as_ref().map_or(0, |last| shared_bytes(last.as_slice(), key));
        put_varint(&mut block, len_u64(shared));
        put_varint(&mut block, len_u64(key.len() - shared));
        block.extend_from_slice(key.get(shared..).unwrap_or_default());
        put_varint(&mut block, entry.at - first);
        last = Some(entry.key);
    }
    seal(block)
}

/// Appends those entries of an opened key block that lie in `range`; `None` where the block does not decode.
pub(super) fn entries_in(content: &[u8], first: u64, range: &KeyRange, found: &mut Vec<Entry>) -> Option<()> {
    let mut fields = Fields::new(content);
    let (mut bytes, mut len) = ([0; KEY_BYTES_MAX], 0);
    while !fields.is_empty() {
        let (shared, fresh) =
            (usize::try_from(fields.varint()?).ok()?, usize::try_from(fields.varint()?).ok()?);
        let end = if shared <= len { shared.checked_add(fresh)? } else { return None };
        bytes.get_mut(shared..end)?.copy_from_slice(fields.bytes(fresh)?);
        len = end;
        let at = first.checked_add(fields.varint()?)?;
        let key = bytes.get(..len)?;
        if range.ends_before(key) {
            return Some(());
        }
        if !range.begins_after(key) {
            found.push(Entry { key: ShortKey::new(key)?, at });
        }
    }
    Some(())
}

fn shared_bytes(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode_keys(block: &[u8], first: u64) -> Option<Vec<Entry>> {
        let mut found = Vec::new();
        entries_in(opened(block)?, first, &KeyRange::ALL, &mut found)?;
        Some(found)
    }

    proptest! {
        #[test]
        fn key_blocks_read_back(
            keys in prop::collection::btree_set((prop::collection::vec(any::<u8>(), 0..41), 0_u64..9999), 1..400),
        ) {
            let entries: Vec<_> =
                keys.iter().map(|(key, at)| Entry { key: ShortKey::new(key).unwrap(), at: at + 5 }).collect();
            let mut rest = entries.iter().copied().peekable();
            let mut found = Vec::new();
            while rest.peek().is_some() {
                found.extend(decode_keys(&encode_keys(&mut rest, 5), 5).unwrap());
            }
            prop_assert_eq!(found, entries);
        }

        #[test]
        fn a_block_gives_the_entries_of_a_range_and_no_other(
            keys in prop::collection::btree_set((prop::collection::vec(0_u8..4, 0..6), 0_u64..9), 1..200),
            prefix in prop::collection::vec(0_u8..4, 0..4),
        ) {
            let entries: Vec<_> =
                keys.iter().map(|(key, at)| Entry { key: ShortKey::new(key).unwrap(), at: *at }).collect();
            let block = encode_keys(&mut entries.iter().copied().peekable(), 0);
            let mut found = Vec::new();
            entries_in(opened(&block).unwrap(), 0, &KeyRange::prefix(&prefix).unwrap(), &mut found).unwrap();
            let wanted: Vec<_> =
                entries.into_iter().filter(|entry| entry.key.as_slice().starts_with(&prefix)).collect();
            prop_assert_eq!(found, wanted);
        }

        #[test]
        fn slot_blocks_read_back(slots in prop::collection::vec((0..=(1_u64 << 48) - 1, 0..=(1_u64 << 48) - 1), 0..256)) {
            let slots: Vec<_> = slots.into_iter().map(|(offset, time)| Slot { offset, time }).collect();
            let block = encode_slots(&slots);
            prop_assert_eq!(block.len(), slot_block_bytes(slots.len()));
            prop_assert_eq!(decode_slots(&block), Some(slots));
        }

        #[test]
        fn i16_a_damaged_block_is_not_read(at: prop::sample::Index, bit in 0..8, more in prop::collection::vec(any::<u8>(), 0..9)) {
            let entries = (0..50_u64).map(|at| Entry { key: ShortKey::new(&at.to_be_bytes()).unwrap(), at });
            let mut block = encode_keys(&mut entries.peekable(), 0);
            let at = at.index(block.len());
            block[at] ^= 1_u8 << bit;
            block.extend(more);
            prop_assert_eq!(decode_keys(&block, 0), None);
        }

        #[test]
        fn i71_no_bytes_make_the_block_decoders_panic(bytes: Vec<u8>) {
            let sealed = seal(bytes);
            let _keys = decode_keys(&sealed, 1);
            let _slots = decode_slots(&sealed);
        }
    }
}
