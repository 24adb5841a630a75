//! The bytes of an entry, the same in every index: the key, then the position.
//!
//! Since no key is the beginning of another, these bytes sort by key, then by position, and a key may lead to
//! several positions.

use spanvault_types::Position;

use crate::{Entry, IndexError};

/// The longest key that an index takes, in bytes. The keys of [`spanvault_types::key`] have at most 41.
pub const KEY_BYTES_MAX: usize = 256;

const POSITION_BYTES: usize = 8;

/// The first table that has entries; table 0 is for what an index keeps about itself.
const FIRST: &[u8] = &[1];

pub(crate) fn check(entries: &[Entry]) -> Result<(), IndexError> {
    for (key, _position) in entries {
        if key.len() > KEY_BYTES_MAX || key.first().is_none_or(|table| *table == 0) {
            return Err(IndexError::Key { len: key.len() });
        }
    }
    Ok(())
}

pub(crate) fn encode((key, position): &Entry) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len() + POSITION_BYTES);
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&position.get().to_be_bytes());
    bytes
}

pub(crate) fn decode(bytes: &[u8]) -> Option<Entry> {
    let (key, position) = bytes.split_last_chunk::<POSITION_BYTES>()?;
    Some((key.to_vec(), Position::new(u64::from_be_bytes(*position))))
}

/// Where a scan begins: at the prefix, or right after an entry.
pub(crate) fn start(prefix: &[u8], after: Option<&Entry>) -> Vec<u8> {
    let from_prefix = prefix.max(FIRST).to_vec();
    match after {
        None => from_prefix,
        Some(entry) => {
            let mut from_entry = encode(entry);
            from_entry.push(0);
            from_entry.max(from_prefix)
        }
    }
}

/// Whether it is the key that starts with `prefix`, and not the key and some bytes of its position.
pub(crate) fn matches(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.starts_with(prefix) && bytes.len() >= prefix.len() + POSITION_BYTES
}
