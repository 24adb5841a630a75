//! Decides which frames of a segment count.
//!
//! Up to the last position that is known to have been durable, everything counts: what is damaged there is
//! corruption, kept in place and reported, and what follows is served. Beyond it only whole batches count, whose
//! frames fit the chain and whose bodies hash to their names; the first that does not is a torn tail that nobody was
//! told about, and the log ends before it. See FORMAT.md for the cases one by one.

use std::io;

use spanvault_env::DiskFile;
use spanvault_types::key::{self, Table, keys_of};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{ClockStamp, Commit, ContentHash, Counts, Event, Position, StoreTime};

use super::map::{Entry, SegmentMap, ShortKey, Slot};
use super::scan::{Scanned, Scanner, Step, hash_at};
use crate::bytes::len_u64;
use crate::chain::{ChainValue, Links};
use crate::damage::{Damage, Fault};
use crate::frame::{FRAME_BYTES_MIN, Form};
use crate::stamp::CheckKey;

/// Where the log stands after some frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor {
    /// The next position.
    pub(crate) next: u64,
    pub(crate) chain: ChainValue,
    pub(crate) counts: Counts,
    pub(crate) clock: ClockStamp,
    /// The last position known to have been durable.
    pub(crate) known: u64,
}

/// What a replay found.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// The frames that count.
    pub(crate) map: SegmentMap,
    pub(crate) cursor: Cursor,
    pub(crate) damage: Vec<Damage>,
    /// Where the replay began.
    start: u64,
    /// Bytes after the last frame that counts, of a batch that nobody was told about.
    pub(crate) torn_bytes: u64,
    /// Whether frames can be added after the last one that counts.
    pub(crate) appendable: bool,
}

impl Replayed {
    /// Where the bytes begin that count but were not known to be durable before they were read here.
    pub(crate) fn unsettled(&self) -> u64 {
        let known = self.cursor.known;
        if known < self.map.first { self.start } else { self.map.offset_after(known).unwrap_or(self.map.end) }
    }
}

/// A replay under way.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    file: &'a dyn DiskFile,
    key: &'a CheckKey,
    number: u64,
    scanner: Scanner<'a>,
    found: Replayed,
    /// Whether the cursor's chain value is that of the commit right before.
    chain_known: bool,
    batch: Batch,
}

/// Frames whose commit has not come yet.
#[derive(Debug, Default)]
struct Batch {
    offset: u64,
    frames: Vec<Draft>,
    links: Links,
}

#[derive(Debug)]
struct Draft {
    seq: u64,
    /// `None` where the head is damaged.
    offset: Option<u64>,
    keys: Vec<key::Key>,
    counts: Counts,
    body: Option<(u64, u64, ContentHash)>,
}

impl Draft {
    fn bare(seq: u64, offset: Option<u64>) -> Self {
        Self { seq, offset, keys: Vec::new(), counts: Counts::default(), body: None }
    }
}

/// A reader looks again so often until two looks beside a writer see the same.
const LOOKS_MAX: usize = 5;

/// Whether the log goes on after a frame.
enum Verdict {
    GoOn,
    Torn,
}

impl<'a> Replay<'a> {
    /// Starts at `offset`, where the cursor's next frame should be.
    pub(crate) fn new(
        file: &'a dyn DiskFile,
        key: &'a CheckKey,
        number: u64,
        offset: u64,
        cursor: Cursor,
    ) -> io::Result<Self> {
        let next = cursor.next;
        let scanner = Scanner::new(file, key, number, offset, next)?;
        let found = Replayed {
            map: SegmentMap::new(next, offset),
            cursor,
            damage: Vec::new(),
            start: offset,
            torn_bytes: 0,
            appendable: true,
        };
        Ok(Self {
            file,
            key,
            number,
            scanner,
            found,
            chain_known: true,
            batch: Batch { offset, ..Batch::default() },
        })
    }

    /// Takes the chain value of the next commit as it is, because the one before is not known.
    pub(crate) const fn unanchored(mut self) -> Self {
        self.chain_known = false;
        self
    }

    /// Reads to the end of a log that a writer may be adding to. Bytes that were read before they were written may look like
    /// damage once a later commit says that they were durable: damage counts if it is there when it is looked for again.
    pub(crate) fn run_beside_a_writer(begin: impl Fn() -> io::Result<Self>) -> io::Result<Replayed> {
        let mut replayed = begin()?.run()?;
        for _look in 0..LOOKS_MAX {
            if replayed.damage.is_empty() {
                break;
            }
            let before = std::mem::replace(&mut replayed, begin()?.run()?);
            if replayed.damage == before.damage {
                break;
            }
        }
        Ok(replayed)
    }

    /// Reads to the end.
    pub(crate) fn run(mut self) -> io::Result<Replayed> {
        loop {
            let verdict = match self.scanner.step()? {
                Step::Frame(frame) => self.frame(&frame)?,
                Step::Bad { offset, end, from, to } => self.bad(offset, end, from, to)?,
                Step::End => {
                    self.end();
                    return Ok(self.finish());
                }
            };
            if matches!(verdict, Verdict::Torn) {
                self.cut();
                return Ok(self.finish());
            }
        }
    }

    fn frame(&mut self, frame: &Scanned) -> io::Result<Verdict> {
        let (seq, offset, kind) = (frame.head.seq, frame.offset, frame.head.kind);
        let event = frame.decoded();
        if !frame.intact && !self.is_known(seq)? {
            return Ok(Verdict::Torn);
        }
        self.settle_before(seq, offset);
        if seq > self.found.cursor.known && kind != COMMIT_KIND {
            self.batch.links.add(seq, kind, &frame.event, frame.name.commitment().as_ref());
        }
        let hash = if frame.head.form == Form::Full { frame.name.hash() } else { None };
        let body = hash.map(|hash| (offset + frame.head.body_offset(), frame.head.body_len, hash));
        let Some(event) = event else {
            if kind == COMMIT_KIND && !self.is_known(seq)? {
                return Ok(Verdict::Torn);
            }
            self.note(seq, seq, offset, Fault::Event);
            return self.unreadable_event(seq, offset, kind, body);
        };
        if let Event::Commit(commit) = event {
            return self.commit(seq, offset, &commit);
        }
        let counts = tally(&event, frame.head.form != Form::Bare);
        let keys = keys_of(&event, Position::new(seq), own_hash(&event, frame).as_ref());
        self.batch.frames.push(Draft { seq, offset: Some(offset), keys, counts, body });
        Ok(Verdict::GoOn)
    }

    /// A frame that must be kept though its event is gone. Its original is still found by its hash, if it has it.
    fn unreadable_event(
        &mut self,
        seq: u64,
        offset: u64,
        kind: u16,
        body: Option<(u64, u64, ContentHash)>,
    ) -> io::Result<Verdict> {
        let whole = match body {
            Some((at, len, hash)) if self.hashes_to(at, len, &hash)? => Some(hash),
            _ => None,
        };
        let keys = whole.iter().map(key::original).collect();
        self.batch.frames.push(Draft { keys, body, ..Draft::bare(seq, Some(offset)) });
        if kind == COMMIT_KIND {
            self.accept(None, self.scanner.offset());
        }
        Ok(Verdict::GoOn)
    }

    fn bad(&mut self, offset: u64, end: u64, from: u64, to: Option<u64>) -> io::Result<Verdict> {
        if !self.is_known(from)? {
            return Ok(Verdict::Torn);
        }
        let frames_max = (end - offset) / FRAME_BYTES_MIN + 1;
        let last = to.map_or(self.found.cursor.known.min(from + frames_max), |to| to - 1).max(from);
        self.note(from, last, offset, Fault::Frame);
        for seq in from..=last {
            self.batch.frames.push(Draft::bare(seq, None));
        }
        if to.is_none() {
            self.accept(None, end);
            self.found.appendable = false;
        }
        Ok(Verdict::GoOn)
    }

    fn commit(&mut self, seq: u64, offset: u64, commit: &Commit) -> io::Result<Verdict> {
        if seq > self.found.cursor.known
            && let Some((at, fault)) = self.fault_of(seq, commit)?
        {
            if !self.is_known(seq)? {
                return Ok(Verdict::Torn);
            }
            self.note(at, at, offset, fault);
        }
        self.batch.frames.push(Draft::bare(seq, Some(offset)));
        self.accept(Some(commit), self.scanner.offset());
        let cursor = &mut self.found.cursor;
        cursor.chain = commit.chain;
        self.chain_known = true;
        cursor.counts = commit.counts;
        cursor.clock = commit.clock;
        cursor.known = cursor.known.max(commit.durable.get());
        Ok(Verdict::GoOn)
    }

    /// What speaks against a batch that is not known to have been durable.
    fn fault_of(&self, seq: u64, commit: &Commit) -> io::Result<Option<(u64, Fault)>> {
        let first = self.batch.frames.first().map_or(seq, |draft| draft.seq);
        let chain = self.batch.links.close(seq, commit).ok();
        let fits = commit.first.get() == first
            && (commit.prev_chain == self.found.cursor.chain || !self.chain_known)
            && chain == Some(commit.chain);
        if !fits {
            return Ok(Some((seq, Fault::Chain)));
        }
        for draft in &self.batch.frames {
            if let Some((at, len, hash)) = draft.body
                && !self.hashes_to(at, len, &hash)?
            {
                return Ok(Some((draft.seq, Fault::Body)));
            }
        }
        Ok(None)
    }

    fn hashes_to(&self, offset: u64, len: u64, hash: &ContentHash) -> io::Result<bool> {
        Ok(hash_at(self.file, offset, len)?.is_some_and(|found| found.as_bytes() == hash.as_bytes()))
    }

    /// Whether `seq` was durable once. Any intact commit further on may say so.
    fn is_known(&mut self, seq: u64) -> io::Result<bool> {
        if seq > self.found.cursor.known {
            let from = self.scanner.offset();
            let durable = durable_beyond(self.file, self.key, self.number, from, self.scanner.next())?;
            self.found.cursor.known = self.found.cursor.known.max(durable);
        }
        Ok(seq <= self.found.cursor.known)
    }

    /// Counts frames in whose commit was damaged, once a frame beyond what is known to be durable comes.
    fn settle_before(&mut self, seq: u64, offset: u64) {
        let known = self.found.cursor.known;
        if seq > known && self.batch.frames.last().is_some_and(|draft| draft.seq <= known) {
            self.accept(None, offset);
        }
    }

    /// Counts the frames of the batch in; `end` is where they end.
    fn accept(&mut self, commit: Option<&Commit>, end: u64) {
        let map = &mut self.found.map;
        let mut keys = Vec::new();
        for draft in self.batch.frames.drain(..) {
            let time =
                commit.filter(|commit| draft.seq >= commit.first.get()).map(|commit| commit.clock.store);
            map.slots.push(slot(draft.offset, time));
            map.body_bytes += draft.body.map_or(0, |(_offset, len, _hash)| len);
            let found = draft.keys.iter().filter_map(|key| ShortKey::new(key));
            keys.extend(found.map(|key| Entry { key, at: draft.seq }));
            if commit.is_none() {
                add(&mut self.found.cursor.counts, draft.counts);
            }
        }
        map.keys.extend(keys);
        map.end = end;
        self.chain_known &= commit.is_some();
        self.batch = Batch { offset: end, ..Batch::default() };
    }

    /// Everything from the unfinished batch on never counted.
    fn cut(&mut self) {
        if is_planted(Bug::TornBatchKept) {
            self.accept(None, self.scanner.offset());
            return;
        }
        self.found.torn_bytes = self.scanner.len() - self.batch.offset;
    }

    fn end(&mut self) {
        let first = self.batch.frames.first().map(|draft| draft.seq);
        match first {
            Some(first) if first <= self.found.cursor.known => {
                self.accept(None, self.scanner.len());
            }
            Some(_unknown) => self.cut(),
            None => {}
        }
        if self.found.map.next() <= self.found.cursor.known {
            self.found.appendable = false;
        }
    }

    fn finish(mut self) -> Replayed {
        let next = self.found.map.next();
        self.found.cursor.next = next;
        self.found.damage.retain(|damage| damage.from.get() < next);
        self.found.map.keys.extend(self.found.damage.iter().filter_map(unread));
        self.found
    }

    fn note(&mut self, from: u64, to: u64, offset: u64, fault: Fault) {
        let (from, to) = (Position::new(from), Position::new(to));
        self.found.damage.push(Damage { from, to, segment: self.number, offset, fault });
    }
}

/// The kind of a [`Commit`] frame.
pub(crate) const COMMIT_KIND: u16 = 1;

/// The highest position that an intact commit from `offset` on says was durable.
fn durable_beyond(
    file: &dyn DiskFile,
    key: &CheckKey,
    number: u64,
    offset: u64,
    next: u64,
) -> io::Result<u64> {
    let mut scanner = Scanner::new(file, key, number, offset, next)?;
    let mut durable = 0;
    loop {
        match scanner.step()? {
            Step::Frame(frame) if frame.head.kind == COMMIT_KIND => {
                if let Some(Event::Commit(commit)) = frame.decoded() {
                    durable = durable.max(commit.durable.get());
                }
            }
            Step::Frame(_) | Step::Bad { .. } => {}
            Step::End => return Ok(durable),
        }
    }
}

/// The key of what cannot be read: an opening that goes by the sidecar of the segment has to know of it (I16).
fn unread(damage: &Damage) -> Option<Entry> {
    let what = Position::new(damage.fault.unread_code()?);
    let key = ShortKey::new(&key::key(Table::Unread, &[damage.from, damage.to, what]))?;
    Some(Entry { key, at: damage.from.get() })
}

fn slot(offset: Option<u64>, time: Option<StoreTime>) -> Slot {
    offset.map_or(Slot::LOST, |offset| Slot::at(offset, time))
}

/// The hash under which an event's own body is found. A tombstone repeats the hash of another frame's.
pub(crate) fn own_hash(event: &Event, frame: &Scanned) -> Option<ContentHash> {
    if matches!(event, Event::Reclaimed(_)) { None } else { frame.name.hash() }
}

/// What an event adds to the running counts.
pub(crate) fn tally(event: &Event, has_body: bool) -> Counts {
    let mut counts = Counts::default();
    if let Event::Summarised(summary) = event {
        counts.summaries = 1;
        counts.citations = len_u64(summary.citations.len());
    }
    if has_body && matches!(event, Event::SpanRecorded(_) | Event::GapStored) {
        counts.originals = 1;
    }
    counts
}

/// Adds `more` to `counts`.
pub(crate) fn add(counts: &mut Counts, more: Counts) {
    counts.originals += more.originals;
    counts.summaries += more.summaries;
    counts.citations += more.citations;
}
