//! The one place where values get their bytes.
//!
//! An envelope is `[schema u16 LE][version u16 LE][payload]`; the payload is bincode 2 with the bytes of
//! bincode 1 (`config::legacy()`: little-endian, fixed-width integers), a size limit, and no byte left over.
//! The events that a log has most of are written as version 2, which is shorter: see `short`. Integrity is the frame's
//! business: an envelope has no checksum of its own. A schema that changes gets a new version and a conversion from the
//! old one; bytes of old versions stay readable for ever.

mod short;

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use bincode::{Decode, Encode};

use self::short::{Fields, Short};
use crate::{Commit, Commitment, Event, Position};

/// The largest payload that is written or read, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 64 << 20;

const CONFIG: Configuration<LittleEndian, Fixint, Limit<PAYLOAD_BYTES_MAX>> =
    bincode::config::legacy().with_limit::<PAYLOAD_BYTES_MAX>();

/// Bytes that are no envelope of the expected schema.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// Fewer than the four bytes of an envelope's head.
    #[error("decode an envelope: {len} bytes are too few")]
    Truncated {
        /// How many there are.
        len: usize,
    },
    /// A schema number that this version does not know.
    #[error("decode an envelope: unknown schema {schema}")]
    UnknownSchema {
        /// The number.
        schema: u16,
    },
    /// A version that this program is too old to read.
    #[error("decode schema {schema}: version {version} is newer than this program")]
    NewerVersion {
        /// The schema.
        schema: u16,
        /// Its version.
        version: u16,
    },
    /// A payload that does not decode.
    #[error("decode schema {schema}")]
    Payload {
        /// The schema.
        schema: u16,
        /// What bincode says.
        #[source]
        source: bincode::error::DecodeError,
    },
    /// A payload of version 2 that does not decode.
    #[error("decode schema {schema}: not a payload of version 2")]
    ShortPayload {
        /// The schema.
        schema: u16,
    },
    /// Bytes after the payload.
    #[error("decode schema {schema}: {extra} bytes are left over")]
    TrailingBytes {
        /// The schema.
        schema: u16,
        /// How many.
        extra: usize,
    },
    /// A value too large to write.
    #[error("encode schema {schema}")]
    Encode {
        /// The schema.
        schema: u16,
        /// What bincode says.
        #[source]
        source: bincode::error::EncodeError,
    },
}

/// Gives `value` its envelope.
///
/// # Errors
/// [`CodecError::Encode`] where it is larger than [`PAYLOAD_BYTES_MAX`].
pub fn encode<T: Encode>(schema: u16, version: u16, value: &T) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::with_capacity(64);
    bytes.extend_from_slice(&schema.to_le_bytes());
    bytes.extend_from_slice(&version.to_le_bytes());
    bincode::encode_into_std_write(value, &mut bytes, CONFIG)
        .map_err(|source| CodecError::Encode { schema, source })?;
    Ok(bytes)
}

/// The schema and version at the head of an envelope, and its payload.
///
/// # Errors
/// [`CodecError::Truncated`] where there is no whole head.
pub fn open(bytes: &[u8]) -> Result<(u16, u16, &[u8]), CodecError> {
    match bytes {
        [s0, s1, v0, v1, payload @ ..] => {
            Ok((u16::from_le_bytes([*s0, *s1]), u16::from_le_bytes([*v0, *v1]), payload))
        }
        _ => Err(CodecError::Truncated { len: bytes.len() }),
    }
}

/// Reads a payload; every byte must be used.
///
/// # Errors
/// [`CodecError::Payload`] where it does not decode, [`CodecError::TrailingBytes`] where bytes are left.
pub fn decode_payload<T: Decode<()>>(schema: u16, payload: &[u8]) -> Result<T, CodecError> {
    let (value, used) = bincode::decode_from_slice(payload, CONFIG)
        .map_err(|source| CodecError::Payload { schema, source })?;
    match payload.len().checked_sub(used) {
        None | Some(0) => Ok(value),
        Some(extra) => Err(CodecError::TrailingBytes { schema, extra }),
    }
}

/// Reads an envelope of one schema whose only version so far is 1.
///
/// # Errors
/// Any [`CodecError`] but `Encode`.
pub fn decode<T: Decode<()>>(schema: u16, bytes: &[u8]) -> Result<T, CodecError> {
    let (found, version, payload) = open(bytes)?;
    if found != schema {
        return Err(CodecError::UnknownSchema { schema: found });
    }
    if version != 1 {
        return Err(CodecError::NewerVersion { schema, version });
    }
    decode_payload(schema, payload)
}

/// The frame that an event stands in, as far as the event leans on it: what the frame says is not said again.
#[derive(Clone, Copy)]
pub struct Seat<'a> {
    /// Its position.
    pub at: Position,
    /// What its name commits to; `None` where it has no name. Asked only for the few events that lean on it.
    pub commitment: &'a dyn Fn() -> Option<Commitment>,
}

impl Seat<'_> {
    /// The frame without a name at `at`.
    pub const fn bare(at: Position) -> Self {
        Self { at, commitment: &|| None }
    }
}

impl std::fmt::Debug for Seat<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("at", &self.at).finish_non_exhaustive()
    }
}

fn encode_short<T: Short>(schema: u16, event: &T, seat: &Seat<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    bytes.extend_from_slice(&schema.to_le_bytes());
    bytes.extend_from_slice(&2_u16.to_le_bytes());
    event.put(seat, &mut bytes);
    bytes
}

fn decode_short<T: Short>(schema: u16, payload: &[u8], seat: &Seat<'_>) -> Result<T, CodecError> {
    let mut fields = Fields::new(payload);
    let event = T::take(&mut fields, seat).ok_or(CodecError::ShortPayload { schema })?;
    match fields.left() {
        0 => Ok(event),
        extra => Err(CodecError::TrailingBytes { schema, extra }),
    }
}

impl Commit {
    /// What the chain has of a commit: its envelope as version 1, whatever version it is written as.
    ///
    /// # Errors
    /// [`CodecError::Encode`], which no commit is too large for.
    pub fn chained_bytes(&self) -> Result<Vec<u8>, CodecError> {
        encode(COMMIT, 1, self)
    }
}

/// Pairs each event with its schema number. Numbers are never reused. Those behind the semicolon have a version 2, which
/// is written, and a version 1, which is read.
macro_rules! event_schemas {
    ($($number:literal => $variant:ident),+ ; $($short:ident => $twice:ident),+ $(,)?) => {
        impl Event {
            /// The schema number of this event, which is also the kind of its frame.
            pub const fn schema(&self) -> u16 {
                match self {
                    Self::GapStored => GAP_STORED,
                    $(Self::$variant(_) => $number,)+
                    $(Self::$twice(_) => $short,)+
                }
            }

            /// Gives this event its envelope, to stand in the frame that `seat` tells of.
            ///
            /// # Errors
            /// [`CodecError::Encode`] where it is larger than [`PAYLOAD_BYTES_MAX`].
            pub fn encode(&self, seat: &Seat<'_>) -> Result<Vec<u8>, CodecError> {
                match self {
                    Self::GapStored => encode(GAP_STORED, 1, &()),
                    $(Self::$variant(event) => encode($number, 1, event),)+
                    $(Self::$twice(event) if event.is_written() => Ok(encode_short($short, event, seat)),)+
                    $(Self::$twice(event) => encode($short, 1, event),)+
                }
            }

            /// Reads the event of the frame that `seat` tells of.
            ///
            /// # Errors
            /// Any [`CodecError`] but `Encode`; a newer version is an error, never a best effort.
            pub fn decode(bytes: &[u8], seat: &Seat<'_>) -> Result<Self, CodecError> {
                let (schema, version, payload) = open(bytes)?;
                match (schema, version) {
                    (GAP_STORED, 1) => decode_payload::<()>(schema, payload).map(|()| Self::GapStored),
                    $(($number, 1) => decode_payload(schema, payload).map(Self::$variant),)+
                    $(($short, 1) => decode_payload(schema, payload).map(Self::$twice),)+
                    $(($short, 2) => decode_short(schema, payload, seat).map(Self::$twice),)+
                    (GAP_STORED $(| $number)+ $(| $short)+, _) => {
                        Err(CodecError::NewerVersion { schema, version })
                    }
                    _ => Err(CodecError::UnknownSchema { schema }),
                }
            }
        }
    };
}

const COMMIT: u16 = 1;
const SPAN_RECORDED: u16 = 3;
const GAP_STORED: u16 = 4;
const CONDEMNED: u16 = 16;
const RECLAIMED: u16 = 18;

event_schemas! {
    2 => SessionOpened,
    5 => SourceOpened,
    6 => SourceExtended,
    7 => Summarised,
    8 => Refused,
    9 => IndexClosed,
    10 => RetentionSet,
    11 => AssumptionSet,
    12 => DemandDeclared,
    13 => DemandWithdrawn,
    14 => HoldPlaced,
    15 => HoldReleased,
    17 => Rescued,
    19 => Demoted,
    20 => ClockConfirmed,
    21 => ClockSuspected,
    22 => Checkpointed,
    23 => SpanSuperseded,
    24 => SummaryImported;
    COMMIT => Commit,
    SPAN_RECORDED => SpanRecorded,
    CONDEMNED => Condemned,
    RECLAIMED => Reclaimed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexClosed, SessionOpened};

    const SEAT: Seat<'_> = Seat::bare(Position::new(70));

    #[test]
    fn an_event_reads_back_from_its_envelope() {
        let event =
            Event::SessionOpened(SessionOpened { name: "run-42".into(), format: "claude_code".into() });
        assert_eq!(Event::decode(&event.encode(&SEAT).unwrap(), &SEAT).unwrap(), event);
    }

    #[test]
    fn i71_trailing_bytes_are_refused() {
        let mut bytes = Event::GapStored.encode(&SEAT).unwrap();
        bytes.push(0);
        assert!(matches!(Event::decode(&bytes, &SEAT), Err(CodecError::TrailingBytes { extra: 1, .. })));
    }

    #[test]
    fn i72_a_newer_version_is_an_error_and_not_a_best_effort() {
        let mut bytes = Event::GapStored.encode(&SEAT).unwrap();
        bytes[2] = 2;
        assert!(matches!(Event::decode(&bytes, &SEAT), Err(CodecError::NewerVersion { version: 2, .. })));
        bytes[0] = 250;
        assert!(matches!(Event::decode(&bytes, &SEAT), Err(CodecError::UnknownSchema { schema: 250 })));
    }

    #[test]
    fn i71_a_length_beyond_the_limit_is_refused_before_it_is_allocated() {
        let mut bytes = Event::SessionOpened(SessionOpened { name: "x".into(), format: String::new() })
            .encode(&SEAT)
            .unwrap();
        bytes[4..12].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(Event::decode(&bytes, &SEAT), Err(CodecError::Payload { .. })));
    }

    #[test]
    fn the_bytes_of_version_1_stay_as_they_are() {
        let event =
            Event::IndexClosed(IndexClosed { applied: Position::new(258), counts: crate::Counts::default() });
        let mut golden = vec![9, 0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0];
        golden.extend([0; 24]);
        assert_eq!(event.encode(&SEAT).unwrap(), golden);
    }

    proptest::proptest! {
        #[test]
        fn i71_no_bytes_make_the_decoder_panic(bytes: Vec<u8>, schema in 0_u16..30) {
            let mut envelope = schema.to_le_bytes().to_vec();
            envelope.extend([1, 0]);
            envelope.extend(bytes);
            if let Ok(event) = Event::decode(&envelope, &SEAT) {
                let again = event.encode(&SEAT).unwrap();
                let is_short = again.get(2) == Some(&2);
                proptest::prop_assert!(is_short || again == envelope);
                proptest::prop_assert_eq!(Event::decode(&again, &SEAT).unwrap(), event);
            }
        }
    }
}
