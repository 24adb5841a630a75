//! Calls that fail because a test says so.

use std::io;
use std::path::{Path, PathBuf};

/// A kind of call on a disk or on a file of it. [`crate::Disk::create_dir`] makes several: one
/// [`CallKind::MakeDir`] for each directory and one [`CallKind::SyncDir`] for each parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    /// Opening a file that exists.
    Open,
    /// Opening a file that must not exist.
    Create,
    /// Reading bytes.
    Read,
    /// Writing bytes.
    Write,
    /// Changing a length.
    SetLen,
    /// Making a file durable.
    Sync,
    /// Making one directory.
    MakeDir,
    /// Listing a directory.
    List,
    /// Renaming.
    Rename,
    /// Removing.
    Remove,
    /// Making a directory's entries durable.
    SyncDir,
    /// Taking the lock.
    Lock,
    /// Asking for a length, an owner or a canonical path.
    Inspect,
}

impl CallKind {
    /// Whether a call of this kind can change what a crash leaves behind.
    pub const fn changes(self) -> bool {
        match self {
            Self::Create
            | Self::Write
            | Self::SetLen
            | Self::Sync
            | Self::MakeDir
            | Self::Rename
            | Self::Remove
            | Self::SyncDir
            | Self::Lock => true,
            Self::Open | Self::Read | Self::List | Self::Inspect => false,
        }
    }

    /// Whether it makes something durable.
    pub const fn syncs(self) -> bool {
        matches!(self, Self::Sync | Self::SyncDir)
    }
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// `EIO`, and nothing is done. After a sync that fails like this, what was unsynced still is.
    Io,
    /// `ENOSPC`, and nothing is done.
    NoSpace,
    /// `EIO` after half of the bytes of a write; like [`Fault::Io`] for other calls.
    ShortWrite,
    /// `EIO` from a file's sync, after which the kernel holds the unsynced sectors for clean: reads go on showing
    /// them, later syncs succeed without writing them, and a crash loses them. Like [`Fault::Io`] for other calls.
    SyncDrops,
}

impl Fault {
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Io | Self::ShortWrite | Self::SyncDrops => eio(),
            Self::NoSpace => enospc(),
        }
    }
}

/// A fault that waits for its call.
#[derive(Debug, Clone)]
pub struct ScheduledFault {
    fault: Fault,
    kind: Option<CallKind>,
    under: Option<PathBuf>,
    /// How many matching calls still pass.
    passing: u64,
    sticky: bool,
}

impl ScheduledFault {
    /// Fails the `nth` call of `kind` from now on, counted from 1.
    pub fn new(fault: Fault, kind: CallKind, nth: u64) -> Self {
        Self { kind: Some(kind), ..Self::any(fault, nth) }
    }

    /// Fails the `nth` call of any kind from now on, counted from 1.
    pub fn any(fault: Fault, nth: u64) -> Self {
        Self { fault, kind: None, under: None, passing: nth.saturating_sub(1), sticky: false }
    }

    /// Fails every matching call after that one too.
    #[must_use]
    pub fn sticky(mut self) -> Self {
        self.sticky = true;
        self
    }

    /// Counts and fails only calls on `path` and what is below it.
    #[must_use]
    pub fn under(mut self, path: impl Into<PathBuf>) -> Self {
        self.under = Some(path.into());
        self
    }

    /// Sees one call, and says whether it fails.
    pub(super) fn strikes(&mut self, kind: CallKind, path: &Path) -> Option<Fault> {
        let matches = self.kind.is_none_or(|own| own == kind)
            && self.under.as_ref().is_none_or(|under| path.starts_with(under));
        if !matches {
            return None;
        }
        if self.passing > 0 {
            self.passing -= 1;
            return None;
        }
        Some(self.fault)
    }

    pub(super) fn is_sticky(&self) -> bool {
        self.sticky
    }
}

pub(super) fn eio() -> io::Error {
    rustix::io::Errno::IO.into()
}

pub(super) fn enospc() -> io::Error {
    rustix::io::Errno::NOSPC.into()
}
