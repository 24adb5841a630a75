//! The attributes of one span.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::json::Raw;

/// Names and values, in order.
pub(super) struct Attributes<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Attributes<'a> {
    /// The attributes of a span: `[{"key", "value": {"stringValue" | …}}]`.
    pub(super) fn of(span: Raw<'a>) -> Self {
        let entries = span.field("attributes").into_iter().flat_map(Raw::elements);
        Self(
            entries
                .filter_map(|entry| {
                    let [key, value] = entry.fields(["key", "value"]);
                    Some((key?.string()?, value?))
                })
                .collect(),
        )
    }

    /// The value with one of these names, the first name that there is.
    pub(super) fn get(&self, names: &[&str]) -> Option<Raw<'a>> {
        names.iter().find_map(|name| self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value))
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
        self.0.iter().any(|(key, _)| key.starts_with(prefix))
    }

    /// How many entries a list has that is written as names `<list>.<number>.…`.
    pub(super) fn count(&self, list: &str) -> usize {
        let number = |key: &str| {
            let rest = key.strip_prefix(list)?.strip_prefix('.')?;
            rest.split('.').next()?.parse::<usize>().ok()
        };
        let most = self.0.iter().filter_map(|(key, _)| number(key)).max();
        // No list is longer than there are names.
        most.map_or(0, |most| most.saturating_add(1).min(self.0.len()))
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
