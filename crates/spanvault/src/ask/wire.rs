//! The JSON form of a query. A field that is given is never null, never repeated and never unknown.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::error::QueryError;
use super::get::Get;
use super::matching::Match;
use super::query::{self, Calls, Find, Scope, Words};

/// One string or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOrMore(pub Vec<String>);

impl From<&str> for OneOrMore {
    fn from(one: &str) -> Self {
        Self(vec![one.to_owned()])
    }
}

impl From<String> for OneOrMore {
    fn from(one: String) -> Self {
        Self(vec![one])
    }
}

impl From<Vec<String>> for OneOrMore {
    fn from(several: Vec<String>) -> Self {
        Self(several)
    }
}

impl<const N: usize> From<[&str; N]> for OneOrMore {
    fn from(several: [&str; N]) -> Self {
        Self(several.map(str::to_owned).to_vec())
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    #[serde(rename = "in", default, skip_serializing_if = "is_everywhere")]
    scope: Scope,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    calls: Option<Calls>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    text: Option<Text>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    order: Option<[Side; 2]>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    negatives: Option<Negatives>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    nth: Option<i64>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    get: Option<String>,
}

/// Tool and arguments only: what is negative is not asked for by fate.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Negatives {
    #[serde(default, with = "one_or_more", skip_serializing_if = "Option::is_none")]
    tool: Option<Vec<String>>,
    #[serde(default, with = "fields", skip_serializing_if = "Vec::is_empty")]
    args: Vec<(String, Match)>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    args_exactly: Option<Value>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    any_arg: Option<Match>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    contains: Option<String>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    icontains: Option<String>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    regex: Option<String>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    quote: Option<String>,
    #[serde(default, with = "one_or_more", skip_serializing_if = "Option::is_none")]
    kinds: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    calls: Option<Calls>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    text: Option<Text>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    nth: Option<i64>,
}

fn is_everywhere(scope: &Scope) -> bool {
    *scope == Scope::default()
}

impl TryFrom<Query> for query::Query {
    type Error = QueryError;

    fn try_from(wire: Query) -> Result<Self, QueryError> {
        let mut found: Vec<Find> = Vec::new();
        found.extend(wire.calls.map(Find::Calls));
        found.extend(wire.text.map(Text::read).transpose()?.map(Find::Text));
        if let Some([first, second]) = wire.order {
            found.push(Find::Order(Box::new([first.read()?, second.read()?])));
        }
        found.extend(wire.negatives.map(|wire| {
            let Negatives { tool, args, args_exactly, any_arg } = wire;
            Find::Negatives(Calls { tool, args, args_exactly, any_arg, ..Calls::default() })
        }));
        let count = found.len();
        match found.pop() {
            Some(find) if count == 1 => {
                let get = wire.get.map(|word| word.parse()).transpose()?.unwrap_or(Get::Exists);
                Ok(Self::from_wire(wire.scope, find, wire.nth, get))
            }
            _none_or_several => Err(QueryError::Find { found: count }),
        }
    }
}

impl From<query::Query> for Query {
    fn from(query: query::Query) -> Self {
        let mut wire = Self {
            scope: query.scope,
            nth: query.nth,
            get: (query.get != Get::Exists).then(|| query.get.to_string()),
            ..Self::default()
        };
        match query.find {
            Find::Calls(calls) => wire.calls = Some(calls),
            Find::Text(text) => wire.text = Some(Text::write(text)),
            Find::Order(sides) => wire.order = Some(sides.map(Side::write)),
            Find::Negatives(Calls { tool, args, args_exactly, any_arg, .. }) => {
                wire.negatives = Some(Negatives { tool, args, args_exactly, any_arg });
            }
        }
        wire
    }
}

impl Side {
    fn read(self) -> Result<query::Side, QueryError> {
        let find = match (self.calls, self.text) {
            (Some(calls), None) => Find::Calls(calls),
            (None, Some(text)) => Find::Text(text.read()?),
            (None, None) => return Err(QueryError::field("order", "each side needs calls or text")),
            (Some(_), Some(_)) => {
                return Err(QueryError::field("order", "a side has calls or text, not both"));
            }
        };
        Ok(query::Side { find, nth: self.nth })
    }

    fn write(side: query::Side) -> Self {
        let mut wire = Self { nth: side.nth, ..Self::default() };
        match side.find {
            Find::Calls(calls) | Find::Negatives(calls) => wire.calls = Some(calls),
            Find::Text(text) => wire.text = Some(Text::write(text)),
            Find::Order(_) => {}
        }
        wire
    }
}

impl Text {
    fn read(self) -> Result<query::Text, QueryError> {
        let mut words = Vec::new();
        words.extend(self.contains.map(Words::Contains));
        words.extend(self.icontains.map(Words::ContainsAnyCase));
        words.extend(self.regex.map(Words::Regex));
        match (self.after, self.quote) {
            (Some(anchor), Some(quote)) => words.push(Words::QuoteAfter { anchor, quote }),
            (None, None) => {}
            (Some(_), None) => return Err(QueryError::field("text.after", "needs `quote` beside it")),
            (None, Some(_)) => return Err(QueryError::field("text.quote", "needs `after` beside it")),
        }
        let count = words.len();
        match words.pop() {
            Some(words) if count == 1 => Ok(query::Text { words, kinds: self.kinds }),
            _none_or_several => Err(QueryError::field(
                "text",
                format!("exactly one of contains, icontains, regex and after with quote, not {count}"),
            )),
        }
    }

    fn write(text: query::Text) -> Self {
        let mut wire = Self { kinds: text.kinds, ..Self::default() };
        match text.words {
            Words::Contains(words) => wire.contains = Some(words),
            Words::ContainsAnyCase(words) => wire.icontains = Some(words),
            Words::Regex(pattern) => wire.regex = Some(pattern),
            Words::QuoteAfter { anchor, quote } => (wire.after, wire.quote) = (Some(anchor), Some(quote)),
        }
        wire
    }
}

/// Reads a field that is there: null is no value, because dropping a filter would widen the search.
pub(super) fn given<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A string or a list of strings.
pub(super) mod one_or_more {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Value};
    use serde::de::Error as _;

    #[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        values: &Option<Vec<String>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match values.as_deref() {
            Some([one]) => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<String>>, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Value::String(one) = value {
            return Ok(Some(vec![one]));
        }
        let several = Vec::<String>::deserialize(value);
        several.map(Some).map_err(|_other| D::Error::custom("expected a string or a list of strings"))
    }
}

/// An object of matches whose names do not repeat.
pub(super) mod fields {
    use super::{Deserializer, FieldsVisitor, Match, SerializeMap, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        fields: &[(String, Match)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(fields.len()))?;
        for (name, wanted) in fields {
            map.serialize_entry(name, wanted)?;
        }
        map.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, Match)>, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Vec<(String, Match)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of argument names and matches")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields: Self::Value = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if fields.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            let wanted = map.next_value::<Value>()?;
            let wanted = Match::from_json(wanted)
                .map_err(|problem| A::Error::custom(format_args!("`{name}`: {problem}")))?;
            fields.push((name, wanted));
        }
        Ok(fields)
    }
}
