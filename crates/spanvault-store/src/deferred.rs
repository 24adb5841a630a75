//! A sync that is put off, so that one serves all that is written in a while.
//!
//! A thread waits for the instant when it is due. It is made when the first sync is put off, and ends with the store, which
//! makes up for a sync that is still due. What goes wrong poisons the store, so that the next write hears of it (I8).

use std::sync::{Arc, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use spanvault_env::Clock;
use spanvault_env::sync::{Condvar, Mutex, MutexGuard};

use crate::flush::{Flush, FlushError};

/// The syncs of a store that are put off.
#[derive(Debug)]
pub(crate) struct Deferred {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    flush: Arc<Flush>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// When the next sync is due, by the clock that only goes up.
    due_us: Option<u64>,
    closing: bool,
}

impl Deferred {
    pub(crate) fn new(flush: Arc<Flush>, clock: Arc<dyn Clock>) -> Self {
        let shared = Shared { flush, clock, state: Mutex::default(), changed: Condvar::new() };
        Self { shared: Arc::new(shared), thread: Mutex::new(None) }
    }

    /// Has all that was appended synced at most `within` from now. Does not wait for it, unless there can be no thread.
    pub(crate) fn sync(&self, within: Duration) -> Result<(), FlushError> {
        if self.shared.flush.is_poisoned() {
            return Err(FlushError::Poisoned);
        }
        if !self.has_thread() {
            return self.shared.flush.sync(u64::MAX);
        }
        let within_us = u64::try_from(within.as_micros()).unwrap_or(u64::MAX);
        let due_us = self.shared.clock.elapsed_us().saturating_add(within_us);
        let mut state = self.shared.state();
        if state.due_us.is_none_or(|before| due_us < before) {
            state.due_us = Some(due_us);
            self.shared.changed.notify_all();
        }
        Ok(())
    }

    fn has_thread(&self) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            *thread = Builder::new().name("spanvault-sync".to_owned()).spawn(move || shared.run()).ok();
        }
        thread.is_some()
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.shared.state().closing = true;
        self.shared.changed.notify_all();
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            drop(thread.join());
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut state = self.state();
        loop {
            let left_us = state.due_us.map(|due| due.saturating_sub(self.clock.elapsed_us()));
            state = match left_us {
                Some(left_us) if left_us == 0 || state.closing => {
                    state.due_us = None;
                    drop(state);
                    // Where that fails the store is poisoned, and says so to whoever writes next.
                    drop(self.flush.sync(u64::MAX));
                    self.state()
                }
                None if state.closing => return,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left_us) => {
                    let waited = self.changed.wait_timeout(state, Duration::from_micros(left_us));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
