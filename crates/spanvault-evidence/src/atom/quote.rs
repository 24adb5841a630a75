//! Quotations and code spans.

use std::borrow::Cow;
use std::ops::Range;

/// How far the end of a quotation is looked for, in bytes. A bound on what unclosed quotes can cost.
const QUOTE_BYTES_MAX: usize = 300;

/// Pairs of quote characters beyond ASCII.
const PAIRS: &[(char, char)] = &[
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('‚', '‘'),
    ('«', '»'),
    ('»', '«'),
    ('‹', '›'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
    ('〈', '〉'),
    ('＂', '＂'),
    ('〝', '〞'),
];

/// Whether a character beyond ASCII can open a quotation.
pub(super) fn opens(c: char) -> bool {
    PAIRS.iter().any(|(open, _)| *open == c)
}

/// The inside of the quotation that opens at `at`.
pub(super) fn open(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let mut limit = rest.len().min(QUOTE_BYTES_MAX);
    while !rest.is_char_boundary(limit) {
        limit -= 1;
    }
    let within = rest.get(..limit)?;
    let line = within.split('\n').next()?;
    let before = text.get(..at)?.chars().next_back();
    let after_word = before.is_some_and(char::is_alphanumeric);
    match rest.chars().next()? {
        '"' => {
            let inside = line.get(1..)?;
            let end = inside.find('"')?;
            let fits = !inside.starts_with([' ', '\t']) && !after_word;
            fits.then_some(at + 1..at + 1 + end)
        }
        '\'' => {
            let inside = line.get(1..)?;
            if after_word || inside.starts_with([' ', '\t', '\'']) {
                return None;
            }
            let end = inside.match_indices('\'').map(|(end, _)| end).find(|end| {
                let next = inside.get(end + 1..).and_then(|tail| tail.chars().next());
                !next.is_some_and(char::is_alphanumeric)
            })?;
            Some(at + 1..at + 1 + end)
        }
        '`' => {
            if before == Some('`') {
                return None;
            }
            // Three or more fence a block, whose lines are scanned as they are.
            let ticks = line.bytes().take(3).take_while(|b| *b == b'`').count();
            if ticks > 2 {
                return None;
            }
            let fence = line.get(..ticks)?;
            let inside = line.get(ticks..)?;
            let end = inside.find(fence)?;
            Some(at + ticks..at + ticks + end)
        }
        first => {
            let (_, close) = PAIRS.iter().find(|(open, _)| *open == first)?;
            let from = first.len_utf8();
            let end = line.get(from..)?.find(*close)?;
            // An apostrophe, or a mark that closed what opened before, quotes nothing.
            (!after_word || super::chunk::is_unspaced(before?)).then_some(at + from..at + from + end)
        }
    }
}

/// Whether a quoted string is the key of a JSON member.
pub(super) fn is_key(bytes: &[u8], end: usize) -> bool {
    let after = bytes.get(end + 1..).unwrap_or_default();
    let blanks = after.iter().take_while(|b| **b == b' ').count();
    after.get(blanks) == Some(&b':') && after.get(blanks + 1) != Some(&b':')
}

/// A quotation in normal form: white space runs are one space.
pub(super) fn normal(inside: &str) -> Cow<'_, str> {
    let trimmed = inside.trim();
    if trimmed.contains("  ") || trimmed.contains(['\t', '\r', '\u{a0}']) {
        return trimmed.split_whitespace().collect::<Vec<_>>().join(" ").into();
    }
    trimmed.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_quote_characters_quotes() {
        for (text, inside) in [
            ("\"The Raven\"", "The Raven"),
            ("'x y'", "x y"),
            ("`a.b()`", "a.b()"),
            ("``a`b``", "a`b"),
            ("“q”", "q"),
            ("«q»", "q"),
            ("「書名」", "書名"),
            ("'don't'", "don't"),
        ] {
            assert_eq!(open(text, 0).map(|range| &text[range]), Some(inside), "{text}");
        }
        for text in ["' x'", "\" x\"", "```rust", "'unclosed", "\"two\nlines\""] {
            assert_eq!(open(text, 0), None, "{text}");
        }
        assert_eq!(open("don't say 'x'", 3), None);
    }
}
