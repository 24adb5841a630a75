//! The keys by which things in the log are found again.
//!
//! One pure function, [`keys_of`], says under which keys an event is found. The map of the open segment, the
//! sidecars of sealed segments and the sled index all hold the same pairs of key and position, so any of them can be
//! rebuilt from the log, and any of them can be checked against another. Integers are big-endian, so keys sort by
//! position. A key is at most 41 bytes.

use crate::{ContentHash, Event, Position};

/// A key: one table byte, then the fields of that table.
pub type Key = Vec<u8>;

/// The tables. Numbers are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Content hash -> the frame that first carried the bytes (several after a reclaim and a new recording).
    Original = 1,
    /// BLAKE3 of a session's name -> session.
    SessionName = 2,
    /// Every session.
    Session = 3,
    /// Session, ordinal -> span.
    Span = 4,
    /// Session, event key -> span.
    EventKey = 5,
    /// Original -> further spans with the same bytes (the first one is the original's own frame).
    Occurrence = 6,
    /// BLAKE3 of a source's path -> source.
    SourcePath = 7,
    /// Every source.
    Source = 8,
    /// Source -> pieces of its recipe.
    SourcePiece = 9,
    /// Session -> summaries.
    Summary = 10,
    /// Original -> summaries that cite it.
    CitedBy = 11,
    /// Summary -> summaries that cover it.
    CoveredBy = 12,
    /// Span or original -> refusals.
    Refusal = 13,
    /// Every verdict: summaries (permits) and refusals.
    Verdict = 14,
    /// Every rule of retention and policy.
    Rule = 15,
    /// Every demand.
    Demand = 16,
    /// Demand -> its withdrawal.
    DemandEnd = 17,
    /// Every hold.
    Hold = 18,
    /// Hold -> its release.
    HoldEnd = 19,
    /// Original -> records that gave it a lease.
    Lease = 20,
    /// Original -> condemned, rescued and reclaimed, in the order in which they happened.
    Fate = 21,
    /// Original -> demotions.
    Cold = 22,
    /// Every clock record.
    Clock = 23,
    /// Session -> checkpoints.
    Checkpoint = 24,
    /// Span -> the record that superseded it.
    Superseded = 25,
    /// Cold pack -> the demotion that made it.
    Pack = 26,
    /// Session -> summaries that its own runtime wrote.
    Imported = 27,
    /// Span -> the record that says which spans its text replaced.
    ImportedFrom = 28,
    /// First and last position of frames that could not be read when their segment was scanned, and which part of them
    /// could not -> the first. No event has such a key: it stands in a sidecar, for what is not under any other.
    Unread = 29,
}

/// A key of `table` made of positions; also the prefix of all keys that start with them.
pub fn key(table: Table, fields: &[Position]) -> Key {
    let mut bytes = Vec::with_capacity(1 + 8 * fields.len());
    bytes.push(table as u8);
    for field in fields {
        bytes.extend_from_slice(&field.get().to_be_bytes());
    }
    bytes
}

/// The key of an original's content hash.
pub fn original(hash: &ContentHash) -> Key {
    original_prefix(hash.as_bytes())
}

/// The prefix of the keys of all originals whose hash starts with `digits`.
pub fn original_prefix(digits: &[u8]) -> Key {
    hashed(Table::Original, digits)
}

/// The key of a session's name.
pub fn session_name(name: &str) -> Key {
    hashed(Table::SessionName, &blake3::hash(name.as_bytes()).as_bytes()[..16])
}

/// The key of a source's path.
pub fn source_path(path: &str) -> Key {
    hashed(Table::SourcePath, &blake3::hash(path.as_bytes()).as_bytes()[..16])
}

/// The key of an event key in a session.
pub fn event_key(session: Position, event_key: &[u8; 16]) -> Key {
    let mut bytes = key(Table::EventKey, &[session]);
    bytes.extend_from_slice(event_key);
    bytes
}

/// A record's own identity, as [`crate::SpanRecorded::event_key`] keeps it.
pub fn event_key_of(identity: &str) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(identity.as_bytes()).as_bytes()[..16]);
    short
}

fn hashed(table: Table, digest: &[u8]) -> Key {
    let mut bytes = Vec::with_capacity(1 + digest.len());
    bytes.push(table as u8);
    bytes.extend_from_slice(digest);
    bytes
}

/// How much of the key of an original the index beside the log has: with a position, as much as sled keeps without an
/// allocation. What it leads to is verified, and two originals that share as much are two entries.
const ORIGINAL_INDEXED_BYTES: usize = 14;

/// What the index beside the log has of a key; `None` where that is left to the map of the open segment and the sidecars.
///
/// Left out is what every span may have and nobody looks up there: its place in its session, the identity of its record,
/// and the leases on its original.
pub fn indexed(key: &[u8]) -> Option<&[u8]> {
    let table = *key.first()?;
    if [Table::Span, Table::EventKey, Table::Lease].iter().any(|left_out| table == *left_out as u8) {
        None
    } else if table == Table::Original as u8 {
        Some(key.get(..ORIGINAL_INDEXED_BYTES).unwrap_or(key))
    } else {
        Some(key)
    }
}

/// The position-valued field number `n` (0-based) of a key.
pub fn field(key: &[u8], n: usize) -> Option<Position> {
    let bytes = key.get(1 + 8 * n..9 + 8 * n)?;
    bytes.try_into().ok().map(|be| Position::new(u64::from_be_bytes(be)))
}

/// All keys under which the event at `at` is found. `body` is the content hash of the frame's body, if it
/// carries one.
pub fn keys_of(event: &Event, at: Position, body: Option<&ContentHash>) -> Vec<Key> {
    let mut keys = Vec::with_capacity(3);
    if let Some(hash) = body {
        keys.push(original(hash));
    }
    match event {
        Event::Commit(_) | Event::GapStored | Event::IndexClosed(_) => {}
        Event::SessionOpened(opened) => {
            keys.push(session_name(&opened.name));
            keys.push(key(Table::Session, &[at]));
        }
        Event::SpanRecorded(span) => {
            keys.push(key(Table::Span, &[span.session, Position::new(span.ordinal)]));
            if let Some(identity) = &span.event_key {
                keys.push(event_key(span.session, identity));
            }
            if span.original != at {
                keys.push(key(Table::Occurrence, &[span.original, at]));
            }
        }
        Event::SourceOpened(opened) => {
            keys.push(source_path(&opened.path));
            keys.push(key(Table::Source, &[at]));
        }
        Event::SourceExtended(piece) => keys.push(key(Table::SourcePiece, &[piece.source, at])),
        Event::Summarised(summary) => {
            keys.push(key(Table::Summary, &[summary.session, at]));
            keys.push(key(Table::Verdict, &[at]));
            keys.extend(summary.citations.iter().map(|c| key(Table::CitedBy, &[c.at, at])));
            keys.extend(summary.summaries.iter().map(|child| key(Table::CoveredBy, &[*child, at])));
            keys.extend(summary.permit.leases.iter().map(|lease| key(Table::Lease, &[lease.original, at])));
        }
        Event::Refused(refused) => {
            keys.push(key(Table::Verdict, &[at]));
            keys.extend(refused.items.iter().map(|item| key(Table::Refusal, &[item.subject, at])));
        }
        Event::RetentionSet(_) | Event::AssumptionSet(_) => keys.push(key(Table::Rule, &[at])),
        Event::DemandDeclared(_) => keys.push(key(Table::Demand, &[at])),
        Event::DemandWithdrawn(end) => keys.push(key(Table::DemandEnd, &[end.demand, at])),
        Event::HoldPlaced(_) => keys.push(key(Table::Hold, &[at])),
        Event::HoldReleased(end) => keys.push(key(Table::HoldEnd, &[end.hold, at])),
        Event::Condemned(condemned) => {
            keys.extend(condemned.originals.iter().map(|original| key(Table::Fate, &[*original, at])));
        }
        Event::Rescued(rescued) => {
            keys.extend(rescued.originals.iter().map(|original| key(Table::Fate, &[*original, at])));
        }
        Event::Reclaimed(tombstone) => keys.push(key(Table::Fate, &[tombstone.original.at, at])),
        Event::Demoted(demoted) => {
            keys.push(key(Table::Pack, &[Position::new(demoted.pack), at]));
            keys.extend(demoted.originals.iter().map(|original| key(Table::Cold, &[*original, at])));
        }
        Event::ClockConfirmed(_) | Event::ClockSuspected(_) => keys.push(key(Table::Clock, &[at])),
        Event::Checkpointed(checkpoint) => keys.push(key(Table::Checkpoint, &[checkpoint.session, at])),
        Event::SummaryImported(summary) => {
            keys.push(key(Table::Imported, &[summary.session, at]));
            keys.push(key(Table::ImportedFrom, &[summary.span, at]));
            keys.extend(summary.citations.iter().map(|c| key(Table::CitedBy, &[c.at, at])));
            keys.extend(summary.summaries.iter().map(|child| key(Table::CoveredBy, &[*child, at])));
        }
        Event::SpanSuperseded(superseded) => keys.push(key(Table::Superseded, &[superseded.span, at])),
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpanSuperseded;

    #[test]
    fn keys_of_one_table_sort_by_position() {
        let at = |n| key(Table::Span, &[Position::new(1), Position::new(n)]);
        assert!(at(2) < at(10) && at(255) < at(256));
        assert_eq!(field(&at(7), 1), Some(Position::new(7)));
        assert_eq!(field(&at(7), 2), None);
    }

    #[test]
    fn the_index_has_what_leads_to_an_original_and_not_what_every_span_has() {
        let hash = original(&ContentHash::of(b"x"));
        assert_eq!(indexed(&hash), hash.get(..ORIGINAL_INDEXED_BYTES));
        assert_eq!(indexed(&event_key(Position::new(1), &[7; 16])), None);
        assert_eq!(indexed(&key(Table::Span, &[Position::new(1), Position::new(2)])), None);
        let cited = key(Table::CitedBy, &[Position::new(1), Position::new(2)]);
        assert_eq!(indexed(&cited), Some(cited.as_slice()));
    }

    #[test]
    fn an_event_is_found_under_its_body_and_its_subject() {
        let hash = ContentHash::of(b"x");
        let event = Event::SpanSuperseded(SpanSuperseded { span: Position::new(3), by: Position::new(9) });
        let keys = keys_of(&event, Position::new(10), Some(&hash));
        assert_eq!(
            keys,
            vec![original(&hash), key(Table::Superseded, &[Position::new(3), Position::new(10)])]
        );
    }
}
