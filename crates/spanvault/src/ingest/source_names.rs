//! What sessions are called after where a transcript does not name its own.

use std::collections::HashMap;
use std::path::Path;

use spanvault_types::{ContentHash, Position, key};

use crate::error::Result;
use crate::vault::Vault;

/// The stems of all files that were ingested, each with the first source of that stem.
///
/// It is read once for many files: a look at every source for every file would take hours for a large directory.
pub(super) struct SourceNames {
    first: HashMap<String, Position>,
}

impl SourceNames {
    pub(super) fn read(vault: &Vault) -> Result<Self> {
        let mut names = Self { first: HashMap::new() };
        for source in vault.positions(&key::key(key::Table::Source, &[]))? {
            names.add(&vault.source_at(source)?.path, source);
        }
        Ok(names)
    }

    /// Takes note of a source that was opened after those before.
    pub(super) fn add(&mut self, path: &str, source: Position) {
        self.first.entry(stem_of(path)).or_insert(source);
    }

    /// The stem of the file, and where another file of that stem came first, a part of the hash of its path as well.
    pub(super) fn name_of(&self, path: &str, source: Option<Position>) -> String {
        let stem = stem_of(path);
        match self.first.get(&stem) {
            Some(first) if Some(*first) != source => with_digest(&stem, path),
            Some(_) | None => stem,
        }
    }
}

fn stem_of(path: &str) -> String {
    Path::new(path).file_stem().map_or_else(|| "session".into(), |stem| stem.to_string_lossy()).into_owned()
}

/// What the session of a transcript is called that is a folder of files: as the folder, and a part of the hash of its
/// path, since all of its files must come to the same name.
pub(super) fn folder_name(folder: &str) -> String {
    let name = Path::new(folder).file_name().map_or_else(|| "session".into(), |name| name.to_string_lossy());
    with_digest(&name, folder)
}

fn with_digest(name: &str, path: &str) -> String {
    let digest = ContentHash::of(path.as_bytes()).to_string();
    format!("{name}-{}", digest.get(..8).unwrap_or(&digest))
}
