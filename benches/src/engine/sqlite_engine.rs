//! `SQLite` with a write-ahead log that is synced at every commit, and large pages for large values.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::{CACHE_BYTES, Engine, Hash, Record};
use crate::Outcome;

#[derive(Debug)]
pub(super) struct SqliteEngine {
    path: PathBuf,
    writer: Mutex<Connection>,
    /// One for each thread that reads at the same time, so that none waits for another.
    readers: Mutex<Vec<Connection>>,
}

impl SqliteEngine {
    pub(super) fn create(dir: &Path) -> Outcome<Self> {
        let path = dir.join("db");
        let db = Connection::open(&path)?;
        db.pragma_update(None, "page_size", 8_192)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        prepare(&db)?;
        db.execute_batch(
            "CREATE TABLE originals (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL)",
        )?;
        Ok(Self { path, writer: Mutex::new(db), readers: Mutex::new(Vec::new()) })
    }
}

fn prepare(db: &Connection) -> Outcome {
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "cache_size", -i64::try_from(CACHE_BYTES / 1_024)?)?;
    Ok(())
}

impl Engine for SqliteEngine {
    fn put(&self, records: &[Record]) -> Outcome {
        let mut db = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = db.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO originals (hash, body) VALUES (?1, ?2)")?;
            for record in records {
                insert.execute((&record.hash, &record.body))?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>> {
        let readers = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let at_hand = readers().pop();
        let db = if let Some(db) = at_hand {
            db
        } else {
            let db = Connection::open(&self.path)?;
            prepare(&db)?;
            db
        };
        let body = {
            let mut select = db.prepare_cached("SELECT body FROM originals WHERE hash = ?1")?;
            select.query_row([hash], |row| row.get(0))?
        };
        readers().push(db);
        Ok(body)
    }

    fn remove(&self, hashes: &[Hash]) -> Outcome {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut db = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = db.transaction()?;
        {
            let mut delete = transaction.prepare_cached("DELETE FROM originals WHERE hash = ?1")?;
            for hash in hashes {
                delete.execute([hash])?;
            }
        }
        transaction.commit()?;
        Ok(db.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?)
    }
}
