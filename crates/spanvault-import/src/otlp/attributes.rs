//! The attributes of one span.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::json::Raw;

/// Lists stand in no more lists than this, and in no longer names.
const LEVELS_MAX: usize = 16;
const NAME_BYTES_MAX: usize = 512;

/// Values by name.
pub(super) struct Attributes<'a> {
    values: HashMap<Cow<'a, str>, Raw<'a>>,
    /// The numbers that occur after a name, which is then one of a list: `<list>.<number>.…`.
    numbers: HashMap<String, BTreeSet<usize>>,
}

impl<'a> Attributes<'a> {
    /// The attributes of a span: `[{"key", "value": {"stringValue" | …}}]`. Of several with one name the first counts.
    pub(super) fn of(span: Raw<'a>) -> Self {
        let mut values = HashMap::new();
        let mut numbers: HashMap<String, BTreeSet<usize>> = HashMap::new();
        for entry in span.field("attributes").into_iter().flat_map(Raw::elements) {
            let [key, value] = entry.fields(["key", "value"]);
            let (Some(key), Some(value)) = (key.and_then(|key| key.string()), value) else { continue };
            let levels = if key.len() > NAME_BYTES_MAX { 0 } else { LEVELS_MAX };
            for (at, _dot) in key.match_indices('.').take(levels) {
                let (list, rest) = key.split_at(at);
                let number = rest.get(1..).and_then(|rest| rest.split('.').next()?.parse().ok());
                if let Some(number) = number {
                    numbers.entry(list.to_owned()).or_default().insert(number);
                }
            }
            values.entry(key).or_insert(value);
        }
        Self { values, numbers }
    }

    /// The value with one of these names, the first name that there is.
    pub(super) fn get(&self, names: &[&str]) -> Option<Raw<'a>> {
        names.iter().find_map(|name| self.values.get(*name).copied())
    }

    /// The string literal with one of these names.
    pub(super) fn literal(&self, names: &[&str]) -> Option<Raw<'a>> {
        self.get(names)?.field("stringValue").filter(Raw::is_string)
    }

    /// The text with one of these names.
    pub(super) fn text(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        self.literal(names)?.string()
    }

    /// Whether a name begins so.
    pub(super) fn any(&self, prefix: &str) -> bool {
        self.values.keys().any(|key| key.starts_with(prefix))
    }

    /// The numbers of the entries, in order, of a list that is written as names `<list>.<number>.…`.
    pub(super) fn entries(&self, list: &str) -> impl Iterator<Item = usize> + use<'_, 'a> {
        self.numbers.get(list).into_iter().flatten().copied()
    }
}

/// A value of any of the kinds that attributes have; text that is JSON is what it says.
pub(super) fn value_of(value: Raw<'_>) -> Value {
    if let Some(text) = value.text_field("stringValue") {
        return Raw::whole(&text).map_or_else(|_fault| Value::from(text.as_ref()), |raw| raw.value());
    }
    plain(&value.value())
}

/// A structured value without the names of its kinds. Trees are no deeper than the reader of JSON makes them.
fn plain(value: &Value) -> Value {
    let only = value.as_object().and_then(|members| members.iter().next());
    let list = |value: &Value| value.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
    match only {
        Some((kind, value)) if kind == "arrayValue" => list(value).iter().map(plain).collect(),
        Some((kind, value)) if kind == "kvlistValue" => {
            let members = list(value).into_iter().filter_map(|entry| {
                Some((entry.get("key")?.as_str()?.to_owned(), plain(entry.get("value")?)))
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        Some((_kind, value)) => value.clone(),
        None => Value::Null,
    }
}
