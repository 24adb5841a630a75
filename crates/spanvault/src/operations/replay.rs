//! The originals of a session, in order, byte for byte.

use spanvault_store::Whereabouts;
use spanvault_types::ContentHash;

use crate::error::Result;
use crate::ids::SpanId;
use crate::session::Session;

/// One span of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedSpan {
    /// The span.
    pub span: SpanId,
    /// The content hash of its original.
    pub hash: ContentHash,
    /// Its index in the source.
    pub index: u64,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// Everything was given, in order.
    Complete {
        /// How many spans.
        spans: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// Something of the session cannot be had: nothing was given.
    Insufficient {
        /// What, and where it is.
        missing: Vec<(SpanId, Option<ContentHash>, Whereabouts)>,
    },
}

impl Session<'_> {
    /// Gives every original of the session to `sink`, in order; or, where one cannot be had, nothing at all.
    ///
    /// Each original is read and hashed before the first one is given.
    ///
    /// # Errors
    /// What `sink` says; `Corrupt` where the log is damaged, or an original became unreadable on the way.
    pub fn replay(&self, sink: &mut dyn FnMut(ReplayedSpan) -> Result<()>) -> Result<Replay> {
        let vault = self.vault;
        let spans = vault.session_spans(self.at)?;
        // A record that nobody can read may have been a span of this session.
        let lost = vault.store.unread_records()?.split_off(&self.at);
        let mut missing: Vec<_> = lost.iter().map(|at| (SpanId(*at), None, Whereabouts::Corrupt)).collect();
        for at in spans.iter().filter(|at| !lost.contains(at)) {
            let original = vault.span_at(*at)?.original;
            if vault.bytes_at(original).is_err() {
                missing.push((SpanId(*at), vault.hash_at(original)?, vault.store.whereabouts(original)));
            }
        }
        if !missing.is_empty() {
            return Ok(Replay::Insufficient { missing });
        }
        let (mut count, mut total) = (0, 0);
        for at in spans {
            let span = vault.span_at(at)?;
            let bytes = vault.bytes_at(span.original)?;
            let hash = ContentHash::of(&bytes);
            count += 1;
            total += bytes.len() as u64;
            sink(ReplayedSpan { span: SpanId(at), hash, index: span.index, bytes })?;
        }
        Ok(Replay::Complete { spans: count, bytes: total })
    }
}
