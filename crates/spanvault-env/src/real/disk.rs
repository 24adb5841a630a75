//! Files and directories of the operating system.
//!
//! No path is followed through a symbolic link at its last component, no descriptor survives an exec, and modes are
//! set after creation, so no umask widens or narrows them.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FileType, Mode, OFlags, Stat, fadvise};
use rustix::fs::{chmod, fchmod, fdatasync, fstat, fsync, ftruncate, lstat, mkdir, open, rename, unlink};
use rustix::io::{Errno, pwritev};
use rustix::process::geteuid;

use super::lock::lock;
use crate::{DirEntry, Disk, DiskFile, LockError, LockHandle, OpenMode};

const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const DIR_MODE: Mode = Mode::RWXU;
/// How many slices the system takes in one call.
const SLICES_MAX: usize = 1024;

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let flags = match mode {
            OpenMode::Read => OFlags::RDONLY,
            OpenMode::Write => OFlags::RDWR,
            OpenMode::CreateNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        let file = open_regular(path, flags, FILE_MODE).map_err(|errno| named("open", path, errno))?;
        if mode == OpenMode::CreateNew {
            fchmod(&file, FILE_MODE).map_err(|errno| named("set the mode of", path, errno))?;
        }
        Ok(Box::new(RealFile { file }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut missing = Vec::new();
        let mut existing = Some(path);
        while let Some(dir) = existing {
            match lstat(dir) {
                Ok(stat) if is_dir(&stat) => break,
                Ok(_) => return Err(named("make the directory", dir, Errno::NOTDIR)),
                Err(Errno::NOENT) => missing.push(dir),
                Err(errno) => return Err(named("make the directory", dir, errno)),
            }
            existing = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        }
        // A run that was killed between making a directory and syncing its parent leaves one that a power cut can
        // still take away with all that is in it, so the entry that was found is made durable too (I10).
        if let Some(dir) = existing {
            match sync_dir(parent_of(dir)) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                synced => synced?,
            }
        }
        for dir in missing.into_iter().rev() {
            make_dir(dir)?;
        }
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(path).map_err(|error| explained("list", path, &error))? {
            let entry = entry.map_err(|error| explained("list", path, &error))?;
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                // Gone since the directory was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(explained("read the attributes of", &entry.path(), &error)),
            };
            entries.push(DirEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_dir: metadata.is_dir(),
                len: metadata.len(),
            });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        rename(from, to).map_err(|errno| named("rename", from, errno))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        unlink(path).map_err(|errno| named("remove", path, errno))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        sync_dir(path)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn LockHandle>, LockError> {
        lock(path)
    }

    fn check_private(&self, path: &Path) -> io::Result<()> {
        let stat = lstat(path).map_err(|errno| named("read the attributes of", path, errno))?;
        if !is_dir(&stat) {
            return Err(named("open the directory", path, Errno::NOTDIR));
        }
        let denied = |why: &str| {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("trust {}: {why}", path.display())))
        };
        if stat.st_uid != geteuid().as_raw() {
            return denied("it belongs to another user");
        }
        if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
            return denied("other users may write in it");
        }
        Ok(())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize().map_err(|error| explained("find", path, &error))
    }
}

#[derive(Debug)]
struct RealFile {
    file: File,
}

impl DiskFile for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buf.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, offset.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn write_slices_at(&self, slices: &[IoSlice<'_>], mut offset: u64) -> io::Result<()> {
        let mut rest = slices.to_vec();
        let mut rest = rest.as_mut_slice();
        while !rest.is_empty() {
            let now = rest.get(..rest.len().min(SLICES_MAX)).unwrap_or_default();
            match pwritev(&self.file, now, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    IoSlice::advance_slices(&mut rest, written);
                    offset = offset.saturating_add(written as u64);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Ok(ftruncate(&self.file, len)?)
    }

    fn begin_sync(&self, offset: u64, len: u64) {
        // The kernel starts to write dirty pages of a stretch that nobody needs in memory, and keeps those that it
        // is writing.
        if let Some(len) = std::num::NonZeroU64::new(len) {
            let _advice = fadvise(&self.file, offset, Some(len), Advice::DontNeed);
        }
    }

    fn sync(&self) -> io::Result<()> {
        // One call, whatever it says: a sync that failed and is tried again may report success for pages that the
        // kernel has already dropped (I8).
        Ok(fdatasync(&self.file)?)
    }
}

/// Opens a regular file; anything else (a link, a directory, a pipe that would block) is refused.
pub(super) fn open_regular(path: &Path, flags: OFlags, mode: Mode) -> Result<File, Errno> {
    let fd = open(path, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK, mode)?;
    let stat = fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        Ok(File::from(fd))
    } else {
        Err(if is_dir(&stat) { Errno::ISDIR } else { Errno::NOTSUP })
    }
}

fn make_dir(path: &Path) -> io::Result<()> {
    match mkdir(path, DIR_MODE) {
        // By its name: under a umask that hides it from its owner it could not be opened.
        Ok(()) => chmod(path, DIR_MODE).map_err(|errno| named("set the mode of", path, errno))?,
        // Somebody else made it since we looked; whose it is, is `check_private`'s question.
        Err(Errno::EXIST) => {}
        Err(errno) => return Err(named("make the directory", path, errno)),
    }
    sync_dir(parent_of(path))
}

fn sync_dir(path: &Path) -> io::Result<()> {
    let fd = open_dir(path).map_err(|errno| named("open the directory", path, errno))?;
    fsync(&fd).map_err(|errno| named("sync the directory", path, errno))
}

fn open_dir(path: &Path) -> Result<std::os::fd::OwnedFd, Errno> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

fn is_dir(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// An error that says what was tried on which path, and keeps its kind.
pub(super) fn named(verb: &str, path: &Path, errno: Errno) -> io::Error {
    let error = io::Error::from(errno);
    match errno {
        Errno::LOOP => explained_as(verb, path, error.kind(), &"it is a symbolic link"),
        Errno::NOTSUP => explained_as(verb, path, error.kind(), &"it is not a regular file"),
        _ => explained(verb, path, &error),
    }
}

fn explained(verb: &str, path: &Path, error: &io::Error) -> io::Error {
    explained_as(verb, path, error.kind(), error)
}

fn explained_as(verb: &str, path: &Path, kind: io::ErrorKind, why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(kind, format!("{verb} {}: {why}", path.display()))
}
