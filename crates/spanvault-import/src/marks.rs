//! What a sketched object says of itself.

use serde_json::Value;

/// The text of a member; empty where there is none.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether all of these members are there.
pub(crate) fn has_all(value: &Value, names: &[&str]) -> bool {
    names.iter().all(|name| value.get(*name).is_some())
}
