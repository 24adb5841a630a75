//! Embedded stores with the tables that keep what a vault keeps of a span: its body by content hash, the terms that it can be
//! asked for by, when it expires, and both ends of each citation.
//!
//! A span has a number of eight bytes, which stands for it in every table, and a term has eight bytes too. Neither sessions,
//! order, chain, verdicts, manifests nor coverage are kept, and no body is read: the terms are handed over ready. All of
//! that is in favour of these stores.

use std::ops::Range;
use std::path::Path;

use crate::Outcome;

mod fjall_tables;
mod redb_tables;
#[cfg(feature = "rocksdb")]
mod rocksdb_tables;
mod sqlite_tables;

/// What the caches of all of them may hold, in bytes.
const CACHE_BYTES: usize = 64 << 20;

/// One span.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Its number.
    pub span: u64,
    /// Its original, which the tables hash themselves.
    pub body: &'a [u8],
    /// When it expires, in milliseconds.
    pub expires_at: u64,
    /// What it can be asked for by, no term twice.
    pub terms: &'a [u64],
}

/// A summary of spans that follow each other.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Its number, which is none of a span.
    pub number: u64,
    /// Its text, which is put like an original.
    pub text: String,
    /// The spans that it cites.
    pub cited: Range<u64>,
}

/// Whether anything waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Every call that writes returns when what it wrote survives a power cut.
    Synced,
    /// Nothing is synced: for what can be derived again.
    Unsynced,
}

/// A store with these tables.
pub trait Tables {
    /// Puts spans, all in one transaction.
    ///
    /// # Errors
    /// What the store says.
    fn record(&mut self, rows: &[Row<'_>]) -> Outcome;

    /// Puts summaries and their citations, all in one transaction.
    ///
    /// # Errors
    /// What the store says.
    fn summarize(&mut self, summaries: &[Summary]) -> Outcome;

    /// Puts pairs of a term and a span alone, all in one transaction.
    ///
    /// # Errors
    /// What the store says.
    fn post(&mut self, pairs: &[(u64, u64)]) -> Outcome;

    /// The spans that hold a term, ascending.
    ///
    /// # Errors
    /// What the store says.
    fn spans_with(&self, term: u64) -> Outcome<Vec<u64>>;

    /// Reads all pairs in order; gives the sum of their spans.
    ///
    /// # Errors
    /// What the store says.
    fn sum_of_pairs(&self) -> Outcome<u64>;

    /// The spans that a summary cites, ascending, and the summaries that cite the first of them.
    ///
    /// # Errors
    /// What the store says.
    fn citations(&self, summary: u64) -> Outcome<(Vec<u64>, Vec<u64>)>;

    /// How many spans expire before an instant.
    ///
    /// # Errors
    /// What the store says.
    fn due(&self, before: u64) -> Outcome<usize>;

    /// The original of that name.
    ///
    /// # Errors
    /// What the store says, or where there is none.
    fn original(&self, hash: &[u8; 32]) -> Outcome<Vec<u8>>;

    /// The name of a span's original.
    ///
    /// # Errors
    /// What the store says, or where there is none.
    fn hash_of(&self, span: u64) -> Outcome<[u8; 32]>;

    /// Has everything where it stays, as far as the store can be asked for that.
    ///
    /// # Errors
    /// What the store says.
    fn settle(&mut self) -> Outcome;
}

/// The kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `SQLite` with a write-ahead log.
    Sqlite,
    /// redb.
    Redb,
    /// fjall with its bodies apart from their keys.
    Fjall,
    /// `RocksDB` with its bodies apart from their keys.
    #[cfg(feature = "rocksdb")]
    Rocksdb,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Sqlite,
        Self::Redb,
        Self::Fjall,
        #[cfg(feature = "rocksdb")]
        Self::Rocksdb,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Redb => "redb",
            Self::Fjall => "fjall",
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => "RocksDB",
        }
    }

    /// Makes an empty one in a directory of its own.
    ///
    /// # Errors
    /// What the store says.
    pub fn create(self, dir: &Path, durability: Durability) -> Outcome<Box<dyn Tables>> {
        std::fs::create_dir(dir)?;
        Ok(match self {
            Self::Sqlite => Box::new(sqlite_tables::SqliteTables::create(dir, durability)?),
            Self::Redb => Box::new(redb_tables::RedbTables::create(dir, durability)?),
            Self::Fjall => Box::new(fjall_tables::FjallTables::create(dir, durability)?),
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => Box::new(rocksdb_tables::RocksdbTables::create(dir, durability)?),
        })
    }
}

/// Two numbers as a key that sorts by the first, then by the second.
fn key(first: u64, second: u64) -> [u8; 16] {
    let mut key = [0; 16];
    let (left, right) = key.split_at_mut(8);
    left.copy_from_slice(&first.to_be_bytes());
    right.copy_from_slice(&second.to_be_bytes());
    key
}

/// The second number of such a key.
fn second(key: &[u8]) -> Outcome<u64> {
    let last = key.last_chunk().ok_or("a key is too short")?;
    Ok(u64::from_be_bytes(*last))
}
