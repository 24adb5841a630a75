//! Searching for words: in decoded parts, in atoms, in bytes that were never parsed.

use std::ops::Range;

use memchr::memmem;
use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;
use spanvault_types::PartBody;

use super::error::QueryError;
use super::kinds::Kinds;
use super::matching::leaves;
use super::query::{Text, Words};
use super::sieve::Needed;

/// A text search ready to run.
#[derive(Debug)]
pub(super) struct TextFilter {
    pub(super) kinds: Kinds,
    searcher: Searcher,
    /// What every text needs in which the words stand; `None` where nothing is known.
    needed: Option<Needed>,
}

#[derive(Debug)]
enum Searcher {
    Contains(memmem::Finder<'static>),
    Regex {
        pattern: Regex,
        /// Whether what it finds depends on where a text begins and ends, or on how its lines were joined.
        elsewhere: bool,
    },
    QuoteAfter {
        anchor: memmem::Finder<'static>,
        open: String,
        close: String,
    },
}

/// Words that were found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// What proves it: the words, or the string inside the quote characters.
    pub(super) range: Range<usize>,
    /// What the answer's value is.
    pub(super) value: Range<usize>,
}

/// What a search of bytes that were never parsed says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteSearch {
    /// The words stand there.
    Found,
    /// They do not.
    NotThere,
    /// Only parsing would tell.
    Unclear,
}

impl TextFilter {
    pub(super) fn new(text: &Text) -> Result<Self, QueryError> {
        let kinds = Kinds::new(text.kinds.as_deref())?;
        let (searcher, needed) = Searcher::new(&text.words)?;
        if matches!(searcher, Searcher::QuoteAfter { .. }) && !kinds.atoms.is_empty() {
            return Err(QueryError::field(
                "text.kinds",
                "an atom cannot hold an anchor and a quotation; name parts",
            ));
        }
        Ok(Self { kinds, searcher, needed })
    }

    /// What an original must hold so that the words can stand in a part of it; `None` where it may hold anything, and
    /// where not only parts are searched.
    pub(super) fn needed(&self) -> Option<&Needed> {
        let only_parts = self.kinds.atoms.is_empty() && !self.kinds.original;
        self.needed.as_ref().filter(|_needed| only_parts)
    }

    /// Calls `each` with every place in `text` where the words stand, in order, without overlaps.
    pub(super) fn search(&self, text: &str, mut each: impl FnMut(Found)) {
        match &self.searcher {
            Searcher::Contains(words) => {
                for start in words.find_iter(text.as_bytes()) {
                    let range = start..start + words.needle().len();
                    each(Found { range: range.clone(), value: range });
                }
            }
            Searcher::Regex { pattern, .. } => {
                for captures in pattern.captures_iter(text) {
                    let Some(whole) = captures.get(0).filter(|whole| !whole.is_empty()) else { continue };
                    let value = captures.get(1).unwrap_or(whole);
                    each(Found { range: whole.range(), value: value.range() });
                }
            }
            Searcher::QuoteAfter { anchor, open, close } => {
                for start in anchor.find_iter(text.as_bytes()) {
                    let after = start + anchor.needle().len();
                    if let Some(range) = quoted(text, after, open, close) {
                        each(Found { range: range.clone(), value: range });
                    }
                }
            }
        }
    }

    /// Whether the words stand in `text` at all.
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        match &self.searcher {
            Searcher::Contains(words) => words.find(text.as_bytes()).is_some(),
            Searcher::Regex { .. } | Searcher::QuoteAfter { .. } => {
                let mut occurs = false;
                self.search(text, |_found| occurs = true);
                occurs
            }
        }
    }

    /// Looks for the words in bytes that were never parsed: as they stand, and with escapes resolved.
    ///
    /// Words that stand inside a string of a JSON record, or of a JSON text inside such a string, stand in its bytes
    /// when escapes are resolved once for each level. So their absence there is proof, but not where they may span
    /// lines, because parsing joins blocks by line ends, nor where a pattern asks where a text begins or ends.
    pub(super) fn search_bytes(&self, bytes: &[u8]) -> ByteSearch {
        let mut text = String::from_utf8_lossy(bytes);
        for _level in 0..=ESCAPE_LEVELS_MAX {
            if self.occurs_in(&text) {
                return ByteSearch::Found;
            }
            if !text.contains('\\') {
                return self.unless_joined(&text);
            }
            text = resolve_escapes(&text).into();
        }
        ByteSearch::Unclear
    }

    /// What not to have found the words in a text without escapes says.
    fn unless_joined(&self, text: &str) -> ByteSearch {
        let unclear = match &self.searcher {
            Searcher::Contains(words) => words.needle().contains(&b'\n'),
            Searcher::Regex { elsewhere, .. } => *elsewhere,
            Searcher::QuoteAfter { anchor, .. } => {
                anchor.needle().contains(&b'\n') || anchor.find(text.as_bytes()).is_some()
            }
        };
        if unclear { ByteSearch::Unclear } else { ByteSearch::NotThere }
    }
}

/// How many levels of JSON inside JSON strings are looked through in bytes that were never parsed.
const ESCAPE_LEVELS_MAX: usize = 4;

impl Searcher {
    fn new(words: &Words) -> Result<(Self, Option<Needed>), QueryError> {
        let given = |field: &str, text: &str| {
            if text.is_empty() { Err(QueryError::field(format!("text.{field}"), "is empty")) } else { Ok(()) }
        };
        let finder = |text: &str| memmem::Finder::new(text.as_bytes()).into_owned();
        match words {
            Words::Contains(text) => {
                given("contains", text)?;
                Ok((Self::Contains(finder(text)), Needed::by_text(text.as_bytes())))
            }
            Words::ContainsAnyCase(text) => {
                given("icontains", text)?;
                let escaped = regex::escape(text);
                let pattern = RegexBuilder::new(&escaped).case_insensitive(true).build();
                let pattern =
                    pattern.map_err(|error| QueryError::field("text.icontains", error.to_string()))?;
                let syntax = ParserBuilder::new().case_insensitive(true).build().parse(&escaped);
                let needed = syntax.ok().and_then(|syntax| Needed::by_pattern(&syntax));
                Ok((Self::Regex { pattern, elsewhere: text.contains('\n') }, needed))
            }
            Words::Regex(text) => {
                given("regex", text)?;
                let pattern =
                    Regex::new(text).map_err(|error| QueryError::field("text.regex", error.to_string()))?;
                let syntax = regex_syntax::parse(text).ok();
                let elsewhere = syntax.as_ref().is_none_or(depends_on_place);
                Ok((Self::Regex { pattern, elsewhere }, syntax.as_ref().and_then(Needed::by_pattern)))
            }
            Words::QuoteAfter { anchor, quote } => {
                given("after", anchor)?;
                given("quote", quote)?;
                let (open, close) = quote_pair(quote);
                let needed = Needed::by_text(anchor.as_bytes());
                Ok((Self::QuoteAfter { anchor: finder(anchor), open, close }, needed))
            }
        }
    }
}

/// Whether a pattern asks where a text begins or ends, or can match a line end.
fn depends_on_place(pattern: &Hir) -> bool {
    let mut pending = vec![pattern];
    while let Some(part) = pending.pop() {
        let place = match part.kind() {
            HirKind::Empty => false,
            HirKind::Literal(literal) => literal.0.contains(&b'\n'),
            HirKind::Class(Class::Unicode(class)) => {
                class.ranges().iter().any(|range| range.start() <= '\n' && '\n' <= range.end())
            }
            HirKind::Class(Class::Bytes(class)) => {
                class.ranges().iter().any(|range| range.start() <= b'\n' && b'\n' <= range.end())
            }
            HirKind::Look(_) => part.properties().look_set().contains_anchor(),
            HirKind::Repetition(repetition) => {
                pending.push(&repetition.sub);
                false
            }
            HirKind::Capture(capture) => {
                pending.push(&capture.sub);
                false
            }
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                pending.extend(parts);
                false
            }
        };
        if place {
            return true;
        }
    }
    false
}

/// The strings of a part that a search looks at. Of a call: its tool, and the names and values of its arguments.
pub(super) fn strings_of(body: &PartBody) -> Vec<&str> {
    match body {
        PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => vec![text],
        PartBody::Result(outcome) => vec![&outcome.text],
        PartBody::Call(call) => {
            let mut strings = vec![call.tool.as_str()];
            match call.args.as_object() {
                Some(args) => {
                    for (name, value) in args {
                        strings.push(name);
                        strings.extend(leaves(value).filter_map(leaf_text));
                    }
                }
                None => strings.extend(leaves(&call.args).filter_map(leaf_text)),
            }
            strings
        }
    }
}

fn leaf_text(leaf: &Value) -> Option<&str> {
    match leaf {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.as_str()),
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The string in quote characters that follows `at`, white space apart.
fn quoted(text: &str, at: usize, open: &str, close: &str) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let trimmed = rest.trim_start();
    let start = at + (rest.len() - trimmed.len()) + open.len();
    let inside = trimmed.strip_prefix(open)?;
    let length = inside.find(close).filter(|length| *length > 0)?;
    Some(start..start + length)
}

/// The opening and the closing form of a quote character, or of two of them.
fn quote_pair(quote: &str) -> (String, String) {
    const PAIRS: [(&str, &str); 14] = [
        ("“", "”"),
        ("„", "“"),
        ("‘", "’"),
        ("‚", "‘"),
        ("«", "»"),
        ("»", "«"),
        ("‹", "›"),
        ("「", "」"),
        ("『", "』"),
        ("《", "》"),
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("<", ">"),
    ];
    let pair = PAIRS.iter().find(|(open, _close)| *open == quote);
    let mut characters = quote.chars();
    match (pair, characters.next(), characters.next(), characters.next()) {
        (Some((open, close)), ..) => ((*open).to_owned(), (*close).to_owned()),
        (None, Some(open), Some(close), None) if open != close => (open.to_string(), close.to_string()),
        _same_on_both_sides => (quote.to_owned(), quote.to_owned()),
    }
}

/// `text` with every JSON escape resolved, whether or not it stands in a string; what is no escape stays.
fn resolve_escapes(text: &str) -> String {
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        resolved.push_str(&rest[..at]);
        let (character, length) = escape(&rest[at..]);
        resolved.push(character);
        rest = &rest[at + length..];
    }
    resolved.push_str(rest);
    resolved
}

/// The character that the escape at the start of `text` stands for, and the bytes that it takes.
fn escape(text: &str) -> (char, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'"') => ('"', 2),
        Some(b'/') => ('/', 2),
        Some(b'\\') => ('\\', 2),
        Some(b'u') => match (unit(0), unit(6)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let scalar = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(unit), _next) => (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _next) => ('\\', 1),
        },
        _no_escape => ('\\', 1),
    }
}
