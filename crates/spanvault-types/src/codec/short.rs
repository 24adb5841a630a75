//! Version 2 of the events that a log has most of: the same fields, as short as they can be said.
//!
//! Integers are varints of seven bits a byte, the lowest first. Positions are told by how far they lie before the frame
//! that tells them, times by how far they lie from another time of the same event, and what is usual is one bit. Every
//! value has one form only, so bytes that decode are the bytes that their event encodes to. docs/FORMAT.md has the layouts.

use super::Seat;
use crate::varint::{folded, put_varint, unfolded};
use crate::{
    ClockStamp, Commit, Commitment, Condemned, Counts, EvidentialClass, Expiry, OriginalRef, Position,
    Reclaimed, Role, SpanKind, SpanRecorded, StoreTime,
};

/// An event that has a version 2.
pub(super) trait Short: Sized {
    /// Appends the payload.
    fn put(&self, seat: &Seat<'_>, out: &mut Vec<u8>);

    /// Whether it is written so. What is not is too large for version 1 as well.
    fn is_written(&self) -> bool {
        true
    }

    /// Reads what [`Short::put`] appends; `None` where that is not what it is.
    fn take(fields: &mut Fields<'_>, seat: &Seat<'_>) -> Option<Self>;
}

/// Reads one field after the other.
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) const fn new(payload: &'a [u8]) -> Self {
        Self(payload)
    }

    /// How many bytes are not read yet.
    pub(super) const fn left(&self) -> usize {
        self.0.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self, len: u64) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    /// A number in its shortest form.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let placed = bits << shift;
            if placed >> shift != bits {
                return None;
            }
            value |= placed;
            if byte & 0x80 == 0 {
                return (byte != 0 || shift == 0).then_some(value);
            }
        }
        None
    }

    /// A number that is left out where it is `usual`, and so is never that where it is there.
    fn varint_unless(&mut self, is_usual: bool, usual: u64) -> Option<u64> {
        if is_usual { Some(usual) } else { self.varint().filter(|value| *value != usual) }
    }

    fn near(&mut self, other: u64) -> Option<u64> {
        Some(other.wrapping_add_signed(unfolded(self.varint()?)))
    }

    fn before(&mut self, at: Position) -> Option<Position> {
        Some(Position::new(at.get().wrapping_sub(self.varint()?)))
    }
}

/// How far `value` lies from `other`, whichever is larger.
fn put_near(out: &mut Vec<u8>, value: u64, other: u64) {
    put_varint(out, folded(value.wrapping_sub(other).cast_signed()));
}

/// How far `position` lies before the frame at `at`.
fn put_before(out: &mut Vec<u8>, position: Position, at: Position) {
    put_varint(out, at.get().wrapping_sub(position.get()));
}

/// The longest list: in memory it takes what a payload may take.
const LIST_MAX: usize = super::PAYLOAD_BYTES_MAX / size_of::<Position>();

/// Appends ascending positions as the distance of each from the one before.
fn put_list(out: &mut Vec<u8>, positions: &[Position]) {
    put_varint(out, positions.len() as u64);
    let mut last = 0;
    for position in positions {
        put_varint(out, position.get().wrapping_sub(last));
        last = position.get();
    }
}

fn take_list(fields: &mut Fields<'_>) -> Option<Vec<Position>> {
    // Each takes a byte at least, so a count is believed as far as there are bytes.
    let believed = LIST_MAX.min(fields.left());
    let count = usize::try_from(fields.varint()?).ok().filter(|count| *count <= believed)?;
    let mut positions = Vec::with_capacity(count);
    let mut last = 0_u64;
    for _ in 0..count {
        last = last.wrapping_add(fields.varint()?);
        positions.push(Position::new(last));
    }
    Some(positions)
}

const OWN_ORIGINAL: u8 = 1;
const INDEX_IS_ORDINAL: u8 = 1 << 1;
const FROM_SOURCE: u8 = 1 << 2;
const OF_RECORD: u8 = 1 << 3;
const TIMED: u8 = 1 << 4;
const IDENTIFIED: u8 = 1 << 5;
const SPAN_FLAGS: u8 = (1 << 6) - 1;

impl Short for SpanRecorded {
    fn put(&self, seat: &Seat<'_>, out: &mut Vec<u8>) {
        let flags = [
            (OWN_ORIGINAL, self.original == seat.at),
            (INDEX_IS_ORDINAL, self.index == self.ordinal),
            (FROM_SOURCE, self.source != Position::ZERO),
            (OF_RECORD, !self.record.is_empty()),
            (TIMED, self.timestamp_ms.is_some()),
            (IDENTIFIED, self.event_key.is_some()),
        ];
        let set = |flag: u8| flags.iter().any(|(bit, is_set)| *bit == flag && *is_set);
        out.push(flags.iter().filter(|(_bit, is_set)| *is_set).fold(0, |all, (bit, _)| all | bit));
        out.push(self.role as u8 | (self.class as u8) << 2 | (self.kind as u8) << 4);
        put_varint(out, self.session.get());
        put_varint(out, self.ordinal);
        if !set(INDEX_IS_ORDINAL) {
            put_varint(out, self.index);
        }
        if set(FROM_SOURCE) {
            put_varint(out, self.source.get());
        }
        if set(OF_RECORD) {
            put_varint(out, self.record.len() as u64);
            out.extend_from_slice(self.record.as_bytes());
        }
        if !set(OWN_ORIGINAL) {
            put_before(out, self.original, seat.at);
        }
        put_varint(out, self.bytes);
        put_varint(out, self.tokens);
        put_varint(out, self.recorded_at.as_ms());
        if let Some(timestamp_ms) = self.timestamp_ms {
            put_near(out, timestamp_ms.cast_unsigned(), self.recorded_at.as_ms());
        }
        out.extend(self.event_key.iter().flatten());
    }

    fn take(fields: &mut Fields<'_>, seat: &Seat<'_>) -> Option<Self> {
        let flags = fields.byte().filter(|flags| flags & !SPAN_FLAGS == 0)?;
        let set = |flag: u8| flags & flag != 0;
        let kinds = fields.byte()?;
        let (role, class, kind) = (role(kinds & 3)?, class(kinds >> 2 & 3)?, kind(kinds >> 4)?);
        let session = Position::new(fields.varint()?);
        let ordinal = fields.varint()?;
        let index = fields.varint_unless(set(INDEX_IS_ORDINAL), ordinal)?;
        let source = Position::new(fields.varint_unless(!set(FROM_SOURCE), 0)?);
        let record = if set(OF_RECORD) {
            let len = fields.varint().filter(|len| *len > 0)?;
            str::from_utf8(fields.bytes(len)?).ok()?.to_owned()
        } else {
            String::new()
        };
        let original = if set(OWN_ORIGINAL) {
            seat.at
        } else {
            fields.before(seat.at).filter(|original| *original != seat.at)?
        };
        let (bytes, tokens) = (fields.varint()?, fields.varint()?);
        let recorded_at = StoreTime::from_ms(fields.varint()?);
        let timestamp_ms =
            if set(TIMED) { Some(fields.near(recorded_at.as_ms())?.cast_signed()) } else { None };
        let event_key = if set(IDENTIFIED) { Some(fields.array()?) } else { None };
        Some(Self {
            session,
            ordinal,
            source,
            record,
            index,
            original,
            bytes,
            tokens,
            role,
            kind,
            class,
            timestamp_ms,
            recorded_at,
            event_key,
        })
    }
}

fn role(number: u8) -> Option<Role> {
    [Role::User, Role::Assistant, Role::Tool, Role::System].into_iter().find(|role| *role as u8 == number)
}

fn class(number: u8) -> Option<EvidentialClass> {
    [EvidentialClass::Narrative, EvidentialClass::Structured, EvidentialClass::SideEffecting]
        .into_iter()
        .find(|class| *class as u8 == number)
}

fn kind(number: u8) -> Option<SpanKind> {
    [
        SpanKind::Meta,
        SpanKind::Quarantined,
        SpanKind::TooLarge,
        SpanKind::Thinking,
        SpanKind::Message,
        SpanKind::CompactSummary,
        SpanKind::ToolResult,
        SpanKind::ToolCall,
    ]
    .into_iter()
    .find(|kind| *kind as u8 == number)
}

impl Short for Commit {
    fn put(&self, seat: &Seat<'_>, out: &mut Vec<u8>) {
        put_before(out, self.first, seat.at);
        put_before(out, self.durable, seat.at);
        out.extend_from_slice(&self.prev_chain);
        out.extend_from_slice(&self.chain);
        for count in [self.counts.originals, self.counts.summaries, self.counts.citations] {
            put_varint(out, count);
        }
        out.extend_from_slice(&self.clock.boot_id);
        put_varint(out, self.clock.boot_ms);
        put_varint(out, self.clock.store.as_ms());
        put_near(out, self.clock.wall_ms, self.clock.store.as_ms());
    }

    fn take(fields: &mut Fields<'_>, seat: &Seat<'_>) -> Option<Self> {
        let (first, durable) = (fields.before(seat.at)?, fields.before(seat.at)?);
        let (prev_chain, chain) = (fields.array()?, fields.array()?);
        let (originals, summaries, citations) = (fields.varint()?, fields.varint()?, fields.varint()?);
        let (boot_id, boot_ms, store) = (fields.array()?, fields.varint()?, fields.varint()?);
        let clock =
            ClockStamp { boot_id, boot_ms, wall_ms: fields.near(store)?, store: StoreTime::from_ms(store) };
        let counts = Counts { originals, summaries, citations };
        Some(Self { first, durable, prev_chain, chain, counts, clock })
    }
}

impl Short for Condemned {
    fn is_written(&self) -> bool {
        self.originals.len() <= LIST_MAX
    }

    fn put(&self, _seat: &Seat<'_>, out: &mut Vec<u8>) {
        put_varint(out, self.at.as_ms());
        put_list(out, &self.originals);
    }

    fn take(fields: &mut Fields<'_>, _seat: &Seat<'_>) -> Option<Self> {
        let at = StoreTime::from_ms(fields.varint()?);
        Some(Self { originals: take_list(fields)?, at })
    }
}

const NAMED_OTHERWISE: u8 = 1 << 2;
const EXPIRES_NEVER: u8 = 1 << 3;
const EXPIRES_FOREVER: u8 = 2 << 3;
const TOMBSTONE_FLAGS: u8 = (1 << 5) - 1;

impl Short for Reclaimed {
    fn put(&self, seat: &Seat<'_>, out: &mut Vec<u8>) {
        let commitment = self.original.commitment;
        let is_named_here = (seat.commitment)() == Some(commitment);
        let named = if is_named_here { 0 } else { NAMED_OTHERWISE };
        let expires = match self.expired_at {
            Expiry::At(_) => 0,
            Expiry::Never => EXPIRES_NEVER,
            Expiry::Forever => EXPIRES_FOREVER,
        };
        out.push(self.class as u8 | named | expires);
        put_before(out, self.original.at, seat.at);
        if !is_named_here {
            out.extend_from_slice(commitment.as_bytes());
        }
        put_varint(out, self.bytes);
        put_varint(out, self.at.as_ms());
        put_before(out, self.revision, seat.at);
        if let Expiry::At(expired_at) = self.expired_at {
            put_near(out, expired_at.as_ms(), self.at.as_ms());
        }
        put_near(out, self.condemned_at.as_ms(), self.at.as_ms());
    }

    fn take(fields: &mut Fields<'_>, seat: &Seat<'_>) -> Option<Self> {
        let flags = fields.byte().filter(|flags| flags & !TOMBSTONE_FLAGS == 0)?;
        let class = class(flags & 3)?;
        let original = fields.before(seat.at)?;
        let named_here = (seat.commitment)();
        let commitment = if flags & NAMED_OTHERWISE == 0 {
            named_here?
        } else {
            fields.array().map(Commitment::from_bytes).filter(|commitment| Some(*commitment) != named_here)?
        };
        let bytes = fields.varint()?;
        let at = fields.varint()?;
        let revision = fields.before(seat.at)?;
        let expired_at = match flags & (EXPIRES_NEVER | EXPIRES_FOREVER) {
            0 => Expiry::At(StoreTime::from_ms(fields.near(at)?)),
            EXPIRES_NEVER => Expiry::Never,
            EXPIRES_FOREVER => Expiry::Forever,
            _ => return None,
        };
        let condemned_at = StoreTime::from_ms(fields.near(at)?);
        let original = OriginalRef { at: original, commitment };
        Some(Self { original, bytes, class, at: StoreTime::from_ms(at), revision, expired_at, condemned_at })
    }
}

#[cfg(test)]
mod tests;
