//! A run on the disk.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

use spanvault_env::{Disk, DiskFile, OpenMode};
use spanvault_types::{Position, SetSum};

use super::Term;
use super::draft::Share;
use super::layout::{FOOT_BYTES, Fields, Foot, MAGIC, ROW_BYTES, check_of};

/// The longest block of postings that is read, in bytes: a damaged directory must not ask for more memory.
const BLOCK_BYTES_MAX: u64 = 64 << 20;

/// One run, opened: its directory and the sessions are in memory, its postings are read block by block.
#[derive(Debug)]
pub struct Run {
    file: Box<dyn DiskFile>,
    foot: Foot,
    /// The first term of each block and where it begins.
    directory: Vec<(Term, u64)>,
    unread: Vec<u64>,
    sessions: BTreeMap<Position, Share>,
    bytes: u64,
}

impl Run {
    /// Opens a run; `None` where it cannot be read or is not whole. Whether it counts is for [`Runs`](super::Runs) to say.
    pub fn open(disk: &dyn Disk, path: &Path) -> Option<Self> {
        let file = disk.open(path, OpenMode::Read).ok()?;
        let bytes = file.len().ok()?;
        let foot_at = bytes.checked_sub(FOOT_BYTES as u64)?;
        let foot = Foot::read(&read(&*file, foot_at, bytes)?)?;
        if foot.tables_end != foot_at || foot.directory_at < MAGIC.len() as u64 {
            return None;
        }
        let tables = read(&*file, foot.directory_at, foot_at)?;
        if check_of(&tables, &foot) != foot.check {
            return None;
        }
        let mut fields = Fields(&tables);
        let mut table = |from: u64, to: u64| fields.bytes(usize::try_from(to.checked_sub(from)?).ok()?);
        let directory = table(foot.directory_at, foot.unread_at)?;
        let unread = Fields(table(foot.unread_at, foot.sessions_at)?).ascending(foot.first.get())?;
        let sessions = sessions(table(foot.sessions_at, foot.tables_end)?)?;
        let entry = |entry: &[u8]| {
            let mut fields = Fields(entry);
            Some((Term(fields.u64()?), fields.u64()?))
        };
        let directory = directory.chunks_exact(16).map(entry).collect::<Option<_>>()?;
        Some(Self { file, foot, directory, unread, sessions, bytes })
    }

    /// The first position that it covers.
    pub const fn first(&self) -> Position {
        self.foot.first
    }

    /// The last position that it covers: a commit.
    pub const fn last(&self) -> Position {
        self.foot.last
    }

    /// The chain value of the commit at its last position, as the log had it.
    pub const fn chain(&self) -> [u8; 32] {
        self.foot.chain
    }

    /// Which program read the spans.
    pub const fn reader(&self) -> [u8; 32] {
        self.foot.reader
    }

    /// Length of the file in bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The spans that may hold anything, ascending.
    pub fn unread(&self) -> impl Iterator<Item = Position> + '_ {
        self.unread.iter().copied().map(Position::new)
    }

    /// Whether a span is one of those that may hold anything.
    pub fn is_unread(&self, at: Position) -> bool {
        self.unread.binary_search(&at.get()).is_ok()
    }

    /// What it has of each session.
    pub const fn sessions(&self) -> &BTreeMap<Position, Share> {
        &self.sessions
    }

    /// The spans that hold `term`, ascending, one as often as it was noted; `None` where the block is damaged.
    pub fn positions(&self, term: Term) -> Option<Vec<Position>> {
        let after = self.directory.partition_point(|(first, _offset)| *first <= term);
        let Some(number) = after.checked_sub(1) else { return Some(Vec::new()) };
        let (mut at, entries) = self.entries(number)?;
        let mut fields = Fields(&entries);
        while !fields.is_empty() {
            at = Term(at.get().checked_add(fields.varint()?)?);
            match at.cmp(&term) {
                Ordering::Less => fields.skip_ascending()?,
                Ordering::Equal => {
                    let found = fields.ascending(self.foot.first.get())?;
                    return Some(found.into_iter().map(Position::new).collect());
                }
                Ordering::Greater => break,
            }
        }
        Some(Vec::new())
    }

    /// How many blocks of postings it has.
    pub const fn blocks(&self) -> usize {
        self.directory.len()
    }

    /// Gives the entries of a block, ascending: a term, and the positions of the spans that hold it. `None` where it is
    /// damaged.
    pub fn block(&self, number: usize, each: &mut dyn FnMut(Term, Vec<u64>)) -> Option<()> {
        let (first, entries) = self.entries(number)?;
        let mut fields = Fields(&entries);
        let mut term = first.get();
        while !fields.is_empty() {
            term = term.checked_add(fields.varint()?)?;
            each(Term(term), fields.ascending(self.foot.first.get())?);
        }
        Some(())
    }

    /// The first term of a block and the bytes of its entries, as they were written; `None` where they are not.
    fn entries(&self, number: usize) -> Option<(Term, Vec<u8>)> {
        let (first, start) = *self.directory.get(number)?;
        let end = self.directory.get(number + 1).map_or(self.foot.directory_at, |(_term, next)| *next);
        let mut block = read(&*self.file, start, end)?;
        let (entries, crc) = block.split_last_chunk::<4>()?;
        let is_whole = crc32fast::hash(entries) == u32::from_le_bytes(*crc);
        block.truncate(entries.len());
        is_whole.then_some((first, block))
    }
}

fn read(file: &dyn DiskFile, from: u64, to: u64) -> Option<Vec<u8>> {
    let len = to.checked_sub(from).filter(|len| *len <= BLOCK_BYTES_MAX)?;
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    let read = file.read_at(&mut bytes, from).ok()?;
    (read == bytes.len()).then_some(bytes)
}

fn sessions(table: &[u8]) -> Option<BTreeMap<Position, Share>> {
    let count = table.len() / (ROW_BYTES + SetSum::BYTES);
    let (rows, sums) = table.split_at_checked(count * ROW_BYTES)?;
    let mut sessions = BTreeMap::new();
    for (row, sum) in rows.chunks_exact(ROW_BYTES).zip(sums.chunks_exact(SetSum::BYTES)) {
        let mut fields = Fields(row);
        let session = Position::new(fields.u64()?);
        let share = Share {
            spans: fields.u64()?,
            read: fields.u64()?,
            read_bytes: fields.u64()?,
            is_nameless: fields.u64()? != 0,
            sum: SetSum::from_bytes(sum)?,
        };
        sessions.insert(session, share);
    }
    Some(sessions)
}
