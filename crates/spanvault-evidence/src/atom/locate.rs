//! From places in a decoded text to places in the original's bytes.

use std::ops::Range;

use spanvault_types::{ByteRange, Encoding, Part};

use super::json::{decode_escape, decodes_to_prefix, strings, unescaped};

/// Finds the bytes of pieces of one text. What it gives decodes to the piece, or is the whole part.
#[derive(Debug)]
pub(crate) struct Locator<'a> {
    original: &'a [u8],
    text: &'a str,
    /// What is given for a piece that is not found.
    whole: Range<usize>,
    place: Place<'a>,
    /// Where the last piece was found that had to be searched for.
    found_at: usize,
    /// How many pieces were searched for in vain.
    misses: u32,
}

#[derive(Debug)]
enum Place<'a> {
    /// The text stands there as it is, from this byte on.
    Plain(usize),
    /// The text is the inside of a string literal.
    Literal(Literal<'a>),
    /// The text is several literals, one a block, joined by line ends.
    Blocks(Vec<(Range<usize>, Literal<'a>)>),
    /// The text is the inside of a literal that stands in the text of another literal.
    Nested { outer: Literal<'a>, inner: Literal<'a> },
    /// The text was gathered in a way that is not known here: pieces are searched for.
    Unknown,
}

/// How many pieces may be searched for in vain before the others are not searched for.
const MISSES_MAX: u32 = 16;

/// The shortest piece that is searched for, in bytes: a shorter one would be found where it does not stand.
const SEARCH_BYTES_MIN: usize = 4;

impl<'a> Locator<'a> {
    /// For the text of a part that holds one.
    pub(crate) fn new(part: &Part, text: &'a str, original: &'a [u8]) -> Self {
        let whole = range_of(part, original);
        let bytes = original.get(whole.clone()).unwrap_or_default();
        let place = match part.encoding {
            Encoding::Raw => Place::Plain(whole.start),
            Encoding::JsonString => match bytes {
                [b'"', inside @ .., b'"'] => Place::Literal(Literal::new(inside, whole.start + 1)),
                _ => Place::Unknown,
            },
            Encoding::JsonValue => blocks(bytes, whole.start, text).map_or(Place::Unknown, Place::Blocks),
        };
        Self::at(original, text, whole, place)
    }

    fn at(original: &'a [u8], text: &'a str, whole: Range<usize>, place: Place<'a>) -> Self {
        let found_at = whole.start;
        Self { original, text, whole, place, found_at, misses: 0 }
    }

    /// For a text that is the content of a string literal, or a token as it stands.
    pub(super) fn in_literal(
        original: &'a [u8],
        content: Range<usize>,
        text: &'a str,
        whole: Range<usize>,
    ) -> Self {
        let raw = original.get(content.clone()).unwrap_or_default();
        Self::at(original, text, whole, Place::Literal(Literal::new(raw, content.start)))
    }

    /// For a text that is the content of a literal in `mid`, which itself is the content of a literal.
    pub(super) fn nested(
        original: &'a [u8],
        outer: Range<usize>,
        mid: &'a str,
        inner: Range<usize>,
        text: &'a str,
        whole: Range<usize>,
    ) -> Self {
        let outer = Literal::new(original.get(outer.clone()).unwrap_or_default(), outer.start);
        let inner = Literal::new(mid.as_bytes().get(inner.clone()).unwrap_or_default(), inner.start);
        Self::at(original, text, whole, Place::Nested { outer, inner })
    }

    /// For a text of which nothing is known but that it stands somewhere in `whole`.
    pub(crate) fn searching(original: &'a [u8], text: &'a str, whole: Range<usize>) -> Self {
        Self::at(original, text, whole, Place::Unknown)
    }

    /// The bytes of `text[start..end]`. Fast where starts do not go back.
    pub(crate) fn locate(&mut self, start: usize, end: usize) -> ByteRange {
        let piece = self.text.get(start..end).unwrap_or_default();
        let found = match &mut self.place {
            Place::Plain(base) => Some(*base + start..*base + end),
            Place::Literal(literal) => literal.range(start, end),
            Place::Blocks(blocks) => {
                let at = blocks.partition_point(|(range, _)| range.end < end);
                blocks
                    .get_mut(at)
                    .filter(|(range, _)| range.start <= start)
                    .and_then(|(range, literal)| literal.range(start - range.start, end - range.start))
            }
            Place::Nested { outer, inner } => {
                inner.range(start, end).and_then(|range| outer.range(range.start, range.end))
            }
            Place::Unknown => None,
        };
        let found = found.filter(|range| self.says(range, piece)).or_else(|| self.search(piece));
        let range = found.unwrap_or_else(|| self.whole.clone());
        ByteRange { start: range.start as u64, end: range.end as u64 }
    }

    /// Whether the bytes of `range` decode to `piece`.
    fn says(&self, range: &Range<usize>, piece: &str) -> bool {
        let Some(bytes) = self.original.get(range.clone()) else { return false };
        match self.place {
            Place::Plain(_) => bytes == piece.as_bytes(),
            Place::Literal(_) | Place::Blocks(_) => decodes_to_prefix(bytes, piece) == Some(piece.len()),
            Place::Nested { .. } => unescaped(unescaped(bytes).as_bytes()) == piece,
            Place::Unknown => false,
        }
    }

    fn search(&mut self, piece: &str) -> Option<Range<usize>> {
        if piece.len() < SEARCH_BYTES_MIN || self.misses >= MISSES_MAX {
            return None;
        }
        let literal = serde_json::to_string(piece).ok()?;
        let escaped = match self.place {
            Place::Plain(_) => piece.as_bytes(),
            Place::Literal(_) | Place::Blocks(_) | Place::Nested { .. } | Place::Unknown => {
                literal.get(1..literal.len() - 1)?.as_bytes()
            }
        };
        let find = |from: usize| {
            let bytes = self.original.get(from..self.whole.end).unwrap_or_default();
            memchr::memmem::find(bytes, escaped).map(|at| from + at)
        };
        // Pieces come in order, so the next one is looked for behind the last one first. Having to go back costs
        // as much as a miss, so it is bounded like one.
        let ahead = find(self.found_at);
        if ahead.is_none() {
            self.misses += 1;
        }
        let at = ahead.or_else(|| find(self.whole.start))?;
        self.found_at = at;
        Some(at..at + escaped.len())
    }
}

/// The range of a part, within its original.
pub(super) fn range_of(part: &Part, original: &[u8]) -> Range<usize> {
    let bound = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(original.len());
    let (start, end) = (bound(part.range.start), bound(part.range.end));
    start..end.max(start)
}

/// The literals in `bytes` that are the blocks of `text`, in order; `None` where there is none.
fn blocks<'a>(bytes: &'a [u8], base: usize, text: &str) -> Option<Vec<(Range<usize>, Literal<'a>)>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    for (start, end) in strings(bytes) {
        let raw = bytes.get(start..end).unwrap_or_default();
        let rest = text.get(at..)?;
        if raw.is_empty() || rest.is_empty() {
            continue;
        }
        let Some(len) = decodes_to_prefix(raw, rest) else { continue };
        let after = text.as_bytes().get(at + len);
        if after.is_none() || after == Some(&b'\n') {
            blocks.push((at..at + len, Literal::new(raw, base + start)));
            at += len + 1;
            if at > text.len() {
                break;
            }
        }
    }
    (!blocks.is_empty()).then_some(blocks)
}

/// The inside of a string literal, and a place in it.
#[derive(Debug, Clone)]
struct Literal<'a> {
    raw: &'a [u8],
    /// Where `raw` starts.
    base: usize,
    /// The last place that was asked for, decoded and raw.
    decoded: usize,
    encoded: usize,
}

impl<'a> Literal<'a> {
    fn new(raw: &'a [u8], base: usize) -> Self {
        Self { raw, base, decoded: 0, encoded: 0 }
    }

    fn range(&mut self, start: usize, end: usize) -> Option<Range<usize>> {
        if start < self.decoded {
            (self.decoded, self.encoded) = (0, 0);
        }
        self.advance(start)?;
        let mut ahead = self.clone();
        ahead.advance(end)?;
        Some(self.base + self.encoded..self.base + ahead.encoded)
    }

    /// Moves on to a place in the decoded text; `None` where it is not between two characters.
    fn advance(&mut self, to: usize) -> Option<()> {
        while self.decoded < to {
            let ahead = to - self.decoded;
            let rest = self.raw.get(self.encoded..)?;
            let window = rest.get(..ahead.min(rest.len()))?;
            match memchr::memchr(b'\\', window) {
                None => {
                    if window.len() < ahead {
                        return None;
                    }
                    self.decoded += ahead;
                    self.encoded += ahead;
                }
                Some(plain) => {
                    let (c, len) = decode_escape(rest.get(plain..)?);
                    self.decoded += plain + c.len_utf8();
                    self.encoded += plain + len;
                }
            }
        }
        (self.decoded == to).then_some(())
    }
}
