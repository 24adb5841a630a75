//! One-line renderings of calls and words, for digests, checkpoints and summaries. All are cut to a length.

use spanvault_types::{Call, Position};

use crate::obligation::command_of;
use crate::{CallEffect, NegativeKind};

/// The pointer to a span.
pub(crate) fn pointer(span: Position) -> String {
    format!("s{span}")
}

/// `text` on one line, at most `max` bytes long, with an ellipsis where it was cut.
pub(crate) fn short(text: &str, max: usize) -> String {
    let mut line = String::with_capacity(max.min(text.len()) + 4);
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > max {
            let mut room = max.saturating_sub(line.len() + 4).min(word.len());
            while !word.is_char_boundary(room) {
                room -= 1;
            }
            if room > 8 || line.is_empty() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&word[..room]);
            }
            line.push('…');
            return line;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// A call by its tool and what it is about.
pub(crate) fn call_line(call: &Call, effect: &CallEffect, max: usize) -> String {
    let about = match command_of(call) {
        Some(command) => format!("`{}`", short(command, max)),
        None => match (argument(call, &["pattern", "query", "regex"]), effect.paths.first()) {
            (Some(search), Some(path)) => {
                format!("\"{}\" in {}", short(search, max / 2), tail(path, max / 2))
            }
            (Some(search), None) => format!("\"{}\"", short(search, max)),
            (None, Some(path)) => tail(path, max),
            (None, None) => short(&arguments(call), max),
        },
    };
    if about.is_empty() { call.tool.clone() } else { format!("{} {about}", short(&call.tool, 60)) }
}

/// The end of a path, which tells more than its beginning.
pub(crate) fn tail(path: &str, max: usize) -> String {
    if path.len() <= max {
        return path.to_owned();
    }
    let mut start = path.len() - max;
    while !path.is_char_boundary(start) {
        start += 1;
    }
    format!("…{}", &path[start..])
}

fn argument<'a>(call: &'a Call, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| call.args.get(name)?.as_str())
}

/// The arguments that are short enough to be read in a line.
fn arguments(call: &Call) -> String {
    let Some(fields) = call.args.as_object() else { return String::new() };
    let shown: Vec<_> = fields
        .iter()
        .filter_map(|(name, value)| match value {
            serde_json::Value::String(text) => Some(format!("{name}={}", short(text, 40))),
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Some(format!("{name}={value}")),
            serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
        })
        .take(4)
        .collect();
    shown.join(" ")
}

/// What a negative result says, in a line.
pub(crate) fn negative_line(kind: NegativeKind, call: &str, words: &str) -> String {
    match kind {
        NegativeKind::FoundNothing => format!("found nothing: {call}"),
        NegativeKind::Failed | NegativeKind::NotExecuted if words.is_empty() => {
            format!("{}: {call}", kind.as_str())
        }
        NegativeKind::Failed | NegativeKind::NotExecuted => {
            format!("{}: {call}: {}", kind.as_str(), short(words, 80))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_a_word_and_says_so() {
        assert_eq!(short("one two\n three", 40), "one two three");
        assert_eq!(short("one two three", 9), "one two…");
        assert_eq!(short(&"é".repeat(50), 10), "ééé…");
        assert_eq!(short("", 0), "");
    }
}
