//! Tells formats apart by the lines that a file begins with.

use serde_json::Value;

use crate::Confidence;
use crate::json::{is_space, sketch};

/// As many lines tell what a file is; a file may start with lines that say little.
const LINES_MAX: usize = 48;

/// The objects on the first lines of a file, as far as the head shows them.
pub(crate) fn first_lines(head: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(head);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.split('\n').filter(|line| line.bytes().any(|byte| !is_space(byte)));
    lines.take(LINES_MAX).filter_map(sketch).filter(Value::is_object).collect()
}

/// As sure as the surest of the first lines makes.
pub(crate) fn surest(head: &[u8], of_line: impl Fn(&Value) -> Confidence) -> Confidence {
    first_lines(head).iter().map(of_line).max().unwrap_or(Confidence::No)
}

/// The text of a member; empty where there is none.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether all of these members are there.
pub(crate) fn has_all(value: &Value, names: &[&str]) -> bool {
    names.iter().all(|name| value.get(*name).is_some())
}
