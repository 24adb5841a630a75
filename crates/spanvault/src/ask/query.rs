//! The query model: plain data, as a builder and as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spanvault_types::Role;

use super::error::QueryError;
use super::get::Get;
use super::matching::Match;
use super::plan::Plan;
use super::wire::{self, OneOrMore};

/// A question to the originals.
///
/// ```
/// use spanvault::ask::{Get, Query, glob};
///
/// let written = Query::calls("write_file").arg("path", glob("/etc/**"));
/// let outcome = Query::calls(["Edit", "Write"]).source("run.jsonl").nth(-1).get(Get::Fate);
/// let same = Query::from_json(r#"{"in":{"source":"run.jsonl"},"calls":{"tool":["Edit","Write"]},"nth":-1,"get":"fate"}"#);
/// assert_eq!(same.unwrap(), outcome);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "wire::Query", into = "wire::Query")]
pub struct Query {
    /// Where to look.
    pub scope: Scope,
    /// What to find.
    pub find: Find,
    /// Which of what was found: 1 is the first, -1 the last. `None`: all, or the only one.
    pub nth: Option<i64>,
    /// What to say of it.
    pub get: Get,
    /// A filter on calls that was put on something else: an error, because leaving it out would widen the search.
    misplaced: Option<Misplaced>,
}

/// The name of a filter that does not narrow this kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Misplaced(&'static str);

/// What to find.
#[derive(Debug, Clone, PartialEq)]
pub enum Find {
    /// Tool calls.
    Calls(Calls),
    /// Words in originals.
    Text(Text),
    /// Whether the first came before the second.
    Order(Box<[Side; 2]>),
    /// Calls that returned nothing, failed, or were denied.
    Negatives(Calls),
}

/// One side of a question about order. Without `nth`, all that it finds must stand on one side of the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Calls or text.
    pub find: Find,
    /// Which of them: 1 is the first, -1 the last.
    pub nth: Option<i64>,
}

/// Where to look; everything that is set must hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// A session, by its name or a unique prefix of it.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A source, by its path or the end of it in whole components.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The transcript in a source that holds many.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// Only before this source index.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub before_index: Option<i64>,
    /// Only after this source index.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub after_index: Option<i64>,
    /// Only before this instant (RFC 3339).
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub before_time: Option<String>,
    /// Only after this instant (RFC 3339).
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub after_time: Option<String>,
    /// Only spans in which this one speaks.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// Which calls; everything that is set must hold. Nothing set: every call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// The tool, one of these names.
    #[serde(default, with = "wire::one_or_more", skip_serializing_if = "Option::is_none")]
    pub tool: Option<Vec<String>>,
    /// Arguments by name.
    #[serde(default, with = "wire::fields", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<(String, Match)>,
    /// The whole argument object.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub args_exactly: Option<Value>,
    /// Some argument, or some value inside one.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub any_arg: Option<Match>,
    /// What the call does: `reads`, `mutates`, `external`, `opaque`.
    #[serde(default, with = "wire::one_or_more", skip_serializing_if = "Option::is_none")]
    pub effect: Option<Vec<String>>,
    /// What became of it: `succeeded`, `failed`, `unknown`.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub fate: Option<String>,
    /// Some path that the call touches, as its effect says; where `effect` is only `mutates`, some path that it
    /// writes, moves or deletes. A path is compared as the call names it: what a relative one is relative to is not
    /// known.
    #[serde(default, deserialize_with = "wire::given", skip_serializing_if = "Option::is_none")]
    pub path: Option<Match>,
}

/// Which words, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The words.
    pub words: Words,
    /// The kinds of atoms or parts to look in (`text`, `thinking`, `summary`, `call`, `result`, or an atom kind),
    /// or `original` for the exact bytes of every original. `None`: all parts.
    pub kinds: Option<Vec<String>>,
}

/// The words that a text search looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// Exactly these bytes.
    Contains(String),
    /// These characters in upper or lower case.
    ContainsAnyCase(String),
    /// A match of a regular expression that is not empty.
    Regex(String),
    /// A string in quote characters that directly follows the anchor; white space may stand between.
    QuoteAfter {
        /// The words before it.
        anchor: String,
        /// The quote character, or an opening and a closing one.
        quote: String,
    },
}

impl Query {
    fn finding(find: Find) -> Self {
        Self::from_wire(Scope::default(), find, None, Get::Exists)
    }

    pub(super) fn from_wire(scope: Scope, find: Find, nth: Option<i64>, get: Get) -> Self {
        Self { scope, find, nth, get, misplaced: None }
    }

    /// Calls of a tool, or of one of several.
    pub fn calls(tool: impl Into<OneOrMore>) -> Self {
        Self::finding(Find::Calls(Calls { tool: Some(tool.into().0), ..Calls::default() }))
    }

    /// Calls of any tool.
    pub fn any_call() -> Self {
        Self::finding(Find::Calls(Calls::default()))
    }

    /// Calls of any tool that returned nothing, failed, or were denied.
    pub fn negatives() -> Self {
        Self::finding(Find::Negatives(Calls::default()))
    }

    /// Words that originals hold.
    pub fn text(words: Words) -> Self {
        Self::finding(Find::Text(Text { words, kinds: None }))
    }

    /// Whether what `first` finds came before what `second` finds. Scope and `get` of both are not used.
    pub fn order(first: Self, second: Self) -> Self {
        let side = |query: Self| Side { find: query.find, nth: query.nth };
        Self::finding(Find::Order(Box::new([side(first), side(second)])))
    }

    /// Reads a query of the query contract.
    ///
    /// # Errors
    /// Where it is no JSON, has an unknown field, or could not be evaluated; the error names the field.
    pub fn from_json(text: &str) -> Result<Self, QueryError> {
        let query: Self = serde_json::from_str(text)?;
        query.check()?;
        Ok(query)
    }

    /// Checks that it can be evaluated.
    ///
    /// # Errors
    /// A pattern that does not compile, an unknown word, an `nth` of 0, a `get` that does not fit; names the field.
    pub fn check(&self) -> Result<(), QueryError> {
        Plan::new(self).map(drop)
    }

    /// Only in this session.
    #[must_use]
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.scope.session = Some(name.into());
        self
    }

    /// Only in this source.
    #[must_use]
    pub fn source(mut self, path: impl Into<String>) -> Self {
        self.scope.source = Some(path.into());
        self
    }

    /// Only in this record of its source.
    #[must_use]
    pub fn record(mut self, record: impl Into<String>) -> Self {
        self.scope.record = Some(record.into());
        self
    }

    /// Only before this source index.
    #[must_use]
    pub fn before_index(mut self, index: i64) -> Self {
        self.scope.before_index = Some(index);
        self
    }

    /// Only after this source index.
    #[must_use]
    pub fn after_index(mut self, index: i64) -> Self {
        self.scope.after_index = Some(index);
        self
    }

    /// Only before this instant (RFC 3339).
    #[must_use]
    pub fn before_time(mut self, instant: impl Into<String>) -> Self {
        self.scope.before_time = Some(instant.into());
        self
    }

    /// Only after this instant (RFC 3339).
    #[must_use]
    pub fn after_time(mut self, instant: impl Into<String>) -> Self {
        self.scope.after_time = Some(instant.into());
        self
    }

    /// Only where this one speaks.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.scope.role = Some(role);
        self
    }

    /// Only the n-th: 1 is the first, -1 the last.
    #[must_use]
    pub fn nth(mut self, nth: i64) -> Self {
        self.nth = Some(nth);
        self
    }

    /// What to say of what was found.
    #[must_use]
    pub fn get(mut self, get: Get) -> Self {
        self.get = get;
        self
    }

    /// Only calls with this argument.
    #[must_use]
    pub fn arg(self, name: impl Into<String>, wanted: impl Into<Match>) -> Self {
        self.narrowed("args", |calls| calls.args.push((name.into(), wanted.into())))
    }

    /// Only calls with exactly these arguments.
    #[must_use]
    pub fn args_exactly(self, args: impl Into<Value>) -> Self {
        self.narrowed("args_exactly", |calls| calls.args_exactly = Some(args.into()))
    }

    /// Only calls with such a value in some argument.
    #[must_use]
    pub fn any_arg(self, wanted: impl Into<Match>) -> Self {
        self.narrowed("any_arg", |calls| calls.any_arg = Some(wanted.into()))
    }

    /// Only calls with one of these effects.
    #[must_use]
    pub fn effect(self, effect: impl Into<OneOrMore>) -> Self {
        self.narrowed("effect", |calls| calls.effect = Some(effect.into().0))
    }

    /// Only calls with this fate.
    #[must_use]
    pub fn fate(self, fate: impl Into<String>) -> Self {
        self.narrowed("fate", |calls| calls.fate = Some(fate.into()))
    }

    /// Only calls that touch such a path.
    #[must_use]
    pub fn path(self, wanted: impl Into<Match>) -> Self {
        self.narrowed("path", |calls| calls.path = Some(wanted.into()))
    }

    /// Only in atoms or parts of these kinds: see [`Text::kinds`].
    #[must_use]
    pub fn kinds(mut self, kinds: impl Into<OneOrMore>) -> Self {
        match &mut self.find {
            Find::Text(text) => text.kinds = Some(kinds.into().0),
            Find::Calls(_) | Find::Order(_) | Find::Negatives(_) => self.misplaced = Some(Misplaced("kinds")),
        }
        self
    }

    fn narrowed(mut self, field: &'static str, narrow: impl FnOnce(&mut Calls)) -> Self {
        match &mut self.find {
            Find::Calls(calls) | Find::Negatives(calls) => narrow(calls),
            Find::Text(_) | Find::Order(_) => self.misplaced = Some(Misplaced(field)),
        }
        self
    }

    pub(super) fn misplaced(&self) -> Option<&'static str> {
        self.misplaced.map(|Misplaced(field)| field)
    }
}
