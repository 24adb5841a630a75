//! Decodes string literals.

use std::borrow::Cow;

/// The text of a checked string literal.
///
/// A lone surrogate escape, which no Unicode text can hold, decodes to U+FFFD; the original keeps its bytes.
pub(crate) fn decode(literal: &str) -> Cow<'_, str> {
    decode_inner(literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default())
}

/// The text of what stands between the quotes of a string literal.
pub(crate) fn decode_inner(inner: &str) -> Cow<'_, str> {
    let Some(first) = inner.find('\\') else { return Cow::Borrowed(inner) };
    let mut text = String::with_capacity(inner.len());
    let (plain, mut rest) = inner.split_at(first);
    text.push_str(plain);
    while let Some(escape) = rest.as_bytes().get(1) {
        let mut used = 2;
        match escape {
            b'b' => text.push('\u{8}'),
            b'f' => text.push('\u{c}'),
            b'n' => text.push('\n'),
            b'r' => text.push('\r'),
            b't' => text.push('\t'),
            b'u' => {
                let (c, digits) = code_point(rest.get(2..).unwrap_or_default());
                text.push(c);
                used += digits;
            }
            other => text.push(char::from(*other)),
        }
        let after = rest.get(used..).unwrap_or_default();
        // Escapes stand close together: a plain loop is faster than a search that has to be set up.
        let plain = after.bytes().position(|byte| byte == b'\\').unwrap_or(after.len());
        let (plain, next) = after.split_at(plain);
        text.push_str(plain);
        rest = next;
    }
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
