//! Keeps the derived index beside the log: opened as far as it can be trusted, brought up to date, closed.
//!
//! Nothing rests on it. When it fails it is dropped, and look-ups go through the sidecars.

use std::path::Path;

use spanvault_index::{Applied, Entry, Index, IndexError, LogView, MemoryIndex, open_trusted};
use spanvault_store::BodyState;
use spanvault_types::{Commit, Event, IndexClosed, Position, key};

use crate::error::{Error, ErrorKind, Result};
use crate::options::IndexKind;
use crate::vault::Vault;

/// How far the index may lag behind the log, in frames, before it is brought up to date.
const LAG_MAX: u64 = 50_000;
/// How many entries are handed to the index at once.
const ENTRIES_AT_ONCE: usize = 8_192;

/// Opens the index of the vault in `dir` and brings it up to the end of the log.
///
/// `None` where there can be none now: the vault works without.
pub(crate) fn open(dir: &Path, vault: &Vault) -> Option<Box<dyn Index>> {
    let index: Box<dyn Index> = match vault.options.index {
        IndexKind::Memory => Box::new(MemoryIndex::default()),
        IndexKind::Sled => {
            let view = LogView {
                end: vault.revision(),
                closed: last_close(vault),
                commit: &|at| commit_at(vault, at),
            };
            match open_trusted(&dir.join("index"), vault.options.env.clock.boot_id(), &view) {
                Ok(opened) => {
                    tracing::debug!(trust = ?opened.trust, "opened the index");
                    Box::new(opened.index)
                }
                Err(error) => {
                    tracing::warn!(%error, "go on without an index");
                    return None;
                }
            }
        }
    };
    keep_up(index, vault)
}

/// Brings the index up to date if it lags far behind `commit`.
pub(crate) fn follow(vault: &Vault, commit: Position) {
    let mut slot = vault.index_slot();
    let lag = slot.as_ref().map_or(0, |index| commit.get().saturating_sub(index.applied().position.get()));
    if lag > LAG_MAX
        && let Some(index) = slot.take()
    {
        *slot = keep_up(index, vault);
    }
    drop(slot);
    crate::postings::follow(vault, commit);
}

/// Brings the index up to date, closes it and notes that in the log.
pub(crate) fn close(index: Box<dyn Index>, vault: &Vault) -> Result<()> {
    let Some(index) = keep_up(index, vault) else { return Ok(()) };
    let is_noted = is_all_applied(&*index, vault);
    let applied = match index.close() {
        Ok(applied) => applied,
        Err(error) => {
            tracing::warn!(%error, "the next opening makes the index anew");
            return Ok(());
        }
    };
    if is_noted {
        return Ok(());
    }
    let mut writer = vault.store.lock()?;
    let mut batch = writer.begin();
    batch.push(Event::IndexClosed(IndexClosed { applied: applied.position, counts: applied.counts }), None);
    writer.commit(batch)?;
    Ok(())
}

/// Throws the index away and makes it again from the log.
pub(crate) fn rebuild(vault: &Vault) -> Result<u64> {
    let mut slot = vault.index_slot();
    let Some(index) = slot.take() else {
        return Err(Error::new(ErrorKind::Unavailable, "rebuild the index: the vault has none open")
            .with_hint("open the vault for writing"));
    };
    index.clear().map_err(failed)?;
    let frames = catch_up(&*index, vault).map_err(failed)?;
    *slot = Some(index);
    Ok(frames)
}

fn failed(error: IndexError) -> Error {
    Error::internal("rebuild the index").with_source(error)
}

fn keep_up(index: Box<dyn Index>, vault: &Vault) -> Option<Box<dyn Index>> {
    match catch_up(&*index, vault) {
        Ok(_frames) => Some(index),
        Err(error) => {
            tracing::warn!(%error, "go on without an index");
            None
        }
    }
}

/// Whether all that the log holds beyond what the index has applied is the note that the index was closed.
fn is_all_applied(index: &dyn Index, vault: &Vault) -> bool {
    last_close(vault).is_some_and(|closed| closed.applied == index.applied().position)
}

/// Applies every commit that the index has not seen; what is damaged is left out, so that it is looked for in the
/// log. Gives the number of frames.
fn catch_up(index: &dyn Index, vault: &Vault) -> std::result::Result<u64, IndexError> {
    if is_all_applied(index, vault) {
        return Ok(0);
    }
    let boot_id = vault.options.env.clock.boot_id();
    let mut entries: Vec<Entry> = Vec::new();
    let mut frames = 0;
    let mut seen = index.applied();
    for frame in vault.store.frames(seen.position.next()).flatten() {
        frames += 1;
        if let Event::Commit(commit) = &frame.event {
            let Commit { counts, chain, .. } = *commit;
            seen = Applied { position: frame.at, counts, chain, boot_id };
            if entries.len() >= ENTRIES_AT_ONCE {
                index.apply(&std::mem::take(&mut entries), seen)?;
            }
            continue;
        }
        let body = frame.hash.filter(|_hash| frame.body != BodyState::None);
        entries.extend(
            key::keys_of(&frame.event, frame.at, body.as_ref()).into_iter().map(|found| (found, frame.at)),
        );
    }
    if seen != index.applied() {
        index.apply(&entries, seen)?;
    }
    Ok(frames)
}

/// The clean close that ends the log, if one does.
fn last_close(vault: &Vault) -> Option<IndexClosed> {
    let before_commit = vault.revision().get().checked_sub(1)?;
    let event = vault.store.frame(Position::new(before_commit)).ok()?.event;
    if let Event::IndexClosed(closed) = event { Some(closed) } else { None }
}

fn commit_at(vault: &Vault, at: Position) -> Option<Commit> {
    let event = vault.store.frame(at).ok()?.event;
    if let Event::Commit(commit) = event { Some(commit) } else { None }
}
