//! The bare limit of a group commit: a plain file that threads append to, one of which syncs for all who wait.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::Outcome;

/// How much of the room is written at once.
const PIECE_BYTES: usize = 1 << 20;

/// A file with room in it that was written before, so that a sync writes bytes alone.
#[derive(Debug)]
pub struct SharedFile {
    file: File,
    state: Mutex<State>,
    turn: Condvar,
}

#[derive(Debug, Default)]
struct State {
    appended: u64,
    durable: u64,
    is_led: bool,
}

impl SharedFile {
    /// Makes a file of zeros, `room` bytes long, that are overwritten from its beginning.
    ///
    /// # Errors
    /// What the file system says.
    #[expect(
        clippy::disallowed_methods,
        reason = "the bare limit is the operating system without anything between"
    )]
    pub fn create(path: &Path, room: usize) -> Outcome<Self> {
        let file = OpenOptions::new().create_new(true).read(true).write(true).open(path)?;
        let zeros = vec![0; PIECE_BYTES];
        for at in (0..room).step_by(PIECE_BYTES) {
            file.write_all_at(&zeros, at as u64)?;
        }
        file.sync_all()?;
        Ok(Self { file, state: Mutex::default(), turn: Condvar::new() })
    }

    /// Appends, and returns when it is durable.
    ///
    /// # Errors
    /// What the disk says.
    pub fn append(&self, bytes: &[u8]) -> Outcome {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.file.write_all_at(bytes, state.appended)?;
        state.appended += bytes.len() as u64;
        let through = state.appended;
        while state.durable < through {
            if state.is_led {
                state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_led = true;
            let target = state.appended;
            drop(state);
            let synced = self.file.sync_data();
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.is_led = false;
            self.turn.notify_all();
            synced?;
            state.durable = target;
        }
        Ok(())
    }
}
