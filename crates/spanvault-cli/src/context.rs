//! What every command gets: where the vault is, how to open it, and where the answer goes.

use std::path::{Path, PathBuf};

use spanvault::{OpenReport, Options, Vault};

use crate::failure::{Failure, tell_warning};
use crate::output::{Output, counted};

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
        let vault = Vault::open_read_only(&self.dir)?;
        self.warn_of_damage(vault.open_report());
        Ok(vault)
    }

    /// Opens the vault for writing, making it where there is none; does the work; closes it.
    ///
    /// It is closed after a failure too, so that the next run can trust the index; the failure of the work is the
    /// one that is told.
    pub(crate) fn writing<T>(
        &mut self,
        work: impl FnOnce(&Vault, &mut Output) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.writing_with(Options::default(), work)
    }

    /// As [`Context::writing`], with settings.
    pub(crate) fn writing_with<T>(
        &mut self,
        options: Options,
        work: impl FnOnce(&Vault, &mut Output) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let vault = Vault::open_with(&self.dir, options)?;
        self.warn_of_damage(vault.open_report());
        let done = work(&vault, &mut self.output);
        let closed = vault.close();
        let done = done?;
        closed?;
        Ok(done)
    }

    /// Says what opening found wrong. What is sound is served all the same, so it is no error.
    fn warn_of_damage(&self, report: &OpenReport) {
        if report.is_sound() {
            return;
        }
        let mut found = Vec::new();
        if !report.damage.is_empty() {
            found.push(format!("{} of the log cannot be read", counted(report.damage.len() as u64, "place")));
        }
        if let Some(lost) = report.lost_tail {
            found.push(format!(
                "acknowledged records {} to {} are gone",
                lost.found.next(),
                lost.acknowledged
            ));
        }
        if report.stamp_damaged {
            found.push("one of the two copies in FORMAT is damaged".to_owned());
        }
        let warning = format!("open {}: {}", self.dir.display(), found.join("; "));
        tell_warning(&warning, "\"spanvault verify --read-data\" lists all damage", self.output.is_json());
    }
}
