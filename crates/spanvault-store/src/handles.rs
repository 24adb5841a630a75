//! Open files, a bounded number of them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

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

/// Hands out open files; the one unused for longest is let go. Whoever still reads keeps it open.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    files: BTreeMap<FileId, (u64, Arc<dyn DiskFile>)>,
    tick: u64,
}

impl Handles {
    /// The file, opened by `open` if it is not at hand. The lock is not held meanwhile.
    pub(crate) fn get<E>(
        &self,
        id: FileId,
        open: impl FnOnce() -> Result<Arc<dyn DiskFile>, E>,
    ) -> Result<Arc<dyn DiskFile>, E> {
        if let Some(file) = self.at_hand(id) {
            return Ok(file);
        }
        let file = open()?;
        self.keep(id, Arc::clone(&file));
        Ok(file)
    }

    fn at_hand(&self, id: FileId) -> Option<Arc<dyn DiskFile>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.tick += 1;
        let tick = open.tick;
        let (used, file) = open.files.get_mut(&id)?;
        *used = tick;
        Some(Arc::clone(file))
    }

    /// Takes a file that is open already.
    pub(crate) fn keep(&self, id: FileId, file: Arc<dyn DiskFile>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.tick += 1;
        let tick = open.tick;
        open.files.insert(id, (tick, file));
        if open.files.len() > OPEN_FILES_MAX
            && let Some(oldest) =
                open.files.iter().min_by_key(|(_id, (used, _file))| *used).map(|(id, _)| *id)
        {
            open.files.remove(&oldest);
        }
    }

    /// Lets a file go.
    pub(crate) fn forget(&self, id: FileId) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).files.remove(&id);
    }
}
