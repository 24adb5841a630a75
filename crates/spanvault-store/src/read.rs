//! Reads frames and originals.

use std::ops::Range;
use std::sync::Arc;

use spanvault_env::DiskFile;
use spanvault_types::key;
use spanvault_types::{Commitment, ContentHash, Event, Position, StoreTime};

use crate::bytes::len_u64;
use crate::damage::{Damage, Fault};
use crate::error::{Result, StoreError, io_error};
use crate::frame::{Form, FrameHead, HEAD_BYTES, Name};
use crate::long::{self, LONG_BYTES};
use crate::lookup::Located;
use crate::segment::KeyRange;
use crate::stamp::Place;
use crate::store::Store;
use crate::whereabouts::Fate;

/// Read at once where only the event is wanted.
pub(crate) const EVENT_READ_BYTES: u64 = 1024;
/// A frame up to this length is read with one call where its original is wanted. Of a longer one the body is read by
/// itself: that takes less than to move it to the front of what was read.
pub(crate) const FRAME_READ_BYTES: u64 = 16 << 10;
/// What is longer is only allocated if the file has it.
const TRUSTED_BYTES: u64 = 256 << 10;

/// The schema of a tombstone.
const TOMBSTONE_KIND: u16 = 18;

/// Read at once where frame after frame is read.
const AHEAD_BYTES: usize = 32 << 10;

/// Whether a frame has its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyState {
    /// The event never had one.
    None,
    /// It is in the frame.
    Hot {
        /// Its length in bytes.
        len: u64,
    },
    /// It was here and is not any more: demoted, reclaimed or erased.
    Dropped {
        /// Its length in bytes.
        len: u64,
    },
}

/// One frame of the log, without its body.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its position.
    pub at: Position,
    /// What it records.
    pub event: Event,
    /// Store time of its commit; `None` where that commit is damaged.
    pub time: Option<StoreTime>,
    /// Whether it has its body.
    pub body: BodyState,
    /// The hash of its body. In a tombstone: of the original that is gone.
    pub hash: Option<ContentHash>,
    /// What the chain has in place of that hash.
    pub commitment: Option<Commitment>,
}

/// An original, verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    /// The frame that first carried it.
    pub at: Position,
    /// Its hash.
    pub hash: ContentHash,
    /// Its bytes: they hash to `hash`.
    pub bytes: Vec<u8>,
}

/// A frame as it was read; its event may be damaged.
#[derive(Debug)]
pub(crate) struct RawFrame {
    pub(crate) head: FrameHead,
    pub(crate) name: Name,
    /// Whether event and name are as they were written.
    intact: bool,
    /// What was read of the frame, from its first byte.
    bytes: Vec<u8>,
}

impl RawFrame {
    /// What it records, if that can be read.
    pub(crate) fn event(&self) -> Option<Event> {
        let end = HEAD_BYTES.checked_add(usize::try_from(self.head.event_len).ok()?)?;
        let event = self.bytes.get(HEAD_BYTES..end).filter(|_| self.intact)?;
        self.name.event(event, &self.head)
    }

    /// Whether event and name are as they were written.
    pub(crate) const fn is_intact(&self) -> bool {
        self.intact
    }

    /// The hash that names its original, if that is as it was written.
    fn hash(&self) -> Option<ContentHash> {
        self.name.hash().filter(|_| self.intact)
    }

    /// Whether all of the frame was read, so that its file has all of it.
    pub(crate) fn is_read_whole(&self) -> bool {
        len_u64(self.bytes.len()) >= self.head.frame_len()
    }
}

/// Bytes of a file that frames are read from one after the other.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    file: Option<Arc<dyn DiskFile>>,
    offset: u64,
    bytes: Vec<u8>,
}

impl ReadAhead {
    /// What a frame begins with, up to its end; `None` where that has to be read by itself.
    fn of(&mut self, located: &Located) -> Option<Vec<u8>> {
        let offset = located.slot.offset()?;
        let len = located.until?.checked_sub(offset)?.clamp(len_u64(HEAD_BYTES), EVENT_READ_BYTES);
        let len = usize::try_from(len).ok()?;
        if let Some(found) = self.at(located, offset, len) {
            return Some(found.to_vec());
        }
        self.file = None;
        self.bytes.resize(AHEAD_BYTES, 0);
        let read = located.file.read_at(&mut self.bytes, offset).ok()?;
        self.bytes.truncate(read);
        self.file = Some(Arc::clone(&located.file));
        self.offset = offset;
        self.at(located, offset, len).map(<[u8]>::to_vec)
    }

    fn at(&self, located: &Located, offset: u64, len: usize) -> Option<&[u8]> {
        self.file.as_ref().filter(|file| Arc::ptr_eq(file, &located.file))?;
        let start = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(start..start.checked_add(len)?)
    }
}

impl Store {
    /// Reads the frame at `at`, without its body.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] beyond the end of the log; [`StoreError::Corrupt`] and [`StoreError::Missing`] for
    /// what was acknowledged and cannot be read.
    pub fn frame(&self, at: Position) -> Result<Frame> {
        let (located, raw) = self.raw_frame_at(at, EVENT_READ_BYTES)?;
        self.to_frame(&located, &raw)
    }

    /// The frame at `at` as it stands in its file, and where.
    pub(crate) fn raw_frame_at(&self, at: Position, read_bytes: u64) -> Result<(Located, RawFrame)> {
        self.retrying(|| {
            let located = self.locate(at)?;
            let raw = self.raw_frame(&located, read_bytes)?;
            Ok((located, raw))
        })
    }

    /// As [`Store::raw_frame`], as far as its event, out of `ahead`, which is read on where the frame is not in it.
    pub(crate) fn raw_frame_ahead(&self, located: &Located, ahead: &mut ReadAhead) -> Result<RawFrame> {
        match ahead.of(located) {
            Some(bytes) => self.frame_from(located, bytes),
            None => self.raw_frame(located, EVENT_READ_BYTES),
        }
    }

    /// What was read of a frame, if its event is intact.
    pub(crate) fn to_frame(&self, located: &Located, raw: &RawFrame) -> Result<Frame> {
        let at = Position::new(located.at);
        let event = raw.event().ok_or_else(|| self.corrupt(located, Fault::Event))?;
        let len = raw.head.body_len;
        let body = match raw.head.form {
            Form::Bare => BodyState::None,
            // A tombstone repeats the hash of a body that was elsewhere.
            Form::Named if matches!(event, Event::Reclaimed(_)) => BodyState::None,
            Form::Full => BodyState::Hot { len },
            Form::Named | Form::Committed => BodyState::Dropped { len },
        };
        let (hash, commitment) = (raw.name.hash(), raw.name.commitment());
        Ok(Frame { at, event, time: located.slot.time(), body, hash, commitment })
    }

    /// Reads the original that the frame at `at` carries, or that the span at `at` shares with an earlier one, and
    /// verifies it.
    ///
    /// # Errors
    /// [`StoreError::Reclaimed`], [`StoreError::Corrupt`], [`StoreError::Missing`]; [`StoreError::NoOriginal`] where
    /// the event has none; [`StoreError::NotFound`] beyond the end of the log. Never other bytes (I2).
    pub fn original(&self, at: Position) -> Result<Original> {
        self.retrying(|| {
            let found = self.carrier(at, FRAME_READ_BYTES);
            let at = found.as_ref().map_or(at, |(located, _raw)| Position::new(located.at));
            let named = found.as_ref().ok().and_then(|(_located, raw)| raw.hash());
            if let Some(gone) = self.reclaimed(at)? {
                return Err(gone);
            }
            match found.and_then(|(located, raw)| self.hot_original(&located, raw)) {
                // What the log has lost, a pack may still have; or it went lawfully while it was looked for.
                Err(
                    lost @ (StoreError::Corrupt { .. } | StoreError::Missing { .. } | StoreError::Io { .. }),
                ) => match self.cold_original(at, named)? {
                    Some(original) => Ok(original),
                    None => Err(match self.reclaimed(at)? {
                        Some(gone) => gone,
                        // It left the log by a record that cannot be read: a demotion, or its tombstone.
                        None if matches!(lost, StoreError::Missing { .. }) => {
                            self.unproven_after(at).unwrap_or(lost)
                        }
                        None => lost,
                    }),
                },
                other => other,
            }
        })
    }

    /// The error for an original that is gone lawfully, if it is.
    pub(crate) fn reclaimed(&self, at: Position) -> Result<Option<StoreError>> {
        let fate = self.fate(at)?;
        Ok(if let Fate::Reclaimed(tombstone) = fate {
            Some(StoreError::Reclaimed { at, tombstone })
        } else {
            None
        })
    }

    /// The original that hashes to `hash`, verified: of several the newest that can be read. `None` where the log has
    /// none.
    ///
    /// # Errors
    /// As [`Store::original`], of the newest, where none of them can be read.
    pub fn original_named(&self, hash: &ContentHash) -> Result<Option<Original>> {
        let mut lost = None;
        let Some(range) = KeyRange::prefix(&key::original(hash)) else { return Ok(None) };
        // What is found is read and hashed, so the rest of its key need not be looked up first.
        let mut found = self.retrying(|| self.candidates(&range))?;
        found.sort_unstable_by_key(|entry| entry.at);
        for entry in found.iter().rev() {
            match self.original(Position::new(entry.at)) {
                Ok(original) if original.hash == *hash => return Ok(Some(original)),
                Ok(_other) => {}
                Err(error) => {
                    lost.get_or_insert(error);
                }
            }
        }
        lost.map_or(Ok(None), Err)
    }

    /// The bytes `range` of the original of `at`, verified; fewer where it is shorter. Of a long original in the cold tier
    /// no more is read than the pieces that the range lies in.
    ///
    /// # Errors
    /// As [`Store::original`].
    pub fn original_range(&self, at: Position, range: Range<u64>) -> Result<Vec<u8>> {
        let stretch = self.retrying(|| {
            let Ok((located, raw)) = self.carrier(at, EVENT_READ_BYTES) else { return Ok(None) };
            let at = Position::new(located.at);
            if raw.head.form == Form::Full || self.reclaimed(at)?.is_some() {
                return Ok(None);
            }
            self.cold_stretch(at, &range)
        })?;
        if let Some(bytes) = stretch {
            return Ok(bytes);
        }
        let mut bytes = self.original(at)?.bytes;
        let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        bytes.truncate(end);
        bytes.drain(..start.min(bytes.len()));
        Ok(bytes)
    }

    /// The original out of its own frame, verified.
    pub(crate) fn hot_original(&self, located: &Located, raw: RawFrame) -> Result<Original> {
        let at = Position::new(located.at);
        match raw.name {
            Name::Known { hash, .. } if raw.head.form == Form::Full => {
                let (bytes, found) = self.body(located, raw)?;
                if found != hash {
                    return Err(self.corrupt(located, Fault::Body));
                }
                Ok(Original { at, hash, bytes })
            }
            Name::Known { .. } | Name::Committed(_) | Name::None => Err(StoreError::Missing { at }),
        }
    }

    /// The frame that carries the original of `at`: that frame itself, or the one that it names.
    pub(crate) fn carrier(&self, at: Position, read_bytes: u64) -> Result<(Located, RawFrame)> {
        let located = self.locate(at)?;
        let raw = self.raw_frame(&located, read_bytes)?;
        if raw.head.form != Form::Bare && raw.head.kind != TOMBSTONE_KIND {
            return Ok((located, raw));
        }
        match (raw.event(), raw.head.form) {
            (Some(Event::SpanRecorded(span)), Form::Bare) if span.original < at => {
                let located = self.locate(span.original)?;
                let raw = self.raw_frame(&located, read_bytes)?;
                Ok((located, raw))
            }
            (Some(Event::Reclaimed(_)), _) | (Some(_), Form::Bare) => Err(StoreError::NoOriginal { at }),
            (None, Form::Bare) => Err(self.corrupt(&located, Fault::Event)),
            _ => Ok((located, raw)),
        }
    }

    /// Reads at least head, event and name of a frame; up to `read_bytes` where the frame is longer.
    pub(crate) fn raw_frame(&self, located: &Located, read_bytes: u64) -> Result<RawFrame> {
        let offset = located.slot.offset().ok_or_else(|| self.corrupt(located, Fault::Frame))?;
        let len = located.until.map(|until| until.saturating_sub(offset));
        // Of what is longer than that, the body is read by itself.
        let len = len.filter(|len| *len <= read_bytes).unwrap_or(read_bytes.min(EVENT_READ_BYTES));
        let bytes = self.bytes_at(located, offset, len.max(len_u64(HEAD_BYTES)))?;
        self.frame_from(located, bytes)
    }

    /// Reads a frame of the bytes that it begins with, and of more where they do not reach.
    fn frame_from(&self, located: &Located, mut bytes: Vec<u8>) -> Result<RawFrame> {
        let offset = located.slot.offset;
        if bytes.len() < HEAD_BYTES {
            return Err(self.corrupt(located, Fault::Missing));
        }
        let place = Place { file: located.segment, offset };
        let head = FrameHead::decode(&bytes, &self.key, place)
            .filter(|head| head.seq == located.at)
            .ok_or_else(|| self.corrupt(located, Fault::Frame))?;
        let middle_end = HEAD_BYTES + head.middle_len();
        if bytes.len() < middle_end {
            bytes = self.bytes_at(located, offset, len_u64(middle_end))?;
        }
        let middle =
            bytes.get(HEAD_BYTES..middle_end).ok_or_else(|| self.corrupt(located, Fault::Missing))?;
        let intact = crc32fast::hash(middle) == head.crc;
        let name = middle.get(head.event_len as usize..).unwrap_or_default();
        let name = Name::decode(name, head.form).unwrap_or(Name::None);
        if !intact {
            let _noted = self.corrupt(located, Fault::Event);
        }
        Ok(RawFrame { head, name, intact, bytes })
    }

    /// The body of a frame and its hash, with one read more unless it was read already.
    fn body(&self, located: &Located, raw: RawFrame) -> Result<(Vec<u8>, ContentHash)> {
        let start = usize::try_from(raw.head.body_offset()).unwrap_or(usize::MAX);
        let end = usize::try_from(raw.head.frame_len()).unwrap_or(usize::MAX);
        let mut bytes = raw.bytes;
        if bytes.len() >= end {
            bytes.truncate(end);
            bytes.drain(..start);
            let hash = ContentHash::of(&bytes);
            return Ok((bytes, hash));
        }
        drop(bytes);
        let offset = located.slot.offset + raw.head.body_offset();
        if raw.head.body_len >= len_u64(LONG_BYTES) {
            return self.long_body(located, offset, raw.head.body_len);
        }
        let body = self.bytes_at(located, offset, raw.head.body_len)?;
        if len_u64(body.len()) < raw.head.body_len {
            return Err(self.corrupt(located, Fault::Missing));
        }
        let hash = ContentHash::of(&body);
        Ok((body, hash))
    }

    /// As [`Store::body`], by several threads.
    fn long_body(&self, located: &Located, offset: u64, len: u64) -> Result<(Vec<u8>, ContentHash)> {
        let path = self.layout.segment(located.segment);
        let failed = io_error("read", &path);
        // What is long is only allocated if the file has it.
        let there = located.file.len().map_err(&failed)?.saturating_sub(offset);
        let len = usize::try_from(len).ok().filter(|len| len_u64(*len) <= there);
        let len = len.ok_or_else(|| self.corrupt(located, Fault::Missing))?;
        long::read(&*located.file, offset, len).map_err(|error| {
            let is_short = error.kind() == std::io::ErrorKind::UnexpectedEof;
            if is_short { self.corrupt(located, Fault::Missing) } else { failed(error) }
        })
    }

    fn bytes_at(&self, located: &Located, offset: u64, len: u64) -> Result<Vec<u8>> {
        let read = || -> std::io::Result<Vec<u8>> {
            let there = if len > TRUSTED_BYTES { located.file.len()?.saturating_sub(offset) } else { len };
            let mut bytes = vec![0; usize::try_from(len.min(there)).unwrap_or(usize::MAX)];
            let read = located.file.read_at(&mut bytes, offset)?;
            bytes.truncate(read);
            Ok(bytes)
        };
        read().map_err(|error| io_error("read", &self.layout.segment(located.segment))(error))
    }

    /// Whether such damage was met at `at`.
    pub(crate) fn has_damage(&self, at: Position, which: impl Fn(&Damage) -> bool) -> bool {
        let damage = self.damage_set();
        let mut before = damage.iter().take_while(|damage| damage.from <= at);
        before.any(|damage| at <= damage.to && which(damage))
    }

    /// Remembers what is wrong with a frame, and says it (I19).
    pub(crate) fn corrupt(&self, located: &Located, fault: Fault) -> StoreError {
        let at = Position::new(located.at);
        let offset = located.slot.offset().unwrap_or(0);
        self.note_damage(Damage { from: at, to: at, segment: located.segment, offset, fault });
        match fault {
            Fault::Missing => StoreError::Missing { at },
            Fault::Frame
            | Fault::Event
            | Fault::Body
            | Fault::Chain
            | Fault::SegmentHead
            | Fault::ColdCopy => StoreError::Corrupt { at, what: fault.as_str() },
        }
    }
}

#[cfg(test)]
mod tests {
    use spanvault_types::{EvidentialClass, Expiry, OriginalRef, Reclaimed};

    use super::*;

    #[test]
    fn the_schema_of_a_tombstone_is_that_of_its_event() {
        let original = OriginalRef { at: Position::ZERO, commitment: Commitment::from_bytes([0; 32]) };
        let tombstone = Event::Reclaimed(Reclaimed {
            original,
            bytes: 0,
            class: EvidentialClass::Narrative,
            at: StoreTime::from_ms(0),
            revision: Position::ZERO,
            expired_at: Expiry::Never,
            condemned_at: StoreTime::from_ms(0),
        });
        assert_eq!(tombstone.schema(), TOMBSTONE_KIND);
    }
}
