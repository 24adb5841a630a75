//! From the bytes of one record to what it says, for formats whose records are JSON objects.

use spanvault_types::{ByteRange, SpanContent};

use crate::Unparsed;
use crate::json::Raw;

/// What one record says, and the session that it names.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) content: SpanContent,
    /// `None`: the session of the record before.
    pub(crate) session: Option<String>,
}

/// How a format reads one object. The answer depends on nothing but the object.
pub(crate) type ReadObject = fn(Raw<'_>) -> Reading;

/// Reads a record that is one JSON object, or one member of an object, which is read as an object of its own; or, where
/// `lists` is set, a list.
pub(crate) fn read_record(bytes: &[u8], read: ReadObject, lists: bool) -> Result<Reading, Unparsed> {
    let text = utf8(bytes)?;
    match Raw::whole(text) {
        Ok(raw) if raw.is_object() || (lists && raw.is_array()) => Ok(read(raw)),
        Ok(_no_object) => Err(Unparsed::NotAnObject),
        Err(fault) if text.starts_with('"') => read_member(text, read).ok_or_else(|| fault.into()),
        Err(fault) => Err(fault.into()),
    }
}

/// Reads a name with its value.
fn read_member(member: &str, read: ReadObject) -> Option<Reading> {
    let object = format!("{{{member}}}");
    let mut reading = read(Raw::whole(&object).ok()?);
    for part in &mut reading.content.parts {
        // The bracket that was put before it.
        let ByteRange { start, end } = &mut part.range;
        *start = start.saturating_sub(1);
        *end = end.saturating_sub(1).min(member.len() as u64);
    }
    Some(reading)
}

/// Reads what such a record says.
pub(crate) fn read_content(bytes: &[u8], read: ReadObject, lists: bool) -> Result<SpanContent, Unparsed> {
    read_record(bytes, read, lists).map(|reading| reading.content)
}

/// The text that `bytes` are; bytes that end inside a character are cut off.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Unparsed> {
    std::str::from_utf8(bytes).map_err(|error| match error.error_len() {
        None => Unparsed::Truncated,
        Some(_) => Unparsed::NotUtf8 { at: error.valid_up_to() as u64 },
    })
}
