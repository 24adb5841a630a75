//! fjall, with its bodies apart from their keys, as it recommends for large values.

use std::path::Path;

use fjall::{
    Batch, Config, Keyspace, KvSeparationOptions, PartitionCreateOptions, PartitionHandle, PersistMode,
};

use super::{CACHE_BYTES, Durability, Row, Summary, Tables, key, second};
use crate::Outcome;

pub(super) struct FjallTables {
    keyspace: Keyspace,
    durability: Durability,
    bodies: PartitionHandle,
    spans: PartitionHandle,
    atoms: PartitionHandle,
    expiry: PartitionHandle,
    edges: PartitionHandle,
    cited_by: PartitionHandle,
}

impl FjallTables {
    pub(super) fn create(dir: &Path, durability: Durability) -> Outcome<Self> {
        let keyspace = Config::new(dir.join("db")).cache_size(CACHE_BYTES as u64).open()?;
        let small = |name| keyspace.open_partition(name, PartitionCreateOptions::default());
        let large = PartitionCreateOptions::default().with_kv_separation(KvSeparationOptions::default());
        Ok(Self {
            durability,
            bodies: keyspace.open_partition("bodies", large)?,
            spans: small("spans")?,
            atoms: small("atoms")?,
            expiry: small("expiry")?,
            edges: small("edges")?,
            cited_by: small("cited_by")?,
            keyspace,
        })
    }

    fn put_body(&self, batch: &mut Batch, span: u64, body: &[u8]) {
        let hash = *blake3::hash(body).as_bytes();
        batch.insert(&self.bodies, hash, body);
        batch.insert(&self.spans, span.to_be_bytes(), hash);
    }

    fn commit(&self, batch: Batch) -> Outcome {
        batch.commit()?;
        if self.durability == Durability::Synced {
            self.keyspace.persist(PersistMode::SyncData)?;
        }
        Ok(())
    }
}

fn seconds(partition: &PartitionHandle, first: u64) -> Outcome<Vec<u64>> {
    partition.prefix(first.to_be_bytes()).map(|entry| second(&entry?.0)).collect()
}

impl Tables for FjallTables {
    fn record(&mut self, rows: &[Row<'_>]) -> Outcome {
        let mut batch = self.keyspace.batch();
        for row in rows {
            self.put_body(&mut batch, row.span, row.body);
            batch.insert(&self.expiry, key(row.expires_at, row.span), []);
            for term in row.terms {
                batch.insert(&self.atoms, key(*term, row.span), []);
            }
        }
        self.commit(batch)
    }

    fn summarize(&mut self, summaries: &[Summary]) -> Outcome {
        let mut batch = self.keyspace.batch();
        for summary in summaries {
            self.put_body(&mut batch, summary.number, summary.text.as_bytes());
            for child in summary.cited.clone() {
                batch.insert(&self.edges, key(summary.number, child), []);
                batch.insert(&self.cited_by, key(child, summary.number), []);
            }
        }
        self.commit(batch)
    }

    fn post(&mut self, pairs: &[(u64, u64)]) -> Outcome {
        let mut batch = self.keyspace.batch();
        for (term, span) in pairs {
            batch.insert(&self.atoms, key(*term, *span), []);
        }
        self.commit(batch)
    }

    fn spans_with(&self, term: u64) -> Outcome<Vec<u64>> {
        seconds(&self.atoms, term)
    }

    fn sum_of_pairs(&self) -> Outcome<u64> {
        self.atoms.iter().try_fold(0, |sum, entry| Ok(sum + second(&entry?.0)?))
    }

    fn citations(&self, summary: u64) -> Outcome<(Vec<u64>, Vec<u64>)> {
        let cited = seconds(&self.edges, summary)?;
        let first = *cited.first().ok_or("it cites nothing")?;
        Ok((cited, seconds(&self.cited_by, first)?))
    }

    fn due(&self, before: u64) -> Outcome<usize> {
        Ok(self.expiry.range(..key(before, 0)).count())
    }

    fn original(&self, hash: &[u8; 32]) -> Outcome<Vec<u8>> {
        Ok(self.bodies.get(hash)?.ok_or("there is no such body")?.to_vec())
    }

    fn hash_of(&self, span: u64) -> Outcome<[u8; 32]> {
        let hash = self.spans.get(span.to_be_bytes())?.ok_or("there is no such span")?;
        Ok(<[u8; 32]>::try_from(&*hash)?)
    }

    fn settle(&mut self) -> Outcome {
        self.atoms.rotate_memtable_and_wait()?;
        Ok(self.atoms.major_compact()?)
    }
}
