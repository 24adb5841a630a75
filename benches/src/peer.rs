//! The peer: `SQLite` with a write-ahead log that is synced at every commit.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use crate::Outcome;

/// A table of originals by content hash: the least that keeps the same promise for one body. It has no sessions, no
/// spans, no chain and no verdicts, which is in its favour.
#[derive(Debug)]
pub struct Peer {
    db: Connection,
}

impl Peer {
    /// Makes an empty one.
    ///
    /// # Errors
    /// What `SQLite` says.
    pub fn create(path: &Path) -> Outcome<Self> {
        let db = Connection::open(path)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        db.execute_batch(
            "CREATE TABLE originals (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL)",
        )?;
        Ok(Self { db })
    }

    /// Puts these bodies in one transaction, and returns when it is durable.
    ///
    /// # Errors
    /// What `SQLite` says.
    pub fn put(&mut self, bodies: &[Vec<u8>]) -> Outcome {
        let transaction = self.db.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT OR IGNORE INTO originals (hash, body) VALUES (?1, ?2)")?;
            for body in bodies {
                insert.execute((blake3::hash(body).as_bytes(), body))?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// The body with that hash, verified.
    ///
    /// # Errors
    /// What `SQLite` says, or where the body does not hash to it.
    pub fn get(&self, hash: &[u8; 32]) -> Outcome<Option<Vec<u8>>> {
        let mut select = self.db.prepare_cached("SELECT body FROM originals WHERE hash = ?1")?;
        let body: Option<Vec<u8>> = select.query_row([hash], |row| row.get(0)).optional()?;
        match body {
            Some(body) if blake3::hash(&body).as_bytes() != hash => {
                Err("the body is not what was put".into())
            }
            body => Ok(body),
        }
    }

    /// How many bodies it has.
    ///
    /// # Errors
    /// What `SQLite` says.
    pub fn count(&self) -> Outcome<usize> {
        let count: i64 = self.db.query_row("SELECT count(*) FROM originals", [], |row| row.get(0))?;
        Ok(usize::try_from(count)?)
    }
}
