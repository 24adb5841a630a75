//! What stands at both ends of a pack, and where by it everything between them is.

use super::line::LINE_BYTES;
use super::{GUIDE_BYTES, MAGIC, Version};
use crate::bytes::{Fields, len_u64};
use crate::stamp::{CHECK_BYTES, CheckKey, Place};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guide {
    pub(super) version: Version,
    /// The length of one copy of the index; 0 where it is made of lines.
    pub(super) index_len: u32,
    pub(super) id: u64,
    /// How many originals.
    pub(super) count: u64,
    pub(super) dictionary_len: u64,
    pub(super) index_offset: u64,
    pub(super) dictionary_hash: [u8; 32],
    /// Of everything between the two guides.
    pub(super) content_hash: [u8; 32],
}

impl Guide {
    pub(super) fn encode(&self, key: &CheckKey, offset: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(GUIDE_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&(self.version as u32).to_le_bytes());
        bytes.extend_from_slice(&self.index_len.to_le_bytes());
        for number in [self.id, self.count, self.dictionary_len, self.index_offset] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.dictionary_hash);
        bytes.extend_from_slice(&self.content_hash);
        let check = key.check(&bytes, Place { file: self.id, offset });
        bytes.extend_from_slice(&check);
        bytes
    }

    pub(super) fn decode(bytes: &[u8], key: &CheckKey, id: u64, offset: u64) -> Option<Self> {
        let (checked, check) = bytes.split_at_checked(GUIDE_BYTES - CHECK_BYTES)?;
        if key.check(checked, Place { file: id, offset }) != *check {
            return None;
        }
        let mut fields = Fields::new(checked);
        let (magic, version) = (fields.array()?, Version::from_number(fields.u32()?)?);
        let index_len = fields.u32()?;
        let is_fit = (version == Version::Blocks) == (index_len > 0);
        if magic != MAGIC || !is_fit || fields.u64()? != id {
            return None;
        }
        let guide = Self {
            version,
            index_len,
            id,
            count: fields.u64()?,
            dictionary_len: fields.u64()?,
            index_offset: fields.u64()?,
            dictionary_hash: fields.array()?,
            content_hash: fields.array()?,
        };
        guide.checked_end().map(|_end| guide)
    }

    /// Where the two copies of the dictionary are.
    pub(super) fn dictionaries(&self) -> [u64; 2] {
        let second = match self.version {
            Version::Lines | Version::LinesAndPieces => self.index_offset.saturating_sub(self.dictionary_len),
            Version::Blocks => self.index_offset.saturating_add(u64::from(self.index_len)),
        };
        [len_u64(GUIDE_BYTES), second]
    }

    /// Where the two copies of a short index are.
    pub(super) fn indexes(&self) -> [u64; 2] {
        let [_first, second_dictionary] = self.dictionaries();
        [self.index_offset, second_dictionary.saturating_add(self.dictionary_len)]
    }

    /// Where the second guide is.
    pub(super) fn end(&self) -> u64 {
        self.checked_end().unwrap_or(u64::MAX)
    }

    fn checked_end(&self) -> Option<u64> {
        match self.version {
            Version::Lines | Version::LinesAndPieces => {
                self.index_offset.checked_add(self.count.checked_mul(len_u64(LINE_BYTES))?)
            }
            Version::Blocks => {
                let two = u64::from(self.index_len).checked_mul(2)?;
                self.index_offset.checked_add(two)?.checked_add(self.dictionary_len)
            }
        }
    }
}
