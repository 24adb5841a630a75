//! LMDB, synced at every commit.

use std::path::{Path, PathBuf};

use heed::types::Bytes;
use heed::{CompactionOption, Database, Env, EnvOpenOptions, WithoutTls};

use super::{Engine, Hash, Record};
use crate::Outcome;

/// Addresses that the map may take: more than any bench puts in.
const MAP_BYTES: usize = 8 << 30;

pub(super) struct LmdbEngine {
    env: Env<WithoutTls>,
    originals: Database<Bytes, Bytes>,
    dir: PathBuf,
}

impl LmdbEngine {
    #[expect(
        unsafe_code,
        reason = "its map is only sound while nobody else changes the file, and nobody does here"
    )]
    pub(super) fn create(dir: &Path) -> Outcome<Self> {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(MAP_BYTES);
        // SAFETY: the directory was made for this bench alone, and this process opens it once.
        let env = unsafe { options.open(dir) }?;
        let mut transaction = env.write_txn()?;
        let originals = env.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Self { env, originals, dir: dir.to_owned() })
    }
}

impl Engine for LmdbEngine {
    fn put(&self, records: &[Record]) -> Outcome {
        let mut transaction = self.env.write_txn()?;
        for record in records {
            self.originals.put(&mut transaction, &record.hash, &record.body)?;
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>> {
        let transaction = self.env.read_txn()?;
        Ok(self.originals.get(&transaction, hash)?.ok_or("there is no such body")?.to_vec())
    }

    /// It gives nothing back by itself: a compact copy takes the place of its file, as its tools do it.
    #[expect(clippy::disallowed_methods, reason = "files of a bench and no vault")]
    fn remove(&self, hashes: &[Hash]) -> Outcome {
        let mut transaction = self.env.write_txn()?;
        for hash in hashes {
            self.originals.delete(&mut transaction, hash)?;
        }
        transaction.commit()?;
        let copy = self.dir.join("copy.mdb");
        self.env.copy_to_path(&copy, CompactionOption::Enabled)?.sync_all()?;
        Ok(std::fs::rename(copy, self.dir.join("data.mdb"))?)
    }
}
