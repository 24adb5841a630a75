//! An open file and a held lock of a simulated disk.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;

use super::disk::with;
use super::fault::CallKind;
use super::tree::Ino;
use super::world::{World, to_usize};
use crate::sync::Mutex;
use crate::{DiskFile, LockHandle, OpenMode};

#[derive(Debug)]
pub(super) struct SimFile {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) ino: Ino,
    pub(super) path: PathBuf,
    pub(super) mode: OpenMode,
}

impl SimFile {
    fn check_writable(&self) -> io::Result<()> {
        if self.mode == OpenMode::Read { Err(Errno::BADF.into()) } else { Ok(()) }
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        with(&self.world, |world| {
            let args: [&[u8]; 2] = [&offset.to_le_bytes(), &(buf.len() as u64).to_le_bytes()];
            world.begin_whole(CallKind::Read, &self.path, &args)?;
            Ok(world.tree.content(self.ino)?.read(buf, to_usize(offset)?))
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.check_writable()?;
        with(&self.world, |world| world.write(self.ino, &self.path, bytes, offset))
    }

    fn len(&self) -> io::Result<u64> {
        with(&self.world, |world| {
            world.begin_whole(CallKind::Inspect, &self.path, &[])?;
            Ok(world.tree.content(self.ino)?.len() as u64)
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        with(&self.world, |world| world.set_len(self.ino, &self.path, len))
    }

    fn sync(&self) -> io::Result<()> {
        with(&self.world, |world| world.sync(self.ino, &self.path))
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        with(&self.world, |world| world.tree.closed(self.ino));
    }
}

#[derive(Debug)]
pub(super) struct SimLock {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) ino: Ino,
}

impl LockHandle for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        with(&self.world, |world| {
            world.locked.remove(&self.ino);
            world.tree.closed(self.ino);
        });
    }
}
