//! The sidecar of a sealed segment: where its frames are, and under which keys.
//!
//! Derived from the segment alone and disposable. One that is missing, damaged, stale or another segment's is never
//! used; the segment is scanned instead. Layout: slot blocks, key blocks, filter, directory, foot.

mod block;
mod read;
mod recent;
mod write;

pub(crate) use read::{OpenFile, Sidecar, Unusable};
pub(crate) use recent::Recent;
pub(crate) use write::encode;

use crate::stamp::CHECK_BYTES;

/// Slots in one block; the last block may have fewer.
const SLOTS_PER_BLOCK: u64 = 256;
const SLOT_BYTES: usize = 12;
/// A key block is ended by the first key that reaches this length.
const KEY_BLOCK_BYTES: usize = 4096;
const MAGIC: [u8; 8] = *b"SPANVIDX";
const VERSION: u32 = 1;
const FOOT_BYTES: usize = 152;
const CHECKED_BYTES: usize = FOOT_BYTES - CHECK_BYTES;
