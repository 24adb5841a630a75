//! Reads YAML into JSON text.
//!
//! The events of the parser are written down as they come: no tree is built, nothing recurses, and an alias is a
//! name and never what it stands for, so that a small text cannot become a large one.

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::Unparsed;

/// The member name that stands for bytes which are written as base64.
pub(super) const BINARY: &str = "!!binary";

/// Characters that end a line in YAML 1.1 and are kept.
pub(super) const LINE_ENDS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// An open collection.
enum Open {
    Sequence {
        first: bool,
    },
    /// `key`: the next scalar is a name.
    Mapping {
        first: bool,
        key: bool,
    },
}

/// The JSON text of the first document in `text`.
pub(super) fn to_json(text: &str) -> Result<String, Unparsed> {
    let mut json = String::with_capacity(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut cursor = Cursor::default();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| Unparsed::Malformed { at: byte_at(text, error.marker().index()) })?;
        match event {
            Event::Scalar(value, style, _anchor, tag) => {
                let key = before_value(&mut json, &mut open);
                let value = match style {
                    _ if !value.contains(LINE_ENDS) => value,
                    ScalarStyle::SingleQuoted => folded(cursor.rest_at(text, span.start.index())).into(),
                    ScalarStyle::Literal | ScalarStyle::Folded => {
                        let indent = indent_below(cursor.rest_at(text, span.start.index()));
                        without_indents(&value, indent).into()
                    }
                    ScalarStyle::Plain | ScalarStyle::DoubleQuoted => value,
                };
                let tagged = |name: &str| tag.as_ref().is_some_and(|tag| tag.suffix == name);
                if key || tagged("str") || (style != ScalarStyle::Plain && !tagged("binary")) {
                    json.push_str(&literal(&value));
                } else if tagged("binary") {
                    let base64: String = value.split_whitespace().collect();
                    for piece in ["{", &literal(BINARY), ":", &literal(&base64), "}"] {
                        json.push_str(piece);
                    }
                } else {
                    json.push_str(&plain(&value));
                }
                after_value(&mut json, &mut open, key);
            }
            Event::Alias(number) => {
                let key = before_value(&mut json, &mut open);
                json.push_str(&literal(&format!("*{number}")));
                after_value(&mut json, &mut open, key);
            }
            Event::SequenceStart(..) => {
                before_collection(&mut json, &mut open)?;
                json.push('[');
                open.push(Open::Sequence { first: true });
            }
            Event::MappingStart(..) => {
                before_collection(&mut json, &mut open)?;
                json.push('{');
                open.push(Open::Mapping { first: true, key: true });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                json.push(if matches!(open.pop(), Some(Open::Sequence { .. })) { ']' } else { '}' });
                after_value(&mut json, &mut open, false);
            }
            Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
    }
    if json.is_empty() { Err(Unparsed::Truncated) } else { Ok(json) }
}

/// What the scalar in single quotes says that `text` begins with, as YAML 1.1 reads it.
///
/// Line ends and the white space around them are one: the first is a space, or nothing where more follow it; the
/// others stand for themselves, and so do U+2028 and U+2029 wherever they stand.
fn folded(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text.strip_prefix('\'').unwrap_or(text);
    loop {
        let end = rest.find(|c| c == '\'' || is_line_end(c)).unwrap_or(rest.len());
        let (words, after) = rest.split_at(end);
        if let Some(quoted) = after.strip_prefix("''") {
            said.push_str(words);
            said.push('\'');
            rest = quoted;
            continue;
        }
        if !after.starts_with(is_line_end) {
            said.push_str(words);
            return said;
        }
        said.push_str(words.trim_end_matches([' ', '\t']));
        rest = after.trim_start_matches(|c| is_line_end(c) || matches!(c, ' ' | '\t'));
        let breaks = after.get(..after.len() - rest.len()).unwrap_or_default().replace("\r\n", "\n");
        let mut ends =
            breaks.chars().filter(|c| is_line_end(*c)).map(|c| if LINE_ENDS.contains(&c) { c } else { '\n' });
        let first = ends.next().filter(|first| *first != '\n');
        let others: String = ends.collect();
        said.push_str(if first.is_none() && others.is_empty() { " " } else { "" });
        said.extend(first);
        said.push_str(&others);
    }
}

/// Whether a line ends with this character, in YAML 1.1.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}') || LINE_ENDS.contains(&c)
}

/// The text of a block as YAML 1.1 reads it, which cassettes are written in: the separators U+2028 and U+2029 end a line
/// there, so what follows them is the `indent` of the next line.
fn without_indents(text: &str, indent: usize) -> String {
    let mut bare = String::with_capacity(text.len());
    for line in text.split_inclusive(LINE_ENDS) {
        let spaces =
            if bare.ends_with(LINE_ENDS) { line.len() - line.trim_start_matches(' ').len() } else { 0 };
        bare.push_str(line.get(spaces.min(indent)..).unwrap_or_default());
    }
    bare
}

/// How deep the first line below the header of the block scalar in `text` stands.
fn indent_below(text: &str) -> usize {
    let lines = text.split('\n').skip(1);
    let mut indents = lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len());
    indents.next().unwrap_or_default()
}

/// A place that goes on through a text by characters.
#[derive(Default)]
struct Cursor {
    character: usize,
    byte: usize,
}

impl Cursor {
    /// What of `text` begins at the character with this number, which is none before the last one asked for.
    fn rest_at<'a>(&mut self, text: &'a str, character: usize) -> &'a str {
        let rest = text.get(self.byte..).unwrap_or_default();
        let ahead = character.saturating_sub(self.character);
        let bytes = rest.char_indices().nth(ahead).map_or(rest.len(), |(at, _)| at);
        (self.character, self.byte) = (self.character + ahead, self.byte + bytes);
        rest.get(bytes..).unwrap_or_default()
    }
}

/// The byte that the character with this number begins at.
fn byte_at(text: &str, character: usize) -> u64 {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at) as u64
}

fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A scalar without quotes: null, a truth value, a number as it stands, or else text.
fn plain(text: &str) -> String {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => "null".to_owned(),
        "true" | "True" | "TRUE" => "true".to_owned(),
        "false" | "False" | "FALSE" => "false".to_owned(),
        _ if serde_json::from_str::<serde_json::Number>(text).is_ok() => text.to_owned(),
        _ => literal(text),
    }
}

/// Writes what parts a value from the one before it; whether the value is a name.
fn before_value(json: &mut String, open: &mut [Open]) -> bool {
    match open.last_mut() {
        Some(Open::Sequence { first } | Open::Mapping { first, key: true }) => {
            if !std::mem::replace(first, false) {
                json.push(',');
            }
        }
        Some(Open::Mapping { key: false, .. }) | None => {}
    }
    matches!(open.last(), Some(Open::Mapping { key: true, .. }))
}

fn before_collection(json: &mut String, open: &mut [Open]) -> Result<(), Unparsed> {
    // A name that is itself a collection is more than JSON can say.
    if before_value(json, open) { Err(Unparsed::Malformed { at: 0 }) } else { Ok(()) }
}

/// Writes what follows a value, which was a name or not.
fn after_value(json: &mut String, open: &mut [Open], was_key: bool) {
    if let Some(Open::Mapping { key, .. }) = open.last_mut() {
        *key = !was_key;
        if was_key {
            json.push(':');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::to_json;

    #[test]
    fn separators_in_single_quotes_are_kept_wherever_they_stand_between_lines() {
        // As PyYAML writes these texts, which is what writes cassettes.
        for (yaml, said) in [
            ("'one\u{2028}\n  two'", "one\u{2028}\ntwo"),
            ("'one\u{2028}\n\n  two'", "one\u{2028}\n\ntwo"),
            ("'one\n\n\u{2028}  two'", "one\n\u{2028}two"),
            ("'one\n\n\n\u{2028}  two'", "one\n\n\u{2028}two"),
            ("'a\u{2028}\u{2029}  b'", "a\u{2028}\u{2029}b"),
            ("'a\u{2028}\n  '", "a\u{2028}\n"),
            ("'\u{2028}\n  a'", "\u{2028}\na"),
            ("'it''s\u{2028}  a \n  line that   goes\r\n  on'", "it's\u{2028}a line that   goes on"),
        ] {
            let json = to_json(&format!("k:\n- {yaml}\n- 'x\u{2028}  y'\n")).unwrap();
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(value["k"][0], said, "{yaml:?}");
            assert_eq!(value["k"][1], "x\u{2028}y", "{yaml:?}");
        }
    }
}
