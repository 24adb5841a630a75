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
pub(crate) use write::{encode, encode_as};

use crate::stamp::CHECK_BYTES;

/// Slots in one block; the last block may have fewer.
const SLOTS_PER_BLOCK: u64 = 256;
const SLOT_BYTES: usize = 12;
const MAGIC: [u8; 8] = *b"SPANVIDX";

/// How the blocks are written. New ones are of version 2; those of version 1 are read, and checked by making them anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Version {
    One = 1,
    Two = 2,
}

impl Version {
    /// A key block is ended by the first key that reaches this length.
    const fn key_block_bytes(self) -> usize {
        match self {
            Self::One => 4096,
            Self::Two => 2048,
        }
    }

    fn from_number(number: u32) -> Option<Self> {
        [Self::One, Self::Two].into_iter().find(|version| *version as u32 == number)
    }
}

const FOOT_BYTES: usize = 152;
const CHECKED_BYTES: usize = FOOT_BYTES - CHECK_BYTES;
