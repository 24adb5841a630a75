//! Writes sidecars again from their segments.

use std::path::Path;

use spanvault_env::OpenMode;
use spanvault_types::Position;

use crate::error::{Result, StoreError, io_error};
use crate::segment::{Replayed, SegmentHead};
use crate::sidecar::{self, Sidecar, Unusable};
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
        let mut replayed = self.scan_segment(&*file, &segment.head, until)?;
        let path = self.layout.sidecar(number);
        if !replayed.damage.is_empty() {
            self.adopt_keys(&path, &segment.head, &mut replayed);
        }
        let bytes = sidecar::encode(&replayed.map, &segment.head, &self.key);
        self.handles.forget(segment.sidecar_id());
        let Some(written) = self.write_sidecar(&segment.head, &bytes)? else {
            return Err(StoreError::NoSpace { action: "write", path });
        };
        self.env.disk.sync_dir(&self.layout.log).map_err(io_error("sync", &self.layout.log))?;
        let renewed = Sealed::new(segment.head, segment.head_intact, Some(written));
        self.set_view(view.with_sealed(renewed));
        Ok(())
    }

    /// Keeps the keys that an earlier sidecar has for frames that are damaged by now, so that they are still found, and
    /// found to be damaged. Keys lead to positions, and those stay whatever becomes of the file.
    fn adopt_keys(&self, path: &Path, head: &SegmentHead, replayed: &mut Replayed) {
        for damage in &replayed.damage {
            self.note_damage(*damage);
        }
        let earlier = || {
            let file = self.env.disk.open(path, OpenMode::Read)?;
            let earlier = Sidecar::open(&*file, &self.key, head.number)?;
            if earlier.first == head.first { earlier.load(&*file) } else { Err(Unusable::Damaged) }
        };
        let Ok(earlier) = earlier() else { return };
        let is_damaged = |at: u64| {
            let at = Position::new(at);
            replayed.damage.iter().any(|damage| damage.from <= at && at <= damage.to)
        };
        let adopted = earlier.keys.into_entries().filter(|entry| is_damaged(entry.at));
        replayed.map.keys.extend(adopted);
    }
}
