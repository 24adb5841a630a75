//! Steps through the originals of spans in the order of the log.

use spanvault_types::key::Table;
use spanvault_types::{Event, Position, SpanRecorded};

use crate::column::Column;
use crate::damage::Fault;
use crate::error::{Result, StoreError};
use crate::frame::Form;
use crate::frames::Frames;
use crate::lookup::Located;
use crate::read::RawFrame;
use crate::store::Store;
use crate::whereabouts::Whereabouts;

/// The originals that spans have, each with the span in its own frame and where it is; made by [`Store::originals`].
///
/// A frame of any kind that cannot be read is an error, as in [`Frames`].
#[derive(Debug)]
pub struct Originals<'s> {
    frames: Frames<'s>,
    fates: Column<'s>,
    demotions: Column<'s>,
}

impl Store {
    /// The originals of spans from `from` to the end that the log has now: of each what [`Store::whereabouts`] says, read
    /// in stretches.
    pub fn originals(&self, from: Position) -> Originals<'_> {
        let (fates, demotions) = (self.column(Table::Fate), self.column(Table::Cold));
        Originals { frames: self.frames(from), fates, demotions }
    }
}

impl Iterator for Originals<'_> {
    type Item = Result<(Position, SpanRecorded, Whereabouts)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (located, raw) = match self.frames.next_raw()? {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            };
            let at = Position::new(located.at);
            match raw.event() {
                Some(Event::SpanRecorded(span)) if span.original == at => {
                    return Some(Ok((at, span, self.place(at, located, raw))));
                }
                Some(_other) => {}
                None => return Some(Err(self.frames.store().corrupt(&located, Fault::Event))),
            }
        }
    }
}

impl Originals<'_> {
    fn place(&mut self, at: Position, located: Located, raw: RawFrame) -> Whereabouts {
        if raw.head.form == Form::Bare {
            return Whereabouts::Nothing;
        }
        let store = self.frames.store();
        let last_fate = self.fates.last(at);
        let place = last_fate
            .and_then(|last| store.place_of(at, Ok((located, raw)), last, || self.demotions.last(at)));
        match place {
            Err(StoreError::Rewritten { .. }) => store.whereabouts(at),
            other => other.unwrap_or(Whereabouts::Corrupt),
        }
    }
}
