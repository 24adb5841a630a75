//! Cold packs: immutable files of compressed originals.
//!
//! `guide · dictionary · blocks · index · dictionary again · index again · guide again`. Whatever many originals rest on is
//! there twice, and each block is checked by itself, so a damaged byte costs the originals of one block at most: one
//! original, unless several were packed together for size.

mod chunks;
mod dictionary;
mod guide;
mod index;
mod line;
mod pack;
mod packing;
mod unpack;
mod write;

pub(crate) use dictionary::train;
pub(crate) use line::{Line, Method};
pub(crate) use pack::Pack;
pub use packing::Packing;
pub(crate) use write::{DICTIONARY_HELPS_BYTES, Member, PackWriter};

/// Length of a guide.
const GUIDE_BYTES: usize = 120;
const MAGIC: [u8; 8] = *b"SPANPACK";
/// Cold originals are written once and read many times, so time is spent on making them small.
const LEVEL: i32 = 12;
/// What a block has of the hash of each of its originals: its first bytes. All of it stands in the log.
const NAME_BYTES: usize = 8;

/// What a zstd frame begins with. A block has it not: what it is says its method.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How a pack is laid out. New ones are of the last version; the others are read, and become it when they are rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Version {
    /// Each original by itself, and a line of 64 bytes for it.
    Lines = 1,
    /// The same, with an original in pieces.
    LinesAndPieces = 2,
    /// Blocks, and a short index of them.
    Blocks = 3,
}

impl Version {
    fn from_number(number: u32) -> Option<Self> {
        [Self::Lines, Self::LinesAndPieces, Self::Blocks]
            .into_iter()
            .find(|version| *version as u32 == number)
    }
}
