//! Keeps count of what is in scope and what was searched.

use std::collections::{BTreeSet, HashSet};

use spanvault_types::{ContentHash, Position, SetSum};

use super::answer::Coverage;
use super::doubt::Listed;
use super::originals::{AskSpan, RuledOut};
use super::query::Scope;

/// What is in scope, and what of it was searched: each span counts once.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    sessions: BTreeSet<Position>,
    spans: u64,
    searched: u64,
    bytes: u64,
    sum: SetSum,
    ruled_out: u64,
    /// Spans that were searched though their content was not seen.
    as_bytes: HashSet<Position>,
}

impl Ledger {
    /// Counts a span in scope; each is to be counted once.
    pub(super) fn in_scope(&mut self, span: &AskSpan, searched: bool) {
        self.sessions.insert(span.session_at);
        self.spans += 1;
        if searched {
            self.searched(span);
        }
    }

    /// Counts a span in scope that was not seen as one whose bytes were searched after all.
    pub(super) fn in_bytes(&mut self, span: &AskSpan) {
        if self.as_bytes.insert(span.span) {
            self.searched(span);
        }
    }

    /// Counts spans in scope that are known to hold nothing without a look at them.
    pub(super) fn ruled_out(&mut self, spans: &RuledOut) {
        self.sifted_out(spans);
        self.ruled_out += spans.spans;
    }

    /// Counts spans in scope whose originals were looked at and hold nothing.
    pub(super) fn sifted_out(&mut self, spans: &RuledOut) {
        self.sessions.extend(&spans.sessions);
        self.spans += spans.spans;
        self.searched += spans.read;
        self.bytes += spans.read_bytes;
        self.sum.combine(&spans.sum);
    }

    fn searched(&mut self, span: &AskSpan) {
        self.searched += 1;
        self.bytes += span.bytes;
        self.sum.add(&span.hash);
    }

    /// The coverage of an answer that `listed` could change.
    pub(super) fn finish(self, scope: Scope, complete: bool, listed: Listed) -> Coverage {
        Coverage {
            scope,
            sessions: self.sessions.len() as u64,
            originals: self.spans,
            bytes: self.bytes,
            searched: self.searched,
            ruled_out: self.ruled_out,
            complete,
            root: ContentHash::from_bytes(self.sum.root()).to_string(),
            missing: listed.missing,
            opaque: listed.opaque,
            missing_left_off: listed.left_off,
        }
    }
}
