//! Reads a source chunk by chunk.

use std::io::{Cursor, ErrorKind, Read};
use std::ops::ControlFlow;

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
