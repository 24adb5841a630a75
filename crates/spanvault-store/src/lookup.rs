//! Finds frames by position and positions by key, over the open segment and all sealed ones.
//!
//! No lock is held while the disk is read, and the writer lock is not needed at all.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use spanvault_env::sync::Mutex;
use spanvault_env::{DiskFile, OpenMode};
use spanvault_types::key::{Key, original};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{Counts, Position};

use crate::bytes::len_u64;
use crate::error::{Result, StoreError, io_error};
use crate::frame::Name;
use crate::read::EVENT_READ_BYTES;
use crate::segment::{
    Cursor, Entry, KeyRange, Replay, Replayed, SEGMENT_HEAD_BYTES, SegmentHead, SegmentMap, ShortKey, Slot,
};
use crate::sidecar::{OpenFile, Sidecar, Unusable};
use crate::store::Store;
use crate::tail::read_head;
use crate::view::{Home, Sealed};

/// How often a read is done again because a segment was rewritten under it.
const REWRITES_MAX: usize = 8;
/// Scanned segments that are kept in memory.
const SCANS_MAX: usize = 4;

/// The maps of sealed segments that had to be scanned, the newest ones.
#[derive(Debug, Default)]
pub(crate) struct Scans {
    kept: Mutex<VecDeque<Scan>>,
}

#[derive(Debug)]
struct Scan {
    number: u64,
    nonce: [u8; 16],
    map: Arc<SegmentMap>,
}

impl Scans {
    fn get(&self, head: &SegmentHead) -> Option<Arc<SegmentMap>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|scan| (scan.number, scan.nonce) == (head.number, head.nonce));
        found.map(|scan| Arc::clone(&scan.map))
    }

    pub(crate) fn keep(&self, head: &SegmentHead, map: Arc<SegmentMap>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|scan| scan.number != head.number);
        kept.push_front(Scan { number: head.number, nonce: head.nonce, map });
        kept.truncate(SCANS_MAX);
    }
}

/// A frame's place on the disk.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) at: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) segment: u64,
    pub(crate) slot: Slot,
    /// Where the next frame begins, if that is known.
    pub(crate) until: Option<u64>,
}

/// What is known of a sealed segment.
pub(crate) enum Index<'s> {
    Sidecar(&'s Sidecar, OpenFile<'s>),
    Scanned(Arc<SegmentMap>),
}

impl Store {
    /// Where the frame at `at` is.
    pub(crate) fn locate(&self, at: Position) -> Result<Located> {
        let seq = at.get();
        if seq == 0 || seq >= self.next.load(Ordering::Acquire) {
            return Err(StoreError::NotFound { at });
        }
        let view = self.view();
        match view.home(seq) {
            Home::Open(open) => {
                let map = open.map();
                let slot = map.slot(seq).ok_or(StoreError::Missing { at })?;
                let (file, until) = (Arc::clone(&open.file), map.offset_after(seq));
                Ok(Located { at: seq, file, segment: open.head.number, slot, until })
            }
            Home::Sealed(segment, until) => {
                let (slot, after) = self.slot(segment, until, seq)?.ok_or(StoreError::Missing { at })?;
                let file = self.log_file(segment)?;
                Ok(Located { at: seq, file, segment: segment.number(), slot, until: after })
            }
            Home::Nowhere => Err(StoreError::Missing { at }),
        }
    }

    /// The slot of `at`, and where the frame after it begins, if that is at hand; `None` where the segment ends before
    /// `at`.
    fn slot(&self, segment: &Arc<Sealed>, until: u64, at: u64) -> Result<Option<(Slot, Option<u64>)>> {
        self.with_index(segment, until, |index| match index {
            Index::Sidecar(sidecar, _) if at >= sidecar.next() => Ok(None),
            Index::Sidecar(sidecar, file) => sidecar.recent_slot(*file, at, &self.recent).map(Some),
            Index::Scanned(map) => {
                let after = map.slot(at.saturating_add(1)).and_then(Slot::offset);
                Ok(map.slot(at).map(|slot| (slot, after)))
            }
        })
    }

    /// The slots around `at` and the position of the first of them; none where the segment ends before `at`.
    pub(crate) fn slots(&self, segment: &Arc<Sealed>, until: u64, at: u64) -> Result<(u64, Arc<[Slot]>)> {
        self.with_index(segment, until, |index| match index {
            Index::Sidecar(sidecar, _) if at >= sidecar.next() => Ok((at, Arc::default())),
            Index::Sidecar(sidecar, file) => sidecar.recent_slots(*file, at, &self.recent),
            Index::Scanned(map) => {
                let index = usize::try_from(at - map.first).unwrap_or(usize::MAX);
                let slots = map.slots.get(index..).unwrap_or_default();
                Ok((at, slots.iter().take(256).copied().collect()))
            }
        })
    }

    /// All pairs of key and position whose key starts with `prefix`, sorted.
    ///
    /// # Errors
    /// Where a segment cannot be read. Frames whose event is damaged have no keys: see [`Store::damage`].
    pub fn scan(&self, prefix: &[u8]) -> Result<Vec<(Key, Position)>> {
        let Some(range) = KeyRange::prefix(prefix) else { return Ok(Vec::new()) };
        Ok(self.scan_range(&range)?.into_iter().map(Entry::to_pair).collect())
    }

    pub(crate) fn scan_range(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        self.retrying(|| self.scan_once(range))
    }

    fn scan_once(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        let mut found = self.candidates(range)?;
        if range.has_originals() {
            found = self.completed(found, range)?;
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Puts the keys together of which a sidecar has the beginning alone, and leaves out those that then lie elsewhere.
    ///
    /// Where the frame cannot be read nobody can tell: it counts as what was asked for, so that it is found and found
    /// to be damaged.
    fn completed(&self, found: Vec<Entry>, range: &KeyRange) -> Result<Vec<Entry>> {
        let mut whole = Vec::with_capacity(found.len());
        for entry in found {
            if !entry.key.is_shortened() {
                whole.push(entry);
                continue;
            }
            if let Some(name) = self.original_name(Position::new(entry.at))? {
                let key = name.hash().and_then(|hash| ShortKey::new(&original(&hash)));
                whole.extend(key.filter(|key| range.contains(key)).map(|key| Entry { key, ..entry }));
            } else {
                let is_wanted = entry.key == range.from.shortened();
                whole.push(if is_wanted { Entry { key: range.from, ..entry } } else { entry });
            }
        }
        Ok(whole)
    }

    /// What names the original of the frame at `at`; `None` where that cannot be read any more.
    fn original_name(&self, at: Position) -> Result<Option<Name>> {
        let found = self.locate(at).and_then(|located| {
            let raw = self.raw_frame(&located, EVENT_READ_BYTES)?;
            let name = raw.name;
            // Of a damaged frame the body tells, if it hashes to what stands there for its hash.
            if raw.is_intact() { Ok(name) } else { self.hot_original(&located, raw).map(|_verified| name) }
        });
        match found {
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// What the maps and sidecars have of a range; of originals that may be the beginning of a key, and more than was
    /// asked for.
    pub(crate) fn candidates(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        let view = self.view();
        let mut found = view.open.map().scan(range);
        for (segment, until) in view.sealed().filter(|(segment, _)| !segment.rules_out(range)) {
            let here = self.with_index(segment, until, |index| match index {
                Index::Sidecar(sidecar, file) => sidecar.scan(*file, range, &self.recent),
                Index::Scanned(map) => Ok(map.scan(range)),
            })?;
            if found.is_empty() { found = here } else { found.extend(here) }
        }
        Ok(found)
    }

    /// The last of what [`Store::scan`] gives.
    ///
    /// # Errors
    /// As [`Store::scan`].
    pub fn scan_last(&self, prefix: &[u8]) -> Result<Option<(Key, Position)>> {
        Ok(self.last_under(prefix)?.map(Entry::to_pair))
    }

    pub(crate) fn last_under(&self, prefix: &[u8]) -> Result<Option<Entry>> {
        let Some(range) = KeyRange::prefix(prefix) else { return Ok(None) };
        self.retrying(|| self.last_once(&range))
    }

    fn last_once(&self, range: &KeyRange) -> Result<Option<Entry>> {
        if range.has_originals() {
            return Ok(self.scan_once(range)?.pop());
        }
        let view = self.view();
        let mut last = view.open.map().keys.last(range);
        for (segment, until) in view.sealed().filter(|(segment, _)| !segment.rules_out(range)) {
            let here = self.with_index(segment, until, |index| match index {
                Index::Sidecar(sidecar, file) => sidecar.scan_last(*file, range, &self.recent),
                Index::Scanned(map) => Ok(map.keys.last(range)),
            })?;
            last = last.max(here);
        }
        Ok(last)
    }

    /// Asks the sidecar of a segment, or scans the segment where there is none to be trusted.
    pub(crate) fn with_index<T>(
        &self,
        segment: &Arc<Sealed>,
        until: u64,
        ask: impl Fn(&Index<'_>) -> std::result::Result<T, Unusable>,
    ) -> Result<T> {
        if let Some(sidecar) = segment.sidecar() {
            match ask(&Index::Sidecar(sidecar, &|| self.sidecar_file(segment))) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    tracing::warn!(segment = segment.number(), ?error, "a sidecar is not used any more");
                    segment.distrust();
                }
            }
        }
        let map = self.scanned(segment, until)?;
        ask(&Index::Scanned(map)).map_err(|unusable| {
            let path = self.layout.sidecar(segment.number());
            match unusable {
                Unusable::Io(error) => io_error("read", &path)(error),
                Unusable::Damaged => StoreError::Damaged { path, what: "its segment does not scan" },
            }
        })
    }

    fn sidecar_file(&self, segment: &Sealed) -> std::result::Result<Arc<dyn DiskFile>, Unusable> {
        let number = segment.number();
        self.handles.get(segment.sidecar_id(), || {
            let file = self.env.disk.open(&self.layout.sidecar(number), OpenMode::Read)?;
            // It may have been written anew, with its segment, since the vault was opened.
            let found = Sidecar::open(&*file, &self.key, number)?;
            let same = segment.sidecar().is_some_and(|known| known.nonce == found.nonce);
            if same { Ok(Arc::from(file)) } else { Err(Unusable::Damaged) }
        })
    }

    /// The log file of a sealed segment, as it was when its head was read.
    ///
    /// # Errors
    /// [`StoreError::Rewritten`] where the file has been replaced since.
    pub(crate) fn log_file(&self, segment: &Sealed) -> Result<Arc<dyn DiskFile>> {
        let number = segment.number();
        self.handles.get(segment.log_id(), || {
            let path = self.layout.segment(number);
            let opened = self.env.disk.open(&path, OpenMode::Read);
            if opened.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
                return Err(StoreError::Missing { at: Position::new(segment.head.first) });
            }
            let file = opened.map_err(io_error("open", &path))?;
            let head = read_head(&*file, &self.key, number).map_err(io_error("read", &path))?;
            let replaced = segment.head_intact && head.is_some_and(|head| head.nonce != segment.head.nonce);
            if replaced { Err(StoreError::Rewritten { segment: number }) } else { Ok(Arc::from(file)) }
        })
    }

    /// Does it again where a segment was rewritten meanwhile, by this process or by the one that writes.
    pub(crate) fn retrying<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        for _ in 0..REWRITES_MAX {
            match read() {
                Err(StoreError::Rewritten { segment }) if !is_planted(Bug::NoSecondLook) => {
                    self.reload(segment)?;
                }
                other => return other,
            }
        }
        read()
    }

    /// Takes a segment as it is now. A writer puts it into the view itself, as soon as it has replaced the file.
    fn reload(&self, number: u64) -> Result<()> {
        if self.lock.is_some() {
            drop(self.replacing());
            return Ok(());
        }
        let _turn = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        for (segment, _state) in self.loader().sealed(&[number])?.segments {
            let view = self.view();
            self.set_view(view.with_sealed(segment));
        }
        Ok(())
    }

    /// The map of a sealed segment, read from the segment itself.
    pub(crate) fn scanned(&self, segment: &Sealed, until: u64) -> Result<Arc<SegmentMap>> {
        if let Some(map) = self.scans.get(&segment.head) {
            return Ok(map);
        }
        let file = self.log_file(segment)?;
        let replayed = self.scan_segment(&*file, &segment.head, until)?;
        for damage in replayed.damage {
            self.note_damage(damage);
        }
        let map = Arc::new(replayed.map);
        self.scans.keep(&segment.head, Arc::clone(&map));
        Ok(map)
    }

    /// Scans a sealed segment. Everything in it was durable before the next one was begun, at position `until`.
    pub(crate) fn scan_segment(
        &self,
        file: &dyn DiskFile,
        head: &SegmentHead,
        until: u64,
    ) -> Result<Replayed> {
        let path = self.layout.segment(head.number);
        let cursor = Cursor {
            next: head.first,
            chain: head.chain,
            counts: Counts::default(),
            clock: head.clock,
            known: until - 1,
        };
        let start = len_u64(SEGMENT_HEAD_BYTES);
        let replay = Replay::new(file, &self.key, head.number, start, cursor);
        replay.and_then(Replay::run).map_err(io_error("read", &path))
    }
}

#[cfg(test)]
mod tests;
