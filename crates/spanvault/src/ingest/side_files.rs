//! Files beside a transcript: what its stubs name, looked for in its own folder and nowhere else.
//!
//! A session file `<name>.jsonl` has a folder `<name>` beside it. A name in the transcript is compared with what is listed
//! there; it is never made part of a path, so it leads nowhere else.

use std::path::Path;

use spanvault_env::OpenMode;

use super::SideFile;
use crate::vault::Vault;

/// Where results that were moved out of a transcript stand in its folder.
const RESULTS: &str = "tool-results";

impl Vault {
    /// Where the files stand that the stubs of a transcript name.
    pub(super) fn find_side_files(&self, transcript: &str, named: Vec<(u64, String)>) -> Vec<SideFile> {
        if named.is_empty() {
            return Vec::new();
        }
        let dir = Path::new(transcript).with_extension("").join(RESULTS);
        // A folder that is a link, or reached through one, is not the transcript's own.
        let disk = &self.options.env.disk;
        let is_own = disk.canonical(&dir).is_ok_and(|found| found == dir);
        let entries = if is_own { disk.list(&dir).unwrap_or_default() } else { Vec::new() };
        named
            .into_iter()
            .map(|(index, name)| {
                let is_there = entries.iter().any(|entry| !entry.is_dir && entry.name == name);
                // Opening it refuses a link.
                let path =
                    is_there.then(|| dir.join(&name)).filter(|path| disk.open(path, OpenMode::Read).is_ok());
                SideFile { index, name, path }
            })
            .collect()
    }
}
