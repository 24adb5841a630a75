//! Group commit: one sync serves everybody who waits.
//!
//! Whoever comes first leads: it syncs all that was appended by then, without holding a lock, while others queue up
//! behind it; the next leader serves them all. After a failed sync nothing is ever acknowledged again (I8).

use std::sync::{Arc, PoisonError};

use spanvault_env::DiskFile;
use spanvault_env::sync::{Condvar, Mutex, MutexGuard};

use crate::hint::Hint;
use crate::stamp::CheckKey;

/// A sync that failed, now or before.
#[derive(Debug)]
pub(crate) enum FlushError {
    /// This one did.
    Sync(std::io::Error),
    /// An earlier write or sync did.
    Poisoned,
}

/// What was appended, and what of it is durable.
#[derive(Debug)]
pub(crate) struct Flush {
    state: Mutex<State>,
    turn: Condvar,
    acked: Mutex<Option<AckedFile>>,
    key: CheckKey,
}

#[derive(Debug)]
struct State {
    /// The open segment.
    file: Arc<dyn DiskFile>,
    appended: u64,
    durable: u64,
    leading: bool,
    poisoned: bool,
}

#[derive(Debug)]
struct AckedFile {
    file: Box<dyn DiskFile>,
    hint: Hint,
    failures: u64,
}

impl Flush {
    /// Everything up to `durable` is on the disk, and nothing else was appended yet.
    pub(crate) fn new(file: Arc<dyn DiskFile>, durable: u64, key: CheckKey) -> Self {
        let state = State { file, appended: durable, durable, leading: false, poisoned: false };
        Self { state: Mutex::new(state), turn: Condvar::new(), acked: Mutex::new(None), key }
    }

    /// Notes acknowledged positions in `file` from now on.
    pub(crate) fn note_in(&self, file: Box<dyn DiskFile>, hint: Hint) {
        let mut acked = self.acked.lock().unwrap_or_else(PoisonError::into_inner);
        *acked = Some(AckedFile { file, hint, failures: 0 });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A batch that ends at `position` was written to the open segment.
    pub(crate) fn appended(&self, position: u64) {
        self.state().appended = position;
    }

    /// Batches go to another segment from now on. All earlier ones are durable.
    pub(crate) fn moved_to(&self, file: Arc<dyn DiskFile>) {
        self.state().file = file;
    }

    pub(crate) fn durable(&self) -> u64 {
        self.state().durable
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.state().poisoned
    }

    /// From now on every write and sync is refused.
    pub(crate) fn poison(&self) {
        self.state().poisoned = true;
        self.turn.notify_all();
    }

    /// How often the hint of what was acknowledged could not be written.
    pub(crate) fn hint_failures(&self) -> u64 {
        let acked = self.acked.lock().unwrap_or_else(PoisonError::into_inner);
        acked.as_ref().map_or(0, |acked| acked.failures)
    }

    /// Returns when everything up to `through`, as far as it was appended, is durable.
    pub(crate) fn sync(&self, through: u64) -> Result<(), FlushError> {
        let mut state = self.state();
        let through = through.min(state.appended);
        loop {
            if state.poisoned {
                return Err(FlushError::Poisoned);
            }
            if state.durable >= through {
                return Ok(());
            }
            if !state.leading {
                break;
            }
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.leading = true;
        let (file, target) = (Arc::clone(&state.file), state.appended);
        drop(state);

        let synced = file.sync();
        if synced.is_ok() {
            self.note(target);
        }
        let mut state = self.state();
        state.leading = false;
        let result = match synced {
            Ok(()) if state.poisoned => Err(FlushError::Poisoned),
            Ok(()) => {
                state.durable = state.durable.max(target);
                Ok(())
            }
            Err(error) => {
                state.poisoned = true;
                Err(FlushError::Sync(error))
            }
        };
        drop(state);
        self.turn.notify_all();
        result
    }

    /// Best effort: without the hint a damaged last batch may pass for one that nobody was told about, and with an
    /// older one it still cannot be cut where a later commit knows better. So a failure is counted, not fatal.
    fn note(&self, position: u64) {
        let mut acked = self.acked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(acked) = acked.as_mut()
            && acked.hint.acked < position
            && acked.hint.write(&*acked.file, &self.key, position).is_err()
        {
            acked.failures += 1;
        }
    }
}

#[cfg(test)]
mod tests;
