//! What every command gets: where the vault is, how to open it, and where the answer goes.

use std::path::{Path, PathBuf};

use spanvault::Vault;

use crate::failure::Failure;
use crate::output::Output;

/// What one run of the program works with.
pub(crate) struct Context {
    dir: PathBuf,
    pub(crate) output: Output,
}

impl Context {
    pub(crate) const fn new(dir: PathBuf, output: Output) -> Self {
        Self { dir, output }
    }

    /// Where the vault is, or will be.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Opens the vault beside whoever writes; changes no byte of it.
    pub(crate) fn reading(&self) -> Result<Vault, Failure> {
        Ok(Vault::open_read_only(&self.dir)?)
    }

    /// Opens the vault for writing, making it where there is none; does the work; closes it.
    ///
    /// It is closed after a failure too, so that the next run can trust the index; the failure of the work is the
    /// one that is told.
    pub(crate) fn writing<T>(
        &mut self,
        work: impl FnOnce(&Vault, &mut Output) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let vault = Vault::open(&self.dir)?;
        let done = work(&vault, &mut self.output);
        let closed = vault.close();
        let done = done?;
        closed?;
        Ok(done)
    }
}
