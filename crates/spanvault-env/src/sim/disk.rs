//! A disk in memory that forgets what was not synced.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use rustix::io::Errno;

use super::content::Content;
use super::crash::{Fates, Survival};
use super::fault::{CallKind, ScheduledFault};
use super::handle::{SimFile, SimLock};
use super::tree::{Tree, names};
use super::world::{Count, World, to_usize};
use crate::sync::Mutex;
use crate::{DirEntry, Disk, DiskFile, LockError, LockHandle, OpenMode};

/// The process id of every process of a simulation.
const SIM_PID: u32 = 4242;

/// A simulated disk.
///
/// What a crash may take is kept per 512-byte sector of a file, per length and per directory entry. A disk is one
/// life of the machine: [`SimDisk::crash`] and [`SimDisk::restart`] give the disk of the next one and leave this
/// one as it is, so that one moment can be crashed in many ways.
#[derive(Debug)]
pub struct SimDisk {
    world: Arc<Mutex<World>>,
}

impl SimDisk {
    /// An empty disk without faults and without an end.
    pub fn new() -> Self {
        Self::of(World::new(Tree::new(), None, blake3::Hasher::new()))
    }

    /// The disk after a power cut. Its power is on, nobody holds a lock, no fault is scheduled.
    pub fn crash(&self, survival: Survival) -> Arc<Self> {
        self.with(|world| Self::next_life(world, world.tree.after_crash(&mut Fates::new(survival))))
    }

    /// The disk after all processes ended (`kill -9`) while the machine went on: everything written is there, and
    /// what was not synced still is not. Nobody holds a lock, no fault is scheduled.
    pub fn restart(&self) -> Arc<Self> {
        self.with(|world| Self::next_life(world, world.tree.after_restart()))
    }

    /// The number of units that [`SimDisk::crash`] decides about: see [`Survival`].
    pub fn unsynced(&self) -> usize {
        self.with(|world| {
            let mut fates = Fates::new(Survival::All);
            world.tree.after_crash(&mut fates);
            fates.dealt()
        })
    }

    /// Cuts the power at the `nth` call from now on, counted from 1: it and every later call fail and change
    /// nothing. Go on with [`SimDisk::crash`].
    pub fn cut_power(&self, count: Count, nth: u64) {
        self.with(|world| world.cut = Some((count, world.counts.get(count).saturating_add(nth))));
    }

    /// Whether the power is on.
    pub fn is_powered(&self) -> bool {
        self.with(|world| world.powered)
    }

    /// Schedules a fault, beside those that are scheduled already.
    pub fn fail(&self, fault: ScheduledFault) {
        self.with(|world| world.faults.push(fault));
    }

    /// Takes all scheduled faults back.
    pub fn mend(&self) {
        self.with(|world| world.faults.clear());
    }

    /// Limits the bytes that the disk can hold; `None` for no limit. Each file and directory takes one sector
    /// besides its bytes, and removing frees them once the directory is synced and the file is closed.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.with(|world| world.capacity_bytes = bytes);
    }

    /// The bytes taken, counted as for [`SimDisk::set_capacity`].
    pub fn used_bytes(&self) -> u64 {
        self.with(|world| world.tree.used_bytes())
    }

    /// The number of calls of a sort so far, failed ones included.
    pub fn count(&self, count: Count) -> u64 {
        self.with(|world| world.counts.get(count))
    }

    /// A hash over every call so far, in this life and those before, with its arguments and its fault. Equal runs
    /// have equal hashes.
    pub fn trace_hash(&self) -> [u8; 32] {
        self.with(|world| *world.trace.finalize().as_bytes())
    }

    /// All files and their lengths, by path.
    pub fn files(&self) -> Vec<(PathBuf, u64)> {
        self.with(|world| world.tree.files())
    }

    /// The bytes of a file, read behind the engine's back: not counted and never failing by a fault.
    ///
    /// # Errors
    /// `NotFound`, or the path is a directory's.
    pub fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.with(|world| Ok(world.tree.content(world.tree.find(path)?)?.bytes().to_vec()))
    }

    /// Puts a file there with these bytes, all durable, behind the engine's back. Its directory must exist.
    ///
    /// # Errors
    /// `NotFound` where the directory is missing.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.with(|world| Ok(world.tree.put_file(path, Content::durable(bytes.to_vec()))?))
    }

    /// Flips bit `bit` (0 to 7) of byte `byte` of a file, durably, behind the engine's back.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` where the file has no such byte.
    pub fn flip_bit(&self, path: &Path, byte: u64, bit: u8) -> io::Result<()> {
        self.with(|world| {
            let ino = world.tree.find_file(path)?;
            let byte = to_usize(byte)?;
            world.tree.content_mut(ino)?.flip(byte, bit).ok_or_else(|| Errno::INVAL.into())
        })
    }

    fn next_life(world: &World, tree: Tree) -> Arc<Self> {
        Arc::new(Self::of(world.next_life(tree)))
    }

    fn of(world: World) -> Self {
        Self { world: Arc::new(Mutex::new(world)) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        with(&self.world, act)
    }
}

impl Default for SimDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        self.with(|world| {
            let ino = match mode {
                OpenMode::Read | OpenMode::Write => {
                    world.begin_whole(CallKind::Open, path, &[])?;
                    world.tree.find_file(path)?
                }
                OpenMode::CreateNew => {
                    world.begin_whole(CallKind::Create, path, &[])?;
                    world.create(path)?
                }
            };
            world.tree.opened(ino);
            let file = SimFile { world: self.world.clone(), ino, path: path.to_owned(), mode };
            Ok(Box::new(file) as Box<dyn DiskFile>)
        })
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut missing = Vec::new();
        let mut existing: PathBuf = names(path).iter().collect();
        loop {
            match self.with(|world| world.tree.find(&existing).map(|ino| world.tree.is_dir(ino))) {
                Ok(true) => break,
                Ok(false) => return Err(Errno::NOTDIR.into()),
                Err(Errno::NOENT) => missing.push(existing.clone()),
                Err(errno) => return Err(errno.into()),
            }
            existing.pop();
        }
        // One that an earlier process made may not be durable: see `RealDisk`.
        self.with(|world| world.sync_dir(parent_of(&existing)))?;
        for dir in missing.into_iter().rev() {
            self.with(|world| world.make_dir(&dir))?;
            self.with(|world| world.sync_dir(parent_of(&dir)))?;
        }
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.with(|world| {
            world.begin_whole(CallKind::List, path, &[])?;
            let entries = world.tree.list(path)?.into_iter();
            Ok(entries
                .map(|(name, len)| DirEntry { name, is_dir: len.is_none(), len: len.unwrap_or(0) as u64 })
                .collect())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.with(|world| {
            world.begin_whole(CallKind::Rename, from, &[to.as_os_str().as_encoded_bytes()])?;
            Ok(world.tree.rename(from, to)?)
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.with(|world| {
            world.begin_whole(CallKind::Remove, path, &[])?;
            Ok(world.tree.remove(path)?)
        })
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.with(|world| world.sync_dir(path))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn LockHandle>, LockError> {
        self.with(|world| {
            world.begin_whole(CallKind::Lock, path, &[])?;
            let ino = match world.tree.find_file(path) {
                Ok(ino) => ino,
                Err(Errno::NOENT) => world.create(path)?,
                Err(errno) => return Err(io::Error::from(errno).into()),
            };
            if !world.locked.insert(ino) {
                return Err(LockError::Busy { pid: Some(SIM_PID) });
            }
            world.tree.opened(ino);
            Ok(Box::new(SimLock { world: self.world.clone(), ino }) as Box<dyn LockHandle>)
        })
    }

    /// A simulated directory always belongs to this user alone.
    fn check_private(&self, path: &Path) -> io::Result<()> {
        self.with(|world| {
            world.begin_whole(CallKind::Inspect, path, &[])?;
            let ino = world.tree.find(path)?;
            if world.tree.is_dir(ino) { Ok(()) } else { Err(Errno::NOTDIR.into()) }
        })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.with(|world| {
            world.begin_whole(CallKind::Inspect, path, &[])?;
            world.tree.find(path)?;
            Ok(Path::new("/").join(names(path).iter().collect::<PathBuf>()))
        })
    }
}

pub(super) fn with<T>(world: &Mutex<World>, act: impl FnOnce(&mut World) -> T) -> T {
    act(&mut world.lock().unwrap_or_else(PoisonError::into_inner))
}

fn parent_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}
