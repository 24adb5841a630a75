//! Answers as people and programs read them.

use serde::Serialize;
use serde_json::Value;
use spanvault_types::{ByteRange, Position};

use super::originals::UnseenReason;
use super::query::Scope;

/// The most pieces of evidence, and the most unseen or opaque spans, that one answer lists.
pub(super) const LISTED_MAX: usize = 1000;

/// The most matches whose evidence is listed where it is only asked whether there is one.
pub(super) const EXAMPLES_MAX: usize = 20;

/// What is known about a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Whether it was found.
    pub answer: Verdict,
    /// What was asked for. For *absent* `false`, `0`, `[]` or null; for *insufficient* what was found nevertheless.
    pub value: Value,
    /// Whether `value` is less than what was asked for, or may be another's.
    #[serde(skip_serializing_if = "is_false")]
    pub partial: bool,
    /// What proves it, in source order: of a call the call first, then its result.
    pub evidence: Vec<Evidence>,
    /// How many further matches are proved by spans that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub evidence_left_off: u64,
    /// What was searched and what could not be.
    pub coverage: Coverage,
}

/// The three answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Found.
    Present,
    /// Not found, and nothing in scope could hold it unseen.
    Absent,
    /// What is seen does not decide it.
    Insufficient,
}

/// A place that proves something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The span.
    pub span: String,
    /// The content hash of its original.
    pub hash: String,
    /// The path of its source.
    pub source: String,
    /// The transcript in a source that holds many.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub record: String,
    /// The index in the source.
    pub index: u64,
    /// The bytes of the original: start, and one past the end.
    pub range: [u64; 2],
}

/// What an answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// Where was asked to look.
    #[serde(rename = "in")]
    pub scope: Scope,
    /// Sessions in scope.
    pub sessions: u64,
    /// Originals in scope, one for each span: the same bytes at two places count twice.
    pub originals: u64,
    /// Bytes of those that were searched.
    pub bytes: u64,
    /// Originals that were searched, one for each span. Records of the runtime that hold neither words nor calls are in scope,
    /// but ruled out rather than searched.
    pub searched: u64,
    /// Whether every original in scope was searched or provably could not change the answer.
    pub complete: bool,
    /// Of the originals in scope, those that postings show to hold nothing that was asked for, so that they were not
    /// read again.
    #[serde(skip_serializing_if = "is_zero")]
    pub ruled_out: u64,
    /// The root of the sum of the content hashes of the searched originals: see [`spanvault_types::SetSum`].
    pub root: String,
    /// What could not be seen and might change the answer.
    pub missing: Vec<Missing>,
    /// Calls whose effect cannot be seen through and might change the answer.
    pub opaque: Vec<OpaqueCall>,
    /// At most how many further spans could not be seen.
    #[serde(skip_serializing_if = "is_zero")]
    pub missing_left_off: u64,
}

/// A span that could not be seen, or whose match is one of several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    /// The span.
    pub span: String,
    /// The content hash of its original.
    pub hash: String,
    /// Why.
    pub reason: MissingReason,
    /// The log position of its tombstone, where there is one.
    pub tombstone: Option<u64>,
    /// The path of its source.
    pub source: String,
    /// The transcript in a source that holds many.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub record: String,
    /// The index in the source.
    pub index: u64,
}

/// Why a span leaves a question open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingReason {
    /// Its bytes were removed after their retention ended.
    Reclaimed,
    /// Its bytes were erased.
    Erased,
    /// Its bytes do not have its hash.
    Corrupt,
    /// Its bytes are not where they should be.
    Missing,
    /// Its bytes could not be read as a record.
    Quarantined,
    /// Its bytes are above the size limit for parsing.
    TooLarge,
    /// The question is about a stretch of time, and the span has no time.
    Untimed,
    /// It can be seen; it is one of several that the question may mean.
    Ambiguous,
    /// It holds the stub of a result whose whole text its runtime moved to a file of its own.
    Stub,
}

impl From<UnseenReason> for MissingReason {
    fn from(reason: UnseenReason) -> Self {
        match reason {
            UnseenReason::Reclaimed => Self::Reclaimed,
            UnseenReason::Erased => Self::Erased,
            UnseenReason::Corrupt => Self::Corrupt,
            UnseenReason::Missing => Self::Missing,
            UnseenReason::Quarantined => Self::Quarantined,
            UnseenReason::TooLarge => Self::TooLarge,
        }
    }
}

/// A call whose effect cannot be seen through.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OpaqueCall {
    /// The span.
    pub span: String,
    /// The content hash of its original.
    pub hash: String,
    /// The path of its source.
    pub source: String,
    /// The transcript in a source that holds many.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub record: String,
    /// The index in the source.
    pub index: u64,
    /// The bytes of the original: start, and one past the end.
    pub range: [u64; 2],
    /// The tool.
    pub tool: String,
}

/// The id by which people name a span.
pub(super) fn span_id(span: Position) -> String {
    format!("s{span}")
}

pub(super) const fn range_of(range: ByteRange) -> [u64; 2] {
    [range.start, range.end]
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_false(truth: &bool) -> bool {
    !*truth
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
