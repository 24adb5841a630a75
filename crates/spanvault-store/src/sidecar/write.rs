//! Writes a sidecar.

use std::borrow::Cow;

use spanvault_types::varint::put_varint;

use super::block::{encode_keys, encode_slots};
use super::{FOOT_BYTES, MAGIC, SLOTS_PER_BLOCK, Version};
use crate::bytes::len_u64;
use crate::filter::Filter;
use crate::segment::{Entry, SegmentHead, SegmentMap};
use crate::stamp::{CheckKey, Place};

/// The bytes of the sidecar of a segment.
pub(crate) fn encode(map: &SegmentMap, head: &SegmentHead, key: &CheckKey) -> Vec<u8> {
    encode_as(Version::Two, map, head, key)
}

/// As [`encode`], in any version.
pub(crate) fn encode_as(version: Version, map: &SegmentMap, head: &SegmentHead, key: &CheckKey) -> Vec<u8> {
    let mut out = Vec::new();
    let block_slots = usize::try_from(SLOTS_PER_BLOCK).unwrap_or(usize::MAX);
    let mut directory = Vec::new();
    for slots in map.slots.chunks(block_slots) {
        let block = encode_slots(slots, version);
        if version == Version::Two {
            put_varint(&mut directory, len_u64(block.len()));
        }
        out.extend_from_slice(&block);
    }
    let keys_offset = len_u64(out.len());

    let mut keys = map.keys.sorted();
    if version == Version::Two {
        let shortened = |entry: &Entry| Entry { key: entry.key.shortened(), ..*entry };
        let mut short: Vec<Entry> = keys.iter().map(shortened).collect();
        short.sort();
        keys = Cow::Owned(short);
    }
    let mut entries = keys.iter().copied().peekable();
    while let Some(entry) = entries.peek() {
        let first_key = entry.key;
        let block = encode_keys(&mut entries, map.first, version);
        put_varint(&mut directory, len_u64(first_key.as_slice().len()));
        directory.extend_from_slice(first_key.as_slice());
        put_varint(&mut directory, len_u64(block.len()));
        out.extend_from_slice(&block);
    }

    let filter = Filter::of(keys.iter().map(|entry| entry.key.as_slice()));
    let filter_offset = len_u64(out.len());
    out.extend_from_slice(filter.as_bytes());
    let directory_offset = len_u64(out.len());
    out.extend_from_slice(&directory);

    let mut guide = blake3::Hasher::new();
    guide.update(filter.as_bytes());
    guide.update(&directory);

    let mut foot = Vec::with_capacity(FOOT_BYTES);
    foot.extend_from_slice(&MAGIC);
    foot.extend_from_slice(&(version as u32).to_le_bytes());
    foot.extend_from_slice(&[0; 4]);
    foot.extend_from_slice(&head.number.to_le_bytes());
    foot.extend_from_slice(&head.nonce);
    let numbers = [
        map.first,
        len_u64(map.slots.len()),
        map.end,
        map.body_bytes,
        map.keys.tables(),
        keys_offset,
        filter_offset,
        directory_offset,
        len_u64(out.len()),
    ];
    for number in numbers {
        foot.extend_from_slice(&number.to_le_bytes());
    }
    foot.extend_from_slice(guide.finalize().as_bytes());
    let check = key.check(&foot, Place { file: head.number, offset: len_u64(out.len()) });
    foot.extend_from_slice(&check);
    out.extend_from_slice(&foot);
    out
}
