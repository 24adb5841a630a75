//! The runs of a vault that count: those that cover the log from its start without a gap.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spanvault_env::{Disk, OpenMode};
use spanvault_types::Position;

use super::draft::RunDraft;
use super::merge::merge;
use super::run::Run;
use super::writer::{Extent, RunWriter};

/// The most frames that one new run is made of.
pub const STRETCH_FRAMES_MAX: u64 = 1 << 15;
/// Runs are merged as long as the one that comes of it is no longer than this, in bytes.
const MERGED_BYTES_MAX: u64 = 24 << 20;
/// How many runs of about one size are merged.
const FAN_IN: usize = 4;
/// What a run's name ends in.
const ENDING: &str = ".run";

/// What is asked of the log when runs are opened.
#[derive(Debug)]
pub struct RunsLog<F> {
    /// Which program reads, and how: a run that another made may list other terms.
    pub reader: [u8; 32],
    /// The chain value of the commit at a position; `None` where there is no commit.
    pub chain_at: F,
}

/// The runs that cover a log from its start, as far as they do.
#[derive(Debug, Default)]
pub struct Runs {
    dir: PathBuf,
    runs: Vec<Arc<Run>>,
}

/// The runs, one after the other.
pub type RunsIter<'r> = std::iter::Map<std::slice::Iter<'r, Arc<Run>>, fn(&'r Arc<Run>) -> &'r Run>;

impl Runs {
    /// Opens the runs in `dir`. A run that is damaged, of another log, or of another reader does not count, and neither
    /// does any behind it.
    pub fn open(disk: &dyn Disk, dir: &Path, log: &RunsLog<impl Fn(Position) -> Option<[u8; 32]>>) -> Self {
        Self { dir: dir.to_owned(), runs: Vec::new() }.reopen(disk, log)
    }

    /// The runs that count now: those that do already are not read again, if they are still there and the log still has
    /// their last commit.
    ///
    /// A file of a run is never changed, only replaced or removed, and what has it open still reads what it held: the
    /// terms that the same reader found in the same stretch of the log.
    #[must_use]
    pub fn reopen(&self, disk: &dyn Disk, log: &RunsLog<impl Fn(Position) -> Option<[u8; 32]>>) -> Self {
        let dir = &*self.dir;
        let mut names: Vec<(u64, u64)> =
            disk.list(dir).unwrap_or_default().iter().filter_map(|entry| stretch_of(&entry.name)).collect();
        // Of two that begin at one place the longer comes first.
        names.sort_unstable_by_key(|(first, last)| (*first, std::cmp::Reverse(*last)));
        let mut opened = Self { dir: dir.to_owned(), runs: Vec::new() };
        for (first, last) in names {
            if first != opened.next().get() {
                continue;
            }
            // Asked before the run is read: a log that does not go so far saves that.
            let Some(chain) = (log.chain_at)(Position::new(last)) else { continue };
            let open = self.runs.iter().find(|run| (run.first().get(), run.last().get()) == (first, last));
            let open = open.filter(|run| run.reader() == log.reader && run.chain() == chain).cloned();
            let run = open.or_else(|| Run::open(disk, &dir.join(name_of(first, last))).map(Arc::new));
            let Some(run) = run else { continue };
            let is_named_so = (run.first().get(), run.last().get()) == (first, last);
            if is_named_so && run.reader() == log.reader && chain == run.chain() {
                opened.runs.push(run);
            }
        }
        opened
    }

    /// The runs, in the order of what they cover.
    pub fn iter(&self) -> RunsIter<'_> {
        self.runs.iter().map(|run| run)
    }

    /// The first position that none covers.
    pub fn next(&self) -> Position {
        self.runs.last().map_or(Position::new(1), |run| run.last().next())
    }

    /// Writes a run over everything from [`Runs::next`] to the commit at `last`, and merges what has become many.
    ///
    /// # Errors
    /// What the file system says; the runs that there were stay as they are.
    pub fn push(
        &mut self,
        disk: &dyn Disk,
        draft: RunDraft,
        last: Position,
        chain: [u8; 32],
        reader: [u8; 32],
    ) -> io::Result<()> {
        disk.create_dir(&self.dir)?;
        let extent = Extent { first: self.next(), last, chain, reader };
        let run = self.write(disk, extent, |writer| draft.write(writer).map(|()| true))?;
        self.runs.extend(run);
        while self.merge(disk)? {}
        Ok(())
    }

    /// Removes the files of all runs that are there, whether they count or not.
    ///
    /// # Errors
    /// What the file system says.
    pub fn clear(&mut self, disk: &dyn Disk) -> io::Result<()> {
        self.runs.clear();
        let entries = match disk.list(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => listed?,
        };
        for entry in entries.iter().filter(|entry| !entry.is_dir) {
            disk.remove(&self.dir.join(&entry.name))?;
        }
        Ok(())
    }

    /// Merges the last few runs where they are of about one size; says whether it did.
    fn merge(&mut self, disk: &dyn Disk) -> io::Result<bool> {
        let Some(from) = self.runs.len().checked_sub(FAN_IN) else { return Ok(false) };
        let Some(merged @ [oldest, .., newest]) = self.runs.get(from..) else { return Ok(false) };
        let total: u64 = merged.iter().map(|run| run.bytes()).sum();
        let shortest = merged.iter().map(|run| run.bytes()).min().unwrap_or(0);
        if total > MERGED_BYTES_MAX || oldest.bytes() > shortest.saturating_mul(FAN_IN as u64) {
            return Ok(false);
        }
        let extent = Extent {
            first: oldest.first(),
            last: newest.last(),
            chain: newest.chain(),
            reader: newest.reader(),
        };
        let Some(run) = self.write(disk, extent, |writer| merge(merged, writer))? else { return Ok(false) };
        for old in self.runs.drain(from..) {
            // Whoever has it open still reads it; whoever opens it anew takes the longer one.
            remove(disk, &self.dir.join(name_of(old.first().get(), old.last().get())))?;
        }
        self.runs.push(run);
        Ok(true)
    }

    /// Writes a run with `fill`; `None` where that says that there can be none.
    fn write(
        &self,
        disk: &dyn Disk,
        extent: Extent,
        fill: impl FnOnce(RunWriter) -> io::Result<bool>,
    ) -> io::Result<Option<Arc<Run>>> {
        let name = name_of(extent.first.get(), extent.last.get());
        let path = self.dir.join(&name);
        let draft = self.dir.join(format!("{name}.tmp"));
        for stale in [&draft, &path] {
            remove(disk, stale)?;
        }
        if !fill(RunWriter::begin(disk.open(&draft, OpenMode::CreateNew)?, extent))? {
            remove(disk, &draft)?;
            return Ok(None);
        }
        disk.rename(&draft, &path)?;
        let run = Run::open(disk, &path);
        run.map(|run| Some(Arc::new(run)))
            .ok_or_else(|| io::Error::other("a run that was just written does not open"))
    }
}

impl<'r> IntoIterator for &'r Runs {
    type Item = &'r Run;
    type IntoIter = RunsIter<'r>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Removes a file that need not be there.
fn remove(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn name_of(first: u64, last: u64) -> String {
    format!("{first:016x}-{last:016x}{ENDING}")
}

fn stretch_of(name: &str) -> Option<(u64, u64)> {
    let (first, last) = name.strip_suffix(ENDING)?.split_once('-')?;
    let (first, last) = (u64::from_str_radix(first, 16).ok()?, u64::from_str_radix(last, 16).ok()?);
    (name == name_of(first, last)).then_some((first, last))
}
