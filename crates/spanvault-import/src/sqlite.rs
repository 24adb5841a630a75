//! Reads the tables of an SQLite database file: ordinary tables, row by row, and nothing else of it.
//!
//! The file format is documented and does not change (<https://www.sqlite.org/fileformat2.html>). What is read is
//! held a page and a row at a time, whatever the file says of itself: every page is asked for at most once in a walk, a
//! row is never longer than its file, and what contradicts that is damage. Absent on purpose: SQL, indexes,
//! views, writing, and the write-ahead log, which is another file.

mod page;
mod record;
mod schema;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};

use page::Pages;
pub(crate) use record::{Row, Value};
pub(crate) use table::Place;

/// What a database file begins with.
pub(crate) const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How many rows are looked at in all: whoever reads a database holds something of each.
const ROWS_MAX: u32 = 1 << 22;

/// A database file that is open.
pub(crate) struct Database<R> {
    pages: Pages<R>,
    rows_left: u32,
    tables: BTreeMap<String, Table>,
}

/// An ordinary table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// Its name, in small letters.
    pub(crate) name: String,
    /// The page that its tree begins with.
    root: u32,
    /// The names of the columns that its rows store, in order, in small letters.
    pub(crate) columns: Vec<String>,
    /// The column that is another name of the number of the row, and is stored nowhere else.
    row_id: Option<usize>,
}

impl Table {
    /// Which column has this name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Whether it has all of these columns.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.column(name).is_some())
    }
}

impl<R: Read + Seek> Database<R> {
    /// Opens a database and reads which of the tables of these names it has.
    ///
    /// # Errors
    /// What the file says, and `InvalidData` where it is no database or is damaged.
    pub(crate) fn open(file: R, names: &[&str]) -> io::Result<Self> {
        let pages = Pages::open(file)?;
        let mut database = Self { pages, rows_left: ROWS_MAX, tables: BTreeMap::new() };
        let schema = schema::table();
        let mut tables = BTreeMap::new();
        database.scan(&schema, &mut |row, _place| {
            if let Some(table) = schema::table_of(&schema, row, names)? {
                tables.insert(table.name.clone(), table);
            }
            Ok(())
        })?;
        database.tables = tables;
        Ok(database)
    }

    /// The table of this name, which is in small letters.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// Gives every row of a table to `take`, in the order of their numbers, and where each stands.
    ///
    /// # Errors
    /// As [`Database::open`], and what `take` says.
    pub(crate) fn scan(
        &mut self,
        table: &Table,
        take: &mut dyn FnMut(&mut Row<'_, R>, Place) -> io::Result<()>,
    ) -> io::Result<()> {
        let left = &mut self.rows_left;
        table::scan(&mut self.pages, table, &mut |row, place| {
            *left = left.checked_sub(1).ok_or_else(|| damaged("it has more rows than are read"))?;
            take(row, place)
        })
    }

    /// Reads the row at a place that a scan of this table gave.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub(crate) fn row<'d>(&'d mut self, table: &'d Table, place: Place) -> io::Result<Row<'d, R>> {
        table::row_at(&mut self.pages, table, place)
    }
}

/// What is wrong with a file.
fn damaged(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
