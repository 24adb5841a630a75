//! What the store cannot do, and why.

use std::io;
use std::path::{Path, PathBuf};

use spanvault_types::Position;
use spanvault_types::codec::CodecError;

/// Why a call of the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file system says no.
    #[error("{action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the file system says.
        #[source]
        source: io::Error,
    },
    /// The disk is full. Nothing was written; reads and whatever frees space go on.
    #[error("{action} {}: no space left", path.display())]
    NoSpace {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
    },
    /// A write or sync failed before, so nothing is known about unsynced bytes: reopen the vault (I8).
    #[error("write to the log: an earlier write or sync failed, and only reopening clears that")]
    Poisoned,
    /// Another process, or another handle of this one, writes.
    #[error("open {} for writing: another process has it{}", path.display(), shown(*pid))]
    Busy {
        /// The vault.
        path: PathBuf,
        /// The holder's process id, if it could be read.
        pid: Option<u32>,
    },
    /// There is nothing to read.
    #[error("open {}: there is no vault", path.display())]
    NoVault {
        /// Where.
        path: PathBuf,
    },
    /// The directory holds something that is not a vault; it was not touched.
    #[error("open {}: it is not empty and not a vault", path.display())]
    NotAVault {
        /// Where.
        path: PathBuf,
    },
    /// A newer program made it; it was not touched.
    #[error("open {}: its format {found} is newer than this program", path.display())]
    NewerFormat {
        /// Where.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// Another user owns the directory, or may write in it; it was not touched.
    #[error("open {}", path.display())]
    NotPrivate {
        /// Where.
        path: PathBuf,
        /// Which of the two it is.
        #[source]
        source: io::Error,
    },
    /// A file that the whole vault needs cannot be read as what it is.
    #[error("open {}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The vault is open for reading only.
    #[error("write to a vault that is open for reading")]
    ReadOnly,
    /// The batch was begun under an earlier hold of the writer lock, and positions may have moved on.
    #[error("append a batch that was begun under another hold of the writer lock")]
    StaleBatch,
    /// An event that is too large to write.
    #[error("append an event of schema {schema}: it is too large")]
    TooLarge {
        /// The schema.
        schema: u16,
        /// What the codec says.
        #[source]
        source: Option<CodecError>,
    },
    /// The log has no such position.
    #[error("read position {at}: the log does not reach it")]
    NotFound {
        /// The position.
        at: Position,
    },
    /// The event there carries no original.
    #[error("read the original at {at}: there is none")]
    NoOriginal {
        /// The position.
        at: Position,
    },
    /// The bytes there are not what was written (I2, I16).
    #[error("read position {at}: {what}")]
    Corrupt {
        /// The position.
        at: Position,
        /// What is wrong.
        what: &'static str,
    },
    /// The bytes are not there, though they were acknowledged.
    #[error("read position {at}: the file ends before it")]
    Missing {
        /// The position.
        at: Position,
    },
    /// A writer rewrote the segment while it was read, time and again. Try again.
    #[error("read segment {segment}: it was rewritten meanwhile")]
    Rewritten {
        /// The segment.
        segment: u64,
    },
    /// A permit that was not made under the lock it is used in, or before something else was committed there.
    #[error("remove the original at {at}: its permit was not made under this hold of the writer lock")]
    StalePermit {
        /// The original.
        at: Position,
    },
    /// An original that is not condemned.
    #[error("remove the original at {at}: it is not condemned")]
    NotCondemned {
        /// The original.
        at: Position,
    },
    /// The original's bytes were removed, lawfully.
    #[error("read the original at {at}: reclaimed, see its tombstone at {tombstone}")]
    Reclaimed {
        /// The original.
        at: Position,
        /// Its tombstone.
        tombstone: Position,
    },
}

fn shown(pid: Option<u32>) -> String {
    pid.map(|pid| format!(", process {pid}")).unwrap_or_default()
}

/// Says what was tried on which file.
pub(crate) fn io_error<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> StoreError + 'a {
    move |source| {
        if is_no_space(&source) {
            StoreError::NoSpace { action, path: path.to_owned() }
        } else {
            StoreError::Io { action, path: path.to_owned(), source }
        }
    }
}

/// Whether an error says that the disk, or the quota, is full.
pub(crate) fn is_no_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The result of a call of the store.
pub(crate) type Result<T> = std::result::Result<T, StoreError>;
