//! Writes a row as JSON.

use std::io::{self, Read, Seek, Write};

use crate::sqlite::{Row, Table, Value};

/// Columns that change while a row says the same: they are no part of the record.
const PASSING: [(&str, &str); 2] = [("conversations", "updated_at"), ("messages", "pinned")];

/// Writes the members of the object that a row is, each with a comma before it.
pub(super) fn members<R: Read + Seek>(
    line: &mut Vec<u8>,
    table: &Table,
    row: &mut Row<'_, R>,
) -> io::Result<()> {
    for (n, column) in table.columns.iter().enumerate() {
        if PASSING.contains(&(table.name.as_str(), column.as_str())) {
            continue;
        }
        match row.stored(n)? {
            None | Some(Value::Null) => {}
            Some(value) => member(line, column, value)?,
        }
    }
    Ok(())
}

fn member(line: &mut Vec<u8>, name: &str, value: Value) -> io::Result<()> {
    line.push(b',');
    string(line, name)?;
    line.push(b':');
    match value {
        Value::Null => line.extend_from_slice(b"null"),
        Value::Integer(number) => write!(line, "{number}")?,
        Value::Real(number) if number.is_finite() => serde_json::to_writer(line, &number)?,
        Value::Real(number) => string(line, &number.to_string())?,
        Value::Text(text) => string(line, &text)?,
        // Bytes have no form of their own in JSON.
        Value::Blob(bytes) => {
            line.extend_from_slice(b"{\"blob\":\"");
            for byte in bytes {
                write!(line, "{byte:02x}")?;
            }
            line.extend_from_slice(b"\"}");
        }
    }
    Ok(())
}

/// Writes a string, with no escapes but those that JSON asks for.
pub(super) fn string(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(line, text)?)
}

/// Writes a list of what `one` writes, as a member with a comma before it.
pub(super) fn list<T>(
    line: &mut Vec<u8>,
    name: &str,
    items: &[T],
    one: impl Fn(&mut Vec<u8>, &T) -> io::Result<()>,
) -> io::Result<()> {
    line.push(b',');
    string(line, name)?;
    line.extend_from_slice(b":[");
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            line.push(b',');
        }
        one(line, item)?;
    }
    line.push(b']');
    Ok(())
}
