//! Files and directories as the engines see them.

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// It must exist; nothing can be written.
    Read,
    /// It must exist; read and write.
    Write,
    /// It must not exist; read and write, mode 0600.
    CreateNew,
}

/// A file or directory in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name inside the directory.
    pub name: String,
    /// Whether it is a directory. A symbolic link is neither followed nor listed as one.
    pub is_dir: bool,
    /// Length in bytes, for files.
    pub len: u64,
}

/// A file system. Paths are used as given; symbolic links at the last component are refused.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// What the file system says; `NotFound` and `AlreadyExists` as `mode` demands.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>>;

    /// Makes a directory (mode 0700) and its missing parents, and syncs each parent that it changed.
    ///
    /// # Errors
    /// What the file system says. A directory that exists is fine.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Lists a directory, sorted by name. A link to a directory is followed here, and only here. Names that are not
    /// UTF-8 are shown with replacement characters, so what they name cannot be opened by them.
    ///
    /// # Errors
    /// What the file system says.
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Renames a file, replacing `to`. Durable only after [`Disk::sync_dir`].
    ///
    /// # Errors
    /// What the file system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. Durable only after [`Disk::sync_dir`].
    ///
    /// # Errors
    /// What the file system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the entries of a directory durable.
    ///
    /// # Errors
    /// What the file system says.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Takes the advisory lock in the file at `path` (made with mode 0600 if missing) and writes this process's id
    /// into it.
    ///
    /// # Errors
    /// [`LockError::Busy`] at once where another process, or another handle of this one, has it.
    fn lock(&self, path: &Path) -> Result<Box<dyn LockHandle>, LockError>;

    /// Checks that a directory belongs to this user and that nobody else may write in it (I82).
    ///
    /// # Errors
    /// `PermissionDenied`, saying which of the two it is.
    fn check_private(&self, path: &Path) -> io::Result<()>;

    /// Where `path` is as an absolute path, links resolved.
    ///
    /// # Errors
    /// What the file system says.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
}

/// An open file; positioned reads and writes only.
pub trait DiskFile: Debug + Send + Sync {
    /// Reads up to `buf.len()` bytes at `offset`; fewer only at the end of the file.
    ///
    /// # Errors
    /// What the file system says.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// What the file system says; some of the bytes may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Writes all of these slices, one behind the other, at `offset`: as one call, which is what this does by itself, or
    /// as few as the system lets it be.
    ///
    /// # Errors
    /// As [`DiskFile::write_at`].
    fn write_slices_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let slices: Vec<&[u8]> = slices.iter().map(|slice| &**slice).collect();
        self.write_at(&slices.concat(), offset)
    }

    /// Length in bytes.
    ///
    /// # Errors
    /// What the file system says.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file is empty.
    ///
    /// # Errors
    /// What the file system says.
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Cuts or extends the file.
    ///
    /// # Errors
    /// What the file system says.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Lets the disk begin with a stretch that was written, so that a sync that comes later waits for less. It promises
    /// nothing, and a failure of it says nothing.
    fn begin_sync(&self, _offset: u64, _len: u64) {}

    /// Makes content and length durable (`fdatasync`).
    ///
    /// # Errors
    /// What the file system says. After an error nothing is known about any unsynced byte (I8).
    fn sync(&self) -> io::Result<()>;
}

/// A lock that is held as long as this lives.
pub trait LockHandle: Debug + Send + Sync {}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody else has it.
    #[error("lock the vault: held by another process")]
    Busy {
        /// The holder, if its id could be read.
        pid: Option<u32>,
    },
    /// The file system says no.
    #[error("lock the vault")]
    Io(#[from] io::Error),
}

#[cfg(test)]
mod tests;
