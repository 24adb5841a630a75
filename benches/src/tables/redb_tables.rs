//! redb.

use std::path::Path;

use redb::{Database, ReadableTable, TableDefinition, WriteTransaction};

use super::{CACHE_BYTES, Durability, Row, Summary, Tables};
use crate::Outcome;

const BODIES: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("bodies");
const SPANS: TableDefinition<'_, u64, &[u8; 32]> = TableDefinition::new("spans");
const ATOMS: TableDefinition<'_, (u64, u64), ()> = TableDefinition::new("atoms");
const EXPIRY: TableDefinition<'_, (u64, u64), ()> = TableDefinition::new("expiry");
const EDGES: TableDefinition<'_, (u64, u64), ()> = TableDefinition::new("edges");
const CITED_BY: TableDefinition<'_, (u64, u64), ()> = TableDefinition::new("cited by");

#[derive(Debug)]
pub(super) struct RedbTables {
    db: Database,
    durability: redb::Durability,
}

impl RedbTables {
    pub(super) fn create(dir: &Path, durability: Durability) -> Outcome<Self> {
        let db = Database::builder().set_cache_size(CACHE_BYTES).create(dir.join("db"))?;
        let durability = match durability {
            Durability::Synced => redb::Durability::Immediate,
            Durability::Unsynced => redb::Durability::None,
        };
        let tables = Self { db, durability };
        let transaction = tables.begin()?;
        transaction.open_table(ATOMS)?;
        transaction.commit()?;
        Ok(tables)
    }

    fn begin(&self) -> Outcome<WriteTransaction> {
        let mut transaction = self.db.begin_write()?;
        transaction.set_durability(self.durability);
        Ok(transaction)
    }

    /// The second numbers of all pairs with this first one.
    fn seconds(&self, table: TableDefinition<'_, (u64, u64), ()>, first: u64) -> Outcome<Vec<u64>> {
        let table = self.db.begin_read()?.open_table(table)?;
        table.range((first, 0)..=(first, u64::MAX))?.map(|entry| Ok(entry?.0.value().1)).collect()
    }
}

/// Puts bodies with the numbers of their spans.
fn put_bodies<'b>(transaction: &WriteTransaction, bodies: impl Iterator<Item = (u64, &'b [u8])>) -> Outcome {
    let (mut by_hash, mut spans) = (transaction.open_table(BODIES)?, transaction.open_table(SPANS)?);
    for (span, body) in bodies {
        let hash = blake3::hash(body);
        by_hash.insert(hash.as_bytes(), body)?;
        spans.insert(span, hash.as_bytes())?;
    }
    Ok(())
}

impl Tables for RedbTables {
    fn record(&mut self, rows: &[Row<'_>]) -> Outcome {
        let transaction = self.begin()?;
        put_bodies(&transaction, rows.iter().map(|row| (row.span, row.body)))?;
        {
            let mut atoms = transaction.open_table(ATOMS)?;
            let mut expiry = transaction.open_table(EXPIRY)?;
            for row in rows {
                expiry.insert((row.expires_at, row.span), ())?;
                for term in row.terms {
                    atoms.insert((*term, row.span), ())?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    fn summarize(&mut self, summaries: &[Summary]) -> Outcome {
        let transaction = self.begin()?;
        put_bodies(&transaction, summaries.iter().map(|summary| (summary.number, summary.text.as_bytes())))?;
        {
            let (mut edges, mut cited_by) =
                (transaction.open_table(EDGES)?, transaction.open_table(CITED_BY)?);
            for summary in summaries {
                for child in summary.cited.clone() {
                    edges.insert((summary.number, child), ())?;
                    cited_by.insert((child, summary.number), ())?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    fn post(&mut self, pairs: &[(u64, u64)]) -> Outcome {
        let transaction = self.begin()?;
        {
            let mut atoms = transaction.open_table(ATOMS)?;
            for pair in pairs {
                atoms.insert(pair, ())?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn spans_with(&self, term: u64) -> Outcome<Vec<u64>> {
        self.seconds(ATOMS, term)
    }

    fn sum_of_pairs(&self) -> Outcome<u64> {
        let table = self.db.begin_read()?.open_table(ATOMS)?;
        table.iter()?.try_fold(0, |sum, entry| Ok(sum + entry?.0.value().1))
    }

    fn citations(&self, summary: u64) -> Outcome<(Vec<u64>, Vec<u64>)> {
        let cited = self.seconds(EDGES, summary)?;
        let first = *cited.first().ok_or("it cites nothing")?;
        Ok((cited, self.seconds(CITED_BY, first)?))
    }

    fn due(&self, before: u64) -> Outcome<usize> {
        Ok(self.db.begin_read()?.open_table(EXPIRY)?.range(..(before, 0))?.count())
    }

    fn original(&self, hash: &[u8; 32]) -> Outcome<Vec<u8>> {
        let table = self.db.begin_read()?.open_table(BODIES)?;
        Ok(table.get(hash)?.ok_or("there is no such body")?.value().to_vec())
    }

    fn hash_of(&self, span: u64) -> Outcome<[u8; 32]> {
        let table = self.db.begin_read()?.open_table(SPANS)?;
        Ok(*table.get(span)?.ok_or("there is no such span")?.value())
    }

    fn settle(&mut self) -> Outcome {
        // Only what is synced is compacted.
        self.db.begin_write()?.commit()?;
        self.db.compact()?;
        Ok(())
    }
}
