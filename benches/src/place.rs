//! Where benches put their files: on the disk of the build directory, so that all of them meet the same one.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Outcome;

/// A directory that is gone with its value.
#[derive(Debug)]
pub struct Place {
    dir: TempDir,
}

impl Place {
    /// Makes one below `$SPANVAULT_BENCH_DIR`, or below `usual`, which is `CARGO_TARGET_TMPDIR` of the bench.
    ///
    /// # Errors
    /// What the file system says.
    pub fn below(usual: &str) -> Outcome<Self> {
        let parent = std::env::var_os("SPANVAULT_BENCH_DIR").map_or_else(|| usual.into(), PathBuf::from);
        Ok(Self { dir: tempfile::tempdir_in(parent)? })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A name in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Removes a file, or a directory and all below it.
///
/// # Errors
/// What the file system says.
#[expect(
    clippy::disallowed_methods,
    reason = "what a bench made is no part of a vault that anybody opens again"
)]
pub fn clear(path: &Path) -> Outcome {
    let is_dir = path.is_dir();
    if is_dir { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.map_err(Into::into)
}

/// All files below `dir`, sorted.
///
/// # Errors
/// What the file system says.
pub fn files_below(dir: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { dirs.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    files.sort();
    Ok(files)
}
