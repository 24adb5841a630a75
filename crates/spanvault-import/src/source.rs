//! Reads a source chunk by chunk.

use std::io::{Cursor, ErrorKind, Read};
use std::ops::ControlFlow;

use memchr::memchr;

use crate::ImportError;
use crate::importer::BOM;
use crate::json::is_space;

const CHUNK_BYTES: usize = 128 << 10;

/// Gives all bytes of `source` to `take`, until that breaks or fails; whether it broke.
pub(crate) fn read_chunks(
    source: &mut dyn Read,
    mut take: impl FnMut(&[u8]) -> Result<ControlFlow<()>, ImportError>,
) -> Result<ControlFlow<()>, ImportError> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut empty = true;
    loop {
        let len = match source.read(&mut chunk) {
            Ok(0) if empty => return Err(ImportError::EmptySource),
            Ok(0) => return Ok(ControlFlow::Continue(())),
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        empty = false;
        if take(chunk.get(..len).unwrap_or_default())?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
}

/// Moves the start of `chunk` into `held`, up to the end of the line or until `held` has `bytes_max` bytes, whichever is
/// first: longer lines come in parts, cut at the same bytes however the source's bytes arrive.
///
/// Says whether that ends the line; `None` where the chunk is used up before either.
pub(crate) fn take_line(held: &mut Vec<u8>, chunk: &mut &[u8], bytes_max: usize) -> Option<bool> {
    while !chunk.is_empty() {
        let wanted = memchr(b'\n', chunk).map_or(chunk.len(), |at| at + 1);
        let room = bytes_max.saturating_sub(held.len()).max(1);
        let (now, later) = chunk.split_at(wanted.min(room));
        held.extend_from_slice(now);
        *chunk = later;
        let ends = now.last() == Some(&b'\n');
        if ends || held.len() >= bytes_max {
            return Some(ends);
        }
    }
    None
}

/// As many bytes show whether a document is written over several lines.
const OPENING_BYTES: usize = 64;

/// Whether a source is an object that is written over several lines; also gives the source again, from its start.
///
/// Such an object begins with a bracket that is alone on its line.
pub(crate) fn opens_a_document(source: &mut dyn Read) -> Result<(bool, impl Read), ImportError> {
    let mut opening = Vec::with_capacity(OPENING_BYTES);
    let mut bounded = source.take(OPENING_BYTES as u64);
    bounded.read_to_end(&mut opening)?;
    let text = opening.strip_prefix(BOM).unwrap_or(&opening);
    let mut seen = text.iter().skip_while(|byte| is_space(**byte));
    let is_document =
        seen.next() == Some(&b'{') && seen.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) == Some(&b'\n');
    Ok((is_document, Cursor::new(opening).chain(bounded.into_inner())))
}
