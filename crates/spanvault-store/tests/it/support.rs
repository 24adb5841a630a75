//! What the tests share: a vault on a simulated disk, and a ledger of what it acknowledged.

use std::path::PathBuf;
use std::sync::Arc;

use spanvault_env::{Env, SimClock, SimDisk};
use spanvault_store::{Access, Batch, OpenReport, Packing, Store, StoreError, StoreOptions};
use spanvault_types::key;
use spanvault_types::{
    ContentHash, Event, EvidentialClass, Position, Role, SessionOpened, SpanKind, SpanRecorded, StoreTime,
};

/// Where vaults stand on simulated disks.
pub(crate) fn dir() -> PathBuf {
    PathBuf::from("/home/vault")
}

/// Whether the long run was asked for, with `SPANVAULT_LONG=1`.
pub(crate) fn is_long() -> bool {
    std::env::var_os("SPANVAULT_LONG").is_some()
}

/// How far apart the cases of a sweep lie: all of them in the long run, one of `step` otherwise.
pub(crate) fn every(step: usize) -> usize {
    if is_long() { 1 } else { step }
}

/// Whether the dearer part of a sweep looks at this case: all of them in the long run, one of `step` otherwise.
pub(crate) fn in_turn(case: u64, step: u64) -> bool {
    is_long() || case.is_multiple_of(step)
}

/// A small vault with sealed segments, and what it acknowledged.
pub(crate) fn sealed_vault() -> (World, Ledger) {
    let world = World::new().with_segments_of(900);
    let store = world.open();
    let mut ledger = Ledger::default();
    for lens in [&[30, 0][..], &[200], &[1, 2, 3], &[64], &[90], &[5, 80]] {
        ledger.commit(&store, lens).unwrap();
    }
    drop(store);
    (world.restarted(), ledger)
}

/// A file of the vault.
pub(crate) fn file(name: &str) -> PathBuf {
    dir().join(name)
}

/// A simulated machine.
pub(crate) struct World {
    pub(crate) env: Env,
    pub(crate) disk: Arc<SimDisk>,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) options: StoreOptions,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::seeded(7)
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        let (env, disk, clock) = Env::simulated(seed);
        let options = StoreOptions { reserve_bytes: 0, ..StoreOptions::default() };
        Self { env, disk, clock, options }
    }

    /// Segments of about this many bytes.
    pub(crate) fn with_segments_of(mut self, bytes: u64) -> Self {
        self.options.segment_bytes = bytes;
        self
    }

    /// Whose originals are packed so.
    pub(crate) fn packing(mut self, packing: Packing) -> Self {
        self.options.packing = packing;
        self
    }

    /// The same machine with what is left on another disk.
    pub(crate) fn on(&self, disk: Arc<SimDisk>) -> Self {
        let env = self.env.with_disk(disk.clone());
        Self { env, disk, clock: Arc::clone(&self.clock), options: self.options }
    }

    /// After the process ended without a word.
    pub(crate) fn restarted(&self) -> Self {
        self.on(self.disk.restart())
    }

    pub(crate) fn try_open(&self, access: Access) -> Result<(Store, OpenReport), StoreError> {
        Store::open(self.env.clone(), &dir(), access, self.options)
    }

    pub(crate) fn open(&self) -> Store {
        let (store, report) = self.try_open(Access::Write).unwrap();
        assert!(report.is_sound(), "{report:?}");
        store
    }

    pub(crate) fn read(&self) -> Store {
        let (store, report) = self.try_open(Access::Read).unwrap();
        assert!(report.is_sound(), "{report:?}");
        store
    }
}

/// A span of session 1 with this original.
pub(crate) fn span(at: Position, ordinal: u64, bytes: &[u8]) -> Event {
    Event::SpanRecorded(SpanRecorded {
        session: Position::new(1),
        ordinal,
        source: Position::ZERO,
        record: String::new(),
        index: ordinal,
        original: at,
        bytes: bytes.len() as u64,
        tokens: bytes.len() as u64 / 4,
        role: Role::User,
        kind: SpanKind::Message,
        class: EvidentialClass::Narrative,
        timestamp_ms: None,
        recorded_at: StoreTime::from_ms(1),
        event_key: None,
    })
}

/// Adds a span whose original it carries.
pub(crate) fn push_span(batch: &mut Batch, ordinal: u64, bytes: &[u8]) -> Position {
    let event = span(batch.next(), ordinal, bytes);
    batch.push(event, Some(bytes.to_vec()))
}

/// Commits one span and returns its position.
pub(crate) fn record(store: &Store, ordinal: u64, bytes: &[u8]) -> Position {
    try_record(store, ordinal, bytes).unwrap()
}

pub(crate) fn try_record(store: &Store, ordinal: u64, bytes: &[u8]) -> Result<Position, StoreError> {
    let mut writer = store.lock()?;
    let mut batch = writer.begin();
    let at = push_span(&mut batch, ordinal, bytes);
    writer.commit(batch)?;
    Ok(at)
}

pub(crate) fn session(name: &str) -> Event {
    Event::SessionOpened(SessionOpened { name: name.into(), format: "test".into() })
}

/// Bytes that differ from one number to the next.
pub(crate) fn bytes_of(number: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    blake3::Hasher::new().update(&number.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// One batch, as the one who wrote it remembers it.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) originals: Vec<(Position, Vec<u8>)>,
    pub(crate) commit: Position,
    pub(crate) acked: bool,
}

/// What was written, kept outside the vault.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) batches: Vec<Written>,
    ordinal: u64,
}

impl Ledger {
    /// Writes a batch of spans of these lengths; it counts as acknowledged once [`Ledger::ack`] says so.
    pub(crate) fn append(&mut self, store: &Store, lens: &[usize]) -> Result<(), StoreError> {
        let mut writer = store.lock()?;
        let mut batch = writer.begin();
        let mut originals = Vec::new();
        for len in lens {
            let bytes = bytes_of(self.ordinal, *len);
            originals.push((push_span(&mut batch, self.ordinal, &bytes), bytes));
            self.ordinal += 1;
        }
        let commit = batch.next();
        self.batches.push(Written { originals, commit, acked: false });
        assert_eq!(writer.append(batch)?, commit);
        Ok(())
    }

    /// Syncs everything written.
    pub(crate) fn ack(&mut self, store: &Store) -> Result<(), StoreError> {
        let Some(last) = self.batches.last() else { return Ok(()) };
        store.sync(last.commit)?;
        for batch in &mut self.batches {
            batch.acked = true;
        }
        Ok(())
    }

    pub(crate) fn commit(&mut self, store: &Store, lens: &[usize]) -> Result<(), StoreError> {
        self.append(store, lens)?;
        self.ack(store)
    }

    /// Checks that the store holds a prefix of what was written, in whole batches, and all that was acknowledged
    /// (I1, I6, I7). Batches that are not there are forgotten.
    pub(crate) fn check(&mut self, store: &Store) {
        let head = store.head().position;
        for batch in &self.batches {
            let there = batch.commit <= head;
            assert!(there || !batch.acked, "an acknowledged batch is gone: {:?}, head {head}", batch.commit);
            for (at, bytes) in &batch.originals {
                if there {
                    assert_eq!(store.original(*at).unwrap().bytes, *bytes, "original at {at}");
                    let hash = ContentHash::of(bytes);
                    assert!(
                        store.scan(&key::original(&hash)).unwrap().contains(&(key::original(&hash), *at))
                    );
                } else {
                    assert!(
                        matches!(store.frame(*at), Err(StoreError::NotFound { .. })),
                        "half a batch at {at}"
                    );
                }
            }
        }
        let whole = self.batches.iter().filter(|batch| batch.commit <= head).map(|batch| batch.commit);
        assert_eq!(whole.max().unwrap_or(Position::ZERO), head, "frames that nobody wrote");
        self.batches.retain(|batch| batch.commit <= head);
    }

    /// Checks that every original acknowledged reads back.
    pub(crate) fn check_originals(&self, store: &Store) {
        for (at, bytes) in self.batches.iter().filter(|batch| batch.acked).flat_map(|batch| &batch.originals)
        {
            assert_eq!(store.original(*at).unwrap().bytes, *bytes, "original at {at}");
        }
    }
}
