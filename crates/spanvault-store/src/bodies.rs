//! Reads one frame after the other with the original in it, ascending: with one read of the disk for both.

use spanvault_types::Position;
use spanvault_types::key::Table;

use crate::column::Column;
use crate::error::Result;
use crate::frame::Form;
use crate::read::{FRAME_READ_BYTES, Frame, Original};
use crate::store::Store;
use crate::whereabouts::Fate;

/// Frames with the originals in them; made by [`Store::bodies`]. What became of an original is read in stretches: one
/// that goes meanwhile may still be given.
#[derive(Debug)]
pub struct Bodies<'s> {
    store: &'s Store,
    fates: Column<'s>,
}

impl Store {
    /// Reads frames with the originals in them, to be asked in ascending order.
    pub const fn bodies(&self) -> Bodies<'_> {
        Bodies { store: self, fates: self.column(Table::Fate) }
    }
}

impl Bodies<'_> {
    /// The frame at `at`, and the original in it, verified. `None` wherever that is not plainly there: then
    /// [`Store::original`] has it or says what is wrong.
    ///
    /// # Errors
    /// As [`Store::frame`].
    pub fn read(&mut self, at: Position) -> Result<(Frame, Option<Original>)> {
        let store = self.store;
        let (located, raw) = store.raw_frame_at(at, FRAME_READ_BYTES)?;
        let form = raw.head.form;
        let frame = store.to_frame(&located, &raw)?;
        let is_gone = |fate: Result<Fate>| !matches!(fate, Ok(Fate::Kept | Fate::Condemned(_)));
        if form != Form::Full || is_gone(self.fate(at)) {
            return Ok((frame, None));
        }
        Ok((frame, store.hot_original(&located, raw).ok()))
    }

    fn fate(&mut self, at: Position) -> Result<Fate> {
        self.store.fate_after(self.fates.last(at)?)
    }
}
