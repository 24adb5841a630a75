//! The readable content of one original, as an importer reads it. Derived, never stored.

use serde_json::Value;

use crate::{Role, SpanKind};
use bincode::{Decode, Encode};

/// A half-open range of bytes inside one original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Encode, Decode)]
pub struct ByteRange {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// What an importer reads in one original.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanContent {
    /// Who speaks.
    pub role: Role,
    /// The strongest part.
    pub kind: SpanKind,
    /// When, in milliseconds after the epoch, if the record says so.
    pub timestamp_ms: Option<i64>,
    /// The record's own identity in its source format (for example a uuid), if it has one.
    pub event_key: Option<String>,
    /// The readable parts, in source order. Empty for records that are no conversation.
    pub parts: Vec<Part>,
}

/// One readable part of an original.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Where the part stands in the original.
    pub range: ByteRange,
    /// How those bytes relate to the decoded content.
    pub encoding: Encoding,
    /// What it says.
    pub body: PartBody,
}

/// How the raw bytes of a part relate to its decoded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// The range is one JSON string literal, quotes included, and the text is that string, decoded.
    JsonString,
    /// The range is a larger JSON value that the content was gathered from.
    JsonValue,
    /// The range is the text itself.
    Raw,
}

/// The content of a part, decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum PartBody {
    /// Spoken words.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// A summary written by the source's own runtime.
    Summary(String),
    /// A tool call.
    Call(Call),
    /// A tool's answer.
    Result(Outcome),
}

/// A tool call as its record states it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The call id that a result names, where there is a usable one.
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments; an object wherever the source has one, otherwise the raw text as a string.
    pub args: Value,
}

/// A tool's answer as its record states it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The call that this answers, where the record names it.
    pub call_id: Option<String>,
    /// The tool's name, where the record repeats it.
    pub tool: Option<String>,
    /// The whole text, blocks joined by `\n`.
    pub text: String,
    /// The record's own error flag. `None` where the format has no flag or it is absent.
    pub is_error: Option<bool>,
    /// The process exit status, where the record gives one.
    pub exit_code: Option<i64>,
    /// `Some(false)` where the record says that the call was rejected or never started.
    pub executed: Option<bool>,
}
