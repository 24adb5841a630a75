//! JSON inside quoted YAML scalars: where its values stand in the YAML, and how such a piece is read.

use std::ops::Range;

use super::cutter::Said;
use super::yaml::LINE_ENDS;
use crate::Unparsed;
use crate::json::{Fault, Raw};

/// How a scalar is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Single,
    Double,
}

/// The objects in the arrays that a JSON object in the scalar at `scalar` holds under one of `lists`, and under one
/// of `beforehand`, as ranges of `text`. `None` where the scalar holds no object with such a list.
pub(super) fn pieces(
    text: &str,
    scalar: Range<usize>,
    lists: &[&str],
    beforehand: &[&str],
) -> Option<Vec<(Said, Range<usize>)>> {
    let written = text.get(scalar.clone())?;
    let (quotes, inner) = match written.trim_end().as_bytes() {
        [b'\'', .., b'\''] => (Quotes::Single, written.trim_end()),
        [b'"', .., b'"'] => (Quotes::Double, written.trim_end()),
        _ => return None,
    };
    let inner = inner.get(1..inner.len().checked_sub(1)?)?;
    let (json, places) = decode(inner, quotes);
    let object = Raw::whole(&json).ok().filter(Raw::is_object)?;
    let mut found = Vec::new();
    let mut listed = false;
    for (name, value) in object.members() {
        let said = if lists.contains(&name.as_ref()) && value.is_array() {
            listed = true;
            Said::Asked
        } else if beforehand.contains(&name.as_ref()) {
            Said::Beforehand
        } else {
            continue;
        };
        found.extend(value.elements().filter(Raw::is_object).map(|element| (said, element.range())));
    }
    let place = |at: u64| {
        let at = usize::try_from(at).ok()?;
        Some(scalar.start + 1 + places.get(at).copied().unwrap_or(inner.len()))
    };
    let ranges: Option<Vec<_>> =
        found.iter().map(|(said, range)| Some((*said, place(range.start)?..place(range.end)?))).collect();
    ranges.filter(|_| listed)
}

/// The JSON text that a piece of a scalar stands for.
///
/// Nothing around the piece says how its scalar was quoted. In double quotes JSON's own quotes are escaped.
pub(super) fn json_of(piece: &str) -> Result<String, Unparsed> {
    let after_bracket = piece.trim_start().strip_prefix('{').unwrap_or(piece).trim_start();
    let quotes = if after_bracket.starts_with("\\\"") { Quotes::Double } else { Quotes::Single };
    let (json, places) = decode(piece, quotes);
    match Raw::whole(&json) {
        Ok(_) => Ok(json),
        Err(Fault::Truncated) => Err(Unparsed::Truncated),
        Err(Fault::Unexpected { at }) => {
            Err(Unparsed::Malformed { at: places.get(at).copied().unwrap_or(at) as u64 })
        }
    }
}

/// The text that stands in quotes, and for each of its bytes the place that it comes from.
///
/// A line end and the white space around it are one space, as JSON has no line ends inside its strings.
fn decode(inner: &str, quotes: Quotes) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(inner.len());
    let mut places = Vec::with_capacity(inner.len());
    let mut chars = inner.char_indices().peekable();
    let mut push = |text: &mut String, c: char, at: usize| {
        text.push(c);
        places.resize(text.len(), at);
    };
    while let Some((at, c)) = chars.next() {
        match (quotes, c) {
            (_, '\n' | '\r') => {
                while chars.next_if(|(_, c)| c.is_ascii_whitespace()).is_some() {}
                // A line that ends with a backslash goes on without a space, after one before its next word.
                push(&mut text, ' ', at);
            }
            (Quotes::Single, c) if LINE_ENDS.contains(&c) => {
                while chars.next_if(|(_, c)| *c == ' ').is_some() {}
                push(&mut text, c, at);
            }
            (Quotes::Single, '\'') => {
                chars.next_if(|(_, c)| *c == '\'');
                push(&mut text, '\'', at);
            }
            (Quotes::Double, '\\') => {
                let Some((_, escape)) = chars.next() else { continue };
                match escape {
                    '\n' | '\r' => while chars.next_if(|(_, c)| matches!(c, ' ' | '\t' | '\n')).is_some() {},
                    'x' | 'u' | 'U' => {
                        let digits = match escape {
                            'x' => 2,
                            'u' => 4,
                            _ => 8,
                        };
                        let mut code = 0_u32;
                        for _ in 0..digits {
                            let digit = chars.next_if(|(_, c)| c.is_ascii_hexdigit());
                            let digit = digit.and_then(|(_, c)| c.to_digit(16)).unwrap_or_default();
                            code = code.wrapping_mul(16).wrapping_add(digit);
                        }
                        push(&mut text, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), at);
                    }
                    'n' => push(&mut text, '\n', at),
                    't' => push(&mut text, '\t', at),
                    'r' => push(&mut text, '\r', at),
                    'b' => push(&mut text, '\u{8}', at),
                    'f' => push(&mut text, '\u{c}', at),
                    '0' => push(&mut text, '\0', at),
                    'a' => push(&mut text, '\u{7}', at),
                    'e' => push(&mut text, '\u{1b}', at),
                    'v' => push(&mut text, '\u{b}', at),
                    'N' => push(&mut text, '\u{85}', at),
                    '_' => push(&mut text, '\u{a0}', at),
                    'L' => push(&mut text, '\u{2028}', at),
                    'P' => push(&mut text, '\u{2029}', at),
                    other => push(&mut text, other, at),
                }
            }
            (_, c) => push(&mut text, c, at),
        }
    }
    (text, places)
}
