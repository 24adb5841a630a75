//! Finds the segments of a log and replays the last one.

use std::io;
use std::path::Path;
use std::sync::Arc;

use spanvault_env::sync::RwLock;
use spanvault_env::{DiskFile, Env, OpenMode};
use spanvault_types::key::{self, Table};
use spanvault_types::{ClockStamp, Counts, Position};

use crate::bytes::len_u64;
use crate::chain::GENESIS;
use crate::damage::{Damage, Fault};
use crate::error::{Result, StoreError, io_error};
use crate::frame::{FrameHead, HEAD_BYTES};
use crate::layout::{Layout, segment_number};
use crate::segment::{Cursor, KeyRange, Replay, Replayed, SEGMENT_HEAD_BYTES, SegmentHead, SegmentMap};
use crate::sidecar::{Recent, Sidecar, Unusable};
use crate::stamp::{CheckKey, Place};
use crate::view::{Open, Sealed};

/// The log as it was found.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) sealed: Vec<Arc<Sealed>>,
    pub(crate) open: Open,
    /// What the open segment holds.
    pub(crate) replayed: Replayed,
    /// Damage to sealed segments that shows without reading them.
    pub(crate) damage: Vec<Damage>,
    /// Sealed segments without a usable sidecar.
    pub(crate) unindexed: Vec<u64>,
    /// Those of them whose sidecar an interrupted run left behind, or did not get to write.
    pub(crate) stale_sidecars: Vec<u64>,
}

/// Finds out how the log stands. `mode` is that of the open segment; a writer removes a next segment that was never
/// begun.
pub(crate) fn load(env: &Env, layout: &Layout, key: &CheckKey, acked: u64, mode: OpenMode) -> Result<Tail> {
    let loader = Loader { env, layout, key };
    let mut numbers = loader.numbers()?;
    let Some(mut last) = numbers.pop() else {
        return Err(StoreError::Damaged { path: layout.log.clone(), what: "it holds no segment" });
    };
    let mut sealed = loader.sealed(&numbers)?;
    let mut opened = loader.open(last, sealed.next, acked, mode)?;
    // A next segment was begun and not used: the one before may still be the open one, if sealing it was given up
    // for want of space.
    if opened.is_unused
        && let Some(before) = numbers.pop()
    {
        let earlier = loader.sealed(&numbers)?;
        let known = acked.max(opened.open.head.first.saturating_sub(1));
        let known = if opened.open.head_intact { known } else { acked };
        let reopened = loader.open(before, earlier.next, known, mode)?;
        if !opened.open.head_intact || reopened.replayed.cursor.next > opened.open.head.first {
            if mode == OpenMode::Write {
                let path = layout.segment(last);
                env.disk.remove(&path).map_err(io_error("remove", &path))?;
            }
            (last, sealed, opened) = (before, earlier, reopened);
        }
    }
    let Opened { open, replayed, .. } = opened;
    let mut tail = Tail {
        sealed: Vec::new(),
        damage: gaps(&sealed.segments, &open, layout, env),
        unindexed: Vec::new(),
        stale_sidecars: Vec::new(),
        open,
        replayed,
    };
    for (segment, sidecar) in sealed.segments {
        // What cannot be read of its sidecar is found out when the segment is scanned in its place.
        tail.damage.extend(loader.unread(&segment).unwrap_or_default());
        if segment.sidecar().is_none() {
            tail.unindexed.push(segment.number());
            if segment.number() + 1 == last || matches!(sidecar, SidecarState::Stale) {
                tail.stale_sidecars.push(segment.number());
            }
        }
        tail.sealed.push(Arc::new(segment));
    }
    Ok(tail)
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Loader<'a> {
    pub(crate) env: &'a Env,
    pub(crate) layout: &'a Layout,
    pub(crate) key: &'a CheckKey,
}

#[derive(Debug)]
pub(crate) struct SealedSegments {
    pub(crate) segments: Vec<(Sealed, SidecarState)>,
    /// The position after the last of them, as far as that is known.
    next: u64,
}

#[derive(Debug)]
pub(crate) enum SidecarState {
    Good,
    /// Whole, but made for this segment before it was rewritten.
    Stale,
    Unusable,
}

#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) open: Open,
    pub(crate) replayed: Replayed,
    /// Nothing was ever written after its head.
    is_unused: bool,
}

impl Loader<'_> {
    fn numbers(&self) -> Result<Vec<u64>> {
        let entries = match self.env.disk.list(&self.layout.log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(io_error("list", &self.layout.log))?,
        };
        let mut numbers: Vec<u64> = entries.iter().filter_map(|entry| segment_number(&entry.name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(crate) fn sealed(&self, numbers: &[u64]) -> Result<SealedSegments> {
        let mut segments = Vec::with_capacity(numbers.len());
        let mut next = 1;
        for number in numbers {
            let path = self.layout.segment(*number);
            let file = self.env.disk.open(&path, OpenMode::Read).map_err(io_error("open", &path))?;
            let head = self.head(&*file, *number).map_err(io_error("read", &path))?;
            let (sidecar, state) = self.sidecar(*number, head.as_ref());
            let intact = head.is_some();
            let head = match (head, &sidecar) {
                (Some(head), _) => head,
                (None, Some(sidecar)) => put_together(*number, sidecar.first, sidecar.nonce),
                (None, None) => {
                    let first = self.first_frame(&*file, *number).map_err(io_error("read", &path))?;
                    put_together(*number, first.unwrap_or(next), [0; 16])
                }
            };
            next = sidecar.as_ref().map_or(head.first, Sidecar::next);
            segments.push((Sealed::new(head, intact, sidecar), state));
        }
        Ok(SealedSegments { segments, next })
    }

    /// The sidecar of a segment, if it was made for the file as it is.
    fn sidecar(&self, number: u64, head: Option<&SegmentHead>) -> (Option<Sidecar>, SidecarState) {
        let opened = self.env.disk.open(&self.layout.sidecar(number), OpenMode::Read);
        match opened.map_err(Unusable::from).and_then(|file| Sidecar::open(&*file, self.key, number)) {
            Ok(sidecar)
                if head.is_none_or(|head| (head.nonce, head.first) == (sidecar.nonce, sidecar.first)) =>
            {
                (Some(sidecar), SidecarState::Good)
            }
            Ok(_other) => (None, SidecarState::Stale),
            Err(_unusable) => (None, SidecarState::Unusable),
        }
    }

    /// What could not be read of a segment when its sidecar was made.
    fn unread(&self, segment: &Sealed) -> std::result::Result<Vec<Damage>, Unusable> {
        let range = KeyRange::prefix(&[Table::Unread as u8]).filter(|range| !segment.rules_out(range));
        let Some((range, sidecar)) = range.zip(segment.sidecar()) else { return Ok(Vec::new()) };
        let file: Arc<dyn DiskFile> =
            self.env.disk.open(&self.layout.sidecar(segment.number()), OpenMode::Read)?.into();
        let mut damage = Vec::new();
        for entry in sidecar.scan(&|| Ok(Arc::clone(&file)), &range, &Recent::default())? {
            let field = |n| key::field(entry.key.as_slice(), n);
            let fault = field(2).and_then(|code| Fault::of_unread(code.get()));
            let (Some(from), Some(to), Some(fault)) = (field(0), field(1), fault) else { continue };
            let (first, slots) = sidecar.slots(&*file, from.get())?;
            let slot = usize::try_from(from.get() - first).ok().and_then(|index| slots.get(index));
            let offset = slot.and_then(|slot| slot.offset()).unwrap_or(0);
            damage.push(Damage { from, to, segment: segment.number(), offset, fault });
        }
        Ok(damage)
    }

    pub(crate) fn open(
        &self,
        number: u64,
        expected_first: u64,
        acked: u64,
        mode: OpenMode,
    ) -> Result<Opened> {
        let path = self.layout.segment(number);
        let file = self.env.disk.open(&path, mode).map_err(io_error("open", &path))?;
        let file: Arc<dyn DiskFile> = Arc::from(file);
        self.replay(&file, number, expected_first, acked, mode).map_err(io_error("read", &path))
    }

    fn replay(
        &self,
        file: &Arc<dyn DiskFile>,
        number: u64,
        expected_first: u64,
        acked: u64,
        mode: OpenMode,
    ) -> io::Result<Opened> {
        let start = len_u64(SEGMENT_HEAD_BYTES);
        let read = self.head(&**file, number)?;
        let head_intact = read.is_some();
        let head = if let Some(head) = read {
            head
        } else {
            let first = self.first_frame(&**file, number)?.unwrap_or(expected_first);
            put_together(number, first, [0; 16])
        };
        let cursor = Cursor {
            next: head.first,
            chain: head.chain,
            counts: head.counts,
            clock: head.clock,
            known: acked.max(head.first - 1),
        };
        let begin = || {
            let replay = Replay::new(&**file, self.key, number, start, cursor)?;
            Ok(if head_intact { replay } else { replay.unanchored() })
        };
        let mut replayed = match mode {
            OpenMode::Read => Replay::run_beside_a_writer(begin)?,
            OpenMode::Write | OpenMode::CreateNew => begin()?.run()?,
        };
        // Nothing may be added behind a head that a later reopening could not read.
        replayed.appendable &= head_intact;
        let is_unused = file.len()? <= start;
        let map = RwLock::new(SegmentMap::new(head.first, start));
        Ok(Opened { open: Open { head, head_intact, file: Arc::clone(file), map }, replayed, is_unused })
    }

    pub(crate) fn head(&self, file: &dyn DiskFile, number: u64) -> io::Result<Option<SegmentHead>> {
        read_head(file, self.key, number)
    }

    /// The position of the first frame, from the frame itself.
    fn first_frame(&self, file: &dyn DiskFile, number: u64) -> io::Result<Option<u64>> {
        let offset = len_u64(SEGMENT_HEAD_BYTES);
        let mut bytes = [0; HEAD_BYTES];
        file.read_at(&mut bytes, offset)?;
        let head = FrameHead::decode(&bytes, self.key, Place { file: number, offset });
        Ok(head.map(|head| head.seq).filter(|seq| *seq > 0))
    }
}

/// The head of a segment, if it is whole.
pub(crate) fn read_head(file: &dyn DiskFile, key: &CheckKey, number: u64) -> io::Result<Option<SegmentHead>> {
    let mut bytes = vec![0; SEGMENT_HEAD_BYTES];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(SegmentHead::decode(&bytes, key, number).filter(|head| head.first > 0))
}

/// What can be said of a segment whose head is damaged.
fn put_together(number: u64, first: u64, nonce: [u8; 16]) -> SegmentHead {
    let (counts, clock) = (Counts::default(), ClockStamp::default());
    SegmentHead { number, first, nonce, chain: GENESIS, counts, clock }
}

/// Positions that lie between two segments, or beyond the end of a file.
fn gaps(sealed: &[(Sealed, SidecarState)], open: &Open, layout: &Layout, env: &Env) -> Vec<Damage> {
    let mut damage = Vec::new();
    let mut expected = 1;
    let mut missing = |from: u64, next: u64, segment: u64, offset: u64| {
        if from < next {
            let (from, to) = (Position::new(from), Position::new(next - 1));
            damage.push(Damage { from, to, segment, offset, fault: Fault::Missing });
        }
    };
    for (segment, _state) in sealed {
        missing(expected, segment.head.first, segment.number(), 0);
        expected = u64::MAX;
        if let Some(sidecar) = segment.sidecar() {
            expected = sidecar.next();
            let path = layout.segment(segment.number());
            let (from, len) = first_beyond(env, &path, layout, segment.number(), sidecar);
            missing(from, sidecar.next(), segment.number(), len);
        }
    }
    missing(expected, open.head.first, open.head.number, 0);
    damage
}

/// The first position of a segment that its file is too short for, and how long the file is.
fn first_beyond(env: &Env, path: &Path, layout: &Layout, number: u64, sidecar: &Sidecar) -> (u64, u64) {
    let whole = (sidecar.next(), sidecar.log_end);
    let Ok(len) = env.disk.open(path, OpenMode::Read).and_then(|file| file.len()) else { return whole };
    if len >= sidecar.log_end {
        return whole;
    }
    let Ok(index) = env.disk.open(&layout.sidecar(number), OpenMode::Read) else { return whole };
    let mut at = sidecar.next();
    while at > sidecar.first {
        let Ok((first, slots)) = sidecar.slots(&*index, at - 1) else { return whole };
        // The last frame that begins inside the file is the one that is cut.
        let inside = slots.iter().rposition(|slot| slot.offset().is_some_and(|offset| offset < len));
        match inside {
            Some(inside) => return (first + len_u64(inside), len),
            None => at = first,
        }
    }
    (sidecar.first, len)
}
