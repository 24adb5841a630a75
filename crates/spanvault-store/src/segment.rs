//! Segments: the numbered files of the log.
//!
//! The last one is open and its keys are in memory; the others are sealed, never appended to again, and found through
//! their sidecars.

mod head;
mod keys;
mod map;
mod range;
mod replay;
mod scan;

pub(crate) use head::{SEGMENT_HEAD_BYTES, SegmentHead};
pub(crate) use keys::KeySet;
pub(crate) use map::{Entry, KEY_BYTES_MAX, SegmentMap, ShortKey, Slot, UNKNOWN};
pub(crate) use range::{KeyRange, first_position};
pub(crate) use replay::{COMMIT_KIND, Cursor, Replay, Replayed, add as add_counts, tally};
pub(crate) use scan::{Scanned, Scanner, Step, hash_at};
