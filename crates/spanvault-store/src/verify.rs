//! Reads a whole vault and says what is wrong with it.

use std::sync::Arc;

use spanvault_env::{DiskFile, OpenMode};
use spanvault_types::key::Table;
use spanvault_types::{Commit, ContentHash, Event, Position};

use crate::bytes::len_u64;
use crate::chain::{ChainValue, Links};
use crate::damage::{Damage, Fault};
use crate::error::{Result, StoreError, io_error};
use crate::frame::{FRAME_BYTES_MIN, Form};
use crate::rebuild::Progress;
use crate::segment::{COMMIT_KIND, SEGMENT_HEAD_BYTES, Scanned, Scanner, SegmentHead, Step, hash_at};
use crate::sidecar::{self, Sidecar};
use crate::store::Store;
use crate::tail::read_head;
use crate::tier::Demotion;
use crate::view::Sealed;
use crate::whereabouts::Fate;

/// How much `verify` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyDepth {
    /// Every frame and the chain; that every body is there, but not its bytes.
    Structure,
    /// Every byte: each body is hashed again (I18).
    Data,
}

/// What `verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Originals whose bytes should be there.
    pub originals: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames of the log.
    pub frames: u64,
    /// What is damaged, sorted.
    pub corrupt: Vec<Damage>,
    /// What was acknowledged and is not there, sorted.
    pub missing: Vec<Damage>,
    /// Whether the events are exactly those that were chained, none changed, removed, inserted or moved. A cut at the
    /// end shows only against a seal kept elsewhere.
    pub chain_ok: bool,
    /// Packs with a byte that is not as it was written; the originals that it costs stand in `corrupt`.
    pub packs: Vec<u64>,
    /// Segments whose sidecar is missing, damaged or wrong: [`Store::rebuild_sidecars`] mends them.
    pub sidecars: Vec<u64>,
}

impl VerifyReport {
    /// Whether everything acknowledged is there as it was written.
    pub fn is_sound(&self) -> bool {
        self.corrupt.is_empty() && self.missing.is_empty() && self.packs.is_empty() && self.chain_ok
    }
}

impl Store {
    /// Checks everything up to the end that the log has now. `progress` counts bytes of segments.
    ///
    /// What is found damaged is remembered: it is not retrievable from then on (I19).
    ///
    /// # Errors
    /// What the file system says. Damage is no error.
    pub fn verify(&self, depth: VerifyDepth, progress: &mut dyn FnMut(Progress)) -> Result<VerifyReport> {
        let (view, tip) = (self.view(), self.tip());
        let open_end = view.open.map().end;
        let mut lengths = 0;
        for segment in &view.sealed {
            lengths += self.log_file(segment).ok().and_then(|file| file.len().ok()).unwrap_or(0);
        }
        let mut check = Check {
            store: self,
            depth,
            progress,
            total: lengths + open_end,
            done: 0,
            report: VerifyReport { chain_ok: true, ..VerifyReport::default() },
            expected: 1,
            chain: Some(crate::chain::GENESIS),
            links: Links::default(),
            batch_first: None,
        };
        for (segment, until) in view.sealed() {
            check.sealed(segment, until)?;
        }
        check.between(&view.open.head, view.open.head_intact);
        check.segment(&*view.open.file, &view.open.head, open_end, tip.next)?;
        check.packs()?;
        let mut report = check.report;
        report.corrupt.sort_unstable();
        report.missing.sort_unstable();
        for damage in report.corrupt.iter().chain(&report.missing) {
            self.note_damage(*damage);
        }
        Ok(report)
    }
}

struct Check<'s, 'p> {
    store: &'s Store,
    depth: VerifyDepth,
    progress: &'p mut dyn FnMut(Progress),
    total: u64,
    done: u64,
    report: VerifyReport,
    /// The position that comes next.
    expected: u64,
    /// The chain value so far; `None` behind damage.
    chain: Option<ChainValue>,
    links: Links,
    batch_first: Option<u64>,
}

impl Check<'_, '_> {
    fn sealed(&mut self, segment: &Arc<Sealed>, until: u64) -> Result<()> {
        self.between(&segment.head, segment.head_intact);
        let number = segment.number();
        let path = self.store.layout.segment(number);
        let opened = self.store.env.disk.open(&path, OpenMode::Read);
        let file = match opened {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.missing(until, number, 0);
                return Ok(());
            }
            opened => opened.map_err(io_error("open", &path))?,
        };
        let len = file.len().map_err(io_error("read", &path))?;
        let before = self.report.corrupt.len() + self.report.missing.len();
        self.segment(&*file, &segment.head, len, until)?;
        let sound = self.report.corrupt.len() + self.report.missing.len() == before && segment.head_intact;
        if segment.sidecar().is_none() || (sound && !self.sidecar_fits(&*file, &segment.head, until)?) {
            self.report.sidecars.push(number);
            segment.distrust();
        }
        Ok(())
    }

    /// A sidecar holds nothing but what the segment says, in one way only.
    fn sidecar_fits(&self, file: &dyn DiskFile, head: &SegmentHead, until: u64) -> Result<bool> {
        let log = self.store.layout.segment(head.number);
        // As it is now: it may have been rewritten since the vault was opened.
        let now = read_head(file, &self.store.key, head.number).map_err(io_error("read", &log))?;
        let head = now.as_ref().unwrap_or(head);
        let map = self.store.scan_segment(file, head, until)?.map;
        let path = self.store.layout.sidecar(head.number);
        let Ok(file) = self.store.env.disk.open(&path, OpenMode::Read) else { return Ok(false) };
        let Ok(sidecar) = Sidecar::open(&*file, &self.store.key, head.number) else { return Ok(false) };
        let expected = sidecar::encode_as(sidecar.version, &map, head, &self.store.key);
        if file.len().map_err(io_error("read", &path))? != len_u64(expected.len()) {
            return Ok(false);
        }
        let mut found = vec![0; expected.len()];
        let read = file.read_at(&mut found, 0).map_err(io_error("read", &path))?;
        Ok(read == found.len() && found == expected)
    }

    /// Checks the head of a segment against where the one before ended.
    fn between(&mut self, head: &SegmentHead, intact: bool) {
        if self.expected < head.first {
            self.missing(head.first, head.number, 0);
        }
        if !intact {
            let at = Position::new(head.first);
            let damage =
                Damage { from: at, to: at, segment: head.number, offset: 0, fault: Fault::SegmentHead };
            self.report.corrupt.push(damage);
        } else if self.chain.is_some_and(|chain| chain != head.chain) {
            self.report.chain_ok = false;
        }
        self.expected = head.first;
    }

    /// Everything up to `until` that was expected and did not come.
    fn missing(&mut self, until: u64, segment: u64, offset: u64) {
        if self.expected < until {
            let (from, to) = (Position::new(self.expected), Position::new(until - 1));
            self.report.missing.push(Damage { from, to, segment, offset, fault: Fault::Missing });
            self.break_chain();
        }
        self.expected = until;
    }

    fn break_chain(&mut self) {
        self.report.chain_ok = false;
        self.chain = None;
        self.links = Links::default();
        self.batch_first = None;
    }

    fn segment(&mut self, file: &dyn DiskFile, head: &SegmentHead, len: u64, until: u64) -> Result<()> {
        let path = self.store.layout.segment(head.number);
        let read = |error| io_error("read", &path)(error);
        let start = len_u64(SEGMENT_HEAD_BYTES);
        let mut scanner =
            Scanner::new(file, &self.store.key, head.number, start, head.first).map_err(read)?.up_to(len);
        while self.expected < until {
            match scanner.step().map_err(read)? {
                Step::Frame(frame) => {
                    self.expected = frame.head.seq + 1;
                    self.frame(file, head.number, &frame)?;
                }
                Step::Bad { offset, end, from, to } => {
                    let frames_max = (end - offset) / FRAME_BYTES_MIN + 1;
                    let next = to.unwrap_or_else(|| until.min(from + frames_max));
                    self.corrupt(from, next - 1, head.number, offset, Fault::Frame);
                    self.break_chain();
                    self.expected = next;
                }
                Step::End => break,
            }
            (self.progress)(Progress { done: self.done + scanner.offset(), total: self.total });
        }
        self.done += len;
        self.missing(until, head.number, scanner.offset());
        Ok(())
    }

    fn corrupt(&mut self, from: u64, to: u64, segment: u64, offset: u64, fault: Fault) {
        let (from, to) = (Position::new(from), Position::new(to));
        self.report.corrupt.push(Damage { from, to, segment, offset, fault });
    }

    fn frame(&mut self, file: &dyn DiskFile, segment: u64, frame: &Scanned) -> Result<()> {
        let (seq, kind) = (frame.head.seq, frame.head.kind);
        self.report.frames += 1;
        self.batch_first.get_or_insert(seq);
        if let Some(event) = frame.decoded() {
            if let Event::Commit(commit) = &event {
                self.commit(segment, frame, commit);
                return Ok(());
            }
            self.links.add(seq, kind, &frame.event, frame.name.commitment().as_ref());
            self.original(segment, frame, &event)?;
        } else {
            self.corrupt(seq, seq, segment, frame.offset, Fault::Event);
            self.break_chain();
        }
        let path = self.store.layout.segment(segment);
        self.body(file, segment, frame).map_err(io_error("read", &path))
    }

    fn commit(&mut self, segment: u64, frame: &Scanned, commit: &Commit) {
        let seq = frame.head.seq;
        let stated = self.links.close(seq, commit).is_ok_and(|chain| chain == commit.chain);
        let anchored = self.chain == Some(commit.prev_chain) && self.batch_first == Some(commit.first.get());
        if self.chain.is_some() && !(stated && anchored) {
            self.report.chain_ok = false;
            self.corrupt(seq, seq, segment, frame.offset, Fault::Chain);
        }
        self.chain = Some(commit.chain);
        self.links = Links::default();
        self.batch_first = None;
    }

    /// Counts an original, unless it was reclaimed, and reports one whose bytes should be there and are not.
    fn original(&mut self, segment: u64, frame: &Scanned, event: &Event) -> Result<()> {
        let has_name = frame.head.form != Form::Bare && !matches!(event, Event::Reclaimed(_));
        if !has_name {
            return Ok(());
        }
        let at = Position::new(frame.head.seq);
        if matches!(unless_damaged(self.store.fate(at))?, Some(Fate::Reclaimed(_))) {
            return Ok(());
        }
        match unless_damaged(self.store.readable_demotion(at))?.flatten() {
            Some(demotion) => self.cold(at, frame.name.hash(), &demotion)?,
            None if frame.head.form != Form::Full => {
                let (offset, fault) = (frame.offset, Fault::Missing);
                self.report.missing.push(Damage { from: at, to: at, segment, offset, fault });
            }
            None => {}
        }
        if matches!(event, Event::SpanRecorded(_) | Event::GapStored) {
            self.report.originals += 1;
            self.report.bytes += frame.head.body_len;
        }
        Ok(())
    }

    /// Looks at the cold copy of an original: unpacks it, or asks for its place only.
    fn cold(&mut self, at: Position, named: Option<ContentHash>, demotion: &Demotion) -> Result<()> {
        let fault = match self.depth {
            VerifyDepth::Structure if self.store.is_cold(at, demotion) => return Ok(()),
            VerifyDepth::Structure => StoreError::Missing { at },
            VerifyDepth::Data => match self.store.cold_original(at, named) {
                Ok(_original) => return Ok(()),
                Err(error) => error,
            },
        };
        let damage = Damage { from: at, to: at, segment: demotion.pack, offset: 0, fault: Fault::ColdCopy };
        if matches!(fault, StoreError::Missing { .. }) {
            self.report.missing.push(damage);
        } else if matches!(fault, StoreError::Corrupt { .. }) {
            self.report.corrupt.push(damage);
        } else {
            return Err(fault);
        }
        Ok(())
    }

    /// Looks at what in the packs belongs to no original.
    fn packs(&mut self) -> Result<()> {
        if self.depth == VerifyDepth::Structure {
            return Ok(());
        }
        for (_key, record) in self.store.scan(&[Table::Pack as u8])? {
            let demotion = unless_damaged(self.store.demotion_at(record))?.flatten();
            let Some(demotion) = demotion else { continue };
            let whole = self.store.pack(demotion.pack).and_then(|pack| pack.is_whole(&self.store.key));
            // One that is gone lawfully had nothing but reclaimed originals.
            let is_spent =
                || Ok::<_, StoreError>(unless_damaged(self.store.is_pack_spent(&demotion))?.unwrap_or(false));
            if !matches!(whole, Ok(true)) && !is_spent()? {
                self.report.packs.push(demotion.pack);
            }
        }
        Ok(())
    }

    fn body(&mut self, file: &dyn DiskFile, segment: u64, frame: &Scanned) -> std::io::Result<()> {
        if self.depth == VerifyDepth::Structure
            || frame.head.form != Form::Full
            || frame.head.kind == COMMIT_KIND
        {
            return Ok(());
        }
        let Some(hash) = frame.name.hash() else { return Ok(()) };
        let found = hash_at(file, frame.offset + frame.head.body_offset(), frame.head.body_len)?;
        if found.is_none_or(|found| found.as_bytes() != hash.as_bytes()) {
            self.corrupt(frame.head.seq, frame.head.seq, segment, frame.offset, Fault::Body);
        }
        Ok(())
    }
}

/// What was found, or `None` where a record of the log that would say it is damaged: that is reported where it stands.
fn unless_damaged<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
