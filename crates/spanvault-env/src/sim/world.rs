//! Everything behind the lock of a simulated disk: the tree, what is to go wrong, and what happened so far.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::content::SECTOR;
use super::fault::{CallKind, Fault, ScheduledFault, enospc};
use super::tree::{Ino, Tree};

/// What calls are counted by, for [`crate::SimDisk::cut_power`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Every call.
    Calls,
    /// Calls that can change what a crash leaves behind.
    Changes,
    /// Calls that make something durable.
    Syncs,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) tree: Tree,
    pub(super) locked: BTreeSet<Ino>,
    pub(super) faults: Vec<ScheduledFault>,
    pub(super) capacity_bytes: Option<u64>,
    pub(super) counts: Counts,
    /// The first call that finds no power.
    pub(super) cut: Option<(Count, u64)>,
    pub(super) powered: bool,
    pub(super) trace: blake3::Hasher,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    calls: u64,
    changes: u64,
    syncs: u64,
}

impl Counts {
    pub(super) fn get(&self, count: Count) -> u64 {
        match count {
            Count::Calls => self.calls,
            Count::Changes => self.changes,
            Count::Syncs => self.syncs,
        }
    }
}

impl World {
    pub(super) fn new(tree: Tree, capacity_bytes: Option<u64>, trace: blake3::Hasher) -> Self {
        Self {
            tree,
            locked: BTreeSet::new(),
            faults: Vec::new(),
            capacity_bytes,
            counts: Counts::default(),
            cut: None,
            powered: true,
            trace,
        }
    }

    /// The world of the next life of the machine.
    pub(super) fn next_life(&self, tree: Tree) -> Self {
        let mut trace = blake3::Hasher::new();
        trace.update(self.trace.finalize().as_bytes());
        Self::new(tree, self.capacity_bytes, trace)
    }

    /// Every call begins here: it is counted, traced and fails if its time has come.
    pub(super) fn begin(&mut self, kind: CallKind, path: &Path, args: &[&[u8]]) -> io::Result<Option<Fault>> {
        self.counts.calls += 1;
        self.counts.changes += u64::from(kind.changes());
        self.counts.syncs += u64::from(kind.syncs());
        if let Some((count, at)) = self.cut
            && self.counts.get(count) >= at
        {
            self.powered = false;
        }
        let mut strike = None;
        if self.powered {
            // Every fault sees every call, so that their counts do not depend on each other.
            self.faults.retain_mut(|scheduled| match scheduled.strikes(kind, path) {
                Some(fault) => {
                    strike = strike.or(Some(fault));
                    scheduled.is_sticky()
                }
                None => true,
            });
        }
        self.note(format!("{kind:?} {strike:?} {}", self.powered).as_bytes());
        self.note(path.as_os_str().as_encoded_bytes());
        for arg in args {
            self.note(arg);
        }
        if self.powered { Ok(strike) } else { Err(io::Error::other("the power is cut")) }
    }

    /// Like [`World::begin`], for calls that a fault makes fail as a whole.
    pub(super) fn begin_whole(&mut self, kind: CallKind, path: &Path, args: &[&[u8]]) -> io::Result<()> {
        match self.begin(kind, path, args)? {
            Some(fault) => Err(fault.error()),
            None => Ok(()),
        }
    }

    fn note(&mut self, arg: &[u8]) {
        self.trace.update(&(arg.len() as u64).to_le_bytes());
        self.trace.update(arg);
    }

    fn free_bytes(&self) -> u64 {
        self.capacity_bytes.map_or(u64::MAX, |capacity| capacity.saturating_sub(self.tree.used_bytes()))
    }

    /// A new name needs room too.
    fn check_room_for_a_name(&self) -> io::Result<()> {
        if self.free_bytes() < SECTOR as u64 { Err(enospc()) } else { Ok(()) }
    }

    pub(super) fn create(&mut self, path: &Path) -> io::Result<Ino> {
        self.check_room_for_a_name()?;
        Ok(self.tree.create_file(path)?)
    }

    pub(super) fn make_dir(&mut self, path: &Path) -> io::Result<()> {
        self.begin_whole(CallKind::MakeDir, path, &[])?;
        self.check_room_for_a_name()?;
        match self.tree.create_dir(path) {
            // Somebody else made it since we looked.
            Err(Errno::EXIST) => Ok(()),
            made => Ok(made?),
        }
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        self.begin_whole(CallKind::SyncDir, path, &[])?;
        Ok(self.tree.sync_dir(path)?)
    }

    pub(super) fn write(&mut self, ino: Ino, path: &Path, bytes: &[u8], offset: u64) -> io::Result<()> {
        let fault = self.begin(CallKind::Write, path, &[&offset.to_le_bytes(), bytes])?;
        let (allowed, error) = match fault {
            None => (bytes.len(), None),
            Some(Fault::ShortWrite) => (bytes.len() / 2, Some(Fault::ShortWrite.error())),
            Some(fault) => return Err(fault.error()),
        };
        let start = to_usize(offset)?;
        let len = self.tree.content(ino)?.len();
        // Bytes up to the old end need no room; a hole does, here.
        let room_end = (len as u64).saturating_add(self.free_bytes());
        let fitting = usize::try_from(room_end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let written = bytes.get(..allowed.min(fitting)).unwrap_or(bytes);
        if !written.is_empty() {
            self.tree.content_mut(ino)?.write(written, start);
        }
        match error {
            Some(error) => Err(error),
            None if written.len() < bytes.len() => Err(enospc()),
            None => Ok(()),
        }
    }

    pub(super) fn set_len(&mut self, ino: Ino, path: &Path, len: u64) -> io::Result<()> {
        self.begin_whole(CallKind::SetLen, path, &[&len.to_le_bytes()])?;
        let content = self.tree.content(ino)?;
        if len.saturating_sub(content.len() as u64) > self.free_bytes() {
            return Err(enospc());
        }
        self.tree.content_mut(ino)?.set_len(to_usize(len)?);
        Ok(())
    }

    pub(super) fn sync(&mut self, ino: Ino, path: &Path) -> io::Result<()> {
        let fault = self.begin(CallKind::Sync, path, &[])?;
        let content = self.tree.content_mut(ino)?;
        match fault {
            None => content.sync(),
            Some(Fault::SyncDrops) => content.drop_unsynced(),
            Some(Fault::Io | Fault::NoSpace | Fault::ShortWrite) => {}
        }
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }
}

pub(super) fn to_usize(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_too_far| Errno::FBIG.into())
}
