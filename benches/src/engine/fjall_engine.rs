//! fjall, with its values apart from its keys, as it recommends for large ones.

use std::path::Path;

use fjall::{
    Config, GarbageCollection, Keyspace, KvSeparationOptions, PartitionCreateOptions, PartitionHandle,
    PersistMode,
};

use super::{CACHE_BYTES, Engine, Hash, Record};
use crate::Outcome;

/// How many bodies stand in one batch.
const BATCH: usize = 1_000;

pub(super) struct FjallEngine {
    keyspace: Keyspace,
    originals: PartitionHandle,
}

impl FjallEngine {
    pub(super) fn create(dir: &Path) -> Outcome<Self> {
        let keyspace = Config::new(dir.join("db")).cache_size(CACHE_BYTES as u64).open()?;
        let options = PartitionCreateOptions::default().with_kv_separation(KvSeparationOptions::default());
        let originals = keyspace.open_partition("originals", options)?;
        Ok(Self { keyspace, originals })
    }
}

impl Engine for FjallEngine {
    fn put(&self, records: &[Record]) -> Outcome {
        for records in records.chunks(BATCH) {
            let mut batch = self.keyspace.batch();
            for record in records {
                batch.insert(&self.originals, record.hash, record.body.as_slice());
            }
            batch.commit()?;
        }
        Ok(self.keyspace.persist(PersistMode::SyncData)?)
    }

    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>> {
        Ok(self.originals.get(hash)?.ok_or("there is no such body")?.to_vec())
    }

    fn remove(&self, hashes: &[Hash]) -> Outcome {
        for hashes in hashes.chunks(BATCH) {
            let mut batch = self.keyspace.batch();
            for hash in hashes {
                batch.remove(&self.originals, *hash);
            }
            batch.commit()?;
        }
        self.keyspace.persist(PersistMode::SyncData)?;
        self.originals.rotate_memtable_and_wait()?;
        self.originals.major_compact()?;
        self.originals.gc_scan()?;
        self.originals.gc_with_staleness_threshold(0.1)?;
        Ok(())
    }
}
