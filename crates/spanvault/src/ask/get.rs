//! What an answer's value is.

use std::fmt;
use std::str::FromStr;

use super::error::QueryError;

/// What of the things found is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Get {
    /// Whether there is one.
    #[default]
    Exists,
    /// How many.
    Count,
    /// In which spans.
    Spans,
    /// All arguments of the call.
    Args,
    /// One argument of the call.
    Arg(String),
    /// The paths that the calls touch, distinct and sorted.
    Paths,
    /// The whole text of the call's result.
    Result,
    /// A value in the result, read as JSON.
    ResultJson(JsonPlace),
    /// The first group of the only match of a regular expression in the result.
    ResultRegex(String),
    /// The only number in the result.
    ResultNumber,
    /// The process exit status that the result reports.
    ResultExitCode,
    /// Whether the result is empty.
    ResultEmpty,
    /// What became of the call.
    Fate,
    /// The quoted string after the anchor.
    Quote,
    /// The words that matched; of a regular expression its first group.
    Value,
}

/// A place in a JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonPlace {
    /// By JSON pointer.
    Pointer(String),
    /// By the name of a field of the outermost object.
    Field(String),
}

const WORDS: &str = "exists, count, spans, args, arg:NAME, paths, result, result.json:/POINTER, result.json:FIELD, \
                     result.regex:RE, result.number, result.exit_code, result.empty, fate, quote, value";

impl FromStr for Get {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        let plain = match text {
            "exists" => Some(Self::Exists),
            "count" => Some(Self::Count),
            "spans" => Some(Self::Spans),
            "args" => Some(Self::Args),
            "paths" => Some(Self::Paths),
            "result" => Some(Self::Result),
            "result.number" => Some(Self::ResultNumber),
            "result.exit_code" => Some(Self::ResultExitCode),
            "result.empty" => Some(Self::ResultEmpty),
            "fate" => Some(Self::Fate),
            "quote" => Some(Self::Quote),
            "value" => Some(Self::Value),
            _longer => None,
        };
        if let Some(get) = plain {
            return Ok(get);
        }
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match word {
            "arg" | "result.json" | "result.regex" if rest.is_empty() => {
                Err(QueryError::field("get", format!("`{word}:` needs something after the colon")))
            }
            "arg" => Ok(Self::Arg(rest.to_owned())),
            "result.json" if rest.starts_with('/') => {
                Ok(Self::ResultJson(JsonPlace::Pointer(rest.to_owned())))
            }
            "result.json" => Ok(Self::ResultJson(JsonPlace::Field(rest.to_owned()))),
            "result.regex" => Ok(Self::ResultRegex(rest.to_owned())),
            _unknown => {
                Err(QueryError::field("get", format!("unknown word `{word}`, expected one of {WORDS}")))
            }
        }
    }
}

impl fmt::Display for Get {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => f.write_str("exists"),
            Self::Count => f.write_str("count"),
            Self::Spans => f.write_str("spans"),
            Self::Args => f.write_str("args"),
            Self::Arg(name) => write!(f, "arg:{name}"),
            Self::Paths => f.write_str("paths"),
            Self::Result => f.write_str("result"),
            Self::ResultJson(JsonPlace::Pointer(place) | JsonPlace::Field(place)) => {
                write!(f, "result.json:{place}")
            }
            Self::ResultRegex(pattern) => write!(f, "result.regex:{pattern}"),
            Self::ResultNumber => f.write_str("result.number"),
            Self::ResultExitCode => f.write_str("result.exit_code"),
            Self::ResultEmpty => f.write_str("result.empty"),
            Self::Fate => f.write_str("fate"),
            Self::Quote => f.write_str("quote"),
            Self::Value => f.write_str("value"),
        }
    }
}

impl Get {
    /// Whether it asks for something of one call, so that several calls are ambiguous.
    pub(super) const fn is_of_one_call(&self) -> bool {
        matches!(
            self,
            Self::Args
                | Self::Arg(_)
                | Self::Result
                | Self::ResultJson(_)
                | Self::ResultRegex(_)
                | Self::ResultNumber
                | Self::ResultExitCode
                | Self::ResultEmpty
                | Self::Fate
        )
    }

    /// Whether it asks for words.
    pub(super) const fn is_of_text(&self) -> bool {
        matches!(self, Self::Quote | Self::Value)
    }
}
