//! Lists: one JSON object a line for programs, columns for people.

use std::io::{self, Write as _};
use std::marker::PhantomData;

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Row, Table, presets};
use serde::Serialize;

use super::{Look, Output};
use crate::failure::Failure;

/// How many rows are lined up at a time: a list of any length is shown in bounded memory.
const ROWS_AT_ONCE: usize = 2_000;

/// One column of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// Words.
    Text(&'static str),
    /// Numbers, aligned at their last digit.
    Number(&'static str),
}

/// A row of a list.
pub(crate) trait Listed: Serialize {
    /// The columns that people see.
    const COLUMNS: &'static [Column];
    /// What people see where there is nothing.
    const NONE: &'static str;

    /// What stands in each column.
    fn cells(&self) -> Vec<String>;
}

/// A list on its way out.
pub(crate) struct List<'o, R> {
    output: &'o mut Output,
    rows: Vec<Vec<String>>,
    is_begun: bool,
    of: PhantomData<R>,
}

impl<'o, R: Listed> List<'o, R> {
    pub(super) const fn new(output: &'o mut Output) -> Self {
        Self { output, rows: Vec::new(), is_begun: false, of: PhantomData }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: &R) -> Result<(), Failure> {
        if self.output.is_json {
            return self.output.line(row);
        }
        self.rows.push(row.cells());
        if self.rows.len() >= ROWS_AT_ONCE { self.flush() } else { Ok(()) }
    }

    /// Ends the list.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        if self.output.is_json {
            return Ok(());
        }
        if self.rows.is_empty() && !self.is_begun {
            return self.output.page().line(R::NONE).map_err(Failure::printing);
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let rows = std::mem::take(&mut self.rows);
        let has_header = !self.is_begun;
        self.is_begun = true;
        if rows.is_empty() {
            return Ok(());
        }
        let lines = lined_up(R::COLUMNS, rows, has_header, self.output.look);
        self.print(&lines).map_err(Failure::printing)
    }

    fn print(&mut self, lines: &str) -> io::Result<()> {
        self.output.sink.write_all(lines.as_bytes())?;
        self.output.sink.write_all(b"\n")
    }
}

/// Rows in columns: drawn on a terminal, bare for a pipe.
fn lined_up(columns: &[Column], rows: Vec<Vec<String>>, has_header: bool, look: Look) -> String {
    let mut table = Table::new();
    if look.is_terminal {
        table.load_style(presets::UTF8_FULL_CONDENSED.with_rounded_corners());
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(width) = look.width {
            table.set_width(width);
        }
    } else {
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    if look.has_colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    if has_header {
        table.set_header(Row::from(columns.iter().map(|column| heading(*column, look)).collect::<Vec<_>>()));
    }
    for row in rows {
        // A cell is one line, whatever the transcript says.
        table.add_row(row.iter().map(|cell| super::one_line(cell, usize::MAX)).collect::<Vec<_>>());
    }
    for (at, column) in columns.iter().enumerate() {
        let Some(found) = table.column_mut(at) else { continue };
        if let Column::Number(_name) = column {
            found.set_cell_alignment(CellAlignment::Right);
        }
        if !look.is_terminal {
            found.set_padding((0, 2));
        }
    }
    table.trim_fmt()
}

fn heading(column: Column, look: Look) -> Cell {
    let (Column::Text(name) | Column::Number(name)) = column;
    let cell = Cell::new(name.to_uppercase());
    if look.has_colour { cell.add_attribute(Attribute::Bold) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 2] = [Column::Text("name"), Column::Number("bytes")];

    fn rows() -> Vec<Vec<String>> {
        vec![vec!["a".into(), "1".into()], vec!["long\nname".into(), "1,000".into()]]
    }

    #[test]
    fn a_pipe_gets_bare_columns() {
        let shown = lined_up(&COLUMNS, rows(), true, Look::BARE);
        assert_eq!(shown, "NAME       BYTES\na              1\nlong name  1,000");
    }

    #[test]
    fn a_terminal_gets_a_table_of_its_width() {
        let look = Look { is_terminal: true, has_colour: false, width: Some(20), rows: Some(24) };
        let shown = lined_up(&COLUMNS, rows(), true, look);
        assert_eq!(
            shown,
            "╭──────┬───────╮\n│ NAME ┆ BYTES │\n╞══════╪═══════╡\n│ a    ┆     1 │\n│ long ┆ 1,000 │\n│ name ┆       │\n╰──────┴───────╯"
        );
    }

    #[test]
    fn only_colour_adds_escape_sequences() {
        let colour = Look { is_terminal: true, has_colour: true, width: Some(40), rows: Some(24) };
        let plain = Look { has_colour: false, ..colour };
        assert!(lined_up(&COLUMNS, rows(), true, colour).contains('\x1b'));
        assert!(!lined_up(&COLUMNS, rows(), true, plain).contains('\x1b'));
    }
}
