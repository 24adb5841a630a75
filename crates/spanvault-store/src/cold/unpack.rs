//! Unpacks what zstd packed.
//!
//! A context of zstd takes longer to make than a short original to unpack, so each thread keeps one.

use std::cell::RefCell;

use zstd::dict::DecoderDictionary;
use zstd::zstd_safe::{DCtx, get_frame_content_size};

use crate::sidecar::Unusable;

thread_local! {
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// The `raw` bytes that `stored` was made of; memory is taken only where the frame itself says that it has so many.
pub(super) fn unpack(
    stored: &[u8],
    raw: u64,
    dictionary: Option<&DecoderDictionary<'static>>,
) -> Result<Vec<u8>, Unusable> {
    let says_so = matches!(get_frame_content_size(stored), Ok(Some(len)) if len == raw);
    let len = usize::try_from(raw).ok().filter(|_| says_so).ok_or(Unusable::Damaged)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_too_much| Unusable::Damaged)?;
    let unpacked = CONTEXT.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            None => context.insert(DCtx::try_create().ok_or(Unusable::Damaged)?),
        };
        let result = match dictionary {
            Some(dictionary) => context.decompress_using_ddict(&mut bytes, stored, dictionary.as_ddict()),
            None => context.decompress(&mut bytes, stored),
        };
        result.map_err(|_code| Unusable::Damaged)
    })?;
    if unpacked == len { Ok(bytes) } else { Err(Unusable::Damaged) }
}
