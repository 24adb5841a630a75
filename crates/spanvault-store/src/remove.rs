//! Removes originals, by permit.
//!
//! The third of three barriers that do not trust each other: `spanvault_gate::RemovalPermit` is the first, the ban in
//! `clippy.toml` the second. A tombstone is durable before anything else happens; from then on the original is
//! unreachable, and its bytes leave the disk with [`Store::free_space`] (I41).

use std::collections::BTreeSet;

use spanvault_gate::{LockEpoch, RemovalPermit};
use spanvault_types::{Event, EvidentialClass, OriginalRef, Position, Reclaimed};

use crate::batch::Tombstone;
use crate::error::{Result, StoreError};
use crate::frame::Name;
use crate::store::Store;
use crate::whereabouts::Fate;
use crate::writer::Writer;

/// One original to remove.
#[derive(Debug)]
pub struct Removal {
    /// What allows it.
    pub permit: RemovalPermit,
    /// The strictest class of the spans that have it.
    pub class: EvidentialClass,
}

impl Store {
    /// Commits a tombstone for each original, all of them or none. From then on they are unreachable.
    ///
    /// Returns the tombstones, in the order of the removals.
    ///
    /// # Errors
    /// [`StoreError::StalePermit`] for a permit that was made under another hold of the lock or before something else
    /// was committed under this one; [`StoreError::NotCondemned`]; [`StoreError::Reclaimed`] for what is gone already;
    /// [`StoreError::Corrupt`] where the log cannot say what would go. In each case nothing goes.
    pub fn remove(&self, writer: &mut Writer<'_>, removals: Vec<Removal>) -> Result<Vec<Position>> {
        writer.belongs_to(self)?;
        let (epoch, revision) = (LockEpoch::new(writer.epoch()), writer.revision());
        let mut batch = writer.begin();
        let mut seen = BTreeSet::new();
        let mut tombstones = Vec::with_capacity(removals.len());
        for Removal { permit, class } in removals {
            let at = permit.original();
            if !seen.insert(at) {
                return Err(StoreError::StalePermit { at });
            }
            if permit.epoch() != epoch || permit.revision() != revision {
                return Err(StoreError::StalePermit { at });
            }
            match self.fate(at)? {
                // A record behind the condemnation that nobody can read may have ended it.
                Fate::Condemned(by) => {
                    if let Some(doubt) = self.unproven_after(by) {
                        return Err(doubt);
                    }
                }
                Fate::Kept => return Err(StoreError::NotCondemned { at }),
                Fate::Reclaimed(tombstone) => return Err(StoreError::Reclaimed { at, tombstone }),
            }
            let (name, commitment, bytes) = self.named(at)?;
            let event = Event::Reclaimed(Reclaimed {
                original: OriginalRef { at, commitment },
                bytes,
                class,
                at: permit.at(),
                revision,
                expired_at: permit.expired_at(),
                condemned_at: permit.condemned_at(),
            });
            tombstones.push(batch.push_tombstone(event, Tombstone { name, bytes }));
        }
        writer.commit(batch)?;
        Ok(tombstones)
    }

    /// What names the original at `at`, and its length.
    fn named(&self, at: Position) -> Result<(Name, spanvault_types::Commitment, u64)> {
        let (located, raw) = self.retrying(|| self.carrier(at, 0))?;
        let intact = raw.event().is_some() && located.at == at.get();
        match raw.name.commitment() {
            Some(commitment) if intact => Ok((raw.name, commitment, raw.head.body_len)),
            _ => Err(StoreError::NoOriginal { at }),
        }
    }
}
