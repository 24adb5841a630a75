//! Matches on values: a plain value, or one operator on strings.

use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::equality::json_equal;
use super::error::QueryError;

/// What an argument or a path must look like.
///
/// The operators look at strings. A number or a truth value is looked at as its JSON text, and a list or an object
/// holds where one of the strings, numbers or truth values inside it does.
#[derive(Debug, Clone, PartialEq)]
pub enum Match {
    /// Equal as JSON: see [`super::json_equal`].
    Eq(Value),
    /// Starts with.
    Prefix(String),
    /// Ends with.
    Suffix(String),
    /// Contains.
    Contains(String),
    /// A glob. In a pattern that has a `/`, `*` and `?` stop at `/` and `**` does not; in one without, they match
    /// anything.
    Glob(String),
    /// A regular expression that matches somewhere.
    Regex(String),
}

/// Equal as JSON.
pub fn equal(value: impl Into<Value>) -> Match {
    Match::Eq(value.into())
}

/// Starts with `text`.
pub fn prefix(text: impl Into<String>) -> Match {
    Match::Prefix(text.into())
}

/// Ends with `text`.
pub fn suffix(text: impl Into<String>) -> Match {
    Match::Suffix(text.into())
}

/// Contains `text`.
pub fn contains(text: impl Into<String>) -> Match {
    Match::Contains(text.into())
}

/// Matches a glob: `/etc/**`, `*.yaml`.
pub fn glob(pattern: impl Into<String>) -> Match {
    Match::Glob(pattern.into())
}

/// Matches a regular expression somewhere.
pub fn regex(pattern: impl Into<String>) -> Match {
    Match::Regex(pattern.into())
}

impl<T: Into<Value>> From<T> for Match {
    fn from(value: T) -> Self {
        Self::Eq(value.into())
    }
}

const OPERATORS: &str = "eq, prefix, suffix, contains, glob, regex";

impl Match {
    /// Reads a MATCH of the query contract.
    ///
    /// An object with one field and a string in it is an operator, so a misspelt operator is an error and not a
    /// comparison with an object that nothing equals; such an object is compared with by `{"eq": …}`.
    pub(super) fn from_json(value: Value) -> Result<Self, String> {
        let Value::Object(object) = value else { return Ok(Self::Eq(value)) };
        let is_operator = |name: &String| OPERATORS.split(", ").any(|operator| operator == name);
        if object.len() != 1 {
            return match object.keys().find(|name| is_operator(name)) {
                Some(name) => Err(format!("`{name}` stands beside other fields; a match has one operator")),
                None => Ok(Self::Eq(Value::Object(object))),
            };
        }
        let mut fields = object.into_iter();
        match fields.next() {
            Some((name, value)) if name == "eq" => Ok(Self::Eq(value)),
            Some((name, Value::String(text))) => match name.as_str() {
                "prefix" => Ok(Self::Prefix(text)),
                "suffix" => Ok(Self::Suffix(text)),
                "contains" => Ok(Self::Contains(text)),
                "glob" => Ok(Self::Glob(text)),
                "regex" => Ok(Self::Regex(text)),
                _unknown => Err(format!(
                    "unknown field `{name}`, expected one of {OPERATORS} (use {{\"eq\": …}} to compare with an object)"
                )),
            },
            Some((name, _value)) if is_operator(&name) => Err(format!("`{name}` needs a string")),
            Some((name, value)) => Ok(Self::Eq(Value::Object(Map::from_iter([(name, value)])))),
            None => Ok(Self::Eq(Value::Object(Map::new()))),
        }
    }

    fn to_json(&self) -> Value {
        let (operator, text) = match self {
            Self::Eq(value @ (Value::Array(_) | Value::Object(_))) => {
                return Value::Object(Map::from_iter([("eq".to_owned(), value.clone())]));
            }
            Self::Eq(value) => return value.clone(),
            Self::Prefix(text) => ("prefix", text),
            Self::Suffix(text) => ("suffix", text),
            Self::Contains(text) => ("contains", text),
            Self::Glob(text) => ("glob", text),
            Self::Regex(text) => ("regex", text),
        };
        Value::Object(Map::from_iter([(operator.to_owned(), Value::String(text.clone()))]))
    }
}

impl Serialize for Match {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Match {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A [`Match`] ready to run.
#[derive(Debug)]
pub(super) enum Matcher {
    Eq(Value),
    Prefix(String),
    Suffix(String),
    Contains(String),
    Glob(GlobMatcher),
    Regex(Regex),
}

impl Matcher {
    /// Prepares `wanted`; an error names `field`.
    pub(super) fn new(field: &str, wanted: &Match) -> Result<Self, QueryError> {
        Ok(match wanted {
            Match::Eq(value) => Self::Eq(value.clone()),
            Match::Prefix(text) => Self::Prefix(text.clone()),
            Match::Suffix(text) => Self::Suffix(text.clone()),
            Match::Contains(text) => Self::Contains(text.clone()),
            Match::Glob(pattern) => Self::Glob(
                GlobBuilder::new(pattern)
                    .literal_separator(pattern.contains('/'))
                    .build()
                    .map_err(|error| QueryError::field(format!("{field}.glob"), error.to_string()))?
                    .compile_matcher(),
            ),
            Match::Regex(pattern) => Self::Regex(
                Regex::new(pattern)
                    .map_err(|error| QueryError::field(format!("{field}.regex"), error.to_string()))?,
            ),
        })
    }

    /// Whether it holds for a whole value.
    pub(super) fn holds(&self, value: &Value) -> bool {
        if let Self::Eq(wanted) = self {
            return json_equal(wanted, value);
        }
        leaves(value).any(|leaf| self.holds_for_leaf(leaf))
    }

    /// Whether it holds for `value` or for a value anywhere inside it.
    pub(super) fn holds_inside(&self, value: &Value) -> bool {
        if let Self::Eq(wanted) = self {
            return Walk::new(value).any(|inner| json_equal(wanted, inner));
        }
        self.holds(value)
    }

    /// Whether it holds for a string.
    pub(super) fn holds_for(&self, text: &str) -> bool {
        match self {
            Self::Eq(Value::String(wanted)) => wanted == text,
            Self::Eq(_other) => false,
            Self::Prefix(wanted) => text.starts_with(wanted),
            Self::Suffix(wanted) => text.ends_with(wanted),
            Self::Contains(wanted) => memchr::memmem::find(text.as_bytes(), wanted.as_bytes()).is_some(),
            Self::Glob(pattern) => pattern.is_match(text),
            Self::Regex(pattern) => pattern.is_match(text),
        }
    }

    fn holds_for_leaf(&self, leaf: &Value) -> bool {
        match leaf {
            Value::String(text) => self.holds_for(text),
            Value::Number(number) => self.holds_for(number.as_str()),
            Value::Bool(truth) => self.holds_for(if *truth { "true" } else { "false" }),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        }
    }
}

/// The strings, numbers, truth values and nulls of `value`, itself or inside it, in order.
pub(super) fn leaves(value: &Value) -> impl Iterator<Item = &Value> {
    Walk::new(value).filter(|value| !matches!(value, Value::Array(_) | Value::Object(_)))
}

/// A value and everything inside it, in source order, without recursion.
struct Walk<'a> {
    pending: Vec<&'a Value>,
}

impl<'a> Walk<'a> {
    fn new(value: &'a Value) -> Self {
        Self { pending: vec![value] }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<&'a Value> {
        let value = self.pending.pop()?;
        match value {
            Value::Array(items) => self.pending.extend(items.iter().rev()),
            Value::Object(fields) => self.pending.extend(fields.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Some(value)
    }
}
