//! Where decoded words stand in the bytes of an original.
//!
//! A part's text was decoded from a JSON string, gathered from a JSON value, or is the bytes themselves. The
//! way back is walked, never guessed: where the words cannot be found again the whole part stands for them.

use std::ops::Range;

use memchr::{memchr, memmem};
use spanvault_types::{ByteRange, Encoding, Part};

/// Finds words of one part in its original. Asked in ascending order, it walks the part once.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    part: &'a Part,
    text: &'a str,
    raw: &'a [u8],
    /// A place that is known: a byte of `text` and the byte of `raw` that it was decoded from.
    decoded: usize,
    undecoded: usize,
    /// How many searches found nothing.
    misses: usize,
}

/// After how many searches in vain a part is not searched any more.
const MISSES_MAX: usize = 16;

impl<'a> Places<'a> {
    /// `text` is the decoded text of `part`, a part of `original`.
    pub(crate) fn new(part: &'a Part, text: &'a str, original: &'a [u8]) -> Self {
        let start = usize::try_from(part.range.start).unwrap_or(usize::MAX);
        let end = usize::try_from(part.range.end).unwrap_or(usize::MAX);
        let mut raw = original.get(start..end).unwrap_or_default();
        if part.encoding == Encoding::JsonString {
            raw = raw.strip_suffix(b"\"").unwrap_or(raw);
        }
        let mut places = Self { part, text, raw, decoded: 0, undecoded: 0, misses: 0 };
        places.rewind();
        places
    }

    fn rewind(&mut self) {
        self.decoded = 0;
        self.undecoded =
            usize::from(self.part.encoding == Encoding::JsonString && self.raw.first() == Some(&b'"'));
    }

    /// The bytes in the original that say `words`, a range of the text.
    pub(crate) fn of(&mut self, words: Range<usize>) -> ByteRange {
        let found = match self.part.encoding {
            Encoding::Raw => {
                (self.raw.get(words.clone()) == self.text.as_bytes().get(words.clone())).then_some(words)
            }
            Encoding::JsonString => self.in_string(&words),
            Encoding::JsonValue => self.search(&words),
        };
        match found {
            Some(found) => {
                let base = self.part.range.start;
                ByteRange { start: base + found.start as u64, end: base + found.end as u64 }
            }
            None => self.part.range,
        }
    }

    fn in_string(&mut self, words: &Range<usize>) -> Option<Range<usize>> {
        if words.start < self.decoded {
            self.rewind();
        }
        let start = self.walk_to(words.start)?;
        let end = self.walk_to(words.end)?;
        let decoded: String = serde_json::from_slice(&quoted(self.raw.get(start..end)?)).ok()?;
        (Some(decoded.as_str()) == self.text.get(words.clone())).then_some(start..end)
    }

    /// The raw byte at which the decoded byte `target` begins.
    fn walk_to(&mut self, target: usize) -> Option<usize> {
        while self.decoded < target {
            let rest = self.raw.get(self.undecoded..)?;
            let plain = memchr(b'\\', rest).unwrap_or(rest.len()).min(target - self.decoded);
            if plain > 0 {
                self.decoded += plain;
                self.undecoded += plain;
                continue;
            }
            let (raw, decoded) = escape(rest)?;
            self.undecoded += raw;
            self.decoded += decoded;
        }
        (self.decoded == target).then_some(self.undecoded)
    }

    /// Looks for the words as a JSON string would write them, from where the last ones stood.
    fn search(&mut self, words: &Range<usize>) -> Option<Range<usize>> {
        if self.misses == MISSES_MAX {
            return None;
        }
        let written = serde_json::to_string(self.text.get(words.clone())?).ok()?;
        let needle = written.as_bytes().get(1..written.len() - 1).filter(|needle| !needle.is_empty())?;
        let Some(at) = memmem::find(self.raw.get(self.undecoded..)?, needle) else {
            self.misses += 1;
            return None;
        };
        let start = self.undecoded + at;
        self.undecoded = start + needle.len();
        Some(start..self.undecoded)
    }
}

fn quoted(raw: &[u8]) -> Vec<u8> {
    [b"\"", raw, b"\""].concat()
}

/// The lengths of the escape at the head of `raw`: as written, and as decoded.
fn escape(raw: &[u8]) -> Option<(usize, usize)> {
    if raw.get(1)? != &b'u' {
        return Some((2, 1));
    }
    let unit = hex4(raw.get(2..6)?)?;
    if (0xD800..0xDC00).contains(&unit) {
        let low = raw.get(6..12).filter(|low| low.starts_with(b"\\u")).and_then(|low| hex4(low.get(2..)?));
        // A lone surrogate decodes to U+FFFD, which takes three bytes.
        return Some(if low.is_some_and(|low| (0xDC00..0xE000).contains(&low)) { (12, 4) } else { (6, 3) });
    }
    Some((6, char::from_u32(unit).map_or(3, char::len_utf8)))
}

fn hex4(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use spanvault_types::PartBody;

    use super::*;

    fn part(original: &[u8], encoding: Encoding, text: &str) -> Part {
        let range = ByteRange { start: 0, end: original.len() as u64 };
        Part { range, encoding, body: PartBody::Text(text.to_owned()) }
    }

    fn found<'a>(original: &'a str, encoding: Encoding, text: &str, words: &str) -> &'a str {
        let part = part(original.as_bytes(), encoding, text);
        let at = text.find(words).unwrap();
        let range = Places::new(&part, text, original.as_bytes()).of(at..at + words.len());
        &original[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
    }

    #[test]
    fn words_behind_escapes_are_found_in_the_raw_string() {
        let original = r#""tab\t, é \u00e9 \ud83d\ude00, then \"quoted\" words""#;
        let text: String = serde_json::from_str(original).unwrap();
        assert_eq!(found(original, Encoding::JsonString, &text, "then"), "then");
        assert_eq!(found(original, Encoding::JsonString, &text, "\"quoted\" words"), r#"\"quoted\" words"#);
        assert_eq!(found(original, Encoding::JsonString, &text, "😀"), r"\ud83d\ude00");
    }

    #[test]
    fn words_gathered_from_a_value_are_searched_and_otherwise_the_part_stands_for_them() {
        let original = r#"[{"text":"one"},{"text":"two\nthree"}]"#;
        assert_eq!(found(original, Encoding::JsonValue, "one\ntwo\nthree", "two\nthree"), r"two\nthree");
        assert_eq!(found(original, Encoding::JsonValue, "one\ntwo\nthree", "one\ntwo"), original);
    }

    #[test]
    fn ranges_that_lie_outside_the_original_do_no_harm() {
        let mut part = part(b"\"abc\"", Encoding::JsonString, "abc");
        part.range = ByteRange { start: 3, end: 900 };
        assert_eq!(Places::new(&part, "abc", b"\"abc\"").of(0..3), part.range);
    }

    #[test]
    fn asking_backwards_walks_again() {
        let original = br#""a\nb\nc""#;
        let part = part(original, Encoding::JsonString, "a\nb\nc");
        let mut places = Places::new(&part, "a\nb\nc", original);
        assert_eq!(places.of(4..5), ByteRange { start: 7, end: 8 });
        assert_eq!(places.of(2..3), ByteRange { start: 4, end: 5 });
    }
}
