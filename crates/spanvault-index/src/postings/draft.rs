//! A run in the making, in memory.

use std::collections::BTreeMap;

use spanvault_types::{Position, SetSum};

use super::Term;
use super::layout::{BLOCK_BYTES, Foot, MAGIC, push_ascending, push_varint};

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
    pub(super) postings: Vec<(Term, u64)>,
    pub(super) sessions: BTreeMap<Position, Share>,
    pub(super) unread: Vec<u64>,
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

    /// The bytes of the run over `first..=last`, where `last` is a commit with the chain value `chain`; `reader` says
    /// which program read the spans.
    pub(super) fn into_bytes(
        mut self,
        first: Position,
        last: Position,
        chain: [u8; 32],
        reader: [u8; 32],
    ) -> Vec<u8> {
        self.postings.sort_unstable();
        self.unread.sort_unstable();
        let mut bytes = MAGIC.to_vec();
        let directory = push_blocks(&mut bytes, first.get(), &self.postings);
        let directory_at = bytes.len() as u64;
        for (term, offset) in directory {
            bytes.extend_from_slice(&term.get().to_le_bytes());
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
        let unread_at = bytes.len() as u64;
        push_ascending(&mut bytes, first.get(), &self.unread);
        let sessions_at = bytes.len() as u64;
        for (session, share) in &self.sessions {
            for field in
                [session.get(), share.spans, share.read, share.read_bytes, u64::from(share.is_nameless)]
            {
                bytes.extend_from_slice(&field.to_le_bytes());
            }
        }
        for share in self.sessions.values() {
            bytes.extend_from_slice(&share.sum.to_bytes());
        }
        let foot = bytes.len() as u64;
        let mut foot = Foot {
            tables_end: foot,
            first,
            last,
            chain,
            reader,
            directory_at,
            unread_at,
            sessions_at,
            check: [0; 32],
        };
        let start = usize::try_from(directory_at).unwrap_or(bytes.len());
        foot.check = check_of(bytes.get(start..).unwrap_or_default(), &foot);
        bytes.extend(foot.to_bytes());
        bytes
    }
}

/// The check over what is read at opening.
pub(super) fn check_of(tables: &[u8], foot: &Foot) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tables);
    hasher.update(&foot.unchecked());
    *hasher.finalize().as_bytes()
}

/// Appends sorted postings in blocks; gives the first term of each block and where it begins.
fn push_blocks(bytes: &mut Vec<u8>, base: u64, postings: &[(Term, u64)]) -> Vec<(Term, u64)> {
    let mut directory = Vec::new();
    let mut block = Vec::new();
    let mut last = 0;
    let mut seal = |block: &mut Vec<u8>| {
        bytes.extend_from_slice(block);
        bytes.extend_from_slice(&crc32fast::hash(block).to_le_bytes());
        block.clear();
        bytes.len() as u64
    };
    let mut offset = MAGIC.len() as u64;
    for entry in postings.chunk_by(|(left, _), (right, _)| left == right) {
        let Some((term, _at)) = entry.first() else { continue };
        if block.is_empty() {
            directory.push((*term, offset));
            last = term.get();
        }
        push_varint(&mut block, term.get() - last);
        last = term.get();
        let positions: Vec<u64> = entry.iter().map(|(_term, at)| *at).collect();
        push_ascending(&mut block, base, &positions);
        if block.len() >= BLOCK_BYTES {
            offset = seal(&mut block);
        }
    }
    if !block.is_empty() {
        seal(&mut block);
    }
    directory
}
