//! The `ACKED` file: how far the log was acknowledged.
//!
//! Written after each sync and never synced itself, it can only lag. It tells a lost or damaged end of the log from a
//! torn tail that nobody was told about. Two slots in different sectors are written in turn, so a damaged one leaves
//! the other.

use std::io;

use spanvault_env::DiskFile;

use crate::bytes::Fields;
use crate::stamp::{CHECK_BYTES, CheckKey, Place};

/// Distance of the two slots: no sector holds both.
const SLOT_STRIDE: u64 = 4096;
const SLOT_BYTES: usize = 8 + CHECK_BYTES;
/// Length of the whole file.
pub(crate) const HINT_BYTES: u64 = SLOT_STRIDE + SLOT_BYTES as u64;
/// The check of a slot is made for this file number; segments begin at 1.
const HINT_FILE: u64 = 0;

/// What the hint file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hint {
    /// The last position known to be acknowledged; 0 where no slot can be read.
    pub(crate) acked: u64,
    /// Which slot to write next.
    slot: u64,
}

impl Hint {
    /// Reads both slots and believes the later one that is intact.
    pub(crate) fn read(file: &dyn DiskFile, key: &CheckKey) -> io::Result<Self> {
        let mut newest = Self::default();
        for slot in 0..2 {
            let offset = slot * SLOT_STRIDE;
            let mut bytes = [0; SLOT_BYTES];
            if file.read_at(&mut bytes, offset)? < SLOT_BYTES {
                continue;
            }
            let mut fields = Fields::new(&bytes);
            let (Some(acked), Some(check)) = (fields.array::<8>(), fields.array::<CHECK_BYTES>()) else {
                continue;
            };
            let place = Place { file: HINT_FILE, offset };
            let intact = key.check(&acked, place) == check;
            let acked = u64::from_le_bytes(acked);
            if intact && acked >= newest.acked {
                newest = Self { acked, slot: 1 - slot };
            }
        }
        Ok(newest)
    }

    /// Notes that everything up to `acked` was acknowledged.
    pub(crate) fn write(&mut self, file: &dyn DiskFile, key: &CheckKey, acked: u64) -> io::Result<()> {
        let offset = self.slot * SLOT_STRIDE;
        let number = acked.to_le_bytes();
        let check = key.check(&number, Place { file: HINT_FILE, offset });
        let mut bytes = [0; SLOT_BYTES];
        for (to, from) in bytes.iter_mut().zip(number.iter().chain(&check)) {
            *to = *from;
        }
        file.write_at(&bytes, offset)?;
        *self = Self { acked, slot: 1 - self.slot };
        Ok(())
    }
}
