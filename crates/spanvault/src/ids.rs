//! The names by which people and programs point at things in a vault.

use std::fmt;
use std::str::FromStr;

use spanvault_types::{ContentHash, Position};

use crate::error::{Error, Result};

/// The fewest hexadecimal digits that stand for a content hash.
pub const HASH_DIGITS_MIN: usize = 8;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $letter:literal),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub Position);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                position_after($letter, text)
                    .map(Self)
                    .ok_or_else(|| Error::invalid(format!("read {text:?}: expected {}NUMBER", $letter)))
            }
        }
    )+};
}

ids! {
    /// A span: `s` and its log position.
    SpanId = "s",
    /// A summary: `m` and its log position.
    SummaryId = "m",
    /// A checkpoint: `c` and its log position.
    CheckpointId = "c",
    /// A demand: `d` and its log position.
    DemandId = "d",
    /// A hold: `h` and its log position.
    HoldId = "h",
}

fn position_after(letter: &str, text: &str) -> Option<Position> {
    let digits = text.strip_prefix(letter)?;
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok().map(Position::new)).flatten()
}

/// What `recover`, `show`, `why` and `hold add` take: a span, a summary, or a content hash or a prefix of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A span.
    Span(SpanId),
    /// A summary.
    Summary(SummaryId),
    /// At least [`HASH_DIGITS_MIN`] hexadecimal digits, lower case.
    Hash(String),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(span) => span.fmt(f),
            Self::Summary(summary) => summary.fmt(f),
            Self::Hash(digits) => f.write_str(digits),
        }
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(at) = position_after("s", text) {
            return Ok(Self::Span(SpanId(at)));
        }
        if let Some(at) = position_after("m", text) {
            return Ok(Self::Summary(SummaryId(at)));
        }
        let hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hexadecimal && (HASH_DIGITS_MIN..=64).contains(&text.len()) {
            return Ok(Self::Hash(text.to_ascii_lowercase()));
        }
        let message = format!("read {text:?}: neither a span (s12), a summary (m12) nor a content hash");
        Err(Error::invalid(message)
            .with_hint("a hash needs 8 to 64 hexadecimal digits; \"spanvault spans\" lists them"))
    }
}

impl From<ContentHash> for Name {
    fn from(hash: ContentHash) -> Self {
        Self::Hash(hash.to_string())
    }
}

impl From<SpanId> for Name {
    fn from(span: SpanId) -> Self {
        Self::Span(span)
    }
}

impl From<SummaryId> for Name {
    fn from(summary: SummaryId) -> Self {
        Self::Summary(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_span_a_summary_or_eight_hexadecimal_digits() {
        assert_eq!("s12".parse::<Name>().unwrap(), Name::Span(SpanId(Position::new(12))));
        assert_eq!("m7".parse::<Name>().unwrap(), Name::Summary(SummaryId(Position::new(7))));
        assert_eq!("DEADBEEF".parse::<Name>().unwrap(), Name::Hash("deadbeef".into()));
        for bad in ["", "s", "m-1", "deadbee", "s1x", "xyz"] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }
}
