//! Where words of a part stand in the bytes of its original.

use std::ops::Range;

use spanvault_types::{ByteRange, Encoding, Part};

/// What is known of the place of a proof before the bytes are read.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// Exactly these bytes of the original.
    Exact(ByteRange),
    /// A stretch of the decoded text of a part.
    Decoded {
        part: ByteRange,
        encoding: Encoding,
        /// In the decoded text; not known where the part holds several texts.
        range: Option<Range<usize>>,
        words: String,
    },
}

impl Place {
    /// A stretch of `text`, the decoded text of `part`.
    pub(super) fn decoded(part: &Part, range: Range<usize>, text: &str) -> Self {
        let words = text.get(range.clone()).unwrap_or_default().to_owned();
        Self::Decoded { part: part.range, encoding: part.encoding, range: Some(range), words }
    }

    /// Words that stand somewhere in `part`.
    pub(super) fn somewhere_in(part: &Part, words: &str) -> Self {
        Self::Decoded { part: part.range, encoding: part.encoding, range: None, words: words.to_owned() }
    }

    /// The bytes, as closely as they can be told: where the words cannot be found again, the whole part.
    pub(super) fn resolve(&self, original: Option<&[u8]>) -> ByteRange {
        match self {
            Self::Exact(range) => *range,
            Self::Decoded { part, encoding, range, words } => original
                .and_then(|original| inside(*part, *encoding, range.as_ref(), words, original))
                .unwrap_or(*part),
        }
    }

    /// Whether the bytes are needed to tell.
    pub(super) const fn needs_bytes(&self) -> bool {
        matches!(self, Self::Decoded { .. })
    }
}

fn inside(
    part: ByteRange,
    encoding: Encoding,
    range: Option<&Range<usize>>,
    words: &str,
    original: &[u8],
) -> Option<ByteRange> {
    let start = usize::try_from(part.start).ok()?;
    let raw = original.get(start..usize::try_from(part.end).ok()?)?;
    let found = match (encoding, range) {
        (Encoding::Raw, Some(range)) => Some(range.clone()),
        (Encoding::JsonString, Some(range)) => in_json_string(raw, range),
        (Encoding::JsonValue, _) | (_, None) => in_json_value(raw, words),
    }?;
    let absolute = |at: usize| u64::try_from(start + at).ok();
    (found.end <= raw.len()).then_some(())?;
    Some(ByteRange { start: absolute(found.start)?, end: absolute(found.end)? })
}

/// The bytes of a JSON string literal that a stretch of its decoded text comes from.
fn in_json_string(raw: &[u8], range: &Range<usize>) -> Option<Range<usize>> {
    let mut decoded = 0;
    let mut at = 1;
    let mut start = None;
    while at < raw.len() {
        if decoded == range.start && start.is_none() {
            start = Some(at);
        }
        if decoded >= range.end {
            break;
        }
        let (raw_length, decoded_length) = unit_length(raw, at);
        at += raw_length;
        decoded += decoded_length;
    }
    (decoded == range.end).then_some(())?;
    Some(start?..at)
}

/// How many bytes the character at `at` takes in the literal, and how many decoded.
fn unit_length(raw: &[u8], at: usize) -> (usize, usize) {
    if raw.get(at) != Some(&b'\\') {
        return (1, 1);
    }
    if raw.get(at + 1) != Some(&b'u') {
        return (2, 1);
    }
    let unit = |at: usize| -> Option<u32> {
        let digits = std::str::from_utf8(raw.get(at..at + 6)?).ok()?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match (unit(at), unit(at + 6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, 4),
        (Some(0..=0x7F), _) => (6, 1),
        (Some(0x80..=0x7FF), _) => (6, 2),
        (Some(_three), _) => (6, 3),
        (None, _) => (2, 1),
    }
}

/// The first place in a JSON value where the words stand as they are, or escaped as serializers do.
fn in_json_value(raw: &[u8], words: &str) -> Option<Range<usize>> {
    let find = |needle: &[u8]| {
        memchr::memmem::find(raw, needle)
            .map(|start| start..start + needle.len())
            .filter(|_| !needle.is_empty())
    };
    find(words.as_bytes()).or_else(|| {
        let literal = serde_json::to_string(words).ok()?;
        let escaped = literal.strip_prefix('"')?.strip_suffix('"')?;
        find(escaped.as_bytes()).or_else(|| find(ascii_only(escaped).as_bytes()))
    })
}

/// The lower-case hexadecimal digit of the lowest four bits.
fn hex_digit(bits: u16) -> char {
    char::from_digit(u32::from(bits & 0xF), 16).unwrap_or('0')
}

/// A JSON literal's inside with every character beyond ASCII escaped.
fn ascii_only(escaped: &str) -> String {
    let mut ascii = String::with_capacity(escaped.len());
    let mut units = [0; 2];
    for character in escaped.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                ascii.push_str("\\u");
                ascii.extend([12, 8, 4, 0].map(|shift| hex_digit(*unit >> shift)));
            }
        }
    }
    ascii
}
