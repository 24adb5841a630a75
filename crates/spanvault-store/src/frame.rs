//! The frame: one event of the log with its optional body.
//!
//! `head (40) · event · name (48, 32 or 0) · body`. The head has its own check, so a damaged event does not hide
//! where the next frame begins. The checksum covers event and name; the body has none of its own, because the content
//! hash in the name is one.

use spanvault_types::codec::Seat;
use spanvault_types::{Commitment, ContentHash, Event, Position, Salt};

use crate::bytes::{Fields, Filler, len_u64};
use crate::stamp::{CHECK_BYTES, CheckKey, Place};

pub(crate) const MAGIC: [u8; 4] = *b"SVF\x01";
pub(crate) const HEAD_BYTES: usize = 40;
/// The smallest frame: a head and the envelope of an empty event.
pub(crate) const FRAME_BYTES_MIN: u64 = HEAD_BYTES as u64 + 4;
pub(crate) const EVENT_BYTES_MAX: usize = spanvault_types::codec::PAYLOAD_BYTES_MAX + 4;
/// Positions of files are kept in 48 bits.
pub(crate) const BODY_BYTES_MAX: u64 = 1 << 46;

const CHECKED_BYTES: usize = HEAD_BYTES - CHECK_BYTES;

/// What follows the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Form {
    /// Nothing: the event never had a body.
    Bare = 0,
    /// Salt and content hash; the body is elsewhere, or gone, or (in a tombstone) never was here.
    Named = 1,
    /// Salt, content hash and body.
    Full = 3,
    /// The commitment alone: the content is erased, and its hash with it.
    Committed = 4,
}

impl Form {
    fn from_flags(flags: u16) -> Option<Self> {
        [Self::Bare, Self::Named, Self::Full, Self::Committed].into_iter().find(|form| *form as u16 == flags)
    }

    pub(crate) const fn name_bytes(self) -> usize {
        match self {
            Self::Bare => 0,
            Self::Named | Self::Full => 48,
            Self::Committed => 32,
        }
    }
}

/// The fixed head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHead {
    /// The schema of the event.
    pub(crate) kind: u16,
    pub(crate) form: Form,
    pub(crate) seq: u64,
    pub(crate) event_len: u32,
    /// CRC-32 of event and name.
    pub(crate) crc: u32,
    /// Length of the body, also where it is no longer here.
    pub(crate) body_len: u64,
}

impl FrameHead {
    pub(crate) fn encode(&self, key: &CheckKey, place: Place) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        if let Some((checked, check)) = head.split_at_mut_checked(CHECKED_BYTES) {
            Filler::new(checked)
                .put(&MAGIC)
                .put(&self.kind.to_le_bytes())
                .put(&(self.form as u16).to_le_bytes())
                .put(&self.seq.to_le_bytes())
                .put(&self.event_len.to_le_bytes())
                .put(&self.crc.to_le_bytes())
                .put(&self.body_len.to_le_bytes());
            check.copy_from_slice(&key.check(checked, place));
        }
        head
    }

    /// The head at `place`, if one was written there.
    pub(crate) fn decode(bytes: &[u8], key: &CheckKey, place: Place) -> Option<Self> {
        let bytes = bytes.get(..HEAD_BYTES)?;
        let (checked, check) = bytes.split_at_checked(CHECKED_BYTES)?;
        let mut fields = Fields::new(checked);
        if fields.array()? != MAGIC || key.check(checked, place) != *check {
            return None;
        }
        let (kind, flags, seq) = (fields.u16()?, fields.u16()?, fields.u64()?);
        let (event_len, crc, body_len) = (fields.u32()?, fields.u32()?, fields.u64()?);
        let form = Form::from_flags(flags)?;
        let fits = usize::try_from(event_len).ok()? <= EVENT_BYTES_MAX && body_len <= BODY_BYTES_MAX;
        fits.then_some(Self { kind, form, seq, event_len, crc, body_len })
    }

    /// Length of event and name.
    pub(crate) const fn middle_len(&self) -> usize {
        self.event_len as usize + self.form.name_bytes()
    }

    /// Where the body begins, counted from the frame.
    pub(crate) fn body_offset(&self) -> u64 {
        len_u64(HEAD_BYTES + self.middle_len())
    }

    /// Length of the body as far as it is in this frame.
    pub(crate) fn body_here(&self) -> u64 {
        if self.form == Form::Full { self.body_len } else { 0 }
    }

    /// Length of the frame.
    pub(crate) fn frame_len(&self) -> u64 {
        self.body_offset() + self.body_here()
    }
}

/// What names a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    None,
    Known { salt: Salt, hash: ContentHash },
    Committed(Commitment),
}

impl Name {
    /// Reads the name of a frame of this form.
    pub(crate) fn decode(bytes: &[u8], form: Form) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let name = match form {
            Form::Bare => Self::None,
            Form::Named | Form::Full => {
                let salt = Salt::from_bytes(fields.array()?);
                Self::Known { salt, hash: ContentHash::from_bytes(fields.array()?) }
            }
            Form::Committed => Self::Committed(Commitment::from_bytes(fields.array()?)),
        };
        fields.is_empty().then_some(name)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Known { salt, hash } => {
                out.extend_from_slice(salt.as_bytes());
                out.extend_from_slice(hash.as_bytes());
            }
            Self::Committed(commitment) => out.extend_from_slice(commitment.as_bytes()),
        }
    }

    /// The event of the frame that has this head and this name, read from its bytes.
    pub(crate) fn event(&self, bytes: &[u8], head: &FrameHead) -> Option<Event> {
        let seat = Seat { at: Position::new(head.seq), commitment: &|| self.commitment() };
        Event::decode(bytes, &seat).ok().filter(|event| event.schema() == head.kind)
    }

    pub(crate) const fn hash(&self) -> Option<ContentHash> {
        match self {
            Self::Known { hash, .. } => Some(*hash),
            Self::None | Self::Committed(_) => None,
        }
    }

    pub(crate) fn commitment(&self) -> Option<Commitment> {
        match self {
            Self::None => None,
            Self::Known { salt, hash } => Some(hash.commit(salt)),
            Self::Committed(commitment) => Some(*commitment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::VaultId;
    use proptest::prelude::*;
    use spanvault_env::Random;

    #[derive(Debug)]
    struct Ones;

    impl Random for Ones {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    fn key() -> CheckKey {
        VaultId::random(&Ones).check_key()
    }

    const PLACE: Place = Place { file: 3, offset: 4096 };

    fn forms() -> impl Strategy<Value = Form> {
        prop_oneof![Just(Form::Bare), Just(Form::Named), Just(Form::Full), Just(Form::Committed)]
    }

    proptest! {
        #[test]
        fn a_head_reads_back_at_its_place_and_nowhere_else(
            kind: u16, form in forms(), seq: u64, event_len in 0_u32..=(64 << 20), crc: u32,
            body_len in 0..=BODY_BYTES_MAX, moved in 1_u64..1000,
        ) {
            let head = FrameHead { kind, form, seq, event_len, crc, body_len };
            let bytes = head.encode(&key(), PLACE);
            prop_assert_eq!(FrameHead::decode(&bytes, &key(), PLACE), Some(head));
            let elsewhere = Place { offset: PLACE.offset + moved, ..PLACE };
            prop_assert_eq!(FrameHead::decode(&bytes, &key(), elsewhere), None);
        }

        #[test]
        fn i71_no_bytes_make_the_head_decoder_panic(bytes: Vec<u8>) {
            prop_assert_eq!(FrameHead::decode(&bytes, &key(), PLACE), None);
        }

        #[test]
        fn i71_no_bytes_make_the_name_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), form in forms()) {
            let name = Name::decode(&bytes, form);
            prop_assert_eq!(name.is_some(), bytes.len() == form.name_bytes());
            let mut again = Vec::new();
            if let Some(name) = name {
                name.encode(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }

        #[test]
        fn i16_every_flipped_bit_of_a_head_shows(at in 0..HEAD_BYTES, bit in 0..8) {
            let head = FrameHead { kind: 3, form: Form::Full, seq: 9, event_len: 100, crc: 7, body_len: 4096 };
            let mut bytes = head.encode(&key(), PLACE);
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(FrameHead::decode(&bytes, &key(), PLACE), None);
        }
    }

    #[test]
    fn a_commitment_stays_when_salt_and_hash_go() {
        let (salt, hash) = (Salt::from_bytes([7; 16]), ContentHash::of(b"span"));
        let known = Name::Known { salt, hash };
        let erased = Name::Committed(hash.commit(&salt));
        assert_eq!(known.commitment(), erased.commitment());
        assert_eq!(erased.hash(), None);
    }
}
