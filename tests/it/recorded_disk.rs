//! A block device that remembers every write and every flush, so that whatever a power cut could have left of it can be
//! made afterwards.
//!
//! It is one file in a file system of its own (FUSE, served by this process) with a loop device over it. What the kernel
//! writes to the device arrives here before the kernel hears that it was written, and a flush is remembered once all
//! writes before it have arrived.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BackgroundSession, FileAttr, FileType, Filesystem, MountOption, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow,
};

/// The unit that a disk writes whole or not at all, in bytes.
const SECTOR: usize = 512;
/// How much of an image is written at once; what is zero is left a hole.
const PIECE: usize = 16 << 10;
const ROOT: u64 = 1;
const DISK: u64 = 2;
const NAME: &str = "disk";
/// How long the kernel may believe what it was told: nothing changes behind its back.
const BELIEVED: Duration = Duration::from_secs(3_600);
const EINVAL: i32 = 22;
const ENOENT: i32 = 2;
const EOPNOTSUPP: i32 = 95;
/// `FALLOC_FL_PUNCH_HOLE` and `FALLOC_FL_ZERO_RANGE`.
const ZEROING: i32 = 0x02 | 0x10;

/// What the kernel did to the device.
#[derive(Debug, Clone)]
enum Op {
    Write {
        at: usize,
        bytes: Vec<u8>,
    },
    /// Zeros, of a discard too.
    Zero {
        at: usize,
        len: usize,
    },
    Flush,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    /// What the device held when recording began, and what was done since.
    before: Option<Vec<u8>>,
    ops: Vec<Op>,
}

impl State {
    /// Does it, and remembers it.
    fn perform(&mut self, op: Op) -> Result<(), i32> {
        apply(&mut self.bytes, &op, &mut |_sector| true).ok_or(EINVAL)?;
        if self.before.is_some() {
            self.ops.push(op);
        }
        Ok(())
    }
}

/// Applies to `disk` those sectors of an operation that `is_kept`; `None` where it reaches beyond the end.
fn apply(disk: &mut [u8], op: &Op, is_kept: &mut dyn FnMut(usize) -> bool) -> Option<()> {
    let (at, len) = match op {
        Op::Write { at, bytes } => (*at, bytes.len()),
        Op::Zero { at, len } => (*at, *len),
        Op::Flush => return Some(()),
    };
    let target = disk.get_mut(at..at.checked_add(len)?)?;
    for (n, sector) in target.chunks_mut(SECTOR).enumerate() {
        if is_kept(n) {
            match op {
                Op::Write { bytes, .. } => sector.copy_from_slice(&bytes[n * SECTOR..][..sector.len()]),
                Op::Zero { .. } | Op::Flush => sector.fill(0),
            }
        }
    }
    Some(())
}

/// What a power cut leaves of the sectors that no flush had made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unflushed {
    All,
    Nothing,
    /// Each or not, as this seed draws.
    Drawn(u64),
}

/// Everything that was recorded.
#[derive(Debug)]
pub(crate) struct Recording {
    before: Vec<u8>,
    ops: Vec<Op>,
}

impl Recording {
    pub(crate) fn ops(&self) -> usize {
        self.ops.len()
    }

    pub(crate) fn flushes(&self) -> usize {
        self.ops.iter().filter(|op| matches!(op, Op::Flush)).count()
    }

    /// Writes what a power cut after `cut` operations leaves to the file `image`, and gives how many sectors were lost.
    ///
    /// The last `lies` flushes are taken for such as the disk only said it had done.
    pub(crate) fn leave(&self, cut: usize, unflushed: Unflushed, lies: usize, image: &Path) -> u64 {
        let flushed = (0..cut).rev().filter(|n| matches!(self.ops[*n], Op::Flush)).nth(lies);
        let flushed = flushed.map_or(0, |n| n + 1);
        let (mut disk, mut lost) = (self.before.clone(), 0);
        let mut draw = match unflushed {
            Unflushed::Drawn(seed) => seed,
            Unflushed::All | Unflushed::Nothing => 0,
        };
        for (n, op) in self.ops[..cut].iter().enumerate() {
            let mut is_kept = |_sector| {
                let is_kept = n < flushed
                    || match unflushed {
                        Unflushed::All => true,
                        Unflushed::Nothing => false,
                        Unflushed::Drawn(_seed) => coin(&mut draw),
                    };
                lost += u64::from(!is_kept);
                is_kept
            };
            apply(&mut disk, op, &mut is_kept).unwrap();
        }
        write_sparse(image, &disk);
        lost
    }
}

/// Draws heads or tails: splitmix64.
fn coin(state: &mut u64) -> bool {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 63 == 1
}

fn write_sparse(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    for (n, piece) in bytes.chunks(PIECE).enumerate() {
        if piece.iter().any(|byte| *byte != 0) {
            file.seek(SeekFrom::Start((n * PIECE) as u64)).unwrap();
            file.write_all(piece).unwrap();
        }
    }
}

/// The device; gone with the value.
#[derive(Debug)]
pub(crate) struct RecordedDisk {
    state: Arc<Mutex<State>>,
    at: PathBuf,
    session: Option<BackgroundSession>,
}

impl RecordedDisk {
    /// Serves an empty device of so many bytes in the directory `at`.
    pub(crate) fn serve(at: &Path, len: usize) -> Result<Self, String> {
        let state = Arc::new(Mutex::new(State { bytes: vec![0; len], ..State::default() }));
        let served = Served(Arc::clone(&state));
        let options = [MountOption::FSName("recorded".to_owned()), MountOption::NoAtime];
        let session = fuser::spawn_mount2(served, at, &options).map_err(|error| format!("fuse: {error}"))?;
        Ok(Self { state, at: at.to_owned(), session: Some(session) })
    }

    /// The file that a loop device can be set over.
    pub(crate) fn file(&self) -> PathBuf {
        self.at.join(NAME)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on everything is remembered.
    pub(crate) fn record(&self) {
        let mut state = self.state();
        state.before = Some(state.bytes.clone());
    }

    /// How much was done until now.
    pub(crate) fn ops(&self) -> usize {
        self.state().ops.len()
    }

    /// Gives what was recorded, and the device up. Nothing may be mounted over it any more.
    pub(crate) fn end(mut self) -> Recording {
        drop(self.session.take());
        let mut state = self.state();
        let before = state.before.take().expect("it was recorded");
        Recording { before, ops: std::mem::take(&mut state.ops) }
    }
}

/// The file system with the one file.
struct Served(Arc<Mutex<State>>);

impl Served {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attributes(&self, inode: u64) -> FileAttr {
        let size = self.state().bytes.len() as u64;
        let (kind, perm) =
            if inode == ROOT { (FileType::Directory, 0o700) } else { (FileType::RegularFile, 0o600) };
        FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4_096,
            flags: 0,
        }
    }

    fn perform(&self, op: Op) -> Result<(), i32> {
        self.state().perform(op)
    }
}

fn usize_of(n: i64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl Filesystem for Served {
    fn lookup(&mut self, _request: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEntry) {
        if parent == ROOT && name == NAME {
            reply.entry(&BELIEVED, &self.attributes(DISK), 0);
        } else {
            reply.error(ENOENT);
        }
    }

    fn getattr(&mut self, _request: &Request<'_>, inode: u64, _handle: Option<u64>, reply: ReplyAttr) {
        reply.attr(&BELIEVED, &self.attributes(inode));
    }

    /// Times do not matter, and the size stays.
    fn setattr(
        &mut self,
        _request: &Request<'_>,
        inode: u64,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<u64>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<u32>,
        reply: ReplyAttr,
    ) {
        reply.attr(&BELIEVED, &self.attributes(inode));
    }

    fn open(&mut self, _request: &Request<'_>, _inode: u64, _flags: i32, reply: ReplyOpen) {
        reply.opened(0, 0);
    }

    fn read(
        &mut self,
        _request: &Request<'_>,
        _inode: u64,
        _handle: u64,
        offset: i64,
        size: u32,
        _flags: i32,
        _owner: Option<u64>,
        reply: ReplyData,
    ) {
        let state = self.state();
        let from = usize_of(offset).min(state.bytes.len());
        let to = from.saturating_add(size as usize).min(state.bytes.len());
        reply.data(&state.bytes[from..to]);
    }

    fn write(
        &mut self,
        _request: &Request<'_>,
        _inode: u64,
        _handle: u64,
        offset: i64,
        data: &[u8],
        _write_flags: u32,
        _flags: i32,
        _owner: Option<u64>,
        reply: ReplyWrite,
    ) {
        match self.perform(Op::Write { at: usize_of(offset), bytes: data.to_vec() }) {
            Ok(()) => reply.written(u32::try_from(data.len()).expect("the kernel's length has 32 bits")),
            Err(errno) => reply.error(errno),
        }
    }

    fn fallocate(
        &mut self,
        _request: &Request<'_>,
        _inode: u64,
        _handle: u64,
        offset: i64,
        length: i64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode & ZEROING == 0 {
            return reply.error(EOPNOTSUPP);
        }
        match self.perform(Op::Zero { at: usize_of(offset), len: usize_of(length) }) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn fsync(&mut self, _request: &Request<'_>, _inode: u64, _handle: u64, _data: bool, reply: ReplyEmpty) {
        match self.perform(Op::Flush) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    /// A close, which makes nothing durable.
    fn flush(&mut self, _request: &Request<'_>, _inode: u64, _handle: u64, _owner: u64, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(
        &mut self,
        _request: &Request<'_>,
        _inode: u64,
        _handle: u64,
        offset: i64,
        mut reply: ReplyDirectory,
    ) {
        if offset == 0 {
            let _is_full = reply.add(DISK, 1, FileType::RegularFile, NAME);
        }
        reply.ok();
    }
}
