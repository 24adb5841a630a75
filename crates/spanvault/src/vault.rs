//! The vault that people open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use spanvault_env::sync::Mutex;
use spanvault_evidence::Registry;
use spanvault_store::{Access, OpenReport, Original, Store, StoreOptions};
use spanvault_types::key::{self, Table};
use spanvault_types::{ContentHash, Event, Position, SessionOpened, StoreTime};

use crate::error::{Error, Result};
use crate::index::{self, IndexKeeper};
use crate::joint::Joint;
use crate::options::{IndexKind, Options};
use crate::postings::{Ahead, OpenRuns, Poster};
use crate::registry;
use crate::session::Session;

/// A span store with its provenance, opened.
///
/// One process writes; any number read beside it. All calls take `&self`, and a vault is shared between threads
/// by reference or in an `Arc`.
///
/// ```
/// # fn main() -> spanvault::Result<()> {
/// # let dir = tempfile::tempdir().expect("a directory for the example");
/// use spanvault::{SpanDraft, Vault};
///
/// let vault = Vault::open(dir.path().join("agent.vault"))?;
/// let session = vault.session("run-42")?;
/// let receipt = session.record(SpanDraft::user("Please check the invoice INV-2025-08-44719."))?;
/// assert_eq!(vault.recover(receipt.hash)?, receipt.bytes);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Vault {
    pub(crate) store: Arc<Store>,
    pub(crate) options: Options,
    pub(crate) dir: PathBuf,
    pub(crate) index: IndexKeeper,
    /// What was read of spans that are not posted yet.
    pub(crate) ahead: Arc<Ahead>,
    /// The postings that the last question looked into.
    pub(crate) runs: OpenRuns,
    /// Held by whoever extends a source, so that two runs over one file cannot interleave.
    pub(crate) ingesting: Mutex<()>,
    /// Where threads that record at the same time meet.
    pub(crate) joint: Joint,
    /// Where the log ended when it was opened.
    opened_at: Position,
    /// What is known of tools.
    pub(crate) registry: Arc<Registry>,
    report: OpenReport,
}

impl Vault {
    /// Opens the vault in `dir` for writing; makes it where there is none.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// use spanvault::Vault;
    ///
    /// let path = dir.path().join("agent.vault");
    /// let vault = Vault::open(&path)?;
    /// assert!(vault.open_report().created);
    /// let busy = Vault::open(&path).expect_err("one process writes, and only once");
    /// assert_eq!(busy.pid(), Some(std::process::id()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Unavailable` where another process writes, with its pid; `Invalid` where `dir` holds something else or a
    /// newer format; `Corrupt` where nothing of it can be served.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(dir, Options::default())
    }

    /// Opens the vault in `dir` for writing, with settings.
    ///
    /// # Errors
    /// As [`Vault::open`].
    pub fn open_with(dir: impl AsRef<Path>, options: Options) -> Result<Self> {
        let vault = Self::assemble(dir.as_ref(), Access::Write, options)?;
        vault.index.open(dir.as_ref(), &vault);
        vault.note_suspicion()?;
        Ok(vault)
    }

    /// Opens the vault in `dir` beside whoever writes: sees what was committed, changes no byte.
    ///
    /// # Errors
    /// `NotFound` where there is no vault; otherwise as [`Vault::open`], but never busy.
    pub fn open_read_only(dir: impl AsRef<Path>) -> Result<Self> {
        Self::open_read_only_with(dir, Options::default())
    }

    /// Opens the vault in `dir` for reading, with settings.
    ///
    /// # Errors
    /// As [`Vault::open_read_only`].
    pub fn open_read_only_with(dir: impl AsRef<Path>, options: Options) -> Result<Self> {
        Self::assemble(dir.as_ref(), Access::Read, options)
    }

    fn assemble(dir: &Path, access: Access, options: Options) -> Result<Self> {
        let Options { segment_bytes, reserve_bytes, packing, .. } = options;
        let store_options = StoreOptions { segment_bytes, reserve_bytes, packing, ..StoreOptions::default() };
        let (store, report) = Store::open(options.env.clone(), dir, access, store_options)?;
        let registry = Arc::new(registry::load(&options, dir)?);
        Ok(Self {
            opened_at: store.head().position,
            store: Arc::new(store),
            registry,
            options,
            dir: dir.to_owned(),
            index: IndexKeeper::default(),
            ahead: Arc::default(),
            ingesting: Mutex::new(()),
            runs: OpenRuns::default(),
            joint: Joint::default(),
            report,
        })
    }

    /// What opening found: a torn tail that was cut, damage that is served around.
    pub const fn open_report(&self) -> &OpenReport {
        &self.report
    }

    /// Opens the session of that name; makes it where there is none.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// let session = vault.session("run-42")?;
    /// session.record(spanvault::SpanDraft::user("Go on where we were."))?;
    /// assert_eq!(vault.session("run-42")?.id(), session.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Unavailable` where the vault is open for reading only and has no such session.
    pub fn session(&self, name: &str) -> Result<Session<'_>> {
        if name.is_empty() {
            return Err(Error::invalid("open a session without a name"));
        }
        if let Some(at) = self.session_named(name)? {
            return Ok(Session::new(self, at, name.to_owned()));
        }
        let mut writer = self.store.lock()?;
        if let Some(at) = self.session_named(name)? {
            return Ok(Session::new(self, at, name.to_owned()));
        }
        let mut batch = writer.begin();
        let opened = SessionOpened { name: name.to_owned(), format: spanvault_import::CHAT_JSON.to_owned() };
        let at = batch.push(Event::SessionOpened(opened), None);
        writer.commit(batch)?;
        drop(writer);
        Ok(Session::new(self, at, name.to_owned()))
    }

    /// The session that exists under that name, or the only one whose name starts with it.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` where several names start with it.
    pub fn find(&self, name: &str) -> Result<Session<'_>> {
        let at = self.find_session(name)?;
        Ok(Session::new(self, at, self.session_at(at)?.name))
    }

    /// Every session, oldest first.
    ///
    /// # Errors
    /// `Corrupt` where a record of the log cannot be read.
    pub fn sessions(&self) -> Result<Vec<Session<'_>>> {
        self.positions(&key::key(Table::Session, &[]))?
            .into_iter()
            .map(|at| Ok(Session::new(self, at, self.session_at(at)?.name)))
            .collect()
    }

    /// Store time: what deletions are decided by.
    pub fn now(&self) -> StoreTime {
        self.store.now()
    }

    /// The last position that this vault has seen.
    pub fn revision(&self) -> Position {
        self.store.head().position
    }

    /// The original with this content hash, verified, where the index leads to it.
    pub(crate) fn hinted_original(&self, hash: &ContentHash) -> Option<Original> {
        let hints = self.index.hints(&key::original(hash), 4);
        let found = hints.into_iter().rev().filter_map(|(_key, at)| self.store.original(at).ok());
        found.into_iter().find(|original| original.hash == *hash)
    }

    /// Makes durable whatever was recorded; one sync serves all who wait.
    ///
    /// # Errors
    /// What the disk says; `Unavailable` after an earlier failure of a write or sync, and for a reader.
    pub fn sync(&self) -> Result<()> {
        self.make_durable(self.revision())
    }

    /// The log position up to which everything survives a power cut, as far as is known.
    pub fn durable(&self) -> Position {
        self.store.durable()
    }

    /// Closes the vault so that the next opening can trust the index.
    ///
    /// Dropping a vault is safe too: the index is then brought up to date, or rebuilt, by the next opening.
    ///
    /// # Errors
    /// What the disk says; nothing acknowledged is at stake.
    pub fn close(self) -> Result<()> {
        self.sync()?;
        let Some(index) = self.index.take() else { return Ok(()) };
        if self.options.index == IndexKind::Sled {
            Poster::of(&self).close(self.opened_at);
        }
        index::close(index, &self)
    }
}
