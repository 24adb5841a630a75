//! The embedded stores that are measured beside each other, all asked for the same: bodies by content hash, durable when
//! the call returns.
//!
//! Each is set up the way its own documentation recommends for values of a few kilobytes, with a cache of the same size,
//! and with `fdatasync` or `fsync` behind every acknowledgement.

use std::path::{Path, PathBuf};

use crate::{Outcome, place};

mod fjall_engine;
mod lmdb_engine;
mod redb_engine;
#[cfg(feature = "rocksdb")]
mod rocksdb_engine;
mod sled_engine;
mod spanvault_engine;
mod sqlite_engine;

/// What the caches of all engines may hold, in bytes.
const CACHE_BYTES: usize = 64 << 20;

/// A content hash.
pub type Hash = [u8; 32];

/// One body and its name.
#[derive(Debug, Clone)]
pub struct Record {
    /// The name.
    pub hash: Hash,
    /// The body.
    pub body: Vec<u8>,
}

impl Record {
    /// Names a body.
    pub fn of(body: Vec<u8>) -> Self {
        Self { hash: *blake3::hash(&body).as_bytes(), body }
    }
}

/// An embedded store.
pub trait Engine: Sync {
    /// Puts these bodies; when this returns they survive a power cut, all of them.
    ///
    /// # Errors
    /// What the engine says.
    fn put(&self, records: &[Record]) -> Outcome;

    /// The body of that name.
    ///
    /// # Errors
    /// What the engine says, or where there is none.
    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>>;

    /// Removes these bodies and has the file system get back what it can get back.
    ///
    /// # Errors
    /// What the engine says.
    fn remove(&self, hashes: &[Hash]) -> Outcome;
}

/// The kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The store under test.
    Spanvault,
    /// `SQLite` with a write-ahead log.
    Sqlite,
    /// redb.
    Redb,
    /// fjall with its values apart from its keys.
    Fjall,
    /// LMDB.
    Lmdb,
    /// sled alone.
    Sled,
    /// `RocksDB` with its values apart from its keys.
    #[cfg(feature = "rocksdb")]
    Rocksdb,
}

impl Kind {
    /// All of them, the one under test first.
    pub const ALL: &[Self] = &[
        Self::Spanvault,
        Self::Sqlite,
        Self::Redb,
        Self::Fjall,
        Self::Lmdb,
        Self::Sled,
        #[cfg(feature = "rocksdb")]
        Self::Rocksdb,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spanvault => "spanvault",
            Self::Sqlite => "SQLite",
            Self::Redb => "redb",
            Self::Fjall => "fjall",
            Self::Lmdb => "LMDB",
            Self::Sled => "sled",
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => "RocksDB",
        }
    }

    /// Makes an empty one in a directory of its own.
    ///
    /// # Errors
    /// What the engine says.
    pub fn create(self, dir: &Path) -> Outcome<Box<dyn Engine>> {
        std::fs::create_dir(dir)?;
        Ok(match self {
            Self::Spanvault => Box::new(spanvault_engine::SpanvaultEngine::create(dir)?),
            Self::Sqlite => Box::new(sqlite_engine::SqliteEngine::create(dir)?),
            Self::Redb => Box::new(redb_engine::RedbEngine::create(dir)?),
            Self::Fjall => Box::new(fjall_engine::FjallEngine::create(dir)?),
            Self::Lmdb => Box::new(lmdb_engine::LmdbEngine::create(dir)?),
            Self::Sled => Box::new(sled_engine::SledEngine::create(dir)?),
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => Box::new(rocksdb_engine::RocksdbEngine::create(dir)?),
        })
    }
}

/// What the files below a directory take on the disk, in bytes: blocks that were never written count for nothing.
///
/// # Errors
/// What the file system says.
pub fn disk_bytes(dir: &Path) -> Outcome<u64> {
    use std::os::unix::fs::MetadataExt;
    let len = |path: PathBuf| Ok(path.metadata()?.blocks() * 512);
    place::files_below(dir)?.into_iter().map(len).sum()
}
