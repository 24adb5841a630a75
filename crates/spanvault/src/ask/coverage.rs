//! Keeps count of what is in scope and what was searched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spanvault_types::ContentHash;

use super::answer::Coverage;
use super::doubt::Listed;
use super::originals::AskSpan;
use super::query::Scope;

/// What is in scope, and what of it was searched.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    sessions: BTreeSet<Arc<str>>,
    originals: BTreeMap<ContentHash, Entry>,
}

#[derive(Debug, Default)]
struct Entry {
    bytes: u64,
    searched: bool,
}

impl Ledger {
    /// Counts a span in scope.
    pub(super) fn in_scope(&mut self, span: &AskSpan, searched: bool) {
        if !self.sessions.contains(&span.session) {
            self.sessions.insert(Arc::clone(&span.session));
        }
        let entry = self.originals.entry(span.hash).or_default();
        entry.bytes = span.bytes;
        entry.searched |= searched;
    }

    /// The coverage of an answer that `listed` could change.
    pub(super) fn finish(self, scope: Scope, complete: bool, listed: Listed) -> Coverage {
        let mut root = blake3::Hasher::new();
        let (mut searched, mut bytes) = (0, 0);
        for (hash, entry) in &self.originals {
            if entry.searched {
                root.update(hash.as_bytes());
                searched += 1;
                bytes += entry.bytes;
            }
        }
        Coverage {
            scope,
            sessions: self.sessions.len() as u64,
            originals: self.originals.len() as u64,
            bytes,
            searched,
            complete,
            root: root.finalize().to_hex().to_string(),
            missing: listed.missing,
            opaque: listed.opaque,
            missing_left_off: listed.left_off,
        }
    }
}
