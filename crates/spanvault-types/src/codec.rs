//! The one place where values get their bytes.
//!
//! An envelope is `[schema u16 LE][version u16 LE][payload]`; the payload is bincode 2 with the bytes of
//! bincode 1 (`config::legacy()`: little-endian, fixed-width integers), a size limit, and no byte left over.
//! Integrity is the frame's business: an envelope has no checksum of its own. A schema that changes gets a new
//! version and a conversion from the old one; bytes of old versions stay readable for ever.

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use bincode::{Decode, Encode};

use crate::Event;

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

/// Pairs each event with its schema number. Numbers are never reused.
macro_rules! event_schemas {
    ($($number:literal => $variant:ident $(($wrap:ident))?),+ $(,)?) => {
        impl Event {
            /// The schema number of this event, which is also the kind of its frame.
            pub const fn schema(&self) -> u16 {
                match self {
                    Self::GapStored => GAP_STORED,
                    $(Self::$variant(_) => $number,)+
                }
            }

            /// Gives this event its envelope.
            ///
            /// # Errors
            /// [`CodecError::Encode`] where it is larger than [`PAYLOAD_BYTES_MAX`].
            pub fn encode(&self) -> Result<Vec<u8>, CodecError> {
                match self {
                    Self::GapStored => encode(GAP_STORED, 1, &()),
                    $(Self::$variant(event) => encode($number, 1, event),)+
                }
            }

            /// Reads the event of a frame.
            ///
            /// # Errors
            /// Any [`CodecError`] but `Encode`; a newer version is an error, never a best effort.
            pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
                let (schema, version, payload) = open(bytes)?;
                match (schema, version) {
                    (GAP_STORED, 1) => decode_payload::<()>(schema, payload).map(|()| Self::GapStored),
                    $(($number, 1) => decode_payload(schema, payload).map(Self::$variant),)+
                    (GAP_STORED $(| $number)+, _) => Err(CodecError::NewerVersion { schema, version }),
                    _ => Err(CodecError::UnknownSchema { schema }),
                }
            }
        }
    };
}

const GAP_STORED: u16 = 4;

event_schemas! {
    1 => Commit,
    2 => SessionOpened,
    3 => SpanRecorded,
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
    16 => Condemned,
    17 => Rescued,
    18 => Reclaimed,
    19 => Demoted,
    20 => ClockConfirmed,
    21 => ClockSuspected,
    22 => Checkpointed,
    23 => SpanSuperseded,
    24 => SummaryImported,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexClosed, Position, SessionOpened};

    #[test]
    fn an_event_reads_back_from_its_envelope() {
        let event =
            Event::SessionOpened(SessionOpened { name: "run-42".into(), format: "claude_code".into() });
        assert_eq!(Event::decode(&event.encode().unwrap()).unwrap(), event);
    }

    #[test]
    fn i71_trailing_bytes_are_refused() {
        let mut bytes = Event::GapStored.encode().unwrap();
        bytes.push(0);
        assert!(matches!(Event::decode(&bytes), Err(CodecError::TrailingBytes { extra: 1, .. })));
    }

    #[test]
    fn i72_a_newer_version_is_an_error_and_not_a_best_effort() {
        let mut bytes = Event::GapStored.encode().unwrap();
        bytes[2] = 2;
        assert!(matches!(Event::decode(&bytes), Err(CodecError::NewerVersion { version: 2, .. })));
        bytes[0] = 250;
        assert!(matches!(Event::decode(&bytes), Err(CodecError::UnknownSchema { schema: 250 })));
    }

    #[test]
    fn i71_a_length_beyond_the_limit_is_refused_before_it_is_allocated() {
        let mut bytes =
            Event::SessionOpened(SessionOpened { name: "x".into(), format: String::new() }).encode().unwrap();
        bytes[4..12].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(Event::decode(&bytes), Err(CodecError::Payload { .. })));
    }

    #[test]
    fn the_bytes_of_version_1_stay_as_they_are() {
        let event =
            Event::IndexClosed(IndexClosed { applied: Position::new(258), counts: crate::Counts::default() });
        let mut golden = vec![9, 0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0];
        golden.extend([0; 24]);
        assert_eq!(event.encode().unwrap(), golden);
    }

    proptest::proptest! {
        #[test]
        fn i71_no_bytes_make_the_decoder_panic(bytes: Vec<u8>, schema in 0_u16..30) {
            let mut envelope = schema.to_le_bytes().to_vec();
            envelope.extend([1, 0]);
            envelope.extend(bytes);
            if let Ok(event) = Event::decode(&envelope) {
                proptest::prop_assert_eq!(event.encode().unwrap(), envelope);
            }
        }
    }
}
