//! `RocksDB`, with its bodies in blob files.

use std::path::Path;

use rocksdb::{
    ColumnFamily, ColumnFamilyDescriptor, DB, Direction, IteratorMode, Options, WriteBatch, WriteOptions,
};

use super::{CACHE_BYTES, Durability, Row, Summary, Tables, key, second};
use crate::Outcome;

/// Values from this length on go to blob files, in bytes.
const BLOB_BYTES_MIN: u64 = 1_024;
const BODIES: &str = "bodies";
const SPANS: &str = "spans";
const ATOMS: &str = "atoms";
const EXPIRY: &str = "expiry";
const EDGES: &str = "edges";
const CITED_BY: &str = "cited by";

pub(super) struct RocksdbTables {
    db: DB,
    durability: Durability,
}

impl RocksdbTables {
    pub(super) fn create(dir: &Path, durability: Durability) -> Outcome<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let mut table = Options::default();
        table.set_write_buffer_size(CACHE_BYTES);
        table.set_enable_blob_files(true);
        table.set_min_blob_size(BLOB_BYTES_MIN);
        let families = [BODIES, SPANS, ATOMS, EXPIRY, EDGES, CITED_BY]
            .map(|name| ColumnFamilyDescriptor::new(name, table.clone()));
        Ok(Self { db: DB::open_cf_descriptors(&options, dir.join("db"), families)?, durability })
    }

    fn family(&self, name: &str) -> Outcome<&ColumnFamily> {
        Ok(self.db.cf_handle(name).ok_or("there is no such family")?)
    }

    fn put_body(&self, batch: &mut WriteBatch, span: u64, body: &[u8]) -> Outcome {
        let hash = *blake3::hash(body).as_bytes();
        batch.put_cf(self.family(BODIES)?, hash, body);
        batch.put_cf(self.family(SPANS)?, span.to_be_bytes(), hash);
        Ok(())
    }

    fn write(&self, batch: WriteBatch) -> Outcome {
        let mut options = WriteOptions::default();
        match self.durability {
            Durability::Synced => options.set_sync(true),
            Durability::Unsynced => options.disable_wal(true),
        }
        Ok(self.db.write_opt(batch, &options)?)
    }

    fn seconds(&self, family: &str, first: u64) -> Outcome<Vec<u64>> {
        let start = key(first, 0);
        let from = IteratorMode::From(&start, Direction::Forward);
        let mut seconds = Vec::new();
        for entry in self.db.iterator_cf(self.family(family)?, from) {
            let (found, _nothing) = entry?;
            if !found.starts_with(&first.to_be_bytes()) {
                break;
            }
            seconds.push(second(&found)?);
        }
        Ok(seconds)
    }
}

impl Tables for RocksdbTables {
    fn record(&mut self, rows: &[Row<'_>]) -> Outcome {
        let (expiry, atoms) = (self.family(EXPIRY)?, self.family(ATOMS)?);
        let mut batch = WriteBatch::default();
        for row in rows {
            self.put_body(&mut batch, row.span, row.body)?;
            batch.put_cf(expiry, key(row.expires_at, row.span), []);
            for term in row.terms {
                batch.put_cf(atoms, key(*term, row.span), []);
            }
        }
        self.write(batch)
    }

    fn summarize(&mut self, summaries: &[Summary]) -> Outcome {
        let (edges, cited_by) = (self.family(EDGES)?, self.family(CITED_BY)?);
        let mut batch = WriteBatch::default();
        for summary in summaries {
            self.put_body(&mut batch, summary.number, summary.text.as_bytes())?;
            for child in summary.cited.clone() {
                batch.put_cf(edges, key(summary.number, child), []);
                batch.put_cf(cited_by, key(child, summary.number), []);
            }
        }
        self.write(batch)
    }

    fn post(&mut self, pairs: &[(u64, u64)]) -> Outcome {
        let atoms = self.family(ATOMS)?;
        let mut batch = WriteBatch::default();
        for (term, span) in pairs {
            batch.put_cf(atoms, key(*term, *span), []);
        }
        self.write(batch)
    }

    fn spans_with(&self, term: u64) -> Outcome<Vec<u64>> {
        self.seconds(ATOMS, term)
    }

    fn sum_of_pairs(&self) -> Outcome<u64> {
        let entries = self.db.iterator_cf(self.family(ATOMS)?, IteratorMode::Start);
        entries.map(|entry| second(&entry?.0)).sum()
    }

    fn citations(&self, summary: u64) -> Outcome<(Vec<u64>, Vec<u64>)> {
        let cited = self.seconds(EDGES, summary)?;
        let first = *cited.first().ok_or("it cites nothing")?;
        Ok((cited, self.seconds(CITED_BY, first)?))
    }

    fn due(&self, before: u64) -> Outcome<usize> {
        let mut count = 0;
        for entry in self.db.iterator_cf(self.family(EXPIRY)?, IteratorMode::Start) {
            if *entry?.0 >= key(before, 0)[..] {
                break;
            }
            count += 1;
        }
        Ok(count)
    }

    fn original(&self, hash: &[u8; 32]) -> Outcome<Vec<u8>> {
        Ok(self.db.get_cf(self.family(BODIES)?, hash)?.ok_or("there is no such body")?)
    }

    fn hash_of(&self, span: u64) -> Outcome<[u8; 32]> {
        let hash = self.db.get_cf(self.family(SPANS)?, span.to_be_bytes())?.ok_or("there is no such span")?;
        Ok(<[u8; 32]>::try_from(&*hash)?)
    }

    fn settle(&mut self) -> Outcome {
        let atoms = self.family(ATOMS)?;
        self.db.flush_cf(atoms)?;
        self.db.compact_range_cf(atoms, None::<&[u8]>, None::<&[u8]>);
        Ok(())
    }
}
