//! Keeps the postings beside the log: in which spans a call, an id or a path stands.
//!
//! They are made from what the log holds, behind it and never on its path. Nothing rests on them: without them, or
//! where they end, spans are read.

mod build;
mod narrow;

use spanvault_index::postings::{Runs, RunsLog, STRETCH_FRAMES_MAX};
use spanvault_types::{Event, Position};

use crate::error::{Error, Result};
use crate::options::IndexKind;
use crate::vault::Vault;

pub(crate) use narrow::narrowed;

/// How far postings may lag behind the log, in frames, before the next stretch is read.
const LAG_MAX: u64 = STRETCH_FRAMES_MAX;
/// How much is caught up when a vault is closed, in frames; what is missing beyond is left to a rebuild.
const CLOSING_MAX: u64 = 4 * STRETCH_FRAMES_MAX;

/// The directory of the runs, in the vault's.
const DIR: &str = "postings";

/// The runs of a vault that count.
pub(crate) fn open(vault: &Vault) -> Runs {
    let log = RunsLog { reader: reader(vault), chain_at: |at| chain_at(vault, at) };
    Runs::open(&*vault.options.env.disk, &vault.dir.join(DIR), &log)
}

/// Reads another stretch where the postings lag far behind `commit`. One thread does; others go on.
pub(crate) fn follow(vault: &Vault, commit: Position) {
    if !are_kept(vault) {
        return;
    }
    let Ok(mut posted) = vault.posted.try_lock() else { return };
    let is_due = |next: Position| commit.get().saturating_sub(next.get()) > LAG_MAX;
    if posted.is_some_and(|next| !is_due(next)) {
        return;
    }
    let mut runs = open(vault);
    if is_due(runs.next()) {
        grow(vault, &mut runs);
    }
    *posted = Some(runs.next());
}

/// Reads what is not posted yet, unless that is very much.
pub(crate) fn close(vault: &Vault) {
    if !are_kept(vault) {
        return;
    }
    let Ok(mut posted) = vault.posted.lock() else { return };
    let end = vault.revision().get();
    let lag = |next: Position| end.saturating_sub(next.get());
    if posted.is_some_and(|next| lag(next) == 0) {
        return;
    }
    let mut runs = open(vault);
    if lag(runs.next()) <= CLOSING_MAX {
        while grow(vault, &mut runs) {}
    }
    *posted = Some(runs.next());
}

/// Throws the postings away and makes them again.
pub(crate) fn rebuild(vault: &Vault) -> Result<()> {
    if !are_kept(vault) {
        return Ok(());
    }
    let mut posted = vault.posted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut runs = open(vault);
    let disk = &*vault.options.env.disk;
    runs.clear(disk).map_err(|error| Error::internal("remove the postings").with_source(error))?;
    while grow(vault, &mut runs) {}
    *posted = Some(runs.next());
    Ok(())
}

/// Adds a run of the next stretch; says whether it did.
fn grow(vault: &Vault, runs: &mut Runs) -> bool {
    let Some(stretch) = build::read(vault, runs.next()) else { return false };
    let disk = &*vault.options.env.disk;
    match runs.push(disk, stretch.draft, stretch.last, stretch.chain, reader(vault)) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "go on without further postings");
            false
        }
    }
}

/// Whether postings are written: a simulated vault goes without, as it does without sled.
fn are_kept(vault: &Vault) -> bool {
    vault.options.index == IndexKind::Sled
}

/// Which program reads, and with which registry of tools. Another one may find other terms in the same bytes.
fn reader(vault: &Vault) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let sources = [spanvault_evidence::SOURCE_DIGEST, spanvault_import::SOURCE_DIGEST];
    for part in [TERMS, vault.registry.text()].into_iter().chain(sources) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Changes whenever `ask/terms.rs` or `build.rs` post otherwise.
const TERMS: &str = "terms 1";

fn chain_at(vault: &Vault, at: Position) -> Option<[u8; 32]> {
    let event = vault.store.frame(at).ok()?.event;
    if let Event::Commit(commit) = event { Some(commit.chain) } else { None }
}

#[cfg(test)]
mod tests;
