//! The words of Spanvault as types: hashes, positions, time, classes, spans, events of the log.
//!
//! No I/O, no clock, no randomness. Everything that is written to disk gets its bytes in [`codec`] and
//! nowhere else, and every index, sorted file or map that finds something again uses the keys of [`key`].
//! Start with [`Event`]: the log is a list of them, and the log is the truth.

mod class;
pub mod codec;
mod event;
mod hash;
pub mod key;
mod part;
mod piece_hash;
pub mod planted;
mod position;
mod reason;
mod set_sum;
mod span;
mod time;
pub mod varint;

pub use class::EvidentialClass;
pub use event::*;
pub use hash::{Commitment, ContentHash, ParseHashError, Salt};
pub use part::{ByteRange, Call, Encoding, Outcome, Part, PartBody, SpanContent};
pub use piece_hash::{PIECE_BYTES, PieceHash};
pub use position::Position;
pub use reason::{Reason, ReasonKind, WayOut};
pub use set_sum::SetSum;
pub use span::{Role, SpanKind};
pub use time::{Expiry, Horizon, StoreTime, TimeError, Ttl, TtlRule};
