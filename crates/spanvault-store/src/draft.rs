//! A batch as frames: first how long they are, which decides where they will be, then the frames themselves.
//!
//! A long batch is cut into stretches. Several threads make frames of them, while those before are written. Nothing here
//! copies a body that is longer than a few kilobytes.

use std::io::IoSlice;

use spanvault_types::codec::Seat;
use spanvault_types::key::keys_of;
use spanvault_types::{Commitment, Event, Position, Salt, StoreTime};

use crate::batch::{Body, Tombstone};
use crate::bytes::len_u64;
use crate::chain::Links;
use crate::error::{Result, StoreError};
use crate::frame::{EVENT_BYTES_MAX, Form, FrameHead, HEAD_BYTES, Name};
use crate::long;
use crate::segment::{Entry, ShortKey, Slot};
use crate::stamp::{CheckKey, Place};

/// A stretch ends once it has so many bytes: that much is worth handing to a thread.
const STRETCH_BYTES: u64 = 256 << 10;
/// A shorter body is copied behind its event, for a slice of its own would cost more.
const OWN_SLICE_BYTES: usize = 3 << 10;

/// An event that was pushed to a batch.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) event: Event,
    pub(crate) content: Content,
}

/// What comes with an event.
#[derive(Debug)]
pub(crate) enum Content {
    None,
    /// A body that is hashed when the batch is written.
    Bytes(Salt, Vec<u8>),
    /// A body that was hashed before.
    Body(Salt, Body),
    /// What a tombstone repeats of the frame whose original is gone.
    Gone(Tombstone),
}

impl Content {
    const fn form(&self) -> Form {
        match self {
            Self::None => Form::Bare,
            Self::Bytes(..) | Self::Body(..) => Form::Full,
            Self::Gone(tombstone) => match tombstone.name {
                Name::None => Form::Bare,
                Name::Known { .. } => Form::Named,
                Name::Committed(_) => Form::Committed,
            },
        }
    }

    /// Length of the body as far as it is here.
    fn len(&self) -> u64 {
        match self {
            Self::None | Self::Gone(_) => 0,
            Self::Bytes(_, bytes) => len_u64(bytes.len()),
            Self::Body(_, body) => len_u64(body.bytes().len()),
        }
    }

    /// Whether the event has a name in the log.
    pub(crate) fn is_named(&self) -> bool {
        self.form() != Form::Bare
    }

    /// What the name commits to, where that is known without hashing a body.
    fn commitment(&self) -> Option<Commitment> {
        match self {
            Self::None | Self::Bytes(..) => None,
            Self::Body(salt, body) => Some(body.hash().commit(salt)),
            Self::Gone(tombstone) => tombstone.name.commitment(),
        }
    }

    /// The name, which takes hashing the body, the body, and its length, also where it is not here.
    fn named(self) -> (Name, Vec<u8>, u64) {
        let len = self.len();
        match self {
            Self::None => (Name::None, Vec::new(), 0),
            Self::Bytes(salt, bytes) => (Name::Known { salt, hash: long::hash_of(&bytes) }, bytes, len),
            Self::Body(salt, body) => (Name::Known { salt, hash: body.hash() }, body.into_bytes(), len),
            Self::Gone(Tombstone { name, bytes }) => (name, Vec::new(), bytes),
        }
    }
}

/// Some events of a batch, one behind the other, before their frames are made.
#[derive(Debug)]
pub(crate) struct Stretch {
    /// The position of the first.
    first: u64,
    /// Where its frame begins, counted from the batch.
    offset: u64,
    pending: Vec<Pending>,
    /// The events as bytes, one after the other.
    events: Vec<u8>,
    /// Their lengths.
    event_lens: Vec<usize>,
}

/// A batch, or what there is of it, cut into stretches.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) stretches: Vec<Stretch>,
    /// The length of all frames.
    pub(crate) bytes: u64,
}

impl Layout {
    /// Lays out the frames of what was pushed, the first at position `first`.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] for an event that cannot be written.
    pub(crate) fn new(pending: Vec<Pending>, first: u64) -> Result<Self> {
        let mut layout = Self::default();
        let mut stretch = Stretch::new(first, 0);
        for (seq, pending) in (first..).zip(pending) {
            if layout.bytes - stretch.offset >= STRETCH_BYTES {
                layout.stretches.push(std::mem::replace(&mut stretch, Stretch::new(seq, layout.bytes)));
            }
            layout.bytes += stretch.push(pending)?;
        }
        layout.stretches.push(stretch);
        Ok(layout)
    }
}

impl Stretch {
    pub(crate) const fn new(first: u64, offset: u64) -> Self {
        Self { first, offset, pending: Vec::new(), events: Vec::new(), event_lens: Vec::new() }
    }

    /// Adds an event; gives the length of its frame.
    pub(crate) fn push(&mut self, pending: Pending) -> Result<u64> {
        let Pending { event, content } = &pending;
        let too_large = |source| StoreError::TooLarge { schema: event.schema(), source };
        let at = self.first + len_u64(self.pending.len());
        let seat = Seat { at: Position::new(at), commitment: &|| content.commitment() };
        let encoded = event.encode(&seat).map_err(|error| too_large(Some(error)))?;
        if encoded.len() > EVENT_BYTES_MAX {
            return Err(too_large(None));
        }
        let len = len_u64(HEAD_BYTES + encoded.len() + content.form().name_bytes()) + content.len();
        self.events.extend_from_slice(&encoded);
        self.event_lens.push(encoded.len());
        self.pending.push(pending);
        Ok(len)
    }

    /// Makes the frames.
    pub(crate) fn frames(self, site: &Site<'_>) -> Frames {
        let mut frames = Frames::at(self.offset);
        let mut events = self.events.as_slice();
        for ((seq, pending), event_len) in (self.first..).zip(self.pending).zip(self.event_lens) {
            let (event, rest) = events.split_at_checked(event_len).unwrap_or_default();
            events = rest;
            frames.add(site, seq, pending, event);
        }
        frames.keys.sort_unstable();
        frames
    }
}

/// Where a batch goes, and what its frames say of that.
#[derive(Debug)]
pub(crate) struct Site<'k> {
    pub(crate) key: &'k CheckKey,
    /// The number of the segment.
    pub(crate) segment: u64,
    /// Where the batch begins in it.
    pub(crate) start: u64,
    /// Store time of the commit.
    pub(crate) time: StoreTime,
}

/// The frames of a stretch, ready to be written.
#[derive(Debug)]
pub(crate) struct Frames {
    /// Where they begin, counted from the batch.
    offset: u64,
    /// Everything but the bodies that are slices of their own.
    bytes: Vec<u8>,
    /// Those, each with the byte before which it stands.
    own: Vec<(usize, Vec<u8>)>,
    own_bytes: u64,
    /// Bytes of all bodies.
    pub(crate) body_bytes: u64,
    pub(crate) slots: Vec<Slot>,
    /// Sorted.
    pub(crate) keys: Vec<Entry>,
    pub(crate) links: Links,
}

impl Frames {
    fn at(offset: u64) -> Self {
        Self {
            offset,
            bytes: Vec::new(),
            own: Vec::new(),
            own_bytes: 0,
            body_bytes: 0,
            slots: Vec::new(),
            keys: Vec::new(),
            links: Links::default(),
        }
    }

    fn add(&mut self, site: &Site<'_>, seq: u64, pending: Pending, event: &[u8]) {
        let Pending { event: read, content } = pending;
        let form = content.form();
        let (name, body, body_len) = content.named();
        let kind = read.schema();
        self.links.add(seq, kind, event, name.commitment().as_ref());
        let own_hash = if form == Form::Full { name.hash() } else { None };
        let keys = keys_of(&read, Position::new(seq), own_hash.as_ref());
        let keys = keys.iter().filter_map(|key| ShortKey::new(key));
        self.keys.extend(keys.map(|key| Entry { key, at: seq }));

        let offset = site.start + self.offset + self.len();
        self.slots.push(Slot::at(offset, Some(site.time)));
        let head_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEAD_BYTES]);
        self.bytes.extend_from_slice(event);
        name.encode(&mut self.bytes);
        if let Some((head, middle)) =
            self.bytes.get_mut(head_at..).and_then(|frame| frame.split_first_chunk_mut::<HEAD_BYTES>())
        {
            *head = FrameHead {
                kind,
                form,
                seq,
                event_len: u32::try_from(event.len()).unwrap_or(u32::MAX),
                crc: crc32fast::hash(middle),
                body_len,
            }
            .encode(site.key, Place { file: site.segment, offset });
        }
        self.body_bytes += len_u64(body.len());
        if body.len() < OWN_SLICE_BYTES {
            self.bytes.extend_from_slice(&body);
        } else {
            self.own_bytes += len_u64(body.len());
            self.own.push((self.bytes.len(), body));
        }
    }

    /// The length of all of them.
    pub(crate) fn len(&self) -> u64 {
        len_u64(self.bytes.len()) + self.own_bytes
    }

    /// The bytes in their order.
    pub(crate) fn slices<'f>(&'f self, out: &mut Vec<IoSlice<'f>>) {
        let mut from = 0;
        for (before, body) in &self.own {
            out.extend(self.bytes.get(from..*before).map(IoSlice::new));
            out.push(IoSlice::new(body));
            from = *before;
        }
        out.extend(self.bytes.get(from..).filter(|rest| !rest.is_empty()).map(IoSlice::new));
    }
}
