//! Frames as far as they do not depend on where they will be, made out of what was pushed to a batch.

use spanvault_types::key::keys_of;
use spanvault_types::{ContentHash, Event, Position, Salt};

use crate::batch::{Body, Tombstone};
use crate::bytes::len_u64;
use crate::chain::link;
use crate::error::{Result, StoreError};
use crate::frame::{EVENT_BYTES_MAX, Form, FrameHead, Name};
use crate::long;
use crate::segment::{COMMIT_KIND, ShortKey};
use crate::shares::in_shares;

/// Bodies that have this many bytes together are worth a thread.
const SHARED_BYTES_MIN: u64 = 256 << 10;

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
    fn len(&self) -> u64 {
        match self {
            Self::None | Self::Gone(_) => 0,
            Self::Bytes(_, bytes) => len_u64(bytes.len()),
            Self::Body(_, body) => len_u64(body.bytes().len()),
        }
    }

    /// Whether the event has a name in the log.
    pub(crate) const fn is_named(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bytes(..) | Self::Body(..) => true,
            Self::Gone(tombstone) => !matches!(tombstone.name, Name::None),
        }
    }
}

/// One frame as far as it does not depend on where it will be.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) kind: u16,
    form: Form,
    /// Event and name.
    pub(crate) middle: Vec<u8>,
    event_len: usize,
    crc: u32,
    /// What the chain has of it.
    pub(crate) link: [u8; 32],
    pub(crate) body: Vec<u8>,
    /// Length of the body, also where it is not in this frame.
    body_len: u64,
    pub(crate) keys: Vec<ShortKey>,
}

/// The frames of what was pushed, the first at position `first`; long work is shared out among threads.
///
/// # Errors
/// [`StoreError::TooLarge`] for an event that cannot be written.
pub(crate) fn drafts(pending: Vec<Pending>, first: u64) -> Result<Vec<Draft>> {
    let bytes: u64 = pending.iter().map(|pending| pending.content.len()).sum();
    let pending = (first..).zip(pending);
    if bytes < SHARED_BYTES_MIN {
        return pending.map(|(seq, pending)| Draft::of(seq, pending)).collect();
    }
    in_shares(pending.collect(), &|(seq, pending)| Draft::of(seq, pending)).into_iter().collect()
}

impl Draft {
    fn of(seq: u64, pending: Pending) -> Result<Self> {
        let Pending { event, content } = pending;
        let body_len = content.len();
        let known = |salt, hash| Name::Known { salt, hash };
        let (form, name, body, body_len) = match content {
            Content::None => (Form::Bare, Name::None, Vec::new(), 0),
            Content::Bytes(salt, bytes) => (Form::Full, known(salt, long::hash_of(&bytes)), bytes, body_len),
            Content::Body(salt, body) => (Form::Full, known(salt, body.hash()), body.into_bytes(), body_len),
            Content::Gone(Tombstone { name, bytes }) => {
                let form = match name {
                    Name::None => Form::Bare,
                    Name::Known { .. } => Form::Named,
                    Name::Committed(_) => Form::Committed,
                };
                (form, name, Vec::new(), bytes)
            }
        };
        let own_hash = if form == Form::Full { name.hash() } else { None };
        let mut draft = Self::new(seq, &event, form, name, own_hash.as_ref())?;
        (draft.body, draft.body_len) = (body, body_len);
        Ok(draft)
    }

    /// A frame without a body.
    fn new(seq: u64, event: &Event, form: Form, name: Name, own_hash: Option<&ContentHash>) -> Result<Self> {
        let kind = event.schema();
        let too_large = |source| StoreError::TooLarge { schema: kind, source };
        let mut middle = event.encode().map_err(|error| too_large(Some(error)))?;
        let event_len = middle.len();
        if event_len > EVENT_BYTES_MAX {
            return Err(too_large(None));
        }
        let link = link(seq, kind, &middle, name.commitment().as_ref());
        name.encode(&mut middle);
        let crc = crc32fast::hash(&middle);
        let keys = keys_of(event, Position::new(seq), own_hash);
        let keys = keys.iter().filter_map(|key| ShortKey::new(key)).collect();
        Ok(Self { kind, form, middle, event_len, crc, link, body: Vec::new(), body_len: 0, keys })
    }

    /// The commit at the end of a batch.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`], which no commit is.
    pub(crate) fn commit(seq: u64, commit: &Event) -> Result<Self> {
        debug_assert_eq!(commit.schema(), COMMIT_KIND);
        Self::new(seq, commit, Form::Bare, Name::None, None)
    }

    /// The head of the frame at position `seq`.
    pub(crate) fn head(&self, seq: u64) -> FrameHead {
        FrameHead {
            kind: self.kind,
            form: self.form,
            seq,
            event_len: u32::try_from(self.event_len).unwrap_or(u32::MAX),
            crc: self.crc,
            body_len: self.body_len,
        }
    }
}
