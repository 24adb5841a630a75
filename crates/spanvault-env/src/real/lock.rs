//! The lock of a vault: an advisory lock on a file that says who holds it.
//!
//! The kernel ties the lock to the open file, so it goes with its holder however that one dies, and a second
//! handle of the same process is refused like any other. The id in the file only tells people whom to ask: it
//! never decides whether the lock is free.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock, ftruncate};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::disk::{named, open_regular};
use crate::{LockError, LockHandle};

/// The largest content of a lock file that is read, in bytes.
const PID_BYTES_MAX: u64 = 32;

#[derive(Debug)]
struct RealLock {
    file: File,
}

impl LockHandle for RealLock {}

impl Drop for RealLock {
    fn drop(&mut self) {
        // Unlocking, and not only closing, frees the lock even where a child between fork and exec still has a
        // copy of the descriptor. Where either call fails, closing the file does what can be done.
        let _cleared = ftruncate(&self.file, 0);
        let _unlocked = flock(&self.file, FlockOperation::Unlock);
    }
}

pub(super) fn lock(path: &Path) -> Result<Box<dyn LockHandle>, LockError> {
    let mut file = open_or_create(path).map_err(|errno| named("open", path, errno))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Err(LockError::Busy { pid: living_holder(&mut file) }),
        Err(errno) => return Err(named("lock", path, errno).into()),
    }
    // From here on a failure drops the handle, which unlocks.
    let mut lock = RealLock { file };
    fchmod(&lock.file, Mode::RUSR | Mode::WUSR).map_err(|errno| named("set the mode of", path, errno))?;
    ftruncate(&lock.file, 0).map_err(|errno| named("clear", path, errno))?;
    note_holder(&mut lock.file)?;
    Ok(Box::new(lock))
}

/// Writes this process's id. A full disk must not keep a vault from being opened (I9), and the id is only told
/// to people, so that failure alone is let pass.
fn note_holder(file: &mut File) -> io::Result<()> {
    match writeln!(file, "{}", std::process::id()) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        written => written,
    }
}

fn open_or_create(path: &Path) -> Result<File, Errno> {
    open_regular(path, OFlags::RDWR | OFlags::CREATE, Mode::RUSR | Mode::WUSR)
}

/// The id in a lock file, if a process with that id lives. One that died left its id behind, and whoever took the
/// lock since may not have written yet.
fn living_holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(PID_BYTES_MAX).read_to_string(&mut text).ok()?;
    let raw: u32 = text.trim().parse().ok()?;
    let pid = Pid::from_raw(i32::try_from(raw).ok()?)?;
    match test_kill_process(pid) {
        // Not permitted to signal it: it lives, and belongs to somebody else.
        Ok(()) | Err(Errno::PERM) => Some(raw),
        Err(_gone) => None,
    }
}
