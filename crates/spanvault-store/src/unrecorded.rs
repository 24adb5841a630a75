//! The second way to a pack: where the log's record of a demotion is damaged, the pack tells what it was.
//!
//! A pack's directory has all that its `Demoted` event says. Put in the place of the damaged record, that event gives the
//! chain value of its batch, or it does not: so it is proven, not guessed, that the record was this one and nothing else,
//! no tombstone above all.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use spanvault_env::sync::Mutex;
use spanvault_types::codec::Seat;
use spanvault_types::key::{self, Table};
use spanvault_types::{Demoted, Event, Position};

use crate::chain::Links;
use crate::damage::{Damage, Fault};
use crate::error::{Result, StoreError, io_error};
use crate::layout;
use crate::store::Store;
use crate::tier::Demotion;

/// Damaged records that are tried, and packs without a record that are tried for each.
const TRIED_MAX: usize = 64;

/// The demotions that only their packs tell of.
#[derive(Debug, Default)]
pub(crate) struct Unrecorded {
    found: Mutex<Search>,
}

/// Damaged records, ascending, and what they were.
type Proven = Arc<Vec<(Position, Arc<Demotion>)>>;

/// What a search found, and for which damage.
#[derive(Debug, Clone, Default)]
struct Search {
    lost: BTreeSet<Position>,
    found: Proven,
}

impl Store {
    /// The demotion by which the original at `at` may be read: the one on record, or one that is proven though its record
    /// is damaged.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] where the record is damaged and may have been something else; it names the record.
    pub(crate) fn readable_demotion(&self, at: Position) -> Result<Option<Arc<Demotion>>> {
        self.readable_demotion_by(at, self.last_demotion(at)?)
    }

    /// As [`Store::readable_demotion`], where the last record that demoted it is known.
    pub(crate) fn readable_demotion_by(
        &self,
        at: Position,
        last: Option<Position>,
    ) -> Result<Option<Arc<Demotion>>> {
        let demotion = match last.map_or(Ok(None), |record| self.demotion_at(record))? {
            Some(demotion) => Some(demotion),
            None => self.unrecorded(at)?,
        };
        let is_on_record = demotion.as_ref().is_none_or(|demotion| demotion.is_on_record);
        if !is_on_record && let Some(doubt) = self.unproven_after(at) {
            return Err(doubt);
        }
        Ok(demotion)
    }

    /// The demotion that the damaged record at `record` was, as the one pack says that fits it.
    pub(crate) fn proven_demotion(&self, record: Position) -> Result<Option<Demotion>> {
        let (mut with_key, mut known) = (Vec::new(), BTreeSet::new());
        for (pair, at) in self.scan(&[Table::Pack as u8])? {
            let Some(id) = key::field(&pair, 0).map(Position::get) else { continue };
            known.insert(id);
            with_key.extend((at == record).then_some(id));
        }
        let packs = if with_key.is_empty() { self.packs_beside(&known)? } else { with_key };
        for id in packs {
            if let Some(originals) = self.directory(id)?
                && self
                    .is_proven(record, &Event::Demoted(Demoted { pack: id, originals: originals.clone() }))?
            {
                return Ok(Some(Demotion { pack: id, originals, is_on_record: false }));
            }
        }
        Ok(None)
    }

    /// A demotion of `at` whose record is so damaged that it has no key.
    fn unrecorded(&self, at: Position) -> Result<Option<Arc<Demotion>>> {
        let found = self.all_unrecorded()?;
        let has =
            |(_record, demotion): &&(Position, Arc<Demotion>)| demotion.originals.binary_search(&at).is_ok();
        Ok(found.iter().rev().find(has).map(|(_record, demotion)| Arc::clone(demotion)))
    }

    /// The demotions that stand in the place of damaged records, ascending; looked for again when more is found damaged.
    fn all_unrecorded(&self) -> Result<Proven> {
        let lost = self.lost_records();
        if lost.is_empty() {
            return Ok(Arc::default());
        }
        let lock = || self.cold.unrecorded.found.lock().unwrap_or_else(PoisonError::into_inner);
        let before = lock().clone();
        if before.lost == lost {
            return Ok(before.found);
        }
        let mut found = Vec::new();
        for record in &lost {
            if let Some(demotion) = self.proven_demotion(*record)? {
                found.push((*record, Arc::new(demotion)));
            }
        }
        let found = Arc::new(found);
        *lock() = Search { lost, found: Arc::clone(&found) };
        Ok(found)
    }

    /// The error for the first damaged record behind `at` of which nothing says that it was a demotion: it may say that
    /// the original is gone.
    pub(crate) fn unproven_after(&self, at: Position) -> Option<StoreError> {
        let is_after = |damage: &&Damage| is_of_a_record(damage) && damage.to > at;
        let after: Vec<Damage> = self.damage_set().iter().filter(is_after).copied().collect();
        let is_unproven = |damage: &&Damage| {
            damage.from != damage.to || !self.demotion_at(damage.from).is_ok_and(|found| found.is_some())
        };
        let doubt = after.iter().find(is_unproven)?;
        Some(StoreError::Corrupt { at: doubt.from, what: doubt.fault.as_str() })
    }

    /// The records that were found damaged, as many as are tried.
    fn lost_records(&self) -> BTreeSet<Position> {
        let damage = self.damage_set();
        let single = damage.iter().filter(|damage| is_of_a_record(damage) && damage.from == damage.to);
        single.map(|damage| damage.from).take(TRIED_MAX).collect()
    }

    /// The packs that are there and of which no key of the log speaks.
    fn packs_beside(&self, known: &BTreeSet<u64>) -> Result<Vec<u64>> {
        let entries = match self.env.disk.list(&self.layout.cold) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.map_err(io_error("list", &self.layout.cold))?,
        };
        let ids = entries.iter().filter_map(|entry| layout::pack_id(&entry.name));
        Ok(ids.filter(|id| !known.contains(id)).take(TRIED_MAX).collect())
    }

    /// The positions of a pack's originals, in its order; `None` where not all of it can be read.
    pub(crate) fn directory(&self, id: u64) -> Result<Option<Vec<Position>>> {
        let Some(pack) = self.usable_pack(id)? else { return Ok(None) };
        let mut originals = Vec::new();
        for number in 0..pack.count() {
            let Some(line) = self.usable_line(&pack, id, number)? else { return Ok(None) };
            originals.push(Position::new(line.position));
        }
        Ok(Some(originals))
    }

    /// Whether the batch of the damaged record at `record` has its chain value with `event` in that place.
    fn is_proven(&self, record: Position, event: &Event) -> Result<bool> {
        let at = Position::new(record.get().saturating_add(1));
        let commit = match self.frame(at) {
            Ok(frame) => frame.event,
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. } | StoreError::NotFound { .. }) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let (Event::Commit(commit), Ok(bytes)) = (commit, event.encode(&Seat::bare(record))) else {
            return Ok(false);
        };
        let mut links = Links::default();
        links.add(record.get(), event.schema(), &bytes, None);
        let chain = links.close(at.get(), &commit);
        Ok(commit.first == record && chain.is_ok_and(|chain| chain == commit.chain))
    }
}

/// Whether damage concerns an event of the log, so that nobody knows what it said.
fn is_of_a_record(damage: &Damage) -> bool {
    matches!(damage.fault, Fault::Frame | Fault::Event | Fault::Missing)
}
