//! Cold packs: immutable files of compressed originals.
//!
//! `guide · dictionary · entries · dictionary again · index · guide again`. Whatever many entries rest on is there
//! twice, each entry and each line of the index is checked by itself, so a damaged byte costs one original at most.

mod chunks;
mod dictionary;
mod pack;
mod unpack;
mod write;

pub(crate) use dictionary::train;
pub(crate) use pack::{Line, Method, Pack};
pub(crate) use write::{DICTIONARY_HELPS_BYTES, PackWriter};

/// Length of a guide.
const GUIDE_BYTES: usize = 120;
/// Length of a line of the index.
const LINE_BYTES: usize = 64;
const MAGIC: [u8; 8] = *b"SPANPACK";
const VERSION: u32 = 1;
/// Of a pack that has an original in pieces.
const VERSION_CHUNKED: u32 = 2;
/// Cold originals are written once and read many times, so time is spent on making them small.
const LEVEL: i32 = 12;
