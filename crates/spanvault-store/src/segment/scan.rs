//! Reads the frames of one segment from front to back, past whatever is damaged.

use std::io;

use memchr::memmem;
use spanvault_env::DiskFile;
use spanvault_types::Event;

use crate::bytes::len_u64;
use crate::frame::{FRAME_BYTES_MIN, FrameHead, HEAD_BYTES, MAGIC, Name};
use crate::stamp::{CheckKey, Place};

/// A stretch of the file that is read at once.
const WINDOW_BYTES: usize = 256 << 10;

/// One frame, as far as it could be read. Its body was not looked at.
#[derive(Debug, Clone)]
pub(crate) struct Scanned {
    pub(crate) head: FrameHead,
    pub(crate) offset: u64,
    pub(crate) event: Vec<u8>,
    pub(crate) name: Name,
    /// Whether event and name are as they were written.
    pub(crate) intact: bool,
}

impl Scanned {
    /// What it records, if that is intact.
    pub(crate) fn decoded(&self) -> Option<Event> {
        if self.intact { self.name.event(&self.event, &self.head) } else { None }
    }
}

/// What comes next in a segment.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A frame whose head is good.
    Frame(Box<Scanned>),
    /// Bytes that are no frame, from `offset` to `end`. They stand where the frames from `from` up to `to` were;
    /// `to` is `None` where nothing follows.
    Bad { offset: u64, end: u64, from: u64, to: Option<u64> },
    /// The file ends here.
    End,
}

/// Steps through a segment.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    file: &'a dyn DiskFile,
    key: &'a CheckKey,
    number: u64,
    /// Where the file ends, or ended when the scan began.
    len: u64,
    offset: u64,
    next: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl<'a> Scanner<'a> {
    /// Starts at `offset`, where the frame with position `next` should be.
    pub(crate) fn new(
        file: &'a dyn DiskFile,
        key: &'a CheckKey,
        number: u64,
        offset: u64,
        next: u64,
    ) -> io::Result<Self> {
        let len = file.len()?;
        Ok(Self { file, key, number, len, offset, next, window: Vec::new(), window_start: 0 })
    }

    /// Takes the file as ending at `len`.
    pub(crate) fn up_to(mut self, len: u64) -> Self {
        self.len = self.len.min(len);
        self
    }

    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// The next frame, or the next stretch of damage.
    pub(crate) fn step(&mut self) -> io::Result<Step> {
        if self.offset >= self.len {
            return Ok(Step::End);
        }
        match self.head_at(self.offset)? {
            Some(head) if head.seq == self.next && self.fits(&head) => self.frame(head),
            _damaged => self.resync(),
        }
    }

    fn fits(&self, head: &FrameHead) -> bool {
        self.offset.checked_add(head.frame_len()).is_some_and(|end| end <= self.len)
    }

    fn frame(&mut self, head: FrameHead) -> io::Result<Step> {
        let offset = self.offset;
        let middle = self.bytes(offset + len_u64(HEAD_BYTES), head.middle_len())?;
        let intact = crc32fast::hash(middle) == head.crc;
        let (event, name) = middle.split_at_checked(head.event_len as usize).unwrap_or_default();
        let name = Name::decode(name, head.form).unwrap_or(Name::None);
        let scanned = Scanned { head, offset, event: event.to_vec(), name, intact };
        self.offset += head.frame_len();
        self.next += 1;
        Ok(Step::Frame(Box::new(scanned)))
    }

    /// Looks for the next head. A copy of a log inside a body cannot pass for one: its position is an earlier one,
    /// and the check of a head is made for one place in one file of one vault.
    fn resync(&mut self) -> io::Result<Step> {
        let (bad, from) = (self.offset, self.next);
        let mut search = bad + 1;
        while let Some(candidate) = self.find_magic(search)? {
            if let Some(head) = self.head_at(candidate)? {
                let frames_max = (candidate - bad) / FRAME_BYTES_MIN + 1;
                if head.seq > from && head.seq - from <= frames_max {
                    self.offset = candidate;
                    self.next = head.seq;
                    return Ok(Step::Bad { offset: bad, end: candidate, from, to: Some(head.seq) });
                }
            }
            search = candidate + 1;
        }
        self.offset = self.len;
        Ok(Step::Bad { offset: bad, end: self.len, from, to: None })
    }

    fn find_magic(&mut self, from: u64) -> io::Result<Option<u64>> {
        let mut from = from;
        while from < self.len {
            let window = self.window_from(from)?;
            if let Some(found) = memmem::find(window, &MAGIC) {
                return Ok(Some(from + len_u64(found)));
            }
            // A magic may lie across the edge of two windows.
            let step = window.len().saturating_sub(MAGIC.len() - 1).max(1);
            from += len_u64(step);
        }
        Ok(None)
    }

    fn head_at(&mut self, offset: u64) -> io::Result<Option<FrameHead>> {
        if self.len.saturating_sub(offset) < len_u64(HEAD_BYTES) {
            return Ok(None);
        }
        let place = Place { file: self.number, offset };
        let key = self.key;
        Ok(FrameHead::decode(self.bytes(offset, HEAD_BYTES)?, key, place))
    }

    /// `len` bytes at `offset`; fewer where the file has become shorter.
    fn bytes(&mut self, offset: u64, len: usize) -> io::Result<&[u8]> {
        let have = len_u64(self.window.len());
        let inside = offset >= self.window_start && offset + len_u64(len) <= self.window_start + have;
        if !inside {
            self.load(offset, len.max(WINDOW_BYTES))?;
        }
        let start = usize::try_from(offset - self.window_start).unwrap_or(usize::MAX);
        let rest = self.window.get(start..).unwrap_or_default();
        Ok(rest.get(..len).unwrap_or(rest))
    }

    /// What is at hand from `offset` on; at least one magic's length unless the file ends.
    fn window_from(&mut self, offset: u64) -> io::Result<&[u8]> {
        self.bytes(offset, MAGIC.len())?;
        let start = usize::try_from(offset - self.window_start).unwrap_or(usize::MAX);
        Ok(self.window.get(start..).unwrap_or_default())
    }

    fn load(&mut self, offset: u64, len: usize) -> io::Result<()> {
        let until_end = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        self.window.resize(len.min(until_end), 0);
        let read = self.file.read_at(&mut self.window, offset)?;
        self.window.truncate(read);
        self.window_start = offset;
        Ok(())
    }
}

/// Hashes `len` bytes at `offset`; `None` where the file ends before.
pub(crate) fn hash_at(file: &dyn DiskFile, offset: u64, len: u64) -> io::Result<Option<blake3::Hash>> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(WINDOW_BYTES)];
    let mut done = 0;
    while done < len {
        let want = usize::try_from(len - done).unwrap_or(usize::MAX).min(buffer.len());
        let Some(part) = buffer.get_mut(..want) else { break };
        if file.read_at(part, offset + done)? < want {
            return Ok(None);
        }
        hasher.update(part);
        done += len_u64(want);
    }
    Ok(Some(hasher.finalize()))
}
