//! The files of the index on disk, which sled writes by itself and not through `Disk`.
//!
//! sled's own `flush` makes nothing durable, so a clean close syncs every file and directory here, and only then
//! leaves a note of what it closed. The note goes, durably, before sled opens the files again: so a note that is
//! there speaks of files that nobody has touched since.

use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use spanvault_env::{Clock, Disk, OpenMode, RealClock, RealDisk};

use crate::IndexError;
use crate::stamp::{self, Stamp};

/// The note of a clean close, beside sled's files: the stamp, then its BLAKE3.
const NOTE: &str = "closed";

const NOTE_BYTES_MAX: usize = 1_024;

const HASH_BYTES: usize = 32;

/// sled's main file, which it locks.
const SLED_FILE: &str = "db";

/// How long a lock is waited for that a handle which is being dropped still holds.
const RELEASE_US: u64 = 3_000_000;

/// How long to wait between two tries.
const RETRY: Duration = Duration::from_millis(1);

/// Whether anything at all is there, a link included.
pub(crate) fn exists(dir: &Path) -> bool {
    dir.symlink_metadata().is_ok()
}

/// Refuses a directory that is a link, or that others may write in (I82).
pub(crate) fn check_private(dir: &Path) -> Result<(), IndexError> {
    RealDisk.check_private(dir).map_err(failed("trust"))
}

pub(crate) fn make(dir: &Path) -> Result<(), IndexError> {
    RealDisk.create_dir(dir).map_err(failed("make the directory of"))
}

/// Takes the note of a clean close away, durably, and reads it. One that does not read is no note.
pub(crate) fn take_note(dir: &Path) -> Result<Option<Stamp>, IndexError> {
    let path = dir.join(NOTE);
    let note = match read_note(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(_unreadable) => None,
        Ok(note) => note,
    };
    RealDisk.remove(&path).map_err(failed("take the note of"))?;
    RealDisk.sync_dir(dir).map_err(failed("sync"))?;
    Ok(note)
}

/// Makes everything in `dir` durable, then leaves the note of a clean close, durable too.
pub(crate) fn seal(dir: &Path, stamp: &Stamp) -> Result<(), IndexError> {
    sync_all(dir).map_err(failed("sync"))?;
    let mut bytes = stamp::encode(stamp);
    bytes.extend_from_slice(blake3::hash(&bytes).as_bytes());
    write_note(dir, &bytes).map_err(failed("note the close of"))
}

/// Renames `dir` to the next free `NAME.aside-N` and removes the ones before: one is enough to see what was wrong.
pub(crate) fn set_aside(dir: &Path) -> Result<PathBuf, IndexError> {
    let parent = parent_of(dir);
    let stem = format!("{}.aside-", dir.file_name().unwrap_or_default().to_string_lossy());
    let old: Vec<(u64, PathBuf)> = RealDisk
        .list(parent)
        .map_err(failed("look around"))?
        .iter()
        .filter_map(|entry| Some((entry.name.strip_prefix(&stem)?.parse().ok()?, parent.join(&entry.name))))
        .collect();
    let next = old.iter().map(|(n, _)| n + 1).max().unwrap_or(1);
    let aside = parent.join(format!("{stem}{next}"));
    RealDisk.rename(dir, &aside).map_err(failed("set aside"))?;
    RealDisk.sync_dir(parent).map_err(failed("sync"))?;
    for (_n, path) in old {
        // Best effort: what stays is tried again next time and costs only room.
        let _removed = std::fs::remove_dir_all(path);
    }
    Ok(aside)
}

/// Waits until no handle has sled's files open. A handle that is being dropped gives its lock up a moment later, on
/// another thread.
pub(crate) fn wait_until_released(dir: &Path) -> Result<(), IndexError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match open(dir.join(SLED_FILE), flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(failed("open")(errno.into())),
    };
    let clock = RealClock::new();
    let until = clock.elapsed_us().saturating_add(RELEASE_US);
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Closing the file gives the lock up again.
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) if clock.elapsed_us() >= until => {
                return Err(IndexError::InUse { path: dir.to_owned() });
            }
            Err(Errno::WOULDBLOCK) => wait(),
            Err(errno) => return Err(failed("lock")(errno.into())),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the engine tells nobody when it has let its lock go")]
fn wait() {
    std::thread::sleep(RETRY);
}

/// Makes what sled made readable by this user alone: sled takes the umask as it is (I82).
pub(crate) fn make_private(dir: &Path) -> Result<(), IndexError> {
    walk(dir, |path, is_dir| {
        let mode = if is_dir { 0o700 } else { 0o600 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
    })
    .map_err(failed("set the modes of"))
}

fn sync_all(dir: &Path) -> io::Result<()> {
    walk(
        dir,
        |path, is_dir| {
            if is_dir { RealDisk.sync_dir(path) } else { RealDisk.open(path, OpenMode::Write)?.sync() }
        },
    )
}

/// Visits everything in `dir`, what is in a directory before the directory. Links are left alone.
fn walk(dir: &Path, visit: impl Fn(&Path, bool) -> io::Result<()>) -> io::Result<()> {
    let mut dirs = vec![dir.to_owned()];
    let mut next = 0;
    while let Some(dir) = dirs.get(next).cloned() {
        next += 1;
        for entry in RealDisk.list(&dir)? {
            let path = dir.join(&entry.name);
            if entry.is_dir {
                dirs.push(path);
            } else if path.symlink_metadata()?.is_file() {
                visit(&path, false)?;
            }
        }
    }
    dirs.iter().rev().try_for_each(|dir| visit(dir, true))
}

fn read_note(path: &Path) -> io::Result<Option<Stamp>> {
    let mut bytes = [0; NOTE_BYTES_MAX];
    let len = RealDisk.open(path, OpenMode::Read)?.read_at(&mut bytes, 0)?;
    let note = bytes.get(..len).and_then(<[u8]>::split_last_chunk::<HASH_BYTES>);
    Ok(note
        .filter(|(stamp, hash)| blake3::hash(stamp) == **hash)
        .and_then(|(stamp, _hash)| stamp::decode(stamp)))
}

fn write_note(dir: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = RealDisk.open(&dir.join(NOTE), OpenMode::CreateNew)?;
    file.write_at(bytes, 0)?;
    file.sync()?;
    RealDisk.sync_dir(dir)
}

fn parent_of(dir: &Path) -> &Path {
    dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Says what was being done.
fn failed(doing: &'static str) -> impl Fn(io::Error) -> IndexError {
    move |source| {
        if source.kind() == ErrorKind::StorageFull {
            IndexError::NoSpace { doing, source }
        } else {
            IndexError::Files { doing, source }
        }
    }
}
