//! The reserve: room that is kept for what must go on when the disk is full (I9).
//!
//! A file of bytes that nothing compresses away. When a record of the ledger (a hold, a tombstone, a refusal) finds no
//! space, the file is cut by as much, and it grows back once there is room again.

use std::io;
use std::sync::PoisonError;

use spanvault_env::sync::{Mutex, MutexGuard};
use spanvault_env::{Disk, DiskFile, OpenMode};

use crate::bytes::len_u64;
use crate::layout::Layout;

/// The reserve is cut by a multiple of this.
const STEP_BYTES: u64 = 64 << 10;

/// The reserve file of an opened vault.
#[derive(Debug, Default)]
pub(crate) struct Reserve {
    file: Mutex<Option<Box<dyn DiskFile>>>,
    /// How long it should be.
    bytes: u64,
}

impl Reserve {
    /// Opens the reserve, or makes it, and lets it grow to `bytes` if there is room.
    pub(crate) fn open(disk: &dyn Disk, layout: &Layout, bytes: u64) -> io::Result<Self> {
        if bytes == 0 {
            return Ok(Self::default());
        }
        let file = match disk.open(&layout.reserve, OpenMode::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match disk.open(&layout.reserve, OpenMode::CreateNew) {
                    // No room for even its name: then there is no reserve.
                    Err(error) if crate::error::is_no_space(&error) => return Ok(Self::default()),
                    created => created?,
                }
            }
            opened => opened?,
        };
        let reserve = Self { file: Mutex::new(Some(file)), bytes };
        reserve.refill();
        Ok(reserve)
    }

    fn file(&self) -> MutexGuard<'_, Option<Box<dyn DiskFile>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are kept free at the moment.
    pub(crate) fn held(&self) -> u64 {
        self.file().as_ref().and_then(|file| file.len().ok()).unwrap_or(0)
    }

    /// Gives at least `bytes` back to the file system; `false` where there is nothing to give.
    pub(crate) fn release(&self, bytes: u64) -> bool {
        let file = self.file();
        let Some(file) = file.as_ref() else { return false };
        let len = file.len().unwrap_or(0);
        let give = bytes.saturating_add(STEP_BYTES) / STEP_BYTES * STEP_BYTES;
        len > 0 && file.set_len(len.saturating_sub(give)).and_then(|()| file.sync()).is_ok()
    }

    /// Gives all of it back.
    pub(crate) fn release_all(&self) -> bool {
        self.release(u64::MAX - STEP_BYTES)
    }

    /// Lets it grow back as far as there is room. What cannot be had now is tried again another time.
    pub(crate) fn refill(&self) {
        let file = self.file();
        let Some(file) = file.as_ref() else { return };
        let Ok(mut len) = file.len() else { return };
        let mut pattern = vec![0; usize::try_from(STEP_BYTES).unwrap_or(0)];
        let mut stream = blake3::Hasher::new().finalize_xof();
        let mut grown = false;
        while len < self.bytes {
            stream.fill(&mut pattern);
            let step = usize::try_from(self.bytes - len).unwrap_or(usize::MAX).min(pattern.len());
            let wrote = file.write_at(pattern.get(..step).unwrap_or_default(), len);
            if wrote.is_err() {
                // Half a step would be room that is taken and not counted on.
                drop(file.set_len(len));
                break;
            }
            len += len_u64(step);
            grown = true;
        }
        if grown {
            drop(file.sync());
        }
    }
}

/// Whether events of this kind may use the reserve: verdicts, rules, demands, holds, tombstones, demotions and clock
/// records, but nothing that carries content.
pub(crate) const fn is_ledger(kind: u16) -> bool {
    matches!(kind, 8..=21)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanvault_types::{Event, HoldPlaced, Position, Scope, SessionOpened, SpanSuperseded};

    #[test]
    fn a_hold_may_use_the_reserve_and_content_may_not() {
        let hold =
            HoldPlaced { scope: Scope::All, originals: Vec::new(), by: spanvault_types::Actor::default() };
        assert!(is_ledger(Event::HoldPlaced(hold).schema()));
        let opened = SessionOpened { name: String::new(), format: String::new() };
        let superseded = SpanSuperseded { span: Position::ZERO, by: Position::ZERO };
        for other in [Event::GapStored, Event::SessionOpened(opened), Event::SpanSuperseded(superseded)] {
            assert!(!is_ledger(other.schema()), "{other:?}");
        }
    }
}
