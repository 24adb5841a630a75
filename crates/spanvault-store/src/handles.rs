//! Open files, a bounded number of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use arc_swap::ArcSwap;
use spanvault_env::DiskFile;
use spanvault_env::sync::Mutex;

/// Files that are kept open at most. A vault may have more segments than a process may have files.
const OPEN_FILES_MAX: usize = 256;

/// Which file of a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileId {
    /// A segment, by number and nonce: one that was rewritten is another file.
    Segment(u64, [u8; 16]),
    /// The sidecar of that segment.
    Sidecar(u64, [u8; 16]),
}

/// Hands out open files without a lock; those that were not used lately are let go. Whoever still reads keeps them
/// open.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    open: ArcSwap<BTreeMap<FileId, Arc<Handle>>>,
    /// Held by whoever changes what is open.
    changing: Mutex<()>,
}

#[derive(Debug)]
struct Handle {
    file: Arc<dyn DiskFile>,
    used: AtomicBool,
}

impl Handles {
    /// The file, opened by `open` if it is not at hand. Nothing is locked meanwhile.
    pub(crate) fn get<E>(
        &self,
        id: FileId,
        open: impl FnOnce() -> Result<Arc<dyn DiskFile>, E>,
    ) -> Result<Arc<dyn DiskFile>, E> {
        if let Some(handle) = self.open.load().get(&id) {
            handle.used.store(true, Ordering::Relaxed);
            return Ok(Arc::clone(&handle.file));
        }
        let file = open()?;
        self.keep(id, Arc::clone(&file));
        Ok(file)
    }

    /// Takes a file that is open already.
    pub(crate) fn keep(&self, id: FileId, file: Arc<dyn DiskFile>) {
        self.change(|open| {
            if open.len() >= OPEN_FILES_MAX {
                open.retain(|_id, handle| handle.used.swap(false, Ordering::Relaxed));
            }
            if open.len() >= OPEN_FILES_MAX {
                open.pop_first();
            }
            open.insert(id, Arc::new(Handle { file, used: AtomicBool::new(true) }));
        });
    }

    /// Lets a file go.
    pub(crate) fn forget(&self, id: FileId) {
        self.change(|open| {
            open.remove(&id);
        });
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<FileId, Arc<Handle>>)) {
        let _turn = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = BTreeMap::clone(&self.open.load());
        change(&mut open);
        self.open.store(Arc::new(open));
    }
}
