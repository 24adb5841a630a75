//! Kinds of parts and atoms, and what a recorded kind proves.

use spanvault_evidence::AtomKind;
use spanvault_types::{PartBody, SpanKind};

use super::error::QueryError;

/// A kind of part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    Text,
    Thinking,
    Summary,
    Call,
    Result,
}

impl PartKind {
    pub(super) const ALL: [Self; 5] = [Self::Text, Self::Thinking, Self::Summary, Self::Call, Self::Result];

    pub(super) const fn of(body: &PartBody) -> Self {
        match body {
            PartBody::Text(_) => Self::Text,
            PartBody::Thinking(_) => Self::Thinking,
            PartBody::Summary(_) => Self::Summary,
            PartBody::Call(_) => Self::Call,
            PartBody::Result(_) => Self::Result,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::Summary => "summary",
            Self::Call => "call",
            Self::Result => "result",
        }
    }

    /// The kind of a span that holds nothing stronger than such a part.
    const fn span_kind(self) -> SpanKind {
        match self {
            Self::Text => SpanKind::Message,
            Self::Thinking => SpanKind::Thinking,
            Self::Summary => SpanKind::CompactSummary,
            Self::Call => SpanKind::ToolCall,
            Self::Result => SpanKind::ToolResult,
        }
    }
}

/// Whether a span recorded as `recorded` can hold such a part.
///
/// The recorded kind is that of the strongest part, so a weaker kind proves that there is none. What was never
/// parsed can hold anything.
pub(super) fn may_hold(recorded: SpanKind, part: PartKind) -> bool {
    !recorded.was_parsed() || recorded >= part.span_kind()
}

/// Where a text search looks.
#[derive(Debug)]
pub(super) struct Kinds {
    /// Whole parts of these kinds.
    pub(super) parts: Vec<PartKind>,
    /// Atoms of these kinds.
    pub(super) atoms: Vec<AtomKind>,
    /// The exact bytes of every original.
    pub(super) original: bool,
    /// Whether nothing narrower than all parts was asked for.
    pub(super) all: bool,
}

impl Kinds {
    pub(super) fn new(words: Option<&[String]>) -> Result<Self, QueryError> {
        let Some(words) = words else {
            return Ok(Self { parts: PartKind::ALL.to_vec(), atoms: Vec::new(), original: false, all: true });
        };
        if words.is_empty() {
            return Err(QueryError::field("text.kinds", "names no kind"));
        }
        let mut kinds = Self { parts: Vec::new(), atoms: Vec::new(), original: false, all: false };
        for word in words {
            let part = PartKind::ALL.into_iter().find(|kind| kind.as_str() == word);
            let atom = AtomKind::ALL.into_iter().find(|kind| kind.as_str() == word);
            match (part, atom) {
                (Some(part), _also_an_atom) => kinds.parts.push(part),
                (None, Some(atom)) => kinds.atoms.push(atom),
                (None, None) if word == "original" => kinds.original = true,
                (None, None) => return Err(QueryError::field("text.kinds", unknown(word))),
            }
        }
        Ok(kinds)
    }

    /// Whether a span recorded as `recorded` can hold what is looked at.
    pub(super) fn may_be_in(&self, recorded: SpanKind) -> bool {
        self.original
            || self.parts.iter().any(|part| may_hold(recorded, *part))
            || (!self.atoms.is_empty() && PartKind::ALL.into_iter().any(|part| may_hold(recorded, part)))
    }
}

fn unknown(word: &str) -> String {
    let parts = PartKind::ALL.into_iter().map(PartKind::as_str);
    let atoms = AtomKind::ALL.into_iter().map(AtomKind::as_str).filter(|atom| *atom != "call");
    let known: Vec<&str> = parts.chain(atoms).chain(["original"]).collect();
    format!("unknown kind `{word}`, expected one of {}", known.join(", "))
}
