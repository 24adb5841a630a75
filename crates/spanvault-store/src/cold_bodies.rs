//! Originals out of cold packs one after the other, for whoever wants many of them.
//!
//! [`Store::original`] looks a demoted original up in the log, asks what became of it, and reads its line and its bytes
//! with a call each. Here the records are read in stretches and a pack in large pieces; the checks are the same. A block of
//! several originals is unpacked once for those that are asked for one after the other.

use std::sync::Arc;

use spanvault_types::key::Table;
use spanvault_types::{ContentHash, Position};

use crate::bytes::len_u64;
use crate::cold::Pack;
use crate::column::Column;
use crate::store::Store;
use crate::tier::Demotion;
use crate::whereabouts::Fate;
use crate::window::Window;

/// Originals of the cold tier; made by [`Store::cold_bodies`]. What became of an original is read in stretches: one that
/// goes meanwhile may still be given.
#[derive(Debug)]
pub struct ColdBodies<'s> {
    store: &'s Store,
    fates: Column<'s>,
    demotions: Column<'s>,
    reading: Option<Reading>,
}

/// The pack that is read at the moment.
#[derive(Debug)]
struct Reading {
    /// The record that demoted what is in it.
    record: Position,
    demotion: Arc<Demotion>,
    pack: Arc<Pack>,
    lines: Window,
    blocks: Window,
}

impl Store {
    /// Reads originals of the cold tier, to be asked in ascending order.
    pub const fn cold_bodies(&self) -> ColdBodies<'_> {
        ColdBodies {
            store: self,
            fates: self.column(Table::Fate),
            demotions: self.column(Table::Cold),
            reading: None,
        }
    }
}

impl ColdBodies<'_> {
    /// The bytes of the original at `at`, which hash to `hash`. `None` wherever they are not plainly there: then
    /// [`Store::original`] has them or says what is wrong.
    pub fn read(&mut self, at: Position, hash: &ContentHash) -> Option<Vec<u8>> {
        let record = self.demotions.last(at).ok()??;
        let fate = self.fates.last(at).and_then(|last| self.store.fate_after(last)).ok()?;
        if !matches!(fate, Fate::Kept | Fate::Condemned(_)) {
            return None;
        }
        let reading = match self.reading.take().filter(|reading| reading.record == record) {
            Some(reading) => reading,
            None => Reading::begin(self.store, record)?,
        };
        self.reading.insert(reading).read(at, hash)
    }
}

impl Reading {
    fn begin(store: &Store, record: Position) -> Option<Self> {
        let demotion = store.demotion_at(record).ok()?.filter(|demotion| demotion.is_on_record)?;
        let pack = store.pack(demotion.pack).ok()?;
        Some(Self { record, demotion, pack, lines: Window::default(), blocks: Window::default() })
    }

    fn read(&mut self, at: Position, hash: &ContentHash) -> Option<Vec<u8>> {
        let number = self.demotion.originals.binary_search(&at).ok()?;
        let line = self.pack.line_in(&mut self.lines, len_u64(number)).ok()?;
        if line.position != at.get() {
            return None;
        }
        let (found, bytes) = self.pack.original_in(&mut self.blocks, &line).ok()?;
        (found == *hash).then_some(bytes)
    }
}
