//! Where an original is in a pack.

use spanvault_types::ContentHash;

use super::NAME_BYTES;
use crate::bytes::{Fields, len_u64};

/// Length of a line of the index, as packs of versions 1 and 2 have them.
pub(super) const LINE_BYTES: usize = 64;

/// How a block is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Method {
    /// Not at all: the original was reclaimed.
    Dropped = 0,
    /// As it is.
    Raw = 1,
    Zstd = 2,
    /// With the pack's dictionary.
    ZstdDictionary = 3,
    /// In pieces; what is stored is the list of them.
    Chunked = 4,
}

impl Method {
    pub(super) fn from_number(number: u8) -> Option<Self> {
        [Self::Dropped, Self::Raw, Self::Zstd, Self::ZstdDictionary, Self::Chunked]
            .into_iter()
            .find(|method| *method as u8 == number)
    }
}

/// What a pack has to know an original by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Its whole hash.
    Hash(ContentHash),
    /// The name with this number behind its block, of so many.
    Name { number: usize, of: usize },
}

/// Where an original is: in which block, and where in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) position: u64,
    pub(crate) method: Method,
    /// Where the block is stored in the file, and its length there, with the names behind it.
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    /// The length of the block, unpacked.
    pub(crate) block: u64,
    /// Where in the unpacked block the original begins, and its length.
    pub(crate) start: u64,
    pub(crate) raw: u64,
    pub(crate) known: Known,
}

impl Line {
    /// The line of an original that was reclaimed.
    pub(super) const fn dropped(position: u64) -> Self {
        let known = Known::Name { number: 0, of: 0 };
        Self { position, method: Method::Dropped, offset: 0, stored: 0, block: 0, start: 0, raw: 0, known }
    }

    /// How many originals the block has.
    pub(crate) const fn together(&self) -> usize {
        match self.known {
            Known::Hash(_) => 1,
            Known::Name { of, .. } => of,
        }
    }

    /// The length of the names behind the block.
    pub(super) const fn names_len(&self) -> usize {
        match self.known {
            Known::Hash(_) => 0,
            Known::Name { of, .. } => of.saturating_mul(NAME_BYTES),
        }
    }

    /// The name of the original among those behind its block.
    pub(crate) fn name_in(&self, names: &[u8]) -> Option<[u8; NAME_BYTES]> {
        match self.known {
            Known::Name { number, .. } => {
                names.get(number.checked_mul(NAME_BYTES)?..)?.first_chunk().copied()
            }
            Known::Hash(hash) => hash.as_bytes().first_chunk().copied(),
        }
    }

    /// What of the stored bytes is there for this original.
    pub(crate) fn share(&self) -> u64 {
        let names = len_u64(self.names_len());
        let of = len_u64(self.together()).max(1);
        let packed = u128::from(self.stored.saturating_sub(names));
        let share = (packed * u128::from(self.raw)).checked_div(u128::from(self.block)).unwrap_or(0);
        u64::try_from(share).unwrap_or(self.stored) + names / of
    }

    /// The line `number` of a pack of version 1 or 2. It is good in one place of one pack only.
    pub(super) fn decode(bytes: &[u8], pack: u64, number: u64) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let content = fields.bytes(LINE_BYTES - 4)?;
        if fields.u32()? != line_crc(content, pack, number) {
            return None;
        }
        let mut fields = Fields::new(content);
        let (position, offset, stored, raw) = (fields.u64()?, fields.u48()?, fields.u48()?, fields.u48()?);
        let [method, 0] = fields.array()? else { return None };
        let method = Method::from_number(method)?;
        let known = Known::Hash(ContentHash::from_bytes(fields.array()?));
        Some(Self { position, method, offset, stored, block: raw, start: 0, raw, known })
    }
}

fn line_crc(content: &[u8], pack: u64, number: u64) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(content);
    crc.update(&pack.to_le_bytes());
    crc.update(&number.to_le_bytes());
    crc.finalize()
}
