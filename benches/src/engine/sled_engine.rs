//! sled alone, with its files synced at every commit: its own flush makes nothing durable.

use std::path::{Path, PathBuf};

use super::{CACHE_BYTES, Engine, Hash, Record};
use crate::{Outcome, place};

/// How many bodies stand in one batch.
const BATCH: usize = 1_000;

pub(super) struct SledEngine {
    db: sled::Db,
    dir: PathBuf,
}

impl SledEngine {
    pub(super) fn create(dir: &Path) -> Outcome<Self> {
        let dir = dir.join("db");
        let config = sled::Config::new().path(&dir).cache_capacity(CACHE_BYTES as u64).flush_every_ms(None);
        Ok(Self { db: config.open()?, dir })
    }

    #[expect(clippy::disallowed_methods, reason = "files of a bench and no vault")]
    fn sync(&self) -> Outcome {
        self.db.flush()?;
        for path in place::files_below(&self.dir)? {
            std::fs::OpenOptions::new().write(true).open(path)?.sync_data()?;
        }
        Ok(())
    }
}

impl Engine for SledEngine {
    fn put(&self, records: &[Record]) -> Outcome {
        for records in records.chunks(BATCH) {
            let mut batch = sled::Batch::default();
            for record in records {
                batch.insert(&record.hash, record.body.as_slice());
            }
            self.db.apply_batch(batch)?;
        }
        self.sync()
    }

    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>> {
        Ok(self.db.get(hash)?.ok_or("there is no such body")?.to_vec())
    }

    fn remove(&self, hashes: &[Hash]) -> Outcome {
        for hashes in hashes.chunks(BATCH) {
            let mut batch = sled::Batch::default();
            for hash in hashes {
                batch.remove(hash);
            }
            self.db.apply_batch(batch)?;
        }
        self.sync()
    }
}
