//! Group commit: one sync serves everybody who waits.
//!
//! Whoever comes first leads: it syncs all that was appended by then, without holding a lock, while others queue up
//! behind it; the next leader serves them all. Before it goes to the disk a leader waits a little for those that the sync
//! before served ([`Gather`]). After a failed sync nothing is ever acknowledged again (I8).

use std::sync::{Arc, PoisonError};

use spanvault_env::sync::{Condvar, Mutex, MutexGuard};
use spanvault_env::{Clock, DiskFile, Gather};
use spanvault_types::planted::{Bug, is_planted};

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
    /// Tells a leader that somebody came to be served.
    arrival: Condvar,
    clock: Arc<dyn Clock>,
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
    /// How many wait for a sync, the leader among them.
    waiting: usize,
    gather: Gather,
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
    pub(crate) fn new(file: Arc<dyn DiskFile>, durable: u64, key: CheckKey, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            file,
            appended: durable,
            durable,
            leading: false,
            waiting: 0,
            gather: Gather::default(),
            poisoned: false,
        };
        Self {
            state: Mutex::new(state),
            turn: Condvar::new(),
            arrival: Condvar::new(),
            clock,
            acked: Mutex::new(None),
            key,
        }
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
        self.arrival.notify_all();
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
        if !state.poisoned && state.durable >= through {
            return Ok(());
        }
        state.waiting += 1;
        self.arrival.notify_one();
        loop {
            if state.poisoned {
                state.waiting -= 1;
                return Err(FlushError::Poisoned);
            }
            if state.durable >= through {
                state.waiting -= 1;
                return Ok(());
            }
            if !state.leading {
                break;
            }
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.leading = true;
        let mut state = self.gathered(state);
        let (file, target, group) = (Arc::clone(&state.file), state.appended, state.waiting);
        drop(state);

        let began_us = self.clock.elapsed_us();
        let synced = if is_planted(Bug::NoSync) { Ok(()) } else { file.sync() };
        let synced =
            synced.or_else(|error| if is_planted(Bug::SyncRetried) { file.sync() } else { Err(error) });
        let took_us = self.clock.elapsed_us().saturating_sub(began_us);
        state = self.state();
        state.leading = false;
        state.waiting -= 1;
        state.gather.served(group, took_us);
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
        // Those who waited need not wait for this too: the hint may lag, and does so by one sync at most.
        if result.is_ok() {
            self.note(target);
        }
        result
    }

    /// Waits for those that the last sync served, as long as that is worth it.
    fn gathered<'s>(&'s self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let patience = state.gather.patience();
        if patience.is_zero() {
            return state;
        }
        let others_come = |state: &mut State| !state.poisoned && !state.gather.is_whole(state.waiting);
        let waited = self.arrival.wait_timeout_while(state, patience, others_come);
        waited.unwrap_or_else(PoisonError::into_inner).0
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
