//! Look-ups in one table for one position after the other, ascending: read in stretches of the sorted keys.
//!
//! Whoever goes over many originals asks several tables about each. Asked one by one, every question goes through the
//! filters of all segments; a stretch of neighbours asks each segment once.

use spanvault_types::Position;
use spanvault_types::key::Table;

use crate::error::Result;
use crate::segment::{KeyRange, first_position};
use crate::store::Store;

/// The widest stretch, in positions.
const WIDTH_MAX: u64 = 1_024;
/// By how much the next stretch is wider where the last one served.
const WIDER: u64 = 32;
/// Positions that may lie between a stretch and what is asked about next for it to count as a neighbour.
const GAP_MAX: u64 = 16;
/// A stretch that has more entries than this is not followed by one as wide.
const ENTRIES_MAX: usize = 1 << 16;

/// One table whose keys begin with a position, as it stood when the stretch at hand was read: whoever must not miss what
/// came since makes a new one. Any order of questions is answered; an ascending one cheaply.
#[derive(Debug)]
pub struct Column<'s> {
    store: &'s Store,
    table: Table,
    /// The stretch at hand: from this position up to, but without, the other.
    from: u64,
    until: u64,
    /// The width of the stretch at hand.
    width: u64,
    /// What the table has in the stretch: first field and position, sorted.
    entries: Vec<(u64, Position)>,
}

impl Store {
    /// A table whose keys begin with a position, to be asked in ascending order.
    pub const fn column(&self, table: Table) -> Column<'_> {
        Column { store: self, table, from: 0, until: 0, width: 0, entries: Vec::new() }
    }
}

impl Column<'_> {
    /// The positions that the table has under `first`, ascending: those that a scan with that prefix gives.
    ///
    /// # Errors
    /// As [`Store::scan`].
    pub fn of(&mut self, first: Position) -> Result<impl DoubleEndedIterator<Item = Position>> {
        let first = first.get();
        if !(self.from..self.until).contains(&first) {
            self.turn_to(first)?;
        }
        let start = self.entries.partition_point(|(field, _at)| *field < first);
        let rest = self.entries.get(start..).unwrap_or_default();
        let len = rest.partition_point(|(field, _at)| *field == first);
        Ok(rest.get(..len).unwrap_or_default().iter().map(|(_field, at)| *at))
    }

    /// The last of what [`Column::of`] gives.
    ///
    /// # Errors
    /// As [`Store::scan`].
    pub fn last(&mut self, first: Position) -> Result<Option<Position>> {
        Ok(self.of(first)?.next_back())
    }

    /// Reads the stretch that begins at `first`: wide among neighbours, and otherwise that position alone.
    fn turn_to(&mut self, first: u64) -> Result<()> {
        let is_neighbour = first.checked_sub(self.until).is_some_and(|gap| gap <= GAP_MAX);
        let width = match self.width {
            1.. if is_neighbour && self.entries.len() > ENTRIES_MAX => 1,
            width @ 1.. if is_neighbour => (width * WIDER).min(WIDTH_MAX),
            _ => 1,
        };
        let until = first.saturating_add(width);
        // Nothing is at hand while it is read, so that an error leaves no stretch that looks empty.
        (self.from, self.until, self.width) = (0, 0, 0);
        self.entries.clear();
        let Some(range) = self.range(first, until) else { return Ok(()) };
        let found = self.store.scan_range(&range)?;
        self.entries.extend(
            found.iter().filter_map(|entry| Some((first_position(&entry.key)?, Position::new(entry.at)))),
        );
        (self.from, self.until, self.width) = (first, until, width);
        Ok(())
    }

    /// The keys of a stretch; those of one position are looked for in the filters first.
    fn range(&self, first: u64, until: u64) -> Option<KeyRange> {
        if until - first == 1 {
            return KeyRange::prefix(&spanvault_types::key::key(self.table, &[Position::new(first)]));
        }
        KeyRange::positions(self.table, first, until)
    }
}
