//! A batch: events that become durable together or not at all.

use std::sync::Arc;

use spanvault_env::Random;
use spanvault_types::{ContentHash, Counts, Event, Position, Salt};

use crate::draft::{Content, Pending};
use crate::frame::Name;
use crate::long;
use crate::segment::{add_counts, tally};

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
        let hash = long::hash_of(&bytes);
        Self { bytes, hash }
    }

    /// Takes bytes that were hashed before. With the hash of other bytes they would be read back as damaged, or, before
    /// they are durable, be cut as a torn tail.
    pub fn hashed(bytes: Vec<u8>, hash: ContentHash) -> Self {
        debug_assert_eq!(ContentHash::of(&bytes), hash, "the hash of other bytes");
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

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
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
    pub(crate) pending: Vec<Pending>,
    pub(crate) counts: Counts,
    random: Arc<dyn Random>,
    /// Random bytes that were drawn and are not used yet.
    drawn: Vec<u8>,
}

/// What a tombstone repeats of the frame whose original is gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tombstone {
    pub(crate) name: Name,
    pub(crate) bytes: u64,
}

impl Batch {
    pub(crate) fn new(epoch: u64, first: u64, random: Arc<dyn Random>) -> Self {
        Self { epoch, first, pending: Vec::new(), counts: Counts::default(), random, drawn: Vec::new() }
    }

    /// The position that the next event will have.
    pub fn next(&self) -> Position {
        Position::new(self.first + crate::bytes::len_u64(self.pending.len()))
    }

    /// Whether nothing was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// How many events were pushed.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Adds an event, with its body if it carries one, and returns its position. The body is hashed when the batch is
    /// appended.
    ///
    /// An event that is too large to write makes the batch fail when it is appended.
    pub fn push(&mut self, event: Event, body: Option<Vec<u8>>) -> Position {
        let content = body.map_or(Content::None, |bytes| Content::Bytes(self.salt(), bytes));
        self.add(event, content)
    }

    /// Adds an event whose body was hashed before.
    pub fn push_body(&mut self, event: Event, body: Body) -> Position {
        let salt = self.salt();
        self.add(event, Content::Body(salt, body))
    }

    /// Adds a tombstone: it names the original that is gone, and has no body.
    pub(crate) fn push_tombstone(&mut self, event: Event, tombstone: Tombstone) -> Position {
        self.add(event, Content::Gone(tombstone))
    }

    fn add(&mut self, event: Event, content: Content) -> Position {
        let at = self.next();
        add_counts(&mut self.counts, tally(&event, content.is_named()));
        self.pending.push(Pending { event, content });
        at
    }

    /// A salt. The system is asked for as many at once as the batch has frames, up to a bound.
    fn salt(&mut self) -> Salt {
        if self.drawn.is_empty() {
            self.drawn.resize(SALT_BYTES * self.pending.len().clamp(1, SALTS_AT_ONCE_MAX), 0);
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
