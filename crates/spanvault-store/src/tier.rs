//! The cold tier: which pack has an original, and the original out of it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use spanvault_env::OpenMode;
use spanvault_env::sync::{Mutex, MutexGuard};
use spanvault_types::key::{self, Table};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{ContentHash, Event, Position};

use crate::cold::{Line, Method, Pack};
use crate::damage::{Damage, Fault};
use crate::error::{Result, StoreError, io_error};
use crate::read::Original;
use crate::sidecar::Unusable;
use crate::store::Store;
use crate::unrecorded::Unrecorded;
use crate::whereabouts::Fate;

/// Demotions and opened packs that are kept at hand, each.
const KEPT_MAX: usize = 32;

/// One `Demoted` record: what its pack holds.
#[derive(Debug)]
pub(crate) struct Demotion {
    pub(crate) pack: u64,
    /// Ascending; the place of an original is the number of its entry.
    pub(crate) originals: Vec<Position>,
    /// Whether the log's record of it was read. If not, the pack's own directory was, and the chain proves it: enough to
    /// read by, not enough to drop another copy for (I47).
    pub(crate) is_on_record: bool,
}

/// What was looked at last.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    items: Mutex<Items<T>>,
}

#[derive(Debug)]
struct Items<T> {
    newest: VecDeque<(u64, Arc<T>)>,
    /// How often one was forgotten: what was begun to be made before may be of a file that is gone.
    forgotten: u64,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { items: Mutex::new(Items { newest: VecDeque::new(), forgotten: 0 }) }
    }
}

impl<T> Kept<T> {
    /// The item `id`, made by `make` if it is not at hand.
    pub(crate) fn get<E>(
        &self,
        id: u64,
        make: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<Arc<T>, E> {
        let forgotten = {
            let items = self.items();
            if let Some((_id, item)) = items.newest.iter().find(|(kept, _)| *kept == id) {
                return Ok(Arc::clone(item));
            }
            items.forgotten
        };
        let made = Arc::new(make()?);
        let mut items = self.items();
        if items.forgotten == forgotten {
            items.newest.push_front((id, Arc::clone(&made)));
            items.newest.truncate(KEPT_MAX);
        }
        Ok(made)
    }

    fn forget(&self, id: u64) {
        let mut items = self.items();
        items.newest.retain(|(kept, _)| *kept != id);
        items.forgotten += 1;
    }

    fn items(&self) -> MutexGuard<'_, Items<T>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cold side of a store.
#[derive(Debug, Default)]
pub(crate) struct Cold {
    demotions: Kept<Demotion>,
    packs: Kept<Pack>,
    pub(crate) unrecorded: Unrecorded,
    /// The fates that records tell of many originals at once.
    pub(crate) fates: Kept<Fate>,
    /// Of damaged records: whether they tell the fate of several originals.
    pub(crate) names_several: Kept<bool>,
}

impl Store {
    /// The last demotion of the original at `at`.
    pub(crate) fn demotion(&self, at: Position) -> Result<Option<Arc<Demotion>>> {
        self.last_demotion(at)?.map_or(Ok(None), |record| self.demotion_at(record))
    }

    /// The last record that demoted the original at `at`.
    pub(crate) fn last_demotion(&self, at: Position) -> Result<Option<Position>> {
        Ok(self.last_under(&key::key(Table::Cold, &[at]))?.map(|entry| Position::new(entry.at)))
    }

    /// The demotion that the record at `record` tells of; where it is damaged, as its pack tells it.
    pub(crate) fn demotion_at(&self, record: Position) -> Result<Option<Arc<Demotion>>> {
        let read = || {
            let event = match self.frame(record) {
                Ok(frame) => frame.event,
                Err(lost @ (StoreError::Corrupt { .. } | StoreError::Missing { .. })) => {
                    return self.proven_demotion(record)?.map(Some).ok_or(lost);
                }
                Err(error) => return Err(error),
            };
            let Event::Demoted(demoted) = event else { return Ok(None) };
            Ok(Some(Demotion { pack: demoted.pack, originals: demoted.originals, is_on_record: true }))
        };
        let make = || read().and_then(|found| found.ok_or(StoreError::NotFound { at: record }));
        match self.cold.demotions.get(record.get(), make) {
            Err(StoreError::NotFound { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// The pack `id`, opened.
    pub(crate) fn pack(&self, id: u64) -> std::result::Result<Arc<Pack>, Unusable> {
        self.cold.packs.get(id, || {
            let file = self.env.disk.open(&self.layout.pack(id), OpenMode::Read)?;
            Pack::open(Arc::from(file), &self.key, id)
        })
    }

    /// The pack `id`, or `None` where it is gone or cannot be told from noise.
    ///
    /// # Errors
    /// What the file system says: then nothing is known.
    pub(crate) fn usable_pack(&self, id: u64) -> Result<Option<Arc<Pack>>> {
        usable(self.pack(id)).map_err(io_error("read", &self.layout.pack(id)))
    }

    /// Lets an opened pack go, because its file was replaced or removed.
    pub(crate) fn forget_pack(&self, id: u64) {
        self.cold.packs.forget(id);
    }

    /// The pack that the original at `at` was demoted to, and its line there. The line is good in this pack alone: one that
    /// was written in its place since has its entries elsewhere.
    fn cold_line(
        &self,
        at: Position,
        demotion: &Demotion,
    ) -> std::result::Result<(Arc<Pack>, Line), Unusable> {
        let number = demotion.originals.binary_search(&at).map_err(|_absent| Unusable::Damaged)?;
        let pack = self.pack(demotion.pack)?;
        let line = pack.line(crate::bytes::len_u64(number))?;
        if line.position != at.get() {
            return Err(Unusable::Damaged);
        }
        let pack = if is_planted(Bug::LineOfAnotherPack) { self.pack(demotion.pack)? } else { pack };
        Ok((pack, line))
    }

    /// The original at `at` out of its pack; `None` where it was never demoted. It is verified by what the pack knows it by,
    /// and by the hash that its frame names, where that can be read.
    pub(crate) fn cold_original(&self, at: Position, named: Option<ContentHash>) -> Result<Option<Original>> {
        let Some(demotion) = self.readable_demotion(at)? else { return Ok(None) };
        let read = || {
            let (pack, line) = self.cold_line(at, &demotion)?;
            pack.original(&line)
        };
        match read() {
            Ok((hash, _bytes)) if named.is_some_and(|named| named != hash) => {
                Err(self.cold_fault(at, &demotion, Unusable::Damaged))
            }
            Ok((hash, bytes)) => Ok(Some(Original { at, hash, bytes })),
            Err(unusable) => Err(self.cold_fault(at, &demotion, unusable)),
        }
    }

    /// A stretch of the original at `at` out of the pieces that its pack has of it, each verified; `None` where it is
    /// not there in pieces, or cannot be read so.
    pub(crate) fn cold_stretch(&self, at: Position, range: &Range<u64>) -> Result<Option<Vec<u8>>> {
        let Some(demotion) = self.readable_demotion(at)? else { return Ok(None) };
        let stretch = || {
            let (pack, line) = self.cold_line(at, &demotion)?;
            pack.stretch(&line, range)
        };
        Ok(usable(stretch()).map_err(io_error("read", &self.layout.pack(demotion.pack)))?.flatten())
    }

    /// Whether a pack has the original at `at`, as far as is known without unpacking it.
    pub(crate) fn is_cold(&self, at: Position, demotion: &Demotion) -> bool {
        let there = self.cold_line(at, demotion).is_ok_and(|(_pack, line)| line.method != Method::Dropped);
        let is_damaged = |damage: &Damage| (damage.fault, damage.segment) == (Fault::ColdCopy, demotion.pack);
        there && !self.has_damage(at, is_damaged)
    }

    /// Whether all originals of a pack are reclaimed, so that its file need not be there.
    pub(crate) fn is_pack_spent(&self, demotion: &Demotion) -> Result<bool> {
        for at in &demotion.originals {
            if !matches!(self.fate(*at)?, Fate::Reclaimed(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The line of an entry, or `None` where it is damaged.
    ///
    /// # Errors
    /// What the file system says: then nothing is known.
    pub(crate) fn usable_line(&self, pack: &Pack, id: u64, number: u64) -> Result<Option<Line>> {
        usable(pack.line(number)).map_err(io_error("read", &self.layout.pack(id)))
    }

    fn cold_fault(&self, at: Position, demotion: &Demotion, unusable: Unusable) -> StoreError {
        let path = self.layout.pack(demotion.pack);
        let gone = match unusable {
            Unusable::Io(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return io_error("read", &path)(error);
            }
            Unusable::Io(_not_found) => true,
            Unusable::Damaged => false,
        };
        // A pack is written anew, or removed, once its originals are gone: no damage.
        match self.reclaimed(at) {
            Ok(None) => {}
            Ok(Some(_gone)) if is_planted(Bug::GoneForDamaged) => {}
            Ok(Some(gone)) => return gone,
            Err(error) => return error,
        }
        let (segment, fault) = (demotion.pack, Fault::ColdCopy);
        self.note_damage(Damage { from: at, to: at, segment, offset: 0, fault });
        if gone { StoreError::Missing { at } } else { StoreError::Corrupt { at, what: fault.as_str() } }
    }
}

/// What can be used, or `None` where it is damaged or gone.
pub(crate) fn usable<T>(found: std::result::Result<T, Unusable>) -> std::io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Unusable::Io(error)) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Err(Unusable::Damaged | Unusable::Io(_)) => Ok(None),
    }
}
