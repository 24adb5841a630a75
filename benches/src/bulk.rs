//! Many originals into an empty store, each way; every one is checked by what it says it has, and removed.

use std::path::Path;
use std::time::Duration;

use spanvault::{SpanDraft, Vault};
use spanvault_env::Env;
use spanvault_store::{Access, Store, StoreOptions};
use spanvault_types::{
    ContentHash, Event, EvidentialClass, Position, Role, SessionOpened, SpanKind, SpanRecorded,
};

use crate::peer::Peer;
use crate::raw::RawFile;
use crate::watch::timed;
use crate::{Outcome, check, place};

/// How many spans stand in one batch of the log, and in one write of the bare limit.
const WRITE_SPANS: usize = 1_000;

/// Appends to a plain file, a thousand at a time, with one sync after each `batch`.
///
/// # Errors
/// What the disk says.
pub fn raw(path: &Path, originals: &[Vec<u8>], batch: usize) -> Outcome<Duration> {
    let mut raw = RawFile::create(path)?;
    let ((), time) = timed(|| {
        for synced in originals.chunks(batch) {
            for written in synced.chunks(WRITE_SPANS) {
                raw.append(&written.concat())?;
            }
            raw.sync()?;
        }
        Outcome::Ok(())
    })?;
    let (first, len) = originals.first().map_or((&[][..], 0), |first| (first.as_slice(), first.len()));
    check(raw.read(0, len)? == first, || "the file has other bytes".to_owned())?;
    place::clear(path)?;
    Ok(time)
}

/// Appends to the log of a store as spans, in batches of a thousand, with one sync after each `batch`.
///
/// # Errors
/// What the store says, or where it has not what was put.
pub fn store(path: &Path, originals: &[Vec<u8>], batch: usize) -> Outcome<Duration> {
    let (store, _report) = Store::open(Env::real(), path, Access::Write, StoreOptions::default())?;
    let opened = SessionOpened { name: "bench".to_owned(), format: String::new() };
    let mut writer = store.lock()?;
    let mut first = writer.begin();
    let session = first.push(Event::SessionOpened(opened), None);
    writer.commit(first)?;
    drop(writer);
    let ((), time) = timed(|| {
        let mut ordinal = 0;
        for synced in originals.chunks(batch) {
            let mut last = Position::ZERO;
            for written in synced.chunks(WRITE_SPANS) {
                let mut writer = store.lock()?;
                let mut batch = writer.begin();
                for original in written {
                    let span = span(session, ordinal, batch.next(), original.len() as u64);
                    batch.push(Event::SpanRecorded(span), Some(original.clone()));
                    ordinal += 1;
                }
                last = writer.append(batch)?;
            }
            store.sync(last)?;
        }
        Outcome::Ok(())
    })?;
    check(store.counts().originals == originals.len() as u64, || "the store has lost originals".to_owned())?;
    if let (Some(original), Some(frame)) =
        (originals.last(), store.frames(Position::ZERO).flatten().filter(|frame| frame.hash.is_some()).last())
    {
        check(&store.original(frame.at)?.bytes == original, || "the store has other bytes".to_owned())?;
    }
    drop(store);
    place::clear(path)?;
    Ok(time)
}

/// Records in a vault, `batch` spans with one sync.
///
/// # Errors
/// What the vault says, or where it has not what was put.
pub fn vault(path: &Path, originals: &[Vec<u8>], batch: usize) -> Outcome<Duration> {
    let vault = Vault::open(path)?;
    let session = vault.session("bench")?;
    let ((), time) = timed(|| {
        for batch in originals.chunks(batch) {
            session.record_all(batch.iter().cloned().map(SpanDraft::message_json).collect())?;
        }
        Outcome::Ok(())
    })?;
    if let Some(original) = originals.last() {
        let recovered = vault.recover(ContentHash::of(original))?;
        check(&recovered == original, || "the vault has other bytes".to_owned())?;
    }
    check(vault.stats()?.spans == originals.len() as u64, || "the vault has lost spans".to_owned())?;
    drop(vault);
    place::clear(path)?;
    Ok(time)
}

/// Puts into `SQLite`, `batch` originals in one transaction.
///
/// # Errors
/// What `SQLite` says, or where it has not what was put.
pub fn peer(path: &Path, originals: &[Vec<u8>], batch: usize) -> Outcome<Duration> {
    std::fs::create_dir(path)?;
    let mut peer = Peer::create(&path.join("db"))?;
    let ((), time) = timed(|| originals.chunks(batch).try_for_each(|batch| peer.put(batch)))?;
    check(peer.count()? == originals.len(), || "SQLite has lost originals".to_owned())?;
    drop(peer);
    place::clear(path)?;
    Ok(time)
}

/// The event of a span with its own original.
pub(crate) fn span(session: Position, ordinal: u64, at: Position, bytes: u64) -> SpanRecorded {
    SpanRecorded {
        session,
        ordinal,
        source: Position::ZERO,
        record: String::new(),
        index: ordinal,
        original: at,
        bytes,
        tokens: bytes / 4,
        role: Role::User,
        kind: SpanKind::ToolResult,
        class: EvidentialClass::Structured,
        timestamp_ms: None,
        recorded_at: spanvault_types::StoreTime::default(),
        event_key: None,
    }
}
