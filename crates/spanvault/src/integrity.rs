//! Is what was written still there? And: make what is derived anew.

use spanvault_store::{Progress, VerifyDepth, VerifyReport};

use crate::error::Result;
use crate::vault::Vault;

/// What a rebuild made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildReport {
    /// Frames that the index was made from.
    pub frames: u64,
}

impl Vault {
    /// Checks the structure and the chain of the log and, to the depth that is asked for, every byte of every original.
    ///
    /// # Errors
    /// What the disk says; damage is in the report, not an error.
    pub fn verify(&self, depth: VerifyDepth, progress: &mut dyn FnMut(Progress)) -> Result<VerifyReport> {
        Ok(self.store.verify(depth, progress)?)
    }

    /// Makes the sidecars, the index and the postings anew from the log. Nothing that was recorded is touched.
    /// `progress` counts segments, and then positions.
    ///
    /// # Errors
    /// `Invalid` where the vault is open for reading only; what the disk says.
    pub fn rebuild(&self, progress: &mut dyn FnMut(Progress)) -> Result<RebuildReport> {
        self.store.rebuild_sidecars(progress)?;
        let frames = crate::index::rebuild(self, progress)?;
        Ok(RebuildReport { frames })
    }
}
