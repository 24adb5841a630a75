//! The store: one opened vault.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, TryLockError};

use arc_swap::{ArcSwap, Guard};
use spanvault_env::sync::{Mutex, MutexGuard, RwLock};
use spanvault_env::{ClockState, Env, LockHandle, StoreClock};
use spanvault_types::key::{self, Table};
use spanvault_types::{Counts, Position, StoreTime};

use crate::cold::Packing;
use crate::damage::{Damage, Fault};
use crate::deferred::Deferred;
use crate::durability::Durability;
use crate::error::{Result, StoreError};
use crate::flush::Flush;
use crate::handles::Handles;
use crate::layout::Layout;
use crate::lookup::Scans;
use crate::reserve::{Reserve, is_ledger};
use crate::segment::{COMMIT_KIND, Cursor};
use crate::sidecar::Recent;
use crate::stamp::CheckKey;
use crate::tier::Cold;
use crate::view::View;
use crate::writer::{Writer, WriterState, flush_error};

/// How a vault is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Changes no byte and needs no lock; works beside a writer (I67).
    Read,
    /// Takes the lock of the vault; makes the vault where there is none.
    Write,
}

/// Settings of a store. None of them changes what is on the disk already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// A segment is sealed before it grows longer than this, in bytes. A batch is never split.
    pub segment_bytes: u64,
    /// A segment is sealed once it has this many frames: it bounds the memory for the open one.
    pub segment_frames: u64,
    /// Bytes kept free for holds, tombstones and freeing on a full disk. Enough for the events of one segment, so that
    /// it can be rewritten.
    pub reserve_bytes: u64,
    /// How originals are packed when they are demoted.
    pub packing: Packing,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            segment_frames: 1 << 15,
            reserve_bytes: 4 << 20,
            packing: Packing::Single,
        }
    }
}

/// The end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last position.
    pub position: Position,
    /// The chain value of the last commit.
    pub chain: [u8; 32],
}

/// One opened vault. Shared between threads by reference.
#[derive(Debug)]
pub struct Store {
    pub(crate) env: Env,
    pub(crate) layout: Layout,
    pub(crate) key: CheckKey,
    pub(crate) options: StoreOptions,
    pub(crate) clock: StoreClock,
    pub(crate) view: ArcSwap<View>,
    pub(crate) tip: RwLock<Cursor>,
    /// The next position, as in the tip.
    pub(crate) next: AtomicU64,
    pub(crate) flush: Arc<Flush>,
    pub(crate) deferred: Deferred,
    pub(crate) handles: Handles,
    pub(crate) scans: Scans,
    pub(crate) recent: Recent,
    pub(crate) cold: Cold,
    pub(crate) reserve: Reserve,
    pub(crate) damage: Mutex<BTreeSet<Damage>>,
    pub(crate) writer: Mutex<WriterState>,
    /// Held while the file of a segment is replaced, until the view says so too.
    pub(crate) replacing: Mutex<()>,
    /// Held as long as this lives; `None` for a reader.
    pub(crate) lock: Option<Box<dyn LockHandle>>,
}

impl Drop for Store {
    /// What was written ahead is given back. After a failure nobody knows what the file holds, and it is left alone.
    fn drop(&mut self) {
        if self.lock.is_some()
            && let Ok(mut writer) = self.lock()
        {
            writer.cut_room(&self.view().open);
        }
    }
}

impl Store {
    /// Takes the writer lock; waits for whoever has it in this process.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] for a reader; [`StoreError::Poisoned`] after a failed write or sync, or where a
    /// thread panicked while it held the lock.
    pub fn lock(&self) -> Result<Writer<'_>> {
        if self.lock.is_none() {
            return Err(StoreError::ReadOnly);
        }
        match self.writer.lock() {
            Ok(_) | Err(_) if self.flush.is_poisoned() => Err(StoreError::Poisoned),
            Ok(state) => Ok(Writer::new(self, state)),
            Err(_panicked) => {
                self.flush.poison();
                Err(StoreError::Poisoned)
            }
        }
    }

    /// Returns when everything up to `through`, as far as it was appended, is durable. Calls that wait at the same
    /// time share one sync.
    ///
    /// # Errors
    /// After any failed sync, for good: [`StoreError::Poisoned`] (I8).
    pub fn sync(&self, through: Position) -> Result<()> {
        self.flush.sync(through.get()).map_err(|error| flush_error(self, error))
    }

    /// Makes everything up to `through`, as far as it was appended, as durable as is asked.
    ///
    /// # Errors
    /// As [`Store::sync`].
    pub fn settle(&self, through: Position, durability: Durability) -> Result<()> {
        match durability {
            Durability::Sync => self.sync(through),
            Durability::Group(within) => self.deferred.sync(within).map_err(|error| flush_error(self, error)),
            Durability::Buffered => Ok(()),
        }
    }

    /// The end of the log, as this process sees it.
    pub fn head(&self) -> Head {
        let tip = self.tip();
        Head { position: Position::new(tip.next.saturating_sub(1)), chain: tip.chain }
    }

    /// The last position known to be durable. For a reader: known to have been acknowledged.
    pub fn durable(&self) -> Position {
        Position::new(self.flush.durable())
    }

    /// Counts at the end of the log.
    pub fn counts(&self) -> Counts {
        self.tip().counts
    }

    /// Store time.
    pub fn now(&self) -> StoreTime {
        self.clock.now()
    }

    /// Whether deletions may rest on the clock.
    pub fn clock_state(&self) -> ClockState {
        self.clock.state()
    }

    /// The clock of this vault.
    pub const fn clock(&self) -> &StoreClock {
        &self.clock
    }

    /// Whether a write or sync failed, so that only reopening helps.
    pub fn is_poisoned(&self) -> bool {
        self.flush.is_poisoned() || matches!(self.writer.try_lock(), Err(TryLockError::Poisoned(_)))
    }

    /// How often the hint of what was acknowledged could not be written. It weakens what a reopening can tell; it
    /// endangers nothing.
    pub fn hint_failures(&self) -> u64 {
        self.flush.hint_failures()
    }

    /// Bytes of the reserve that are there at the moment; a reader has none.
    pub fn reserve_bytes(&self) -> u64 {
        self.reserve.held()
    }

    /// All damage met so far, by opening, reading and `verify`, sorted by position.
    ///
    /// A look-up that finds nothing proves absence only where this is empty: the keys of a damaged frame may be
    /// unknown (I16).
    pub fn damage(&self) -> Vec<Damage> {
        self.damage_set().iter().copied().collect()
    }

    /// The first position of each stretch of the log of which nobody knows under which keys it was found, ascending: what a
    /// scan of keys would otherwise pass by in silence. Records that can be told to be of the ledger alone are not among
    /// them.
    ///
    /// # Errors
    /// As [`Store::scan`].
    pub fn unread_records(&self) -> Result<BTreeSet<Position>> {
        let missing = {
            let damage = self.damage_set();
            let missing = damage.iter().filter(|damage| damage.fault == Fault::Missing);
            missing.map(|damage| damage.from).collect::<Vec<_>>()
        };
        let mut lost: BTreeSet<Position> = missing.into_iter().collect();
        for (found, at) in self.scan(&[Table::Unread as u8])? {
            // More than one frame, or one whose head is gone, may have been anything.
            let is_one = key::field(&found, 1) == Some(at);
            let is_of_the_ledger = || {
                let head = self.retrying(|| self.raw_frame(&self.locate(at)?, 0)).map(|raw| raw.head);
                head.is_ok_and(|head| head.kind == COMMIT_KIND || is_ledger(head.kind))
            };
            if !(is_one && is_of_the_ledger()) {
                lost.insert(at);
            }
        }
        Ok(lost)
    }

    pub(crate) fn note_damage(&self, damage: Damage) {
        self.damage_set().insert(damage);
    }

    pub(crate) fn damage_set(&self) -> MutexGuard<'_, BTreeSet<Damage>> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The segments as they are now; nothing is locked.
    pub(crate) fn view(&self) -> Guard<Arc<View>> {
        self.view.load()
    }

    pub(crate) fn set_view(&self, view: View) {
        self.view.store(Arc::new(view));
    }

    pub(crate) fn replacing(&self) -> MutexGuard<'_, ()> {
        self.replacing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tip(&self) -> Cursor {
        *self.tip.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_tip(&self, tip: Cursor) {
        *self.tip.write().unwrap_or_else(PoisonError::into_inner) = tip;
        self.next.store(tip.next, Ordering::Release);
    }
}
