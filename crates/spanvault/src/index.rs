//! Keeps what is derived beside the log: the index, opened as far as it can be trusted, brought up to date, closed;
//! and behind it the postings.
//!
//! One thread does all of that in the background, so neither opening a vault nor a commit ever waits for it. Nothing
//! rests on either: before the index is there, and after it failed, look-ups go through the sidecars.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use spanvault_env::BootId;
use spanvault_env::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard};
use spanvault_index::{Applied, Entry, Index, IndexError, LogView, MemoryIndex, open_trusted};
use spanvault_store::{BodyState, Progress, Store};
use spanvault_types::key::Key;
use spanvault_types::{Commit, Event, IndexClosed, Position, key};

use crate::error::{Error, ErrorKind, Result};
use crate::options::IndexKind;
use crate::postings::{self, Poster};
use crate::vault::Vault;

/// How far the index may lag behind the log, in frames, before it is brought up to date.
const LAG_MAX: u64 = 50_000;
/// How many entries are handed to the index at once.
const ENTRIES_AT_ONCE: usize = 8_192;

/// The index of one vault, and the thread that keeps it.
#[derive(Debug, Default)]
pub(crate) struct IndexKeeper {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// `None` before it is opened, after it failed, and for a reader.
    index: RwLock<Option<Box<dyn Index>>>,
    /// Held by whoever opens it, applies entries or exchanges it, and by whoever adds or removes runs of postings.
    turn: Mutex<()>,
    task: Mutex<Task>,
    /// Tells that the task has changed, or that the log has grown beyond `due`.
    changed: Condvar,
    /// Whoever applies entries or reads for postings stops soon.
    stop: AtomicBool,
    /// A log that ends beyond this position has something for the thread to do.
    due: AtomicU64,
}

/// What the thread has to do.
#[derive(Debug, Default)]
struct Task {
    opening: bool,
    stop: bool,
}

impl IndexKeeper {
    /// Begins to open the index of the vault in `dir` and to bring it up to the end of the log.
    ///
    /// An index in memory is there when this returns: a simulation has to come out the same every time.
    pub(crate) fn open(&self, dir: &Path, vault: &Vault) {
        let boot_id = vault.options.env.clock.boot_id();
        match vault.options.index {
            IndexKind::Memory => {
                self.shared.install(Box::new(MemoryIndex::default()));
                self.shared.keep_up(&vault.store, boot_id);
            }
            IndexKind::Sled => {
                let (shared, store, dir) =
                    (Arc::clone(&self.shared), Arc::clone(&vault.store), dir.join("index"));
                let poster = Poster::of(vault);
                self.shared.task().opening = true;
                let spawned = thread::Builder::new()
                    .name("spanvault-index".to_owned())
                    .spawn(move || shared.run(&store, &poster, &dir, boot_id));
                match spawned {
                    Ok(thread) => *self.thread() = Some(thread),
                    Err(error) => {
                        self.shared.task().opening = false;
                        tracing::warn!(%error, "go on without an index");
                    }
                }
            }
        }
    }

    /// Where the index says that a key leads; empty where there is no index, none that answers, or where it has no such
    /// keys.
    pub(crate) fn hints(&self, key: &[u8], limit: usize) -> Vec<(Key, Position)> {
        let index = self.shared.index();
        let found = index.as_ref().zip(key::indexed(key));
        found.and_then(|(index, key)| index.scan(key, limit).ok()).unwrap_or_default()
    }

    /// How far the index has followed the log; `None` where there is none.
    pub(crate) fn applied(&self) -> Option<Position> {
        self.shared.index().as_ref().map(|index| index.applied().position)
    }

    /// Ends the thread and gives up the index.
    pub(crate) fn take(&self) -> Option<Box<dyn Index>> {
        self.end();
        self.shared.index.write().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.task().stop = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread().take() {
            // Whatever ended it, there is nothing of it to be had.
            let _ended = thread.join();
        }
        self.shared.stop.store(false, Ordering::Relaxed);
    }

    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for IndexKeeper {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// Opens the index, then brings it and the postings up to date whenever they lag, until it is told to stop.
    fn run(&self, store: &Store, poster: &Poster, dir: &Path, boot_id: Option<BootId>) {
        {
            let _turn = self.turn();
            if let Some(index) = open(dir, store, boot_id) {
                self.install(index);
            }
            self.task().opening = false;
            self.changed.notify_all();
        }
        loop {
            // Whatever comes behind this end is looked at once more.
            let end = store.head().position.get();
            self.keep_up(store, boot_id);
            let posted = {
                let _turn = self.turn();
                poster.follow(&self.stop)
            };
            self.set_due(end, posted);
            let mut task = self.task();
            while !task.stop && !self.is_due(store.head().position) {
                task = self.changed.wait(task).unwrap_or_else(PoisonError::into_inner);
            }
            if task.stop {
                return;
            }
        }
    }

    /// Reckons when there is something to do again; what could not be done now is tried again when as much has come.
    fn set_due(&self, end: u64, posted: Position) {
        let after = |done: u64, lag: u64| if done + lag < end { end + lag } else { done + lag };
        let applied = self.index().as_ref().map(|index| after(index.applied().position.get(), LAG_MAX));
        let posted = after(posted.get().saturating_sub(1), postings::LAG_MAX);
        self.due.store(applied.unwrap_or(u64::MAX).min(posted), Ordering::Relaxed);
        // With the fence in `follow`: either the thread's next look at the log sees a commit, or that commit sees this.
        fence(Ordering::SeqCst);
    }

    fn is_due(&self, end: Position) -> bool {
        end.get() > self.due.load(Ordering::Relaxed)
    }

    fn is_behind(&self, through: Position) -> bool {
        let applied = self.index().as_ref().map(|index| index.applied().position.get());
        applied.is_some_and(|applied| through.get().saturating_sub(applied) > LAG_MAX)
    }

    /// Brings the index up to date; gives it up where that fails.
    fn keep_up(&self, store: &Store, boot_id: Option<BootId>) {
        let _turn = self.turn();
        let followed = match self.index().as_ref() {
            Some(index) => catch_up(&**index, store, boot_id, &mut || !self.stop.load(Ordering::Relaxed)),
            None => return,
        };
        if let Err(error) = followed {
            tracing::warn!(%error, "go on without an index");
            let failed = self.index.write().unwrap_or_else(PoisonError::into_inner).take();
            drop(failed);
        }
    }

    fn install(&self, index: Box<dyn Index>) {
        *self.index.write().unwrap_or_else(PoisonError::into_inner) = Some(index);
    }

    fn index(&self) -> RwLockReadGuard<'_, Option<Box<dyn Index>>> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn task(&self) -> MutexGuard<'_, Task> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the index in `dir` as far as it can be trusted; `None` where there can be none now.
fn open(dir: &Path, store: &Store, boot_id: Option<BootId>) -> Option<Box<dyn Index>> {
    let view =
        LogView { end: store.head().position, closed: last_close(store), commit: &|at| commit_at(store, at) };
    match open_trusted(dir, boot_id, &view) {
        Ok(opened) => {
            tracing::debug!(trust = ?opened.trust, "opened the index");
            Some(Box::new(opened.index))
        }
        Err(error) => {
            tracing::warn!(%error, "go on without an index");
            None
        }
    }
}

/// Has the index and the postings brought up to date if they lag far behind `commit`; does not wait for that.
pub(crate) fn follow(vault: &Vault, commit: Position) {
    let shared = &vault.index.shared;
    match vault.options.index {
        IndexKind::Memory => {
            if shared.is_behind(commit) {
                shared.keep_up(&vault.store, vault.options.env.clock.boot_id());
            }
        }
        IndexKind::Sled => {
            // The commit is in the log by now: see `set_due`.
            fence(Ordering::SeqCst);
            if shared.is_due(commit) {
                // Locked, so that the thread is either before its look at the log or waits.
                let _task = shared.task();
                shared.changed.notify_all();
            }
        }
    }
}

/// Brings the index up to date, closes it and notes that in the log.
pub(crate) fn close(index: Box<dyn Index>, vault: &Vault) -> Result<()> {
    let boot_id = vault.options.env.clock.boot_id();
    if let Err(error) = catch_up(&*index, &vault.store, boot_id, &mut || true) {
        tracing::warn!(%error, "the next opening makes the index anew");
        return Ok(());
    }
    let is_noted = is_all_applied(&*index, &vault.store);
    let applied = match index.close() {
        Ok(applied) => applied,
        Err(error) => {
            tracing::warn!(%error, "the next opening makes the index anew");
            return Ok(());
        }
    };
    if is_noted {
        return Ok(());
    }
    let mut writer = vault.store.lock()?;
    let mut batch = writer.begin();
    batch.push(Event::IndexClosed(IndexClosed { applied: applied.position, counts: applied.counts }), None);
    writer.commit(batch)?;
    Ok(())
}

/// Throws the index and the postings away and makes them again from the log, both at once. `progress` counts positions, those
/// of each.
pub(crate) fn rebuild(vault: &Vault, progress: &mut dyn FnMut(Progress)) -> Result<u64> {
    let shared = &vault.index.shared;
    let mut task = shared.task();
    while task.opening {
        task = shared.changed.wait(task).unwrap_or_else(PoisonError::into_inner);
    }
    drop(task);
    let _turn = shared.turn();
    let index = shared.index();
    let Some(index) = index.as_ref() else {
        return Err(Error::new(ErrorKind::Unavailable, "rebuild the index: the vault has none open")
            .with_hint("open the vault for writing"));
    };
    index.clear().map_err(failed)?;
    let end = vault.revision().get();
    let boot_id = vault.options.env.clock.boot_id();
    let poster = (vault.options.index == IndexKind::Sled).then(|| Poster::of(vault));
    let total = if poster.is_some() { 2 * end } else { end };
    let (posted, news) = mpsc::channel();
    let (frames, postings) = thread::scope(|scope| {
        // Whoever waits for it hears more than it needs: nothing is lost with what cannot be sent.
        let rebuild = |poster: Poster| {
            move || poster.rebuild(&mut |next| posted.send(next.get().min(end)).unwrap_or_default())
        };
        let posting = poster.map(|poster| scope.spawn(rebuild(poster)));
        let mut through = 0;
        let frames = catch_up(&**index, &vault.store, boot_id, &mut || {
            through = news.try_iter().last().unwrap_or(through);
            progress(Progress { done: index.applied().position.get() + through, total });
            true
        });
        if posting.is_some() {
            for through in &news {
                progress(Progress { done: end + through, total });
            }
        }
        (frames, posting.map(thread::ScopedJoinHandle::join))
    });
    progress(Progress { done: total, total });
    let frames = frames.map_err(failed)?;
    match postings {
        Some(Ok(posted)) => posted?,
        Some(Err(panicked)) => std::panic::resume_unwind(panicked),
        None => {}
    }
    Ok(frames)
}

fn failed(error: IndexError) -> Error {
    Error::internal("rebuild the index").with_source(error)
}

/// Whether all that the log holds beyond what the index has applied is the note that the index was closed.
fn is_all_applied(index: &dyn Index, store: &Store) -> bool {
    last_close(store).is_some_and(|closed| closed.applied == index.applied().position)
}

/// Applies every commit that the index has not seen; what is damaged is left out, so that it is looked for in the
/// log. Asks `goes_on` after each piece. Gives the number of frames.
fn catch_up(
    index: &dyn Index,
    store: &Store,
    boot_id: Option<BootId>,
    goes_on: &mut dyn FnMut() -> bool,
) -> std::result::Result<u64, IndexError> {
    if is_all_applied(index, store) {
        return Ok(0);
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut frames = 0;
    let mut seen = index.applied();
    for frame in store.frames(seen.position.next()).flatten() {
        frames += 1;
        if let Event::Commit(commit) = &frame.event {
            let Commit { counts, chain, .. } = *commit;
            seen = Applied { position: frame.at, counts, chain, boot_id };
            if entries.len() >= ENTRIES_AT_ONCE {
                index.apply(&std::mem::take(&mut entries), seen)?;
                if !goes_on() {
                    return Ok(frames);
                }
            }
            continue;
        }
        let body = frame.hash.filter(|_hash| frame.body != BodyState::None);
        for found in key::keys_of(&frame.event, frame.at, body.as_ref()) {
            entries.extend(key::indexed(&found).map(|indexed| (indexed.to_vec(), frame.at)));
        }
    }
    if seen != index.applied() {
        index.apply(&entries, seen)?;
    }
    Ok(frames)
}

/// The clean close that ends the log, if one does.
fn last_close(store: &Store) -> Option<IndexClosed> {
    let before_commit = store.head().position.get().checked_sub(1)?;
    let event = store.frame(Position::new(before_commit)).ok()?.event;
    if let Event::IndexClosed(closed) = event { Some(closed) } else { None }
}

/// The commit at a position, if one stands there.
pub(crate) fn commit_at(store: &Store, at: Position) -> Option<Commit> {
    let event = store.frame(at).ok()?.event;
    if let Event::Commit(commit) = event { Some(commit) } else { None }
}

#[cfg(test)]
mod tests;
