//! Opens a vault: makes it, or reopens it after whatever ended the process before.
//!
//! Nothing is overwritten but a torn tail that nobody was told about (I11), and any of this may be cut at any
//! instant and done again (I13).

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;
use spanvault_env::sync::{Mutex, RwLock};
use spanvault_env::{DirEntry, DiskFile, Env, LockError, OpenMode, StoreClock};
use spanvault_types::key::{self, Table};
use spanvault_types::{ClockStamp, Counts, Event, Position};

use crate::bytes::len_u64;
use crate::chain::GENESIS;
use crate::damage::{Damage, Fault};
use crate::deferred::Deferred;
use crate::error::{Result, StoreError, io_error};
use crate::flush::Flush;
use crate::handles::Handles;
use crate::hint::{HINT_BYTES, Hint};
use crate::layout::{self, Layout};
use crate::lookup::Scans;
use crate::report::{LostTail, OpenReport};
use crate::reserve::Reserve;
use crate::segment::{SEGMENT_HEAD_BYTES, SegmentHead};
use crate::sidecar::Recent;
use crate::stamp::{self, CheckKey, STAMP_BYTES_MAX, Stamp, VaultId};
use crate::store::{Access, Store, StoreOptions};
use crate::tail::{Tail, load};
use crate::tier::Cold;
use crate::view::View;
use crate::writer::WriterState;

/// A piece of the log that is rewritten at once while it is settled.
const SETTLE_BYTES: usize = 1 << 20;

impl Store {
    /// Opens the vault in `dir`, and says what was found.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::NoVault`] (a reader), [`StoreError::NotAVault`], [`StoreError::NewerFormat`],
    /// [`StoreError::NotPrivate`], [`StoreError::Damaged`] and errors of the file system; each before anything was
    /// touched. Damage inside the log is no error: it is reported, and the rest is served.
    pub fn open(env: Env, dir: &Path, access: Access, options: StoreOptions) -> Result<(Self, OpenReport)> {
        match access {
            Access::Read => Self::open_to_read(env, dir, options),
            Access::Write => Self::open_to_write(env, dir, options),
        }
    }

    fn open_to_read(env: Env, dir: &Path, options: StoreOptions) -> Result<(Self, OpenReport)> {
        let layout = Layout::new(dir);
        check_private(&env, dir)?;
        let found = survey(&env, &layout)?;
        let Found::Vault { id, intact } = found else {
            return Err(StoreError::NoVault { path: dir.to_owned() });
        };
        let key = id.check_key();
        // Before the log is listed: what was acknowledged by now is in the files that the listing shows.
        let hint = open_hint(&env, &layout, OpenMode::Read, &key)?;
        let mut report =
            OpenReport { stamp_damaged: !intact, hint_lost: hint.is_none(), ..OpenReport::default() };
        let acked = hint.map_or(0, |(_file, hint)| hint.acked);
        let tail = load(&env, &layout, &key, acked, OpenMode::Read)?;
        let store = Self::assemble(env, layout, key, options, tail, &mut report);
        Ok((store, report))
    }

    fn open_to_write(env: Env, dir: &Path, options: StoreOptions) -> Result<(Self, OpenReport)> {
        let layout = Layout::new(dir);
        match env.disk.list(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                env.disk.create_dir(dir).map_err(io_error("create", dir))?;
            }
            listed => drop(listed.map_err(io_error("list", dir))?),
        }
        check_private(&env, dir)?;
        survey(&env, &layout)?;
        let lock = env.disk.lock(&layout.lock).map_err(|error| match error {
            LockError::Busy { pid } => StoreError::Busy { path: dir.to_owned(), pid },
            LockError::Io(source) => io_error("lock", &layout.lock)(source),
            other => io_error("lock", &layout.lock)(io::Error::other(other)),
        })?;
        // Again, now that nobody else can be making it.
        let (id, intact, created) = match survey(&env, &layout)? {
            Found::Vault { id, intact } => (id, intact, false),
            Found::Nothing => (create(&env, &layout)?, true, true),
        };
        let key = id.check_key();
        let hint = open_hint(&env, &layout, OpenMode::Write, &key)?;
        let mut report = OpenReport {
            created,
            stamp_damaged: !intact,
            hint_lost: hint.is_none(),
            ..OpenReport::default()
        };
        let (file, hint) = match hint {
            Some(found) => found,
            None => (create_hint(&env, &layout)?, Hint::default()),
        };
        remove_drafts(&env, &layout)?;
        let tail = load(&env, &layout, &key, hint.acked, OpenMode::Write)?;
        settle(&env, &layout, &tail)?;
        let unfit = !tail.replayed.appendable;
        let stale = tail.stale_sidecars.clone();
        let mut store = Self::assemble(env, layout, key, options, tail, &mut report);
        store.lock = Some(lock);
        let reserve = Reserve::open(&*store.env.disk, &store.layout, options.reserve_bytes);
        store.reserve = reserve.map_err(io_error("open", &store.layout.reserve))?;
        store.flush.note_in(file, hint);
        if unfit {
            store.lock()?.seal_at_any_price()?;
        }
        for number in stale {
            store.rebuild_sidecar(number)?;
            report.unindexed.retain(|unindexed| *unindexed != number);
        }
        Ok((store, report))
    }

    fn assemble(
        env: Env,
        layout: Layout,
        key: CheckKey,
        options: StoreOptions,
        tail: Tail,
        report: &mut OpenReport,
    ) -> Self {
        let replayed = tail.replayed;
        let mut tip = replayed.cursor;
        if tip.next <= tip.known {
            let found = Position::new(tip.next - 1);
            report.lost_tail = Some(LostTail { found, acknowledged: Position::new(tip.known) });
            let lost = Damage {
                from: found.next(),
                to: Position::new(tip.known),
                segment: tail.open.head.number,
                offset: replayed.map.end,
                fault: Fault::Missing,
            };
            report.damage.push(lost);
            // A position that was acknowledged once is never given to anything else.
            tip.next = tip.known + 1;
        }
        report.torn_bytes = replayed.torn_bytes;
        report.damage.extend(replayed.damage);
        report.damage.extend(tail.damage);
        report.damage.sort_unstable();
        report.unindexed = tail.unindexed;
        let fresh = tip.next == 1 && tip.clock == ClockStamp::default();
        let clock = StoreClock::resume(Arc::clone(&env.clock), (!fresh).then_some(tip.clock));
        *tail.open.map.write().unwrap_or_else(std::sync::PoisonError::into_inner) = replayed.map;
        let flush =
            Flush::new(Arc::clone(&tail.open.file), tip.next - 1, key.clone(), Arc::clone(&env.clock));
        let flush = Arc::new(flush);
        let store = Self {
            deferred: Deferred::new(Arc::clone(&flush), Arc::clone(&env.clock)),
            flush,
            view: ArcSwap::from_pointee(View { sealed: tail.sealed, open: Arc::new(tail.open) }),
            tip: RwLock::new(tip),
            next: AtomicU64::new(tip.next),
            damage: Mutex::new(report.damage.iter().copied().collect::<BTreeSet<_>>()),
            writer: Mutex::new(WriterState::default()),
            replacing: Mutex::new(()),
            handles: Handles::default(),
            scans: Scans::default(),
            recent: Recent::default(),
            cold: Cold::default(),
            reserve: Reserve::default(),
            lock: None,
            env,
            layout,
            key,
            options,
            clock,
        };
        store.recall_clock();
        store
    }

    /// A clock that was found suspect in this boot stays so until somebody confirms it (I39), and time that somebody
    /// credited stays credited, also where nothing was committed after that.
    fn recall_clock(&self) {
        let Ok(Some((_key, at))) = self.scan_last(&key::key(Table::Clock, &[])) else { return };
        let Ok(frame) = self.frame(at) else { return };
        if let Event::ClockSuspected(suspected) = frame.event {
            self.clock.recall(&suspected);
        } else if let Event::ClockConfirmed(confirmed) = frame.event
            && confirmed.after > self.clock.now()
        {
            self.clock.confirm(confirmed.after);
        }
    }
}

/// What is in the directory.
enum Found {
    Vault {
        id: VaultId,
        intact: bool,
    },
    /// Nothing, or what an interrupted creation left.
    Nothing,
}

fn survey(env: &Env, layout: &Layout) -> Result<Found> {
    let entries = match env.disk.list(&layout.root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::NoVault { path: layout.root.clone() });
        }
        listed => listed.map_err(io_error("list", &layout.root))?,
    };
    if entries.iter().any(|entry| entry.name == layout::STAMP) {
        return match read_stamp(env, layout)? {
            Stamp::Known { id, intact } => Ok(Found::Vault { id, intact }),
            Stamp::Newer { found } => Err(StoreError::NewerFormat { path: layout.root.clone(), found }),
            Stamp::Unreadable => {
                let what = "neither of its two copies can be read";
                Err(StoreError::Damaged { path: layout.stamp.clone(), what })
            }
        };
    }
    for entry in &entries {
        if !is_left_over(env, layout, entry)? {
            return Err(StoreError::NotAVault { path: layout.root.clone() });
        }
    }
    Ok(Found::Nothing)
}

/// Whether an interrupted creation may have left this. The stamp comes last, so nothing was acknowledged by then.
fn is_left_over(env: &Env, layout: &Layout, entry: &DirEntry) -> Result<bool> {
    let stamp_draft = format!("{}{}", layout::STAMP, layout::TMP);
    match entry.name.as_str() {
        layout::LOCK => Ok(!entry.is_dir),
        layout::ACKED => Ok(!entry.is_dir && entry.len <= HINT_BYTES),
        layout::LOG if entry.is_dir => {
            let inside = env.disk.list(&layout.log).map_err(io_error("list", &layout.log))?;
            Ok(inside.iter().all(|entry| {
                let is_first = layout::segment_number(&entry.name) == Some(1);
                is_first && entry.len <= len_u64(SEGMENT_HEAD_BYTES)
            }))
        }
        name => Ok(name == stamp_draft && !entry.is_dir),
    }
}

fn read_stamp(env: &Env, layout: &Layout) -> Result<Stamp> {
    let path = &layout.stamp;
    let file = env.disk.open(path, OpenMode::Read).map_err(io_error("open", path))?;
    let mut bytes = vec![0; STAMP_BYTES_MAX];
    let read = file.read_at(&mut bytes, 0).map_err(io_error("read", path))?;
    bytes.truncate(read);
    Ok(stamp::decode(&bytes))
}

fn check_private(env: &Env, dir: &Path) -> Result<()> {
    env.disk.check_private(dir).map_err(|source| {
        let path = dir.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            StoreError::NoVault { path }
        } else {
            StoreError::NotPrivate { path, source }
        }
    })
}

/// Makes a vault. Its stamp comes last: until then there is none, and this can be done again.
fn create(env: &Env, layout: &Layout) -> Result<VaultId> {
    let disk = &env.disk;
    let id = VaultId::random(&*env.random);
    // It may stand there by an interrupted run, and not be durable yet.
    disk.create_dir(&layout.root).map_err(io_error("create", &layout.root))?;
    disk.create_dir(&layout.log).map_err(io_error("create", &layout.log))?;
    drop(create_hint(env, layout)?);

    let mut nonce = [0; 16];
    env.random.fill(&mut nonce);
    let head = SegmentHead {
        number: 1,
        first: 1,
        nonce,
        chain: GENESIS,
        counts: Counts::default(),
        clock: ClockStamp::default(),
    };
    put(env, &layout.segment(1), &head.encode(&id.check_key()))?;
    disk.sync_dir(&layout.log).map_err(io_error("sync", &layout.log))?;

    let draft = layout::tmp(&layout.stamp);
    put(env, &draft, stamp::encode(id).as_bytes())?;
    disk.rename(&draft, &layout.stamp).map_err(io_error("rename", &draft))?;
    disk.sync_dir(&layout.root).map_err(io_error("sync", &layout.root))?;
    Ok(id)
}

/// Makes a file anew, durable but for its entry.
fn put(env: &Env, path: &Path, bytes: &[u8]) -> Result<Box<dyn DiskFile>> {
    let write = || -> io::Result<Box<dyn DiskFile>> {
        if let Err(error) = env.disk.remove(path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let file = env.disk.open(path, OpenMode::CreateNew)?;
        file.write_at(bytes, 0)?;
        file.sync()?;
        Ok(file)
    };
    write().map_err(io_error("create", path))
}

/// Written in full from the start, so that a full disk never keeps it from being updated.
fn create_hint(env: &Env, layout: &Layout) -> Result<Box<dyn DiskFile>> {
    let file = put(env, &layout.acked, &vec![0; usize::try_from(HINT_BYTES).unwrap_or(0)])?;
    env.disk.sync_dir(&layout.root).map_err(io_error("sync", &layout.root))?;
    Ok(file)
}

/// The hint file and what it says; `None` where it is gone or unreadable.
fn open_hint(
    env: &Env,
    layout: &Layout,
    mode: OpenMode,
    key: &CheckKey,
) -> Result<Option<(Box<dyn DiskFile>, Hint)>> {
    let file = match env.disk.open(&layout.acked, mode) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(io_error("open", &layout.acked))?,
    };
    let hint = Hint::read(&*file, key).map_err(io_error("read", &layout.acked))?;
    Ok(Some((file, hint)))
}

/// Removes files that were being written when a process ended. None of them is part of the vault yet.
fn remove_drafts(env: &Env, layout: &Layout) -> Result<()> {
    let mut drafts = vec![layout::tmp(&layout.stamp)];
    for entry in env.disk.list(&layout.log).map_err(io_error("list", &layout.log))? {
        if entry.name.ends_with(layout::TMP) && !entry.is_dir {
            drafts.push(layout.log.join(&entry.name));
        }
    }
    for path in drafts {
        match env.disk.remove(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(io_error("remove", &path))?,
        }
    }
    Ok(())
}

/// Cuts the torn tail and makes durable what counts.
///
/// What was read back here may stand in memory only: pages that a failed sync dropped look clean, and a sync alone
/// would pass them by. So bytes that are not known to have been durable are written again before they are synced.
fn settle(env: &Env, layout: &Layout, tail: &Tail) -> Result<()> {
    let (file, replayed) = (&tail.open.file, &tail.replayed);
    let path = layout.segment(tail.open.head.number);
    let rewrite = || -> io::Result<()> {
        if replayed.torn_bytes > 0 {
            file.set_len(replayed.map.end)?;
        }
        let mut offset = if replayed.cursor.next == tail.open.head.first { 0 } else { replayed.unsettled() };
        let mut buffer = vec![0; SETTLE_BYTES];
        while offset < replayed.map.end {
            let want = usize::try_from(replayed.map.end - offset).unwrap_or(usize::MAX).min(buffer.len());
            let read = file.read_at(buffer.get_mut(..want).unwrap_or_default(), offset)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            file.write_at(bytes, offset)?;
            offset += len_u64(read);
        }
        file.sync()
    };
    rewrite().map_err(io_error("settle", &path))?;
    // A process that was killed may have made entries that only its own memory of the directories shows.
    for dir in [&layout.log, &layout.root] {
        env.disk.sync_dir(dir).map_err(io_error("sync", dir))?;
    }
    Ok(())
}
