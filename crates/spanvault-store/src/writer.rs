//! The writer lock, and what can be done under it.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spanvault_env::DiskFile;
use spanvault_env::sync::{MutexGuard, RwLock};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{Commit, Event, Position};

use crate::batch::Batch;
use crate::bytes::len_u64;
use crate::chain::Links;
use crate::draft::{Content, Frames, Layout, Pending, Site, Stretch};
use crate::error::{Result, StoreError, is_no_space};
use crate::flush::FlushError;
use crate::reserve::is_ledger;
use crate::room::Room;
use crate::segment::{COMMIT_KIND, Cursor, KeySet, SEGMENT_HEAD_BYTES, SegmentHead, SegmentMap, add_counts};
use crate::shares::in_turn;
use crate::sidecar;
use crate::store::Store;
use crate::view::{Open, Sealed, View};

/// A batch of up to this length is written with one call, a longer one with several, while the rest of it is made.
const WRITE_BYTES: usize = 1 << 20;

/// No call writes more than this: of a long body the disk gets one piece after the other.
const CALL_BYTES_MAX: usize = 2 << 20;

/// The disk begins with what was written once it is this much, and a sync is not asked for yet: it pays for many megabytes, not
/// for those of one batch.
const BEGIN_SYNC_BYTES: u64 = 6 << 20;

/// What only the holder of the writer lock may touch.
#[derive(Debug, Default)]
pub(crate) struct WriterState {
    /// Made new by each hold of the lock.
    pub(crate) epoch: u64,
    room: Room,
    /// What lies before it in the open segment is durable, or the disk has begun with it.
    begun: u64,
}

/// Numbers every hold of every vault in this process: a permit of one must never pass for one of another.
static EPOCHS: AtomicU64 = AtomicU64::new(1);

/// The writer lock, held. There is one writer at a time in one process, and one such process per vault.
#[derive(Debug)]
pub struct Writer<'s> {
    store: &'s Store,
    state: MutexGuard<'s, WriterState>,
}

impl<'s> Writer<'s> {
    pub(crate) fn new(store: &'s Store, mut state: MutexGuard<'s, WriterState>) -> Self {
        state.epoch = EPOCHS.fetch_add(1, Ordering::Relaxed);
        Self { store, state }
    }

    /// The last position of the log.
    pub fn revision(&self) -> Position {
        self.store.head().position
    }

    /// Names this hold of the lock; no two holds in one process have the same, whichever vaults they belong to.
    pub fn epoch(&self) -> u64 {
        self.state.epoch
    }

    /// Whether this is the lock of `store`.
    pub(crate) fn belongs_to(&self, store: &Store) -> Result<()> {
        if std::ptr::eq(self.store, store) { Ok(()) } else { Err(StoreError::StaleBatch) }
    }

    /// Begins a batch.
    pub fn begin(&self) -> Batch {
        Batch::new(self.state.epoch, self.store.tip().next, Arc::clone(&self.store.env.random))
    }

    /// Writes a batch and makes it visible in this process. It is not yet durable: see [`Store::sync`].
    ///
    /// Returns the position of its commit. An empty batch writes nothing.
    ///
    /// # Errors
    /// [`StoreError::NoSpace`] leaves everything as it was; after any other failure of the disk the store is poisoned.
    /// [`StoreError::StaleBatch`] where the batch was begun under another hold of the lock.
    pub fn append(&mut self, batch: Batch) -> Result<Position> {
        if self.store.flush.is_poisoned() {
            return Err(StoreError::Poisoned);
        }
        if batch.epoch != self.state.epoch || batch.first != self.store.tip().next {
            return Err(StoreError::StaleBatch);
        }
        if batch.is_empty() {
            return Ok(self.revision());
        }
        self.write(batch)
    }

    /// Writes a batch and returns when it is durable.
    ///
    /// # Errors
    /// As [`Writer::append`] and [`Store::sync`].
    pub fn commit(&mut self, batch: Batch) -> Result<Position> {
        let position = self.append(batch)?;
        if !is_planted(Bug::AckBeforeSync) {
            self.store.sync(position)?;
        }
        Ok(position)
    }

    fn write(&mut self, batch: Batch) -> Result<Position> {
        let (first, last) = (batch.first, batch.next().get());
        let may_use_reserve = batch.pending.iter().all(|pending| is_ledger(pending.event.schema()));
        let mut commit = self.commit_of(&batch);
        let layout = Layout::new(batch.pending, first)?;
        let mut end = Stretch::new(last, layout.bytes);
        // Its chain value is not known yet, and as long as the one that will be.
        let batch_bytes = layout.bytes + end.push(commit_event(commit.clone()))?;
        self.make_room(batch_bytes)?;

        let view = self.store.view();
        let open = &view.open;
        let start = open.map().end;
        let site = Site { key: &self.store.key, segment: open.head.number, start, time: commit.clock.store };
        if self.store.flush.durable() + 1 >= first {
            self.state.begun = start;
        }
        let mut out = Out { file: &*open.file, at: start, begun: self.state.begun, failed: None };
        let (mut made, mut written, mut links) = (Vec::new(), 0, Links::default());
        in_turn(layout.stretches, &|stretch: Stretch| stretch.frames(&site), |frames: Frames| {
            links.append(&frames.links);
            made.push(frames);
            // Never the last of them: the commit goes with it.
            let waiting = made.get(written..made.len() - 1).unwrap_or_default();
            if waiting.iter().map(Frames::len).sum::<u64>() >= len_u64(WRITE_BYTES) {
                out.write(waiting, 0);
                written = made.len() - 1;
            }
        });
        let too_large = |source| StoreError::TooLarge { schema: COMMIT_KIND, source: Some(source) };
        commit.chain = links.close(last, &commit).map_err(too_large)?;
        let mut end = Stretch::new(last, layout.bytes);
        end.push(commit_event(commit.clone()))?;
        made.push(end.frames(&site));
        let log_end = start + batch_bytes;
        let ahead = self.state.room.ahead(batch_bytes, log_end, self.store.options.segment_bytes);
        out.write(made.get(written..).unwrap_or_default(), ahead);
        self.state.begun = out.begun;
        match out.failed {
            None if ahead > 0 => self.state.room.made(log_end + len_u64(ahead)),
            None => {}
            Some(error) => self.write_again(open, start, &made, ahead, may_use_reserve, &error)?,
        }

        let keys = KeySet::run(made.iter().flat_map(|frames| frames.keys.iter().copied()).collect());
        {
            let mut map = open.map.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            map.slots.extend(made.iter().flat_map(|frames| &frames.slots));
            map.end = log_end;
            map.body_bytes += made.iter().map(|frames| frames.body_bytes).sum::<u64>();
            map.keys.add(keys);
            // Before anybody can find one of the keys: a position that is found is one that the log reaches.
            self.store.set_tip(Cursor {
                next: last + 1,
                chain: commit.chain,
                counts: commit.counts,
                clock: commit.clock,
                known: self.store.flush.durable(),
            });
        }
        self.store.flush.appended(last);
        Ok(Position::new(last))
    }

    /// After a write that failed. On a full disk it is tried again: without the `ahead` zeros, if there were any, and, where
    /// the batch may use the reserve, once that has given as much back.
    fn write_again(
        &mut self,
        open: &Open,
        start: u64,
        frames: &[Frames],
        ahead: usize,
        may_use_reserve: bool,
        error: &std::io::Error,
    ) -> Result<()> {
        if ahead > 0 {
            self.state.room.refused();
        }
        // Undoing cuts the file behind the frames that count.
        self.state.room.gone();
        let mut undone = self.undo(open, start, error);
        let bytes = frames.iter().map(Frames::len).sum();
        let held = self.store.reserve.held();
        let ways: [&dyn Fn() -> bool; 2] =
            [&|| ahead > 0, &|| may_use_reserve && self.store.reserve.release(bytes)];
        for there_is_more in ways {
            if !matches!(undone, StoreError::NoSpace { .. }) {
                break;
            }
            if there_is_more() {
                let mut out = Out { file: &*open.file, at: start, begun: start, failed: None };
                out.write(frames, 0);
                match out.failed {
                    None => {
                        // What it gave up beyond what was needed is nobody else's.
                        self.store.reserve.take_back(held);
                        return Ok(());
                    }
                    Some(error) => undone = self.undo(open, start, &error),
                }
            }
        }
        Err(undone)
    }

    /// The commit of a batch, but for its chain value.
    fn commit_of(&self, batch: &Batch) -> Commit {
        let tip = self.store.tip();
        let mut counts = tip.counts;
        add_counts(&mut counts, batch.counts);
        Commit {
            first: Position::new(batch.first),
            durable: Position::new(self.store.flush.durable()),
            prev_chain: tip.chain,
            chain: crate::chain::GENESIS,
            counts,
            clock: self.store.clock.stamp(),
        }
    }

    /// After a failed write: a full disk is given back what it took; after anything else, or where that fails too,
    /// nothing is known about the file.
    fn undo(&self, open: &Open, start: u64, error: &std::io::Error) -> StoreError {
        let path = self.store.layout.segment(open.head.number);
        if is_no_space(error) && open.file.set_len(start).is_ok() {
            return StoreError::NoSpace { action: "append to", path };
        }
        self.store.flush.poison();
        let source = std::io::Error::new(error.kind(), error.to_string());
        StoreError::Io { action: "append to", path, source }
    }

    /// Seals the open segment if the batch would make it too long. On a full disk it just grows longer.
    fn make_room(&mut self, batch_bytes: u64) -> Result<()> {
        let options = &self.store.options;
        let full = {
            let view = self.store.view();
            let map = view.open.map();
            let bytes = map.end.saturating_add(batch_bytes) > options.segment_bytes;
            let frames = len_u64(map.slots.len()) >= options.segment_frames;
            !map.slots.is_empty() && (bytes || frames)
        };
        if !full {
            return Ok(());
        }
        match self.seal() {
            Err(StoreError::NoSpace { .. }) => Ok(()),
            other => other,
        }
    }

    /// Seals the open segment and begins the next.
    ///
    /// # Errors
    /// [`StoreError::NoSpace`] leaves the segment open; after any other failure of the disk the store is poisoned.
    pub(crate) fn seal(&mut self) -> Result<()> {
        match self.try_seal() {
            Err(error @ (StoreError::NoSpace { .. } | StoreError::Poisoned)) => Err(error),
            Err(error) => {
                self.store.flush.poison();
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    /// As [`Writer::seal`]; on a full disk with what the reserve has.
    pub(crate) fn seal_at_any_price(&mut self) -> Result<()> {
        match self.seal() {
            Err(StoreError::NoSpace { .. }) if self.store.reserve.release_all() => self.seal(),
            other => other,
        }
    }

    /// Lets the open segment end with its frames. Where that cannot be done the zeros stay: they do no harm.
    pub(crate) fn cut_room(&mut self, open: &Open) {
        let end = open.map().end;
        if self.state.room.reaches_beyond(end) {
            drop(open.file.set_len(end));
        }
        self.state.room.gone();
    }

    fn try_seal(&mut self) -> Result<()> {
        let store = self.store;
        let view = store.view();
        let open = Arc::clone(&view.open);
        self.cut_room(&open);
        // Before the next segment exists, everything in this one is durable: a reopening relies on it.
        store.sync(Position::new(u64::MAX))?;
        let index = sidecar::encode(&open.map(), &open.head, &store.key);
        let sidecar = store.write_sidecar(&open.head, &index)?;

        let tip = store.tip();
        let mut nonce = [0; 16];
        store.env.random.fill(&mut nonce);
        let head = SegmentHead {
            number: open.head.number + 1,
            first: tip.next,
            nonce,
            chain: tip.chain,
            counts: tip.counts,
            clock: tip.clock,
        };
        let file = store.create_segment(&head)?;
        store.flush.moved_to(Arc::clone(&file));
        let sealed = Sealed::new(open.head, open.head_intact, sidecar);
        store.handles.keep(sealed.log_id(), Arc::clone(&open.file));
        let mut segments = view.sealed.clone();
        segments.push(Arc::new(sealed));
        let map = RwLock::new(SegmentMap::new(head.first, len_u64(SEGMENT_HEAD_BYTES)));
        let open = Arc::new(Open { head, head_intact: true, file, map });
        store.set_view(View { sealed: segments, open });
        Ok(())
    }
}

const fn commit_event(commit: Commit) -> Pending {
    Pending { event: Event::Commit(commit), content: Content::None }
}

/// Where the frames of a batch are written.
struct Out<'f> {
    file: &'f dyn DiskFile,
    at: u64,
    begun: u64,
    /// What went wrong: nothing is written behind it.
    failed: Option<std::io::Error>,
}

impl Out<'_> {
    /// Writes frames, and `ahead` zeros behind them, with one call, unless they are long.
    fn write(&mut self, frames: &[Frames], ahead: usize) {
        let mut slices = Vec::new();
        for frames in frames {
            frames.slices(&mut slices);
        }
        if ahead > 0 {
            slices.push(Room::zeros(ahead));
        }
        let (mut from, mut gathered) = (0, 0);
        for (number, slice) in slices.iter().enumerate() {
            if gathered + slice.len() > CALL_BYTES_MAX {
                self.piece(slices.get(from..number).unwrap_or_default(), gathered);
                (from, gathered) = (number, 0);
            }
            if slice.len() > CALL_BYTES_MAX {
                for piece in slice.chunks(WRITE_BYTES) {
                    self.piece(&[IoSlice::new(piece)], piece.len());
                }
                from = number + 1;
            } else {
                gathered += slice.len();
            }
        }
        self.piece(slices.get(from..).unwrap_or_default(), gathered);
    }

    fn piece(&mut self, slices: &[IoSlice<'_>], len: usize) {
        if self.failed.is_some() || len == 0 {
            return;
        }
        match self.file.write_slices_at(slices, self.at) {
            Ok(()) => {
                self.at += len_u64(len);
                let waiting = self.at.saturating_sub(self.begun);
                if waiting >= BEGIN_SYNC_BYTES {
                    self.file.begin_sync(self.begun, waiting);
                    self.begun = self.at;
                }
            }
            Err(error) => self.failed = Some(error),
        }
    }
}

/// The errors of a flush of the open segment.
pub(crate) fn flush_error(store: &Store, error: FlushError) -> StoreError {
    match error {
        FlushError::Poisoned => StoreError::Poisoned,
        FlushError::Sync(source) => {
            let path = store.layout.segment(store.view().open.head.number);
            StoreError::Io { action: "sync", path, source }
        }
    }
}
