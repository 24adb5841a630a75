//! What might change an answer and cannot be seen.

use std::collections::VecDeque;

use spanvault_types::{ByteRange, Position};

use super::answer::{LISTED_MAX, Missing, MissingReason, OpaqueCall, range_of, span_id};
use super::originals::{AskSpan, UnseenReason};

/// Something that may be a match, or more than one, or none.
#[derive(Debug, Clone)]
pub(super) enum Doubt {
    /// A span that cannot be seen.
    Unseen { span: AskSpan, reason: MissingReason, tombstone: Option<Position> },
    /// A call whose effect cannot be seen through.
    Opaque { span: AskSpan, range: ByteRange, tool: String },
}

impl Doubt {
    pub(super) fn unseen(span: &AskSpan, reason: UnseenReason, tombstone: Option<Position>) -> Self {
        Self::Unseen { span: span.clone(), reason: reason.into(), tombstone }
    }

    pub(super) fn of(span: &AskSpan, reason: MissingReason) -> Self {
        Self::Unseen { span: span.clone(), reason, tombstone: None }
    }
}

/// Doubts in source order, bounded: of too many, the first stay and the others are only counted.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    kept: VecDeque<(u64, Doubt)>,
    count: u64,
    forgotten: u64,
}

impl Doubts {
    pub(super) fn push(&mut self, doubt: Doubt) {
        if self.kept.len() < LISTED_MAX {
            self.kept.push_back((self.count, doubt));
        }
        self.count += 1;
    }

    /// Counts some that are not at hand to be listed.
    pub(super) const fn count_more(&mut self, more: u64) {
        self.count += more;
    }

    /// How many there ever were: the place in time at which something else happened.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Drops those that came before the one numbered `count`: they cannot matter any more.
    pub(super) fn forget_before(&mut self, count: u64) {
        while self.kept.front().is_some_and(|(number, _doubt)| *number < count) {
            self.kept.pop_front();
        }
        self.forgotten = self.forgotten.max(count);
    }

    /// Whether there is none that matters.
    pub(super) const fn is_empty(&self) -> bool {
        self.count == self.forgotten
    }

    pub(super) fn extend(&mut self, doubts: impl IntoIterator<Item = Doubt>) {
        doubts.into_iter().for_each(|doubt| self.push(doubt));
    }

    /// How many matter, and those of them that were kept.
    pub(super) fn into_parts(self) -> (u64, impl Iterator<Item = Doubt>) {
        (self.count - self.forgotten, self.kept.into_iter().map(|(_number, doubt)| doubt))
    }
}

/// Doubts as an answer lists them, each once.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) missing: Vec<Missing>,
    pub(super) opaque: Vec<OpaqueCall>,
    pub(super) left_off: u64,
}

impl Listed {
    pub(super) fn add(&mut self, doubts: Doubts) {
        let (count, kept) = doubts.into_parts();
        let mut listed = 0;
        for doubt in kept {
            listed += 1;
            match doubt {
                Doubt::Unseen { span, reason, tombstone } => {
                    self.missing.push(missing(&span, reason, tombstone));
                }
                Doubt::Opaque { span, range, tool } => self.opaque.push(OpaqueCall {
                    span: span_id(span.span),
                    hash: span.hash.to_string(),
                    source: span.source.to_string(),
                    record: span.record.to_string(),
                    index: span.index,
                    range: range_of(range),
                    tool,
                }),
            }
        }
        self.left_off += count - listed;
        let mut known = std::collections::HashSet::new();
        self.missing.retain(|missing| known.insert((missing.span.clone(), missing.reason)));
        let mut known = std::collections::HashSet::new();
        self.opaque.retain(|call| known.insert((call.span.clone(), call.range)));
    }
}

pub(super) fn missing(span: &AskSpan, reason: MissingReason, tombstone: Option<Position>) -> Missing {
    Missing {
        span: span_id(span.span),
        hash: span.hash.to_string(),
        reason,
        tombstone: tombstone.map(Position::get),
        source: span.source.to_string(),
        record: span.record.to_string(),
        index: span.index,
    }
}
