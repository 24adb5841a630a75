//! The bytes of one simulated file: what a reader sees, and what the platter has.

use std::collections::BTreeMap;

use super::crash::{Fate, Fates};

/// The unit that a disk writes.
pub(super) const SECTOR: usize = 512;

/// A file's bytes. The platter's bytes are the live ones but for the sectors in `unsynced`.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    live: Vec<u8>,
    durable_len: usize,
    unsynced: BTreeMap<usize, Unsynced>,
}

/// A sector whose live bytes are not on the platter.
#[derive(Debug, Clone)]
struct Unsynced {
    /// What the platter has, zeros beyond its end.
    durable: [u8; SECTOR],
    /// A failed sync left the kernel believing that this sector is clean, so no later sync writes it.
    dropped: bool,
}

impl Content {
    /// Bytes that are already on the platter.
    pub(super) fn durable(bytes: Vec<u8>) -> Self {
        Self { durable_len: bytes.len(), live: bytes, unsynced: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn read(&self, buf: &mut [u8], offset: usize) -> usize {
        let rest = self.live.get(offset..).unwrap_or_default();
        let len = rest.len().min(buf.len());
        for (to, from) in buf.iter_mut().zip(rest) {
            *to = *from;
        }
        len
    }

    pub(super) fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset.saturating_add(bytes.len());
        if self.live.len() < end {
            self.live.resize(end, 0);
        }
        self.touch(offset, end);
        if let Some(place) = self.live.get_mut(offset..end) {
            place.copy_from_slice(bytes);
        }
    }

    pub(super) fn set_len(&mut self, len: usize) {
        self.touch(len, self.live.len());
        self.live.resize(len, 0);
    }

    pub(super) fn sync(&mut self) {
        self.durable_len = self.live.len();
        let end = self.durable_len;
        self.unsynced.retain(|sector, state| state.dropped && sector * SECTOR < end);
    }

    /// A sync that fails, after which the kernel takes the unsynced sectors for clean.
    pub(super) fn drop_unsynced(&mut self) {
        for state in self.unsynced.values_mut() {
            state.dropped = true;
        }
    }

    /// Flips one bit of a byte, on the platter and in what readers see. `None` where there is no such byte.
    pub(super) fn flip(&mut self, byte: usize, bit: u8) -> Option<()> {
        let mask = 1_u8.rotate_left(u32::from(bit));
        *self.live.get_mut(byte)? ^= mask;
        if let Some(state) = self.unsynced.get_mut(&(byte / SECTOR)) {
            *state.durable.get_mut(byte % SECTOR)? ^= mask;
        }
        Some(())
    }

    /// The bytes after a crash.
    pub(super) fn after_crash(&self, fates: &mut Fates) -> Vec<u8> {
        let mut bytes = self.live.clone();
        for (sector, state) in &self.unsynced {
            let start = sector * SECTOR;
            let kept = if state.dropped || start >= self.live.len() {
                // Sectors beyond the live end are there again where the shrinking itself was lost.
                0
            } else {
                match fates.deal() {
                    Fate::Kept => SECTOR,
                    Fate::Lost => 0,
                    Fate::Torn(how_far) => within(how_far, SECTOR),
                }
            };
            if bytes.len() < start + SECTOR {
                bytes.resize(start + SECTOR, 0);
            }
            for (place, old) in bytes.iter_mut().skip(start).zip(&state.durable).skip(kept) {
                *place = *old;
            }
        }
        bytes.resize(self.len_after_crash(fates), 0);
        bytes
    }

    fn len_after_crash(&self, fates: &mut Fates) -> usize {
        let (live, durable) = (self.live.len(), self.durable_len);
        if live == durable {
            return live;
        }
        match fates.deal() {
            Fate::Kept => live,
            Fate::Lost => durable,
            Fate::Torn(how_far) => live.min(durable) + within(how_far, live.abs_diff(durable)),
        }
    }

    /// Remembers what the platter has of the sectors in a range that is about to change.
    fn touch(&mut self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        for sector in start / SECTOR..end.div_ceil(SECTOR) {
            let live = &self.live;
            let state = self.unsynced.entry(sector).or_insert_with(|| {
                let mut durable = [0; SECTOR];
                let old = live.get(sector * SECTOR..).unwrap_or_default();
                for (to, from) in durable.iter_mut().zip(old) {
                    *to = *from;
                }
                Unsynced { durable, dropped: false }
            });
            state.dropped = false;
        }
    }
}

/// A number up to `bound`.
fn within(draw: u64, bound: usize) -> usize {
    usize::try_from(draw).unwrap_or(usize::MAX).checked_rem(bound.saturating_add(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
