//! A batch: events that become durable together or not at all.

use std::sync::Arc;

use spanvault_env::Random;
use spanvault_types::key::keys_of;
use spanvault_types::{ContentHash, Counts, Event, Position, Salt};

use crate::chain::Links;
use crate::error::StoreError;
use crate::frame::{EVENT_BYTES_MAX, Form, FrameHead, Name};
use crate::segment::{COMMIT_KIND, ShortKey, add_counts, tally};

const SALT_BYTES: usize = 16;
/// How many salts are drawn at once.
const SALTS_AT_ONCE_MAX: usize = 64;

/// The bytes of an original with their hash, computed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    bytes: Vec<u8>,
    hash: ContentHash,
}

impl Body {
    /// Hashes `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        let hash = ContentHash::of(&bytes);
        Self { bytes, hash }
    }

    /// The content hash.
    pub const fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

/// Events on their way into the log, with the positions that they will have.
///
/// Made by [`crate::Writer::begin`] and good only under that hold of the writer lock. One that is dropped leaves no
/// trace.
#[derive(Debug)]
pub struct Batch {
    pub(crate) epoch: u64,
    pub(crate) first: u64,
    pub(crate) frames: Vec<Draft>,
    pub(crate) links: Links,
    pub(crate) counts: Counts,
    pub(crate) fault: Option<StoreError>,
    random: Arc<dyn Random>,
    /// Random bytes that were drawn and are not used yet.
    drawn: Vec<u8>,
}

/// One frame as far as it does not depend on where it will be.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) kind: u16,
    pub(crate) form: Form,
    pub(crate) name: Name,
    pub(crate) event: Vec<u8>,
    /// Of event and name.
    pub(crate) crc: u32,
    pub(crate) body: Vec<u8>,
    /// Length of the body, also where it is not in this frame.
    pub(crate) body_len: u64,
    pub(crate) keys: Vec<ShortKey>,
}

/// What a tombstone repeats of the frame whose original is gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tombstone {
    pub(crate) name: Name,
    pub(crate) bytes: u64,
}

impl Batch {
    pub(crate) fn new(epoch: u64, first: u64, random: Arc<dyn Random>) -> Self {
        Self {
            epoch,
            first,
            frames: Vec::new(),
            links: Links::default(),
            counts: Counts::default(),
            fault: None,
            random,
            drawn: Vec::new(),
        }
    }

    /// The position that the next event will have.
    pub fn next(&self) -> Position {
        Position::new(self.first + crate::bytes::len_u64(self.frames.len()))
    }

    /// Whether nothing was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// How many events were pushed.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Adds an event, with its body if it carries one, and returns its position.
    ///
    /// An event that is too large to write makes the batch fail when it is appended.
    pub fn push(&mut self, event: Event, body: Option<Vec<u8>>) -> Position {
        match body {
            Some(bytes) => self.push_body(event, Body::new(bytes)),
            None => self.add(&event, Form::Bare, Name::None, Vec::new(), 0),
        }
    }

    /// Adds an event whose body was hashed before.
    #[expect(clippy::needless_pass_by_value, reason = "an event that was pushed belongs to the log")]
    pub fn push_body(&mut self, event: Event, body: Body) -> Position {
        let name = Name::Known { salt: self.salt(), hash: body.hash };
        let len = crate::bytes::len_u64(body.bytes.len());
        self.add(&event, Form::Full, name, body.bytes, len)
    }

    /// Adds a tombstone: it names the original that is gone, and has no body.
    pub(crate) fn push_tombstone(&mut self, event: &Event, tombstone: Tombstone) -> Position {
        let form = match tombstone.name {
            Name::None => Form::Bare,
            Name::Known { .. } => Form::Named,
            Name::Committed(_) => Form::Committed,
        };
        self.add(event, form, tombstone.name, Vec::new(), tombstone.bytes)
    }

    fn add(&mut self, event: &Event, form: Form, name: Name, body: Vec<u8>, body_len: u64) -> Position {
        let at = self.next();
        let bytes = match event.encode() {
            Ok(bytes) if bytes.len() <= EVENT_BYTES_MAX => bytes,
            refused => {
                let source = refused.err();
                self.fault.get_or_insert(StoreError::TooLarge { schema: event.schema(), source });
                Vec::new()
            }
        };
        let own_hash = if form == Form::Full { name.hash() } else { None };
        let keys =
            keys_of(event, at, own_hash.as_ref()).iter().filter_map(|key| ShortKey::new(key)).collect();
        self.links.add(at.get(), event.schema(), &bytes, name.commitment().as_ref());
        add_counts(&mut self.counts, tally(event, form != Form::Bare));
        self.frames.push(Draft::new(event.schema(), form, name, bytes, body, body_len, keys));
        at
    }

    /// A salt. The system is asked for as many at once as the batch has frames, up to a bound.
    fn salt(&mut self) -> Salt {
        if self.drawn.is_empty() {
            self.drawn.resize(SALT_BYTES * self.frames.len().clamp(1, SALTS_AT_ONCE_MAX), 0);
            self.random.fill(&mut self.drawn);
        }
        let mut salt = [0; SALT_BYTES];
        let rest = self.drawn.len().saturating_sub(SALT_BYTES);
        for (to, from) in salt.iter_mut().zip(self.drawn.drain(rest..)) {
            *to = from;
        }
        Salt::from_bytes(salt)
    }
}

impl Draft {
    fn new(
        kind: u16,
        form: Form,
        name: Name,
        event: Vec<u8>,
        body: Vec<u8>,
        body_len: u64,
        keys: Vec<ShortKey>,
    ) -> Self {
        let mut named = Vec::with_capacity(form.name_bytes());
        name.encode(&mut named);
        let mut crc = crc32fast::Hasher::new();
        crc.update(&event);
        crc.update(&named);
        Self { kind, form, name, event, crc: crc.finalize(), body, body_len, keys }
    }

    /// The commit at the end of a batch.
    pub(crate) fn commit(event: Vec<u8>) -> Self {
        Self::new(COMMIT_KIND, Form::Bare, Name::None, event, Vec::new(), 0, Vec::new())
    }

    /// The head of the frame at position `seq`.
    pub(crate) fn head(&self, seq: u64) -> FrameHead {
        FrameHead {
            kind: self.kind,
            form: self.form,
            seq,
            event_len: u32::try_from(self.event.len()).unwrap_or(u32::MAX),
            crc: self.crc,
            body_len: self.body_len,
        }
    }
}
