//! Reads a sidecar.

use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use spanvault_env::DiskFile;

use super::block::{KeyBlock, SlotTable, decode_slots, slot_block_bytes};
use super::recent::{Recent, Spots, spots};
use super::{CHECKED_BYTES, FOOT_BYTES, MAGIC, SLOTS_PER_BLOCK, Version};
use crate::bytes::{Fields, len_u64};
use crate::filter::Filter;
use crate::segment::{Entry, KeyRange, SegmentMap, ShortKey, Slot};
use crate::stamp::{CheckKey, Place};

/// Why a sidecar is not used.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// It is not what was written.
    Damaged,
    /// The file system says no.
    Io(io::Error),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

type Result<T> = std::result::Result<T, Unusable>;

/// Opens the file of a sidecar, if it is still the one that was opened first: only where something of it is not at hand.
pub(crate) type OpenFile<'a> = &'a dyn Fn() -> Result<Arc<dyn DiskFile>>;

/// What the foot of a sidecar says, and its guide once it was needed.
#[derive(Debug)]
pub(crate) struct Sidecar {
    pub(crate) version: Version,
    pub(crate) nonce: [u8; 16],
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// Where the frames of the segment end.
    pub(crate) log_end: u64,
    /// Bytes of the bodies that are in the segment.
    pub(crate) body_bytes: u64,
    tables: u64,
    keys_offset: u64,
    filter_offset: u64,
    directory_offset: u64,
    foot_offset: u64,
    guide_hash: [u8; 32],
    guide: OnceLock<Guide>,
    slots: OnceLock<Spots<SlotTable>>,
}

/// What is kept in memory to find a key with one read.
#[derive(Debug)]
struct Guide {
    filter: Filter,
    /// The first bytes of the first key of each block: a search in them alone mostly finds the block.
    leading: Vec<u64>,
    blocks: Vec<Block>,
    /// Where each block of slots begins and how long it is; in version 1 that can be reckoned.
    slot_blocks: Vec<(u64, usize)>,
    spots: Spots<KeyBlock>,
}

impl Guide {
    /// How many blocks begin before `key`.
    fn before(&self, key: &ShortKey) -> usize {
        let leading = key.leading();
        let less = self.leading.partition_point(|first| *first < leading);
        let alike = self.leading.get(less..).unwrap_or_default();
        if alike.first() != Some(&leading) {
            return less;
        }
        let alike = less + alike.partition_point(|first| *first == leading);
        let blocks = self.blocks.get(less..alike).unwrap_or_default();
        less + blocks.partition_point(|block| block.first < *key)
    }

    /// The numbers of the blocks that may have keys of `range`.
    fn blocks_of(&self, range: &KeyRange) -> Range<usize> {
        let first = self.before(&range.from).saturating_sub(1);
        let rest = self.blocks.get(first..).unwrap_or_default();
        let count = range.until.map_or(rest.len(), |until| {
            rest.iter().position(|block| block.first >= until).unwrap_or(rest.len())
        });
        first..first + count
    }
}

#[derive(Debug)]
struct Block {
    first: ShortKey,
    offset: u64,
    len: usize,
}

impl Block {
    fn read(&self, file: &dyn DiskFile, version: Version) -> Result<KeyBlock> {
        KeyBlock::open(&read(file, self.offset, self.len)?, version).ok_or(Unusable::Damaged)
    }
}

/// A block of slots.
#[derive(Debug, Clone, Copy)]
struct SlotBlock {
    number: usize,
    /// The position of its first slot.
    first: u64,
    count: usize,
}

impl Sidecar {
    /// Reads the foot.
    pub(crate) fn open(file: &dyn DiskFile, key: &CheckKey, number: u64) -> Result<Self> {
        let len = file.len()?;
        let foot_offset = len.checked_sub(len_u64(FOOT_BYTES)).ok_or(Unusable::Damaged)?;
        let foot = read(file, foot_offset, FOOT_BYTES)?;
        Self::decode(&foot, key, number, foot_offset).ok_or(Unusable::Damaged)
    }

    fn decode(foot: &[u8], key: &CheckKey, number: u64, foot_offset: u64) -> Option<Self> {
        let (checked, check) = foot.split_at_checked(CHECKED_BYTES)?;
        if key.check(checked, Place { file: number, offset: foot_offset }) != *check {
            return None;
        }
        let mut fields = Fields::new(checked);
        let is_one = fields.array()? == MAGIC;
        let version = Version::from_number(fields.u32()?)?;
        if !is_one || fields.u32()? != 0 || fields.u64()? != number {
            return None;
        }
        let nonce = fields.array()?;
        let (first, count, log_end) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let (body_bytes, tables) = (fields.u64()?, fields.u64()?);
        let (keys_offset, filter_offset, directory_offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let ordered = keys_offset <= filter_offset && filter_offset <= directory_offset;
        if fields.u64()? != foot_offset || !ordered || directory_offset > foot_offset {
            return None;
        }
        let guide_hash = fields.array()?;
        Some(Self {
            version,
            nonce,
            first,
            count,
            log_end,
            body_bytes,
            tables,
            keys_offset,
            filter_offset,
            directory_offset,
            foot_offset,
            guide_hash,
            guide: OnceLock::new(),
            slots: OnceLock::new(),
        })
    }

    /// The position after its last slot.
    pub(crate) const fn next(&self) -> u64 {
        self.first.saturating_add(self.count)
    }

    /// The slots of the block that holds `at`, and the position of the first of them.
    pub(crate) fn slots(&self, file: &dyn DiskFile, at: u64) -> Result<(u64, Vec<Slot>)> {
        let place = self.slot_block(at)?;
        Ok((place.first, self.read_slots(file, place)?))
    }

    fn read_slots(&self, file: &dyn DiskFile, block: SlotBlock) -> Result<Vec<Slot>> {
        let (offset, len) = match self.version {
            Version::One => {
                let full = usize::try_from(SLOTS_PER_BLOCK).unwrap_or(0);
                (len_u64(block.number) * len_u64(slot_block_bytes(full)), slot_block_bytes(block.count))
            }
            Version::Two => *self.guide(file)?.slot_blocks.get(block.number).ok_or(Unusable::Damaged)?,
        };
        let slots = decode_slots(&read(file, offset, len)?, self.version);
        slots.filter(|slots| slots.len() == block.count).ok_or(Unusable::Damaged)
    }

    /// As [`Sidecar::slots`], out of what is at hand.
    pub(crate) fn recent_slots(
        &self,
        file: OpenFile<'_>,
        at: u64,
        recent: &Recent,
    ) -> Result<(u64, Arc<[Slot]>)> {
        let place = self.slot_block(at)?;
        Ok((place.first, self.slot_table(file, place, recent)?.as_slice().into()))
    }

    /// The slot of the frame at `at`, and where the frame after it begins, if the same block has that.
    pub(crate) fn recent_slot(
        &self,
        file: OpenFile<'_>,
        at: u64,
        recent: &Recent,
    ) -> Result<(Slot, Option<u64>)> {
        let place = self.slot_block(at)?;
        let table = self.slot_table(file, place, recent)?;
        let index = usize::try_from(at - place.first).unwrap_or(usize::MAX);
        match table.as_slice().get(index..).unwrap_or_default() {
            [slot, next, ..] => Ok((*slot, next.offset())),
            [slot] => Ok((*slot, None)),
            [] => Err(Unusable::Damaged),
        }
    }

    fn slot_table(&self, file: OpenFile<'_>, place: SlotBlock, recent: &Recent) -> Result<Arc<SlotTable>> {
        let count = || usize::try_from(self.count.div_ceil(SLOTS_PER_BLOCK)).unwrap_or(0);
        let spots = self.slots.get_or_init(|| spots(count()));
        let read = || SlotTable::new(&self.read_slots(&*file()?, place)?).ok_or(Unusable::Damaged);
        recent.slots.get(spots, place.number, read)?.ok_or(Unusable::Damaged)
    }

    fn slot_block(&self, at: u64) -> Result<SlotBlock> {
        let index =
            at.checked_sub(self.first).filter(|index| *index < self.count).ok_or(Unusable::Damaged)?;
        let block = index / SLOTS_PER_BLOCK;
        let before = block * SLOTS_PER_BLOCK;
        let count = usize::try_from((self.count - before).min(SLOTS_PER_BLOCK)).unwrap_or(0);
        let number = usize::try_from(block).map_err(|_overflow| Unusable::Damaged)?;
        Ok(SlotBlock { number, first: self.first + before, count })
    }

    /// Whether what is in memory tells that it has no key of the range.
    pub(crate) fn rules_out(&self, range: &KeyRange) -> bool {
        let filtered = || {
            self.guide.get().zip(range.probe()).is_some_and(|(guide, probe)| !guide.filter.may_hold(probe))
        };
        self.tables & range.tables == 0 || filtered()
    }

    /// All entries in a range of keys, sorted.
    ///
    /// Of some it knows the beginning alone, which [`ShortKey::shortened`] leaves; they are given if they begin as a key of
    /// the range does.
    pub(crate) fn scan(&self, file: OpenFile<'_>, range: &KeyRange, recent: &Recent) -> Result<Vec<Entry>> {
        let shortened = self.shortened(range);
        let range = shortened.as_ref().unwrap_or(range);
        let mut found = Vec::new();
        if let Some(guide) = self.guide_to(file, range)? {
            for number in guide.blocks_of(range) {
                self.search(file, guide, number, recent, range, &mut found)?;
            }
        }
        Ok(found)
    }

    /// The last entry in a range of keys, none of which is shortened.
    pub(crate) fn scan_last(
        &self,
        file: OpenFile<'_>,
        range: &KeyRange,
        recent: &Recent,
    ) -> Result<Option<Entry>> {
        let mut found = Vec::new();
        let Some(guide) = self.guide_to(file, range)? else { return Ok(None) };
        for number in guide.blocks_of(range).rev() {
            self.search(file, guide, number, recent, range, &mut found)?;
            if let Some(last) = found.last() {
                return Ok(Some(*last));
            }
        }
        Ok(None)
    }

    /// The guide, if there may be keys of the range; mostly there are none, which is told without a read.
    fn guide_to(&self, file: OpenFile<'_>, range: &KeyRange) -> Result<Option<&Guide>> {
        if self.tables & range.tables == 0 {
            return Ok(None);
        }
        let guide = match self.guide.get() {
            Some(guide) => guide,
            None => self.guide(&*file()?)?,
        };
        Ok(range.probe().is_none_or(|probe| guide.filter.may_hold(probe)).then_some(guide))
    }

    /// Everything that it holds.
    pub(crate) fn load(&self, file: &dyn DiskFile) -> Result<SegmentMap> {
        let mut map = SegmentMap::new(self.first, self.log_end);
        map.body_bytes = self.body_bytes;
        while map.next() < self.next() {
            let (_first, slots) = self.slots(file, map.next())?;
            map.slots.extend(slots);
        }
        for block in &self.guide(file)?.blocks {
            let mut found = Vec::new();
            let keys = block.read(file, self.version)?;
            keys.entries_in(self.first, &KeyRange::all(), &mut found).ok_or(Unusable::Damaged)?;
            map.keys.extend(found);
        }
        Ok(map)
    }

    /// Appends what a block has of a range.
    fn search(
        &self,
        file: OpenFile<'_>,
        guide: &Guide,
        number: usize,
        recent: &Recent,
        range: &KeyRange,
        found: &mut Vec<Entry>,
    ) -> Result<()> {
        let read = || guide.blocks.get(number).ok_or(Unusable::Damaged)?.read(&*file()?, self.version);
        let keys = recent.keys.get(&guide.spots, number, read)?.ok_or(Unusable::Damaged)?;
        keys.entries_in(self.first, range, found).ok_or(Unusable::Damaged)
    }

    /// The range in which keys of this version lie that lie in `range` when they are whole; `None` where it is the same.
    fn shortened(&self, range: &KeyRange) -> Option<KeyRange> {
        match self.version {
            Version::One => None,
            Version::Two => range.shortened(),
        }
    }

    fn guide(&self, file: &dyn DiskFile) -> Result<&Guide> {
        if let Some(guide) = self.guide.get() {
            return Ok(guide);
        }
        let len =
            usize::try_from(self.foot_offset - self.filter_offset).map_err(|_overflow| Unusable::Damaged)?;
        let bytes = read(file, self.filter_offset, len)?;
        let guide = self.decode_guide(&bytes).ok_or(Unusable::Damaged)?;
        Ok(self.guide.get_or_init(|| guide))
    }

    fn decode_guide(&self, bytes: &[u8]) -> Option<Guide> {
        if *blake3::hash(bytes).as_bytes() != self.guide_hash {
            return None;
        }
        let filter_len = usize::try_from(self.directory_offset - self.filter_offset).ok()?;
        let (filter, directory) = bytes.split_at_checked(filter_len)?;
        let filter = Filter::from_bytes(filter)?;
        let mut fields = Fields::new(directory);
        let mut slot_blocks = Vec::new();
        if self.version == Version::Two {
            let mut offset = 0_u64;
            for _ in 0..self.count.div_ceil(SLOTS_PER_BLOCK) {
                let len = fields.varint()?;
                slot_blocks.push((offset, usize::try_from(len).ok()?));
                offset = offset.checked_add(len)?;
            }
            if offset != self.keys_offset {
                return None;
            }
        }
        let mut blocks = Vec::new();
        let mut offset = self.keys_offset;
        while !fields.is_empty() {
            let key_len = usize::try_from(fields.varint()?).ok()?;
            let first = ShortKey::new(fields.bytes(key_len)?)?;
            let len = fields.varint()?;
            blocks.push(Block { first, offset, len: usize::try_from(len).ok()? });
            offset = offset.checked_add(len)?;
        }
        let leading = blocks.iter().map(|block| block.first.leading()).collect();
        let spots = spots(blocks.len());
        (offset == self.filter_offset).then_some(Guide { filter, leading, blocks, slot_blocks, spots })
    }
}

fn read(file: &dyn DiskFile, offset: u64, len: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    if file.read_at(&mut bytes, offset)? < len {
        return Err(Unusable::Damaged);
    }
    Ok(bytes)
}
