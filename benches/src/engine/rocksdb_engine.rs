//! `RocksDB` with its values in blob files, and its log synced at every write.

use std::path::Path;

use rocksdb::{DB, Options, WriteBatch, WriteOptions};

use super::{CACHE_BYTES, Engine, Hash, Record};
use crate::Outcome;

/// How many bodies stand in one batch.
const BATCH: usize = 1_000;
/// Values from this length on go to blob files, in bytes.
const BLOB_BYTES_MIN: u64 = 1_024;

pub(super) struct RocksdbEngine {
    db: DB,
}

impl RocksdbEngine {
    pub(super) fn create(dir: &Path) -> Outcome<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_enable_blob_files(true);
        options.set_min_blob_size(BLOB_BYTES_MIN);
        options.set_enable_blob_gc(true);
        options.set_write_buffer_size(CACHE_BYTES);
        Ok(Self { db: DB::open(&options, dir.join("db"))? })
    }

    fn write(&self, batch: WriteBatch, is_last: bool) -> Outcome {
        let mut options = WriteOptions::default();
        options.set_sync(is_last);
        Ok(self.db.write_opt(batch, &options)?)
    }
}

impl Engine for RocksdbEngine {
    fn put(&self, records: &[Record]) -> Outcome {
        let mut chunks = records.chunks(BATCH).peekable();
        while let Some(records) = chunks.next() {
            let mut batch = WriteBatch::default();
            for record in records {
                batch.put(record.hash, &record.body);
            }
            self.write(batch, chunks.peek().is_none())?;
        }
        Ok(())
    }

    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>> {
        Ok(self.db.get(hash)?.ok_or("there is no such body")?)
    }

    fn remove(&self, hashes: &[Hash]) -> Outcome {
        let mut batch = WriteBatch::default();
        for hash in hashes {
            batch.delete(hash);
        }
        self.write(batch, true)?;
        self.db.flush()?;
        self.db.compact_range(None::<&[u8]>, None::<&[u8]>);
        Ok(())
    }
}
