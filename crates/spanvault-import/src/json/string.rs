//! Decodes string literals.

use std::borrow::Cow;

/// The text of a checked string literal, which may or may not have its quotes.
///
/// A lone surrogate escape, which no Unicode text can hold, decodes to U+FFFD; the original keeps its bytes.
pub(crate) fn decode(literal: &str) -> Cow<'_, str> {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        text.push_str(plain);
        let mut chars = escaped.chars();
        match chars.next() {
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('u') => {
                let (c, used) = code_point(chars.as_str());
                text.push(c);
                rest = chars.as_str().get(used..).unwrap_or_default();
                continue;
            }
            Some(c) => text.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The character that the digits after `\u` stand for, and how many bytes it takes, a second escape included.
fn code_point(after: &str) -> (char, usize) {
    let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(high) = unit(after) else { return (char::REPLACEMENT_CHARACTER, 0) };
    if let Some(c) = char::from_u32(high) {
        return (c, 4);
    }
    let low = after.get(4..).and_then(|rest| rest.strip_prefix("\\u")).and_then(unit);
    match (high, low) {
        (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
            let scalar = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 10)
        }
        _ => (char::REPLACEMENT_CHARACTER, 4),
    }
}
