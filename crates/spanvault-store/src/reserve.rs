//! The reserve: room that is kept for what must go on when the disk is full (I9).
//!
//! A file of bytes that nothing compresses away. When a record of the ledger (a hold, a tombstone, a refusal) finds no
//! space, the file is cut by as much, and it grows back once there is room again. It never takes all of that room: what a
//! run freed must be of use to those who waited for it.

use std::io;
use std::sync::PoisonError;

use spanvault_env::sync::{Mutex, MutexGuard};
use spanvault_env::{Disk, DiskFile, OpenMode};

use crate::layout::Layout;

/// The reserve is cut by a multiple of this.
const STEP_BYTES: u64 = 64 << 10;

/// It grows by this where there is no room for a whole step.
const BLOCK_BYTES: u64 = 4 << 10;

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
        reserve.refill(reserve.held());
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

    /// Lets it grow back to the `held` bytes that it had before some were given back, as far as nobody has used them.
    pub(crate) fn take_back(&self, held: u64) {
        if self.held() < held {
            self.refill(held);
        }
    }

    /// Lets it grow back to `kept` bytes, and of the room beyond that takes half, until it is as long as it should be.
    /// What cannot be had now is tried again another time.
    pub(crate) fn refill(&self, kept: u64) {
        let file = self.file();
        let Some(file) = file.as_ref() else { return };
        let Ok(before) = file.len() else { return };
        if before >= self.bytes {
            return;
        }
        let reached = self.try_out(&**file, before, self.bytes + self.bytes.saturating_sub(kept));
        let beyond = reached.saturating_sub(kept);
        let keeps = (reached - beyond.div_ceil(2)).clamp(before, self.bytes);
        // Also cuts off half a step, which would be room that is taken and not counted on.
        if file.set_len(keeps).is_ok() && keeps > before {
            drop(file.sync());
        }
    }

    /// Grows the file up to `most` bytes, as far as there is room: there is no other way to ask for it.
    fn try_out(&self, file: &dyn DiskFile, mut len: u64, most: u64) -> u64 {
        let mut pattern = vec![0; usize::try_from(STEP_BYTES).unwrap_or(0)];
        let mut stream = blake3::Hasher::new().finalize_xof();
        let mut step = STEP_BYTES;
        while len < most {
            if len < self.bytes {
                stream.fill(&mut pattern);
            }
            let want = step.min(most - len);
            let piece = usize::try_from(want).ok().and_then(|want| pattern.get(..want)).unwrap_or_default();
            if file.write_at(piece, len).is_ok() {
                len += want;
            } else if step > BLOCK_BYTES {
                step = BLOCK_BYTES;
            } else {
                break;
            }
        }
        len
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
    use spanvault_env::SimDisk;
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

    /// What is free on a disk with this much room beside the reserve, once it has grown back.
    fn left_of(room: u64, cut: u64) -> (u64, u64) {
        const FULL: u64 = 128 << 10;
        let disk = SimDisk::new();
        disk.create_dir("/vault".as_ref()).unwrap();
        let layout = Layout::new("/vault".as_ref());
        let reserve = Reserve::open(&disk, &layout, FULL).unwrap();
        assert_eq!(reserve.held(), FULL, "where there is room it is whole at once");
        assert!(cut == 0 || reserve.release(cut));
        let kept = reserve.held();
        let capacity = disk.used_bytes() + room;
        disk.set_capacity(Some(capacity));
        reserve.refill(kept);
        assert!((kept..=FULL).contains(&reserve.held()), "it never gets shorter");
        (capacity - disk.used_bytes(), FULL - reserve.held())
    }

    #[test]
    fn i9_what_was_freed_is_never_all_taken_by_the_reserve() {
        for room in (0..=160_u64 << 10).step_by(7_700) {
            for cut in [0, 1, 128 << 10] {
                let (left, lacks) = left_of(room, cut);
                assert!(left >= room / 2, "{room} cut {cut}: {left}");
                let taken = room - left;
                assert!(lacks == 0 || taken + BLOCK_BYTES >= room / 2, "{room} cut {cut}: it took {taken}");
            }
        }
    }

    #[test]
    fn i9_what_the_reserve_lent_to_a_run_it_has_back_before_anybody_else() {
        let disk = SimDisk::new();
        disk.create_dir("/vault".as_ref()).unwrap();
        let reserve = Reserve::open(&disk, &Layout::new("/vault".as_ref()), 512 << 10).unwrap();
        disk.set_capacity(Some(disk.used_bytes() + (16 << 10)));
        assert!(reserve.release_all());
        reserve.refill(512 << 10);
        assert_eq!(reserve.held(), 512 << 10);
    }
}
