//! Keeps the postings beside the log: in which spans a call, an id or a path stands.
//!
//! They are made from what the log holds, behind it and never on its path. Nothing rests on them: without them, or
//! where they end, spans are read.

mod ahead;
mod build;
mod narrow;
mod sift;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use spanvault_env::Disk;
use spanvault_env::sync::{Mutex, MutexGuard};
use spanvault_evidence::Registry;
use spanvault_index::postings::{Runs, RunsLog, STRETCH_FRAMES_MAX};
use spanvault_store::Store;
use spanvault_types::Position;

use crate::error::{Error, Result};
use crate::index::commit_at;
use crate::threads::threads;
use crate::vault::Vault;

pub(crate) use ahead::{Ahead, SpanTerms};
pub(crate) use narrow::{Known, narrowed};
pub(crate) use sift::sifted;

/// How far postings may lag behind the log, in frames, before the next stretch is read.
pub(crate) const LAG_MAX: u64 = STRETCH_FRAMES_MAX;
/// How many stretches closing a vault reads at most; what is missing beyond is left to the next opening.
const CLOSING_STRETCHES_MAX: usize = 4;

/// The directory of the runs, in the vault's.
const DIR: &str = "postings";

/// All that postings are made from, and where they stand.
#[derive(Debug)]
pub(crate) struct Poster {
    store: Arc<Store>,
    registry: Arc<Registry>,
    disk: Arc<dyn Disk>,
    ahead: Arc<Ahead>,
    dir: PathBuf,
}

impl Poster {
    /// Of a vault.
    pub(crate) fn of(vault: &Vault) -> Self {
        Self {
            store: Arc::clone(&vault.store),
            registry: Arc::clone(&vault.registry),
            disk: Arc::clone(&vault.options.env.disk),
            ahead: Arc::clone(&vault.ahead),
            dir: vault.dir.join(DIR),
        }
    }

    /// The runs that count. Once `stop` is said, no further one is looked at.
    fn open(&self, stop: &AtomicBool) -> Runs {
        Runs::open(&*self.disk, &self.dir, &self.log(stop))
    }

    fn log<'p>(&'p self, stop: &'p AtomicBool) -> RunsLog<impl Fn(Position) -> Option<[u8; 32]> + 'p> {
        let chain_at = move |at| {
            let commit = if stop.load(Ordering::Relaxed) { None } else { commit_at(&self.store, at) };
            commit.map(|commit| commit.chain)
        };
        RunsLog { reader: self.reader(), chain_at }
    }

    /// Reads stretches, on this thread's own, until postings lag no longer far behind the log; gives the first position
    /// that is not posted. Once `stop` is said, what was read of the last stretch is thrown away.
    pub(crate) fn follow(&self, stop: &AtomicBool) -> Position {
        let mut runs = self.open(stop);
        while self.lag(&runs) > LAG_MAX && self.grow(&mut runs, 1, stop) {}
        runs.next()
    }

    /// Reads what this process has added to the log since `opened_at` and nobody has posted. Where more than that is
    /// missing, it is left to the thread of the next opening.
    pub(crate) fn close(&self, opened_at: Position) {
        let own = self.store.head().position.get().saturating_sub(opened_at.get());
        if own == 0 {
            return;
        }
        let mut runs = self.open(&GO_ON);
        if self.lag(&runs) <= own.saturating_mul(2) {
            for _stretch in 0..CLOSING_STRETCHES_MAX {
                if !self.grow(&mut runs, threads(), &GO_ON) {
                    return;
                }
            }
        }
    }

    /// Throws the postings away and makes them again. `progress` hears where they have come to.
    pub(crate) fn rebuild(&self, progress: &mut dyn FnMut(Position)) -> Result<()> {
        let mut runs = self.open(&GO_ON);
        runs.clear(&*self.disk).map_err(|error| Error::internal("remove the postings").with_source(error))?;
        while self.grow(&mut runs, threads(), &GO_ON) {
            progress(runs.next());
        }
        Ok(())
    }

    fn lag(&self, runs: &Runs) -> u64 {
        self.store.head().position.next().get().saturating_sub(runs.next().get())
    }

    /// Adds a run of the next stretch; says whether it did.
    fn grow(&self, runs: &mut Runs, threads: usize, stop: &AtomicBool) -> bool {
        let Some(stretch) = build::read(self, runs.next(), threads, stop) else { return false };
        match runs.push(&*self.disk, stretch.draft, stretch.last, stretch.chain, self.reader()) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "go on without further postings");
                false
            }
        }
    }

    /// Which program reads, and with which registry of tools. Another one may find other terms in the same bytes.
    fn reader(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let sources = [spanvault_evidence::SOURCE_DIGEST, spanvault_import::SOURCE_DIGEST];
        for part in [TERMS, self.registry.text()].into_iter().chain(sources) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// For whoever waits until all is done.
static GO_ON: AtomicBool = AtomicBool::new(false);

/// The runs that the last question found, open for the next one.
#[derive(Debug, Default)]
pub(crate) struct OpenRuns(Mutex<Option<Arc<Runs>>>);

impl OpenRuns {
    /// The runs of the vault that count now; those that were open already are not read again.
    fn of(&self, vault: &Vault) -> Arc<Runs> {
        let poster = Poster::of(vault);
        let before = self.kept().clone();
        let runs = Arc::new(match before {
            Some(before) => before.reopen(&*poster.disk, &poster.log(&GO_ON)),
            None => poster.open(&GO_ON),
        });
        *self.kept() = Some(Arc::clone(&runs));
        runs
    }

    fn kept(&self) -> MutexGuard<'_, Option<Arc<Runs>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes whenever `ask/terms.rs` or `build.rs` post otherwise.
const TERMS: &str = "terms 2";

#[cfg(test)]
mod tests;
