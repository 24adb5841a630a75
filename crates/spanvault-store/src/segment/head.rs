//! The head of a segment file: where the log stood when it was begun.

use spanvault_types::{ClockStamp, Counts, StoreTime};

use crate::bytes::Fields;
use crate::chain::ChainValue;
use crate::stamp::{CHECK_BYTES, CheckKey, Place};

pub(crate) const SEGMENT_HEAD_BYTES: usize = 168;

const MAGIC: [u8; 8] = *b"SPANVLOG";
const VERSION: u32 = 1;
const CHECKED_BYTES: usize = SEGMENT_HEAD_BYTES - CHECK_BYTES;

/// Everything that is needed to go on from here without reading an earlier segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHead {
    pub(crate) number: u64,
    /// The position of its first frame.
    pub(crate) first: u64,
    /// Made anew whenever the file is: a sidecar that names another nonce is stale.
    pub(crate) nonce: [u8; 16],
    /// The chain value before the first frame.
    pub(crate) chain: ChainValue,
    /// Counts before the first frame.
    pub(crate) counts: Counts,
    /// The clocks at the commit before, or when the vault was made.
    pub(crate) clock: ClockStamp,
}

impl SegmentHead {
    pub(crate) fn encode(&self, key: &CheckKey) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SEGMENT_HEAD_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.first.to_le_bytes());
        bytes.extend_from_slice(&self.nonce);
        bytes.extend_from_slice(&self.chain);
        for count in [self.counts.originals, self.counts.summaries, self.counts.citations] {
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        bytes.extend_from_slice(&self.clock.boot_id);
        for instant in [self.clock.boot_ms, self.clock.wall_ms, self.clock.store.as_ms()] {
            bytes.extend_from_slice(&instant.to_le_bytes());
        }
        bytes.resize(CHECKED_BYTES, 0);
        let check = key.check(&bytes, Place { file: self.number, offset: 0 });
        bytes.extend_from_slice(&check);
        bytes
    }

    /// The head of segment `number`, if it is whole and this vault's.
    pub(crate) fn decode(bytes: &[u8], key: &CheckKey, number: u64) -> Option<Self> {
        let (checked, check) = bytes.get(..SEGMENT_HEAD_BYTES)?.split_at_checked(CHECKED_BYTES)?;
        if key.check(checked, Place { file: number, offset: 0 }) != *check {
            return None;
        }
        let mut fields = Fields::new(checked);
        if fields.array()? != MAGIC
            || fields.u32()? != VERSION
            || fields.u32()? != 0
            || fields.u64()? != number
        {
            return None;
        }
        Some(Self {
            number,
            first: fields.u64()?,
            nonce: fields.array()?,
            chain: fields.array()?,
            counts: Counts { originals: fields.u64()?, summaries: fields.u64()?, citations: fields.u64()? },
            clock: ClockStamp {
                boot_id: fields.array()?,
                boot_ms: fields.u64()?,
                wall_ms: fields.u64()?,
                store: StoreTime::from_ms(fields.u64()?),
            },
        })
    }
}
