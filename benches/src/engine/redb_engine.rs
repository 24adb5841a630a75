//! redb, with its immediate durability.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use redb::{Database, TableDefinition};

use super::{CACHE_BYTES, Engine, Hash, Record};
use crate::Outcome;

const ORIGINALS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("originals");

#[derive(Debug)]
pub(super) struct RedbEngine {
    /// Compacting wants it alone.
    db: RwLock<Database>,
}

impl RedbEngine {
    pub(super) fn create(dir: &Path) -> Outcome<Self> {
        let db = Database::builder().set_cache_size(CACHE_BYTES).create(dir.join("db"))?;
        Ok(Self { db: RwLock::new(db) })
    }
}

impl Engine for RedbEngine {
    fn put(&self, records: &[Record]) -> Outcome {
        let transaction = self.db.read().unwrap_or_else(PoisonError::into_inner).begin_write()?;
        {
            let mut table = transaction.open_table(ORIGINALS)?;
            for record in records {
                table.insert(&record.hash, record.body.as_slice())?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>> {
        let transaction = self.db.read().unwrap_or_else(PoisonError::into_inner).begin_read()?;
        let table = transaction.open_table(ORIGINALS)?;
        Ok(table.get(hash)?.ok_or("there is no such body")?.value().to_vec())
    }

    fn remove(&self, hashes: &[Hash]) -> Outcome {
        let mut db = self.db.write().unwrap_or_else(PoisonError::into_inner);
        let transaction = db.begin_write()?;
        {
            let mut table = transaction.open_table(ORIGINALS)?;
            for hash in hashes {
                table.remove(hash)?;
            }
        }
        transaction.commit()?;
        db.compact()?;
        Ok(())
    }
}
