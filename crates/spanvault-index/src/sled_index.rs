//! The index on disk, in sled.
//!
//! sled 0.34 reports damage by an error or by a panic, at opening or at any later call, and its destructor can do
//! either too. So every call into it is contained here, and after the first that fails it is not called again, not
//! even to drop it. It has no thread that flushes: what it writes matters only to the next process of the same boot,
//! and after a clean close.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use spanvault_env::sync::{Mutex, MutexGuard, RwLock};

use crate::stamp::{self, Stamp};
use crate::{Applied, Entry, Index, IndexError, entry, files, quiet};

/// What sled may hold in memory, in bytes. It takes this for a hint, and holds several times as much.
const CACHE_BYTES: u64 = 4 << 20;

/// The most entries in one batch: a larger one makes sled slower, not faster.
const BATCH_ENTRIES_MAX: usize = 1_000;

/// How often garbage is collected after a batch.
const COLLECT_ROUNDS: usize = 4;

/// Where the stamp stands: in table 0, which has no entries. Nothing else is in that table.
const STAMP_KEY: [u8; 1] = [0];

/// An index in the files of one directory, and only one handle to it in the world.
///
/// Made by [`crate::open_trusted`], which decides whether what is there may be used, or empty by
/// [`SledIndex::create`].
pub struct SledIndex {
    dir: PathBuf,
    /// `None` after a failure.
    db: RwLock<Option<sled::Db>>,
    /// Held while entries are applied, so that there is one writer.
    stamp: Mutex<Stamp>,
}

impl SledIndex {
    /// Makes an empty index in `dir`. What is there is set aside.
    ///
    /// # Errors
    /// What the file system or the engine says.
    pub fn create(dir: &Path) -> Result<Self, IndexError> {
        if files::exists(dir) {
            files::set_aside(dir)?;
        }
        files::make(dir)?;
        Self::open(dir).map(|(index, _stamp)| index)
    }

    /// Opens what is in `dir`, and reads its stamp. That it opens says nothing about what it holds.
    pub(crate) fn open(dir: &Path) -> Result<(Self, Option<Stamp>), IndexError> {
        files::wait_until_released(dir)?;
        let (db, stamp) = contained("open", || {
            let db = open_engine(dir)?;
            let stamp = db.get(STAMP_KEY).map_err(engine("open"))?;
            Ok((db, stamp))
        })?;
        let stamp = stamp.and_then(|bytes| stamp::decode(&bytes));
        let current = Mutex::new(stamp.unwrap_or_default());
        let index = Self { dir: dir.to_owned(), db: RwLock::new(Some(db)), stamp: current };
        files::make_private(dir)?;
        Ok((index, stamp))
    }

    /// Hands everything applied so far to the operating system, so that it outlives this process, though not the
    /// machine.
    pub(crate) fn hand_over(&self) -> Result<(), IndexError> {
        self.with_db("flush", |db| db.flush().map(|_bytes| ()).map_err(engine("flush")))
    }

    /// Counts the entries that lead to a position up to the applied one. Others are there where a process was
    /// killed between two batches.
    pub(crate) fn count_entries(&self) -> Result<u64, IndexError> {
        let applied = self.applied().position;
        self.with_db("read", |db| {
            let mut count = 0;
            for item in db.range(entry::start(b"", None)..) {
                let (key, value) = item.map_err(engine("read"))?;
                let (_key, position) = decode(&key, &value)?;
                count += u64::from(position <= applied);
            }
            Ok(count)
        })
    }

    fn with_db<T>(
        &self,
        doing: &'static str,
        call: impl FnOnce(&sled::Db) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let result = {
            let db = self.db.read().unwrap_or_else(PoisonError::into_inner);
            let db = db.as_ref().ok_or(IndexError::Broken)?;
            contained(doing, || call(db))
        };
        if result.is_err() {
            self.give_up();
        }
        result
    }

    /// Forgets the engine. Its destructor takes part in whatever went wrong, so its memory and its file handles are
    /// given up instead.
    fn give_up(&self) {
        std::mem::forget(self.take());
    }

    fn take(&self) -> Option<sled::Db> {
        self.db.write().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn writing(&self) -> MutexGuard<'_, Stamp> {
        self.stamp.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index for SledIndex {
    fn applied(&self) -> Applied {
        self.writing().applied
    }

    fn apply(&self, entries: &[Entry], applied: Applied) -> Result<(), IndexError> {
        entry::check(entries)?;
        let mut sorted: Vec<_> = entries.iter().map(|entry| (entry::encode(entry), entry.1)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut current = self.writing();
        // Entries up to the position applied before are counted already.
        let new = sorted.iter().filter(|(_key, position)| *position > current.applied.position).count();
        let stamp = Stamp { applied, entries: current.entries.saturating_add(new as u64) };
        let stamp_bytes = stamp::encode(&stamp);
        self.with_db("write", |db| {
            let mut batches = sorted.chunks(BATCH_ENTRIES_MAX).peekable();
            loop {
                let mut batch = sled::Batch::default();
                for (key, position) in batches.next().unwrap_or_default() {
                    batch.insert(key.as_slice(), &position.get().to_be_bytes());
                }
                // The stamp stands in the batch of the last entries that it covers: sled keeps all of it or nothing.
                let is_last = batches.peek().is_none();
                if is_last {
                    batch.insert(&STAMP_KEY, stamp_bytes.as_slice());
                }
                db.apply_batch(batch).map_err(engine("write"))?;
                collect_garbage();
                if is_last {
                    return Ok(());
                }
            }
        })?;
        *current = stamp;
        Ok(())
    }

    fn page(&self, prefix: &[u8], after: Option<&Entry>, limit: usize) -> Result<Vec<Entry>, IndexError> {
        self.with_db("read", |db| {
            let mut entries = Vec::new();
            for item in db.range(entry::start(prefix, after)..) {
                let (key, value) = item.map_err(engine("read"))?;
                if entries.len() >= limit || !key.starts_with(prefix) {
                    break;
                }
                if entry::matches(&key, prefix) {
                    entries.push(decode(&key, &value)?);
                }
            }
            Ok(entries)
        })
    }

    fn clear(&self) -> Result<(), IndexError> {
        let mut stamp = self.writing();
        let mut slot = self.db.write().unwrap_or_else(PoisonError::into_inner);
        // Whether or not the old engine can still be closed, its files are no longer wanted.
        if let Some(old) = slot.take() {
            drop_contained(old);
        }
        let fresh = Self::create(&self.dir)?;
        *slot = fresh.take();
        *stamp = Stamp::default();
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<Applied, IndexError> {
        let stamp = *self.writing();
        let db = self.take().ok_or(IndexError::Broken)?;
        shut(db)?;
        files::wait_until_released(&self.dir)?;
        // sled skips over a damaged record that it meets for the first time, and reports one that it has met before.
        // So it meets them all once more while they are sound.
        shut(contained("close", || open_engine(&self.dir))?)?;
        files::wait_until_released(&self.dir)?;
        files::make_private(&self.dir)?;
        files::seal(&self.dir, &stamp)?;
        Ok(stamp.applied)
    }
}

impl Drop for SledIndex {
    fn drop(&mut self) {
        if let Some(db) = self.take() {
            drop_contained(db);
        }
    }
}

impl fmt::Debug for SledIndex {
    /// Says where it is; sled's own form would list every entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledIndex").field("dir", &self.dir).finish_non_exhaustive()
    }
}

fn open_engine(dir: &Path) -> Result<sled::Db, IndexError> {
    let config = sled::Config::new().path(dir).cache_capacity(CACHE_BYTES).flush_every_ms(None);
    config.open().map_err(engine("open"))
}

fn shut(db: sled::Db) -> Result<(), IndexError> {
    contained("close", || {
        let flushed = db.flush().map(|_bytes| ()).map_err(engine("close"));
        drop(db);
        flushed
    })
}

fn drop_contained(db: sled::Db) {
    // Nothing rests on what the destructor writes: an index that was not closed is judged by its stamp.
    let _dropped = contained("close", || {
        drop(db);
        Ok(())
    });
}

/// Frees what sled replaced in a batch. It leaves that to the garbage collector of `crossbeam-epoch`, which wakes
/// every 128 calls, and a batch is one call: without this, a million entries take a gigabyte.
fn collect_garbage() {
    for _round in 0..COLLECT_ROUNDS {
        crossbeam_epoch::pin().flush();
    }
}

/// Reads an entry, whose position stands in its key and in its value.
fn decode(key: &[u8], value: &[u8]) -> Result<Entry, IndexError> {
    entry::decode(key)
        .filter(|(_key, position)| position.get().to_be_bytes() == *value)
        .ok_or(IndexError::Entry)
}

/// Calls sled and turns a panic into an error.
///
/// What a panic leaves behind in sled is never used again, which is what makes asserting unwind safety sound.
fn contained<T>(doing: &'static str, call: impl FnOnce() -> Result<T, IndexError>) -> Result<T, IndexError> {
    quiet::caught(call).unwrap_or_else(|payload| {
        let message = match payload.downcast_ref::<String>() {
            Some(text) => text.clone(),
            None => payload.downcast_ref::<&str>().copied().unwrap_or("no message").to_owned(),
        };
        Err(IndexError::Panicked { doing, message })
    })
}

fn engine(doing: &'static str) -> impl Fn(sled::Error) -> IndexError {
    move |error| match error {
        sled::Error::Io(source) if source.kind() == std::io::ErrorKind::StorageFull => {
            IndexError::NoSpace { doing, source }
        }
        sled::Error::Io(_)
        | sled::Error::CollectionNotFound(_)
        | sled::Error::Unsupported(_)
        | sled::Error::ReportableBug(_)
        | sled::Error::Corruption { .. } => IndexError::Engine { doing, source: Box::new(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e2_a_panic_of_the_engine_is_an_error_and_the_engine_is_not_called_again() {
        let dir = tempfile::tempdir().unwrap();
        let index = SledIndex::create(&dir.path().join("index")).unwrap();
        let result: Result<(), _> = index.with_db("read", |_db| panic!("page {} is gone", 7));
        match result {
            Err(IndexError::Panicked { doing: "read", message }) => assert_eq!(message, "page 7 is gone"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(index.scan(b"", 1), Err(IndexError::Broken)));
        assert!(matches!(index.apply(&[], Applied::NOTHING), Err(IndexError::Broken)));
        index.clear().unwrap();
        assert_eq!(index.scan(b"", 1).unwrap(), []);
        assert!(matches!(contained::<()>("open", || panic!("no words")), Err(IndexError::Panicked { .. })));
    }

    #[test]
    fn a_broken_index_does_not_close_as_if_it_were_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        let index = SledIndex::create(&path).unwrap();
        index.give_up();
        assert!(matches!(Box::new(index).close(), Err(IndexError::Broken)));
        assert_eq!(files::take_note(&path).unwrap(), None);
    }
}
