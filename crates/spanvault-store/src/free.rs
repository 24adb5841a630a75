//! Gives space back: bodies that were demoted or reclaimed leave the disk.
//!
//! A segment is replaced by its events and living bodies, a pack by its living entries. Nothing is decided here: a hot
//! body goes only where its cold copy was read and hashed just now, or where a tombstone says that it is gone.

use std::collections::BTreeMap;
use std::sync::Arc;

use spanvault_types::key::Table;
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{ContentHash, Position};

use crate::error::{Result, StoreError, io_error};
use crate::frame::Form;
use crate::lookup::Index;
use crate::rebuild::Progress;
use crate::segment::{KeyRange, first_position};
use crate::store::Store;
use crate::tier::usable;
use crate::view::Sealed;
use crate::whereabouts::Fate;
use crate::writer::Writer;

/// When a file is worth rewriting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FreeOptions {
    /// A segment or pack is rewritten once at least this many of a hundred of its bytes are dead; 0: at the first.
    pub dead_percent_min: u8,
}

impl FreeOptions {
    fn is_worth(self, dead: u64, whole: u64) -> bool {
        dead > 0 && u128::from(dead) * 100 >= u128::from(whole) * u128::from(self.dead_percent_min)
    }
}

/// What freeing did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FreeReport {
    /// What the file system got back, in bytes. A reader that has an old file open keeps it until it looks again.
    pub bytes_freed: u64,
    /// Segments that were rewritten.
    pub segments: u64,
    /// Packs that were rewritten or removed.
    pub packs: u64,
    /// Dead bytes that wait for their share of a file to grow.
    pub bytes_waiting: u64,
    /// Segments and packs that could not be read well enough to be rewritten: they stay as they are (I47).
    pub unreadable: Vec<u64>,
}

/// A file and what of it is dead.
#[derive(Debug)]
struct Dead {
    id: u64,
    bytes: u64,
    file_bytes: u64,
}

impl Store {
    /// Rewrites every segment and pack that has enough dead bytes. It may be cut at any instant, and does no harm when it
    /// is done again. `progress` counts files.
    ///
    /// # Errors
    /// [`StoreError::NoSpace`] where even the reserve is too small to rewrite the smallest file; other errors of the file
    /// system. What was freed before stays freed.
    pub fn free_space(
        &self,
        writer: &mut Writer<'_>,
        options: FreeOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<FreeReport> {
        writer.belongs_to(self)?;
        let mut report = FreeReport::default();
        let reserved = self.reserve.held();
        self.sweep_packs()?;
        self.seal_dead(writer, options)?;
        let segments = self.dead_segments(options, &mut report)?;
        let packs = self.dead_packs(options, &mut report)?;
        let total = crate::bytes::len_u64(segments.len() + packs.len());
        let mut done = 0;
        let mut step = || {
            progress(Progress { done, total });
            done += 1;
        };
        // Packs first: some only go. Then what needs the least room, so that a full disk gets room to go on.
        for pack in packs {
            step();
            match self.with_reserve(|| self.rewrite_pack(pack.id))? {
                Some(freed) => {
                    report.bytes_freed += freed;
                    report.packs += 1;
                }
                None => report.unreadable.push(pack.id),
            }
        }
        for segment in segments {
            step();
            match self.with_reserve(|| self.rewrite_segment(segment.id))? {
                Some(freed) => {
                    report.bytes_freed += freed;
                    report.segments += u64::from(freed > 0);
                }
                None => report.unreadable.push(segment.id),
            }
        }
        step();
        self.reserve.refill(reserved);
        Ok(report)
    }

    /// Tries again with the reserve where there is no space.
    fn with_reserve<T>(&self, attempt: impl Fn() -> Result<T>) -> Result<T> {
        match attempt() {
            Err(StoreError::NoSpace { .. }) if self.reserve.release_all() => attempt(),
            other => other,
        }
    }

    /// Seals the open segment if there is enough in it to free.
    fn seal_dead(&self, writer: &mut Writer<'_>, options: FreeOptions) -> Result<()> {
        let view = self.view();
        let (first, end, has_bodies) = {
            let map = view.open.map();
            (map.first, map.end, map.body_bytes > 0)
        };
        if has_bodies {
            let until = self.tip().next;
            let bodies = self.bodies_to_drop(first, until)?;
            if options.is_worth(bodies.iter().map(|(_at, bytes)| bytes).sum(), end) {
                return writer.seal_at_any_price();
            }
        }
        Ok(())
    }

    fn dead_segments(&self, options: FreeOptions, report: &mut FreeReport) -> Result<Vec<Dead>> {
        let mut found = Vec::new();
        let view = self.view();
        for (segment, until) in view.sealed() {
            let body_bytes = self.with_index(segment, until, |index| {
                Ok(match index {
                    Index::Sidecar(sidecar, _) => sidecar.body_bytes,
                    Index::Scanned(map) => map.body_bytes,
                })
            })?;
            if body_bytes == 0 {
                continue;
            }
            let bodies = self.bodies_to_drop(segment.head.first, until)?;
            let bytes: u64 = bodies.iter().map(|(_at, bytes)| bytes).sum();
            let file_bytes = self.file_bytes(segment)?;
            if options.is_worth(bytes, file_bytes) {
                found.push(Dead { id: segment.number(), bytes, file_bytes });
            } else {
                report.bytes_waiting += bytes;
            }
        }
        found.sort_by_key(|dead| dead.file_bytes.saturating_sub(dead.bytes));
        Ok(found)
    }

    fn file_bytes(&self, segment: &Arc<Sealed>) -> Result<u64> {
        let path = self.layout.segment(segment.number());
        self.log_file(segment)?.len().map_err(io_error("read", &path))
    }

    /// The bodies between two positions that need not be in the log any more, with their lengths.
    pub(crate) fn bodies_to_drop(&self, first: u64, until: u64) -> Result<Vec<(Position, u64)>> {
        // With the last record of its fate, which is the last of its entries.
        let mut candidates = BTreeMap::new();
        for table in [Table::Cold, Table::Fate] {
            let Some(range) = KeyRange::positions(table, first, until) else { continue };
            for entry in self.scan_range(&range)? {
                let fate = (table == Table::Fate).then(|| Position::new(entry.at));
                candidates.extend(first_position(&entry.key).map(|at| (Position::new(at), fate)));
            }
        }
        let mut bodies = Vec::new();
        for (at, last_fate) in candidates {
            let head = match self.retrying(|| self.raw_frame(&self.locate(at)?, 0)) {
                Ok(raw) => raw.head,
                // Damaged: it stays as it is, and is reported where it is read.
                Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => continue,
                Err(error) => return Err(error),
            };
            if head.form == Form::Full && self.may_drop(at, last_fate)? {
                bodies.push((at, head.body_len));
            }
        }
        Ok(bodies)
    }

    /// Whether the log's copy of an original need not stay: it is reclaimed, or a pack has it.
    fn may_drop(&self, at: Position, last_fate: Option<Position>) -> Result<bool> {
        if is_over(self.fate_after(last_fate)?) {
            return Ok(true);
        }
        let demotion = self.demotion(at)?.filter(|demotion| demotion.is_on_record);
        Ok(demotion.is_some_and(|demotion| self.is_cold(at, &demotion)))
    }

    /// As [`Store::may_drop`], and the cold copy is read and hashed: it will be the only one (I44). Where nobody can read the
    /// hash that the frame names it by, the copy in it stays.
    pub(crate) fn need_not_stay(&self, at: Position, named: Option<ContentHash>) -> Result<bool> {
        if is_over(self.fate(at)?) {
            return Ok(true);
        }
        let cold = || {
            let is_on_record = self.demotion(at)?.is_some_and(|demotion| demotion.is_on_record);
            Ok(is_on_record && named.is_some() && self.cold_original(at, named)?.is_some())
        };
        match cold() {
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => Ok(false),
            other => other,
        }
    }

    /// The packs that have entries of reclaimed originals.
    fn dead_packs(&self, options: FreeOptions, report: &mut FreeReport) -> Result<Vec<Dead>> {
        let mut found = Vec::new();
        for (_key, record) in self.scan(&[Table::Pack as u8])? {
            let Some(demotion) = self.demotion_at(record)? else { continue };
            let (Some(first), Some(last)) = (demotion.originals.first(), demotion.originals.last()) else {
                continue;
            };
            let range = KeyRange::positions(Table::Fate, first.get(), last.get() + 1);
            if range.map(|range| self.scan_range(&range)).transpose()?.is_none_or(|fates| fates.is_empty()) {
                continue;
            }
            let Some(pack) = self.usable_pack(demotion.pack)? else { continue };
            let mut is_empty = true;
            let (mut living, mut dead) = (BTreeMap::new(), BTreeMap::new());
            for (number, at) in (0..).zip(&demotion.originals) {
                let Some(line) = self.usable_line(&pack, demotion.pack, number)? else {
                    is_empty = false;
                    continue;
                };
                let is_dead = line.method == crate::cold::Method::Dropped
                    || matches!(self.fate(*at)?, Fate::Reclaimed(_));
                is_empty &= is_dead;
                // A piece that a living original shares with a dead one lives.
                let stored = if is_dead { &mut dead } else { &mut living };
                stored.insert((line.offset, line.position), line.share());
                let pieces =
                    usable(pack.pieces(&line)).map_err(io_error("read", &self.layout.pack(demotion.pack)))?;
                stored.extend(pieces.into_iter().flatten().map(|piece| ((piece.offset, 0), piece.stored)));
            }
            let bytes: u64 =
                dead.iter().filter(|(place, _)| !living.contains_key(place)).map(|(_, stored)| stored).sum();
            let file_bytes = bytes + living.values().sum::<u64>();
            if is_empty || options.is_worth(bytes, file_bytes) {
                found.push(Dead { id: demotion.pack, bytes, file_bytes });
            } else {
                report.bytes_waiting += bytes;
            }
        }
        found.sort_by_key(|dead| dead.file_bytes - dead.bytes);
        Ok(found)
    }
}

/// Whether a tombstone says that an original is gone.
fn is_over(fate: Fate) -> bool {
    let is_condemned = matches!(fate, Fate::Condemned(_));
    matches!(fate, Fate::Reclaimed(_)) || is_planted(Bug::BytesBeforeTombstone) && is_condemned
}
