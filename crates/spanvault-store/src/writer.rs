//! The writer lock, and what can be done under it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spanvault_env::DiskFile;
use spanvault_env::sync::{MutexGuard, RwLock};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{Commit, Event, Position};

use crate::batch::Batch;
use crate::bytes::len_u64;
use crate::chain::Links;
use crate::draft::{Draft, drafts};
use crate::error::{Result, StoreError, is_no_space};
use crate::flush::FlushError;
use crate::reserve::is_ledger;
use crate::segment::{
    COMMIT_KIND, Cursor, Entry, SEGMENT_HEAD_BYTES, SegmentHead, SegmentMap, Slot, add_counts,
};
use crate::sidecar;
use crate::stamp::Place;
use crate::store::Store;
use crate::view::{Open, Sealed, View};

/// Frames are gathered up to this length and written with one call; a longer body has calls of its own.
const WRITE_BYTES: usize = 4 << 20;

/// The disk begins with a piece of this length at once, while the next one is made.
const BEGIN_SYNC_BYTES: u64 = 1 << 20;

/// What only the holder of the writer lock may touch.
#[derive(Debug, Default)]
pub(crate) struct WriterState {
    /// Made new by each hold of the lock.
    pub(crate) epoch: u64,
    buffer: Vec<u8>,
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
        let first = batch.first;
        let (drafts, commit) = self.close(batch)?;
        let batch_bytes: u64 = drafts.iter().map(|draft| draft.head(0).frame_len()).sum();
        self.make_room(batch_bytes)?;

        let view = self.store.view();
        let open = &view.open;
        let start = open.map().end;
        let time = commit.clock.store;
        let mut written = self.write_frames(open, start, first, &drafts, time);
        if let Err(error) = &written {
            let undone = self.undo(open, start, error);
            let may_use_reserve = matches!(undone, StoreError::NoSpace { .. }) && is_ledger_batch(&drafts);
            if !(may_use_reserve && self.store.reserve.release(batch_bytes)) {
                return Err(undone);
            }
            written = self.write_frames(open, start, first, &drafts, time);
        }
        let slots = written.map_err(|error| self.undo(open, start, &error))?;

        let last = first + len_u64(drafts.len()) - 1;
        {
            let mut map = open.map.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            map.slots.extend(slots);
            map.end = start + batch_bytes;
            map.body_bytes += drafts.iter().map(|draft| len_u64(draft.body.len())).sum::<u64>();
            let keys = (first..)
                .zip(&drafts)
                .flat_map(|(seq, draft)| draft.keys.iter().map(move |key| Entry { key: *key, at: seq }));
            map.keys.extend(keys);
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

    /// The frames of a batch with the commit at their end.
    fn close(&self, batch: Batch) -> Result<(Vec<Draft>, Commit)> {
        let tip = self.store.tip();
        let mut counts = tip.counts;
        add_counts(&mut counts, batch.counts);
        let mut drafts = drafts(batch.pending, batch.first)?;
        let mut commit = Commit {
            first: Position::new(batch.first),
            durable: Position::new(self.store.flush.durable()),
            prev_chain: tip.chain,
            chain: crate::chain::GENESIS,
            counts,
            clock: self.store.clock.stamp(),
        };
        let mut links = Links::default();
        for draft in &drafts {
            links.push(&draft.link);
        }
        let too_large = |source| StoreError::TooLarge { schema: COMMIT_KIND, source: Some(source) };
        let seq = batch.first + len_u64(drafts.len());
        commit.chain = links.close(seq, &commit).map_err(too_large)?;
        drafts.push(Draft::commit(seq, &Event::Commit(commit.clone()))?);
        Ok((drafts, commit))
    }

    /// Writes frames at `start` of the open segment: one call, unless they are long.
    fn write_frames(
        &mut self,
        open: &Open,
        start: u64,
        first: u64,
        drafts: &[Draft],
        time: spanvault_types::StoreTime,
    ) -> std::io::Result<Vec<Slot>> {
        let buffer = &mut self.state.buffer;
        buffer.clear();
        let mut slots = Vec::with_capacity(drafts.len());
        let mut written = start;
        for (seq, draft) in (first..).zip(drafts) {
            let offset = written + len_u64(buffer.len());
            slots.push(Slot::at(offset, Some(time)));
            let place = Place { file: open.head.number, offset };
            buffer.extend_from_slice(&draft.head(seq).encode(&self.store.key, place));
            buffer.extend_from_slice(&draft.middle);
            if buffer.len() + draft.body.len() > WRITE_BYTES {
                written = write_piece(&*open.file, buffer, written)?;
                buffer.clear();
            }
            if draft.body.len() > WRITE_BYTES {
                for piece in draft.body.chunks(WRITE_BYTES) {
                    written = write_piece(&*open.file, piece, written)?;
                }
            } else {
                buffer.extend_from_slice(&draft.body);
            }
        }
        write_piece(&*open.file, buffer, written)?;
        Ok(slots)
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

    fn try_seal(&mut self) -> Result<()> {
        let store = self.store;
        let view = store.view();
        let open = Arc::clone(&view.open);
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

/// Writes a piece of a batch and says where the next one goes.
fn write_piece(file: &dyn DiskFile, piece: &[u8], at: u64) -> std::io::Result<u64> {
    file.write_at(piece, at)?;
    let len = len_u64(piece.len());
    if len >= BEGIN_SYNC_BYTES {
        file.begin_sync(at, len);
    }
    Ok(at + len)
}

/// Whether a batch may use the reserve.
fn is_ledger_batch(drafts: &[Draft]) -> bool {
    drafts.iter().all(|draft| draft.kind == COMMIT_KIND || is_ledger(draft.kind))
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
