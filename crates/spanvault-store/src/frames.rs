//! Steps through the frames of the log in order.

use std::sync::Arc;

use spanvault_types::Position;
use spanvault_types::planted::{Bug, is_planted};

use crate::error::{Result, StoreError};
use crate::handles::FileId;
use crate::lookup::Located;
use crate::read::{EVENT_READ_BYTES, Frame, RawFrame, ReadAhead};
use crate::segment::Slot;
use crate::store::Store;
use crate::view::Home;

/// Frames in the order of their positions; made by [`Store::frames`].
///
/// A damaged frame is an error of its own, and the next call goes on behind it. A stretch that is missing is one
/// error, which names its first position.
#[derive(Debug)]
pub struct Frames<'s> {
    store: &'s Store,
    next: u64,
    /// The position after the last frame to give.
    until: u64,
    /// Slots from some position on, so that a sidecar is not asked for each frame.
    slots: Arc<[Slot]>,
    slots_first: u64,
    /// The file that they are of: one that takes its place has others.
    slots_of: Option<FileId>,
    ahead: ReadAhead,
}

impl Store {
    /// The frames from `from` to the end that the log has now.
    pub fn frames(&self, from: Position) -> Frames<'_> {
        let (next, until) = (from.get().max(1), self.tip().next);
        let ahead = ReadAhead::default();
        Frames { store: self, next, until, slots: Arc::default(), slots_first: 0, slots_of: None, ahead }
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame>;

    fn next(&mut self) -> Option<Self::Item> {
        let store = self.store;
        self.next_raw().map(|found| {
            let (located, raw) = found?;
            store.to_frame(&located, &raw)
        })
    }
}

impl<'s> Frames<'s> {
    pub(crate) const fn store(&self) -> &'s Store {
        self.store
    }

    /// The next frame as it was read, and where.
    pub(crate) fn next_raw(&mut self) -> Option<Result<(Located, RawFrame)>> {
        if self.next >= self.until {
            return None;
        }
        let at = self.next;
        self.next += 1;
        Some(match self.raw(at) {
            // The slots at hand are those of the file before.
            Err(StoreError::Rewritten { .. }) => self.store.raw_frame_at(Position::new(at), EVENT_READ_BYTES),
            other => other,
        })
    }

    fn raw(&mut self, at: u64) -> Result<(Located, RawFrame)> {
        let store = self.store;
        let view = store.view();
        match view.home(at) {
            Home::Open(_) => {
                let located = store.locate(Position::new(at))?;
                let raw = store.raw_frame_ahead(&located, &mut self.ahead)?;
                Ok((located, raw))
            }
            Home::Sealed(segment, until) => {
                let is_of_another = self.slots_of != Some(segment.log_id()) && !is_planted(Bug::OldPlaces);
                if is_of_another || self.slot(at).is_none() {
                    self.slots_of = Some(segment.log_id());
                    (self.slots_first, self.slots) = store.slots(segment, until, at)?;
                }
                let Some(slot) = self.slot(at) else { return Err(self.skip_to(until, at)) };
                let until = self.slot(at + 1).and_then(Slot::offset);
                let file = store.log_file(segment)?;
                let located = Located { at, file, segment: segment.number(), slot, until };
                let raw = store.raw_frame_ahead(&located, &mut self.ahead)?;
                Ok((located, raw))
            }
            Home::Nowhere => {
                let first = view.sealed.first().map_or(view.open.head.first, |segment| segment.head.first);
                Err(self.skip_to(first, at))
            }
        }
    }

    fn slot(&self, at: u64) -> Option<Slot> {
        let index = usize::try_from(at.checked_sub(self.slots_first)?).ok()?;
        self.slots.get(index).copied()
    }

    fn skip_to(&mut self, next: u64, at: u64) -> StoreError {
        self.next = next.max(self.next);
        StoreError::Missing { at: Position::new(at) }
    }
}
