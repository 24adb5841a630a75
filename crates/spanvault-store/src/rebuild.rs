//! Writes sidecars again from their segments.

use std::sync::Arc;

use crate::error::{Result, StoreError, io_error};
use crate::sidecar;
use crate::store::Store;
use crate::view::Sealed;

/// How far a long run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Done so far.
    pub done: u64,
    /// Of this many.
    pub total: u64,
}

impl Store {
    /// Scans every sealed segment and writes its sidecar again, whether it was good or not. `progress` counts
    /// segments.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]; [`StoreError::NoSpace`]; what the file system says. A sidecar that could not be written
    /// leaves the segment as it was.
    pub fn rebuild_sidecars(&self, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        if self.lock.is_none() {
            return Err(StoreError::ReadOnly);
        }
        let numbers: Vec<u64> = self.view().sealed.iter().map(|segment| segment.number()).collect();
        let total = crate::bytes::len_u64(numbers.len());
        for (done, number) in (0..).zip(numbers) {
            progress(Progress { done, total });
            self.rebuild_sidecar(number)?;
        }
        progress(Progress { done: total, total });
        Ok(())
    }

    /// Scans one sealed segment and writes its sidecar.
    pub(crate) fn rebuild_sidecar(&self, number: u64) -> Result<()> {
        // The writer lock keeps the segment as it is meanwhile.
        let _writer = self.lock()?;
        let view = self.view();
        let Some((segment, until)) = view.sealed().find(|(segment, _)| segment.number() == number) else {
            return Ok(());
        };
        let file = self.log_file(segment)?;
        let map = Arc::new(self.scan_segment(&*file, &segment.head, until)?);
        let bytes = sidecar::encode(&map, &segment.head, &self.key);
        self.handles.forget(segment.sidecar_id());
        let path = self.layout.sidecar(number);
        let Some(written) = self.write_sidecar(&segment.head, &bytes)? else {
            return Err(StoreError::NoSpace { action: "write", path });
        };
        self.env.disk.sync_dir(&self.layout.log).map_err(io_error("sync", &self.layout.log))?;
        let renewed = Sealed::new(segment.head, segment.head_intact, Some(written));
        self.set_view(view.with_sealed(renewed));
        Ok(())
    }
}
