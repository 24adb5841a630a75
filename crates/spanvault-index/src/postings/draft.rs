//! A run in the making, in memory.

use std::collections::BTreeMap;
use std::io;

use spanvault_types::{Position, SetSum};

use super::Term;
use super::writer::RunWriter;

/// What a stretch of the log has of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Share {
    /// Spans of the session.
    pub spans: u64,
    /// Those of them that were read.
    pub read: u64,
    /// Bytes of the originals of those that were read.
    pub read_bytes: u64,
    /// Whether a call or a result of it has no id, so that results are told apart by their order.
    pub is_nameless: bool,
    /// The content hashes of those that were read.
    pub sum: SetSum,
}

impl Share {
    /// Adds what another stretch has.
    pub fn combine(&mut self, other: &Self) {
        self.spans += other.spans;
        self.read += other.read;
        self.read_bytes += other.read_bytes;
        self.is_nameless |= other.is_nameless;
        self.sum.combine(&other.sum);
    }
}

/// A run in the making.
#[derive(Debug, Default)]
pub struct RunDraft {
    postings: Vec<(Term, u64)>,
    sessions: BTreeMap<Position, Share>,
    unread: Vec<u64>,
}

impl RunDraft {
    /// Notes that the span at `at` holds `term`. Noted twice counts twice.
    pub fn post(&mut self, term: Term, at: Position) {
        self.postings.push((term, at.get()));
    }

    /// Notes a span of which nothing is known, so that it may hold anything.
    pub fn unread(&mut self, at: Position) {
        self.unread.push(at.get());
    }

    /// What the stretch has of a session.
    pub fn share(&mut self, session: Position) -> &mut Share {
        self.sessions.entry(session).or_default()
    }

    /// Adds what another draft, of spans before or behind, holds.
    pub fn combine(&mut self, other: Self) {
        self.postings.extend(other.postings);
        self.unread.extend(other.unread);
        for (session, share) in other.sessions {
            self.share(session).combine(&share);
        }
    }

    /// Writes the run.
    pub(super) fn write(mut self, mut writer: RunWriter) -> io::Result<()> {
        self.postings.sort_unstable();
        self.unread.sort_unstable();
        let mut positions = Vec::new();
        for entry in self.postings.chunk_by(|(left, _), (right, _)| left == right) {
            let Some((term, _at)) = entry.first() else { continue };
            positions.clear();
            positions.extend(entry.iter().map(|(_term, at)| *at));
            writer.entry(*term, &positions)?;
        }
        writer.finish(&self.unread, &self.sessions)
    }
}
