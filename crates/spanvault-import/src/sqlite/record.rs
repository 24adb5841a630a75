//! The values of a row.

use std::io::{self, Read, Seek};
use std::ops::Range;

use super::page::{Pages, TextEncoding, number, varint};
use super::{Table, damaged};

/// A row of more bytes is not read: it could not be held.
pub(super) const ROW_BYTES_MAX: usize = 64 << 20;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// None.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any other number; one that is whole may be stored as such.
    Real(f64),
    /// Text; what is none in its encoding is replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Value {
    /// The number, if this is a whole one.
    pub(crate) const fn integer(&self) -> Option<i64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    /// The text, if this is one.
    pub(crate) fn text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// A row, of which the values are read when they are asked for.
pub(crate) struct Row<'p, R> {
    pages: &'p mut Pages<R>,
    table: &'p Table,
    number: i64,
    payload: Payload,
    /// Where the values go on behind the last one that was asked for.
    next: Option<Next>,
}

/// The value of a column: where its kind stands in the head of the row, and where its bytes begin.
#[derive(Debug, Clone, Copy)]
struct Next {
    column: usize,
    kind_at: usize,
    at: usize,
    head_end: usize,
}

/// The bytes of a row.
pub(super) struct Payload {
    /// Those that were read: the first ones, or all.
    pub(super) bytes: Vec<u8>,
    /// How many there are.
    pub(super) len: usize,
    /// The page on which they go on.
    pub(super) next: u32,
}

impl<'p, R: Read + Seek> Row<'p, R> {
    pub(super) const fn new(
        pages: &'p mut Pages<R>,
        table: &'p Table,
        number: i64,
        payload: Payload,
    ) -> Self {
        Self { pages, table, number, payload, next: None }
    }

    /// The value of a column; `Null` where the row was written before the table had it, or there is no such column.
    pub(crate) fn get(&mut self, column: Option<usize>) -> io::Result<Value> {
        let Some(column) = column else { return Ok(Value::Null) };
        Ok(self.stored(column)?.unwrap_or(Value::Null))
    }

    /// The value that the row stores for a column; `None` where it was written before the table had it.
    pub(crate) fn stored(&mut self, column: usize) -> io::Result<Option<Value>> {
        if self.table.row_id == Some(column) {
            return Ok(Some(Value::Integer(self.number)));
        }
        // Whoever asks for one column after the other walks over the head once.
        let mut next = if let Some(next) = self.next.filter(|next| next.column <= column) {
            next
        } else {
            let (head_bytes, kind_at) = self.varint(0)?;
            let head_end = to_len(head_bytes)?;
            Next { column: 0, kind_at, at: head_end, head_end }
        };
        while next.kind_at < next.head_end {
            let (kind, kind_end) = self.varint(next.kind_at)?;
            let (at, len) = (next.at, value_len(kind)?);
            let end = at.checked_add(len).ok_or_else(|| damaged("a row is too long"))?;
            let is_wanted = next.column == column;
            next = Next { column: next.column + 1, kind_at: kind_end, at: end, ..next };
            if is_wanted {
                self.next = Some(next);
                return self.value(kind, at..end).map(Some);
            }
        }
        Ok(None)
    }

    fn varint(&mut self, at: usize) -> io::Result<(u64, usize)> {
        // Nine bytes, or all that there are.
        self.read_to(at.saturating_add(9).min(self.payload.len))?;
        varint(&self.payload.bytes, at)
    }

    fn value(&mut self, kind: u64, range: Range<usize>) -> io::Result<Value> {
        self.read_to(range.end)?;
        let bytes = self.payload.bytes.get(range).ok_or_else(|| damaged("a row ends too early"))?;
        Ok(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(integer(bytes)),
            7 => Value::Real(f64::from_bits(integer(bytes).cast_unsigned())),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            kind if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
            _text => Value::Text(decoded(bytes, self.pages.encoding)),
        })
    }

    /// Reads on until `end` bytes are there.
    fn read_to(&mut self, end: usize) -> io::Result<()> {
        if end > self.payload.len {
            return Err(damaged("a row ends too early"));
        }
        let of_each = self.pages.usable.saturating_sub(4);
        while self.payload.bytes.len() < end {
            let page = self.pages.page(self.payload.next)?;
            self.payload.next = number(&page, 0, 4)?;
            let missing = self.payload.len - self.payload.bytes.len();
            let here = page.get(4..4 + of_each.min(missing)).unwrap_or_default();
            if here.is_empty() {
                return Err(damaged("a row ends too early"));
            }
            self.payload.bytes.extend_from_slice(here);
        }
        Ok(())
    }
}

/// How many bytes a value of this kind has.
fn value_len(kind: u64) -> io::Result<usize> {
    match kind {
        0 | 8 | 9 => Ok(0),
        1..=4 => to_len(kind),
        5 => Ok(6),
        6 | 7 => Ok(8),
        10 | 11 => Err(damaged("a value is of no possible kind")),
        kind => to_len((kind - 12) / 2),
    }
}

fn to_len(len: u64) -> io::Result<usize> {
    usize::try_from(len).ok().filter(|len| *len <= ROW_BYTES_MAX).ok_or_else(|| damaged("a row is too long"))
}

/// The signed number that some bytes are.
fn integer(bytes: &[u8]) -> i64 {
    let sign = bytes.first().is_some_and(|first| first & 0x80 != 0);
    bytes.iter().fold(if sign { -1 } else { 0 }, |number, byte| number << 8 | i64::from(*byte))
}

fn decoded(bytes: &[u8], encoding: TextEncoding) -> String {
    let unit: fn([u8; 2]) -> u16 = match encoding {
        TextEncoding::Utf8 => return String::from_utf8_lossy(bytes).into_owned(),
        TextEncoding::Utf16Le => u16::from_le_bytes,
        TextEncoding::Utf16Be => u16::from_be_bytes,
    };
    let (units, _half) = bytes.as_chunks::<2>();
    char::decode_utf16(units.iter().copied().map(unit))
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}
