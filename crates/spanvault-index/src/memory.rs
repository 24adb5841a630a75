//! An index in memory.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use spanvault_env::sync::RwLock;

use crate::{Applied, Entry, Index, IndexError, entry};

/// An index that is gone with its process: for simulations, and for a vault whose directory cannot have one.
#[derive(Debug, Default)]
pub struct MemoryIndex {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeSet<Vec<u8>>,
    applied: Applied,
}

impl MemoryIndex {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Index for MemoryIndex {
    fn applied(&self) -> Applied {
        self.state.read().unwrap_or_else(PoisonError::into_inner).applied
    }

    fn apply(&self, entries: &[Entry], applied: Applied) -> Result<(), IndexError> {
        entry::check(entries)?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.entries.extend(entries.iter().map(entry::encode));
        state.applied = applied;
        Ok(())
    }

    fn page(&self, prefix: &[u8], after: Option<&Entry>, limit: usize) -> Result<Vec<Entry>, IndexError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state
            .entries
            .range(entry::start(prefix, after)..)
            .take_while(|bytes| bytes.starts_with(prefix))
            .filter(|bytes| entry::matches(bytes, prefix))
            .take(limit)
            .map(|bytes| entry::decode(bytes).ok_or(IndexError::Entry))
            .collect()
    }

    fn clear(&self) -> Result<(), IndexError> {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::default();
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<Applied, IndexError> {
        Ok(self.applied())
    }
}
