//! `ingest --follow`: looks again and again for files that were written since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long nothing is done between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// What files were like when they were last ingested.
#[derive(Debug, Default)]
pub(super) struct Followed(HashMap<PathBuf, (u64, Option<SystemTime>)>);

impl Followed {
    /// Whether a file has changed since the last look, or is new.
    pub(super) fn has_changed(&mut self, file: &Path) -> bool {
        let Ok(found) = file.metadata() else { return self.0.remove(file).is_some() };
        let state = (found.len(), found.modified().ok());
        self.0.insert(file.to_owned(), state) != Some(state)
    }
}

/// Waits before the next look.
#[expect(clippy::disallowed_methods, reason = "a person asked the program to stay and look again")]
pub(super) fn pause() {
    std::thread::sleep(PAUSE);
}
