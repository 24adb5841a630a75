//! `SQLite` with a write-ahead log, and large pages for large values.

use std::path::Path;

use rusqlite::{CachedStatement, Connection};

use super::{CACHE_BYTES, Durability, Row, Summary, Tables};
use crate::Outcome;

const SCHEMA: &str = "
    CREATE TABLE bodies (span INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL);
    CREATE TABLE atoms (term INTEGER, span INTEGER, PRIMARY KEY (term, span)) WITHOUT ROWID;
    CREATE TABLE expiry (at INTEGER, span INTEGER, PRIMARY KEY (at, span)) WITHOUT ROWID;
    CREATE TABLE edges (summary INTEGER, child INTEGER, PRIMARY KEY (summary, child)) WITHOUT ROWID;
    CREATE INDEX cited_by ON edges (child, summary);
";
const PUT_BODY: &str = "INSERT INTO bodies (span, hash, body) VALUES (?1, ?2, ?3)";
const PUT_ATOM: &str = "INSERT INTO atoms (term, span) VALUES (?1, ?2)";

#[derive(Debug)]
pub(super) struct SqliteTables {
    db: Connection,
}

impl SqliteTables {
    pub(super) fn create(dir: &Path, durability: Durability) -> Outcome<Self> {
        let db = Connection::open(dir.join("db"))?;
        db.pragma_update(None, "page_size", 8_192)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        let synchronous = if durability == Durability::Synced { "FULL" } else { "OFF" };
        db.pragma_update(None, "synchronous", synchronous)?;
        db.pragma_update(None, "cache_size", -i64::try_from(CACHE_BYTES / 1_024)?)?;
        db.execute_batch(SCHEMA)?;
        Ok(Self { db })
    }

    fn spans(&self, select: &str, of: u64) -> Outcome<Vec<u64>> {
        let mut select = self.db.prepare_cached(select)?;
        let spans = select.query_map([of.cast_signed()], |row| row.get(0))?;
        Ok(spans.collect::<Result<_, _>>()?)
    }
}

fn put_body(put: &mut CachedStatement<'_>, span: u64, body: &[u8]) -> Outcome {
    put.execute((span.cast_signed(), blake3::hash(body).as_bytes(), body))?;
    Ok(())
}

impl Tables for SqliteTables {
    fn record(&mut self, rows: &[Row<'_>]) -> Outcome {
        let transaction = self.db.transaction()?;
        {
            let mut put = transaction.prepare_cached(PUT_BODY)?;
            let mut atom = transaction.prepare_cached(PUT_ATOM)?;
            let mut expiry = transaction.prepare_cached("INSERT INTO expiry (at, span) VALUES (?1, ?2)")?;
            for row in rows {
                put_body(&mut put, row.span, row.body)?;
                expiry.execute((row.expires_at.cast_signed(), row.span.cast_signed()))?;
                for term in row.terms {
                    atom.execute((term.cast_signed(), row.span.cast_signed()))?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    fn summarize(&mut self, summaries: &[Summary]) -> Outcome {
        let transaction = self.db.transaction()?;
        {
            let mut put = transaction.prepare_cached(PUT_BODY)?;
            let mut edge =
                transaction.prepare_cached("INSERT INTO edges (summary, child) VALUES (?1, ?2)")?;
            for summary in summaries {
                put_body(&mut put, summary.number, summary.text.as_bytes())?;
                for child in summary.cited.clone() {
                    edge.execute((summary.number.cast_signed(), child.cast_signed()))?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    fn post(&mut self, pairs: &[(u64, u64)]) -> Outcome {
        let transaction = self.db.transaction()?;
        {
            let mut atom = transaction.prepare_cached(PUT_ATOM)?;
            for (term, span) in pairs {
                atom.execute((term.cast_signed(), span.cast_signed()))?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn spans_with(&self, term: u64) -> Outcome<Vec<u64>> {
        self.spans("SELECT span FROM atoms WHERE term = ?1 ORDER BY span", term)
    }

    fn sum_of_pairs(&self) -> Outcome<u64> {
        let mut sum = 0;
        let mut select = self.db.prepare_cached("SELECT span FROM atoms ORDER BY term, span")?;
        let mut rows = select.query(())?;
        while let Some(row) = rows.next()? {
            sum += row.get::<_, i64>(0)?.cast_unsigned();
        }
        Ok(sum)
    }

    fn citations(&self, summary: u64) -> Outcome<(Vec<u64>, Vec<u64>)> {
        let cited = self.spans("SELECT child FROM edges WHERE summary = ?1 ORDER BY child", summary)?;
        let first = *cited.first().ok_or("it cites nothing")?;
        Ok((cited, self.spans("SELECT summary FROM edges WHERE child = ?1 ORDER BY summary", first)?))
    }

    fn due(&self, before: u64) -> Outcome<usize> {
        let count: i64 = self.db.query_row(
            "SELECT count(*) FROM expiry WHERE at < ?1",
            [before.cast_signed()],
            |row| row.get(0),
        )?;
        Ok(usize::try_from(count)?)
    }

    fn original(&self, hash: &[u8; 32]) -> Outcome<Vec<u8>> {
        let mut select = self.db.prepare_cached("SELECT body FROM bodies WHERE hash = ?1")?;
        Ok(select.query_row([hash], |row| row.get(0))?)
    }

    fn hash_of(&self, span: u64) -> Outcome<[u8; 32]> {
        let mut select = self.db.prepare_cached("SELECT hash FROM bodies WHERE span = ?1")?;
        Ok(select.query_row([span.cast_signed()], |row| row.get(0))?)
    }

    fn settle(&mut self) -> Outcome {
        Ok(self.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?)
    }
}
