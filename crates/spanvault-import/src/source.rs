//! Reads a source chunk by chunk.

use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;

use crate::ImportError;

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
