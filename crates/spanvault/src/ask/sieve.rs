//! What the bytes of an original must hold so that words that are looked for can stand in what it says.
//!
//! Reading an original costs far more than looking through its bytes. So from what is looked for those pieces are taken
//! that every match holds, and of those the words (letters and digits of ASCII): these stand in the bytes as they stand
//! in the text, if the format keeps words and no escape hides one (`spanvault_import::keeps_words`). An original without
//! any of them holds no match. Whatever is not that simple is read: a pattern without such words, another format, an
//! original with escaped letters.

use std::cmp::Reverse;

use aho_corasick::AhoCorasick;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};
use spanvault_import::{may_be_added, writes_plainly};

use super::text::TextFilter;

/// Shorter words stand everywhere.
const WORD_BYTES_MIN: usize = 2;
/// Longer words rule out no more.
const WORD_BYTES_ENOUGH: usize = 6;
/// So many words are looked for at once without getting slower.
const WORDS_MAX: usize = 64;
/// What words are cut to where there are more of them: beginnings that they share.
const WORD_BYTES_CUT: usize = 4;
/// So many parts of a sequence are looked at for what a match of them begins with.
const PARTS_MAX: usize = 64;
/// As many parts as a beginning is made of.
const PARTS_AT_ONCE: usize = 16;

/// Tells from the bytes of an original that what it says is nothing that is looked for.
#[derive(Debug, Clone)]
pub struct Sieve(AhoCorasick);

/// Words one of which stands in every match; never none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needed(Vec<Vec<u8>>);

impl Sieve {
    /// A sieve for all of these searches; `None` where one of them lets everything through.
    pub(super) fn of<'a>(filters: impl IntoIterator<Item = &'a TextFilter>) -> Option<Self> {
        let mut words = Vec::new();
        for filter in filters {
            words.extend_from_slice(&filter.needed()?.0);
        }
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            return None;
        }
        AhoCorasick::new(words).ok().map(Self)
    }

    /// A sieve for one search.
    #[cfg(test)]
    pub(crate) fn of_text(text: &super::query::Text) -> Option<Self> {
        Self::of(&TextFilter::new(text).ok())
    }

    /// Whether an original of these bytes, in a format that keeps words, says nothing that is looked for.
    pub(crate) fn rules_out(&self, original: &[u8]) -> bool {
        !self.0.is_match(original) && writes_plainly(original)
    }
}

impl Needed {
    /// What every text that holds `text` needs.
    pub(super) fn by_text(text: &[u8]) -> Option<Self> {
        word_of(text).map(|word| Self(vec![word.to_vec()]))
    }

    /// What every match of a pattern needs.
    ///
    /// The parser of patterns bounds how deep they nest.
    pub(super) fn by_pattern(pattern: &Hir) -> Option<Self> {
        let inside = match pattern.kind() {
            HirKind::Capture(capture) => Self::by_pattern(&capture.sub),
            HirKind::Repetition(repetition) if repetition.min > 0 => Self::by_pattern(&repetition.sub),
            HirKind::Repetition(_)
            | HirKind::Empty
            | HirKind::Literal(_)
            | HirKind::Class(_)
            | HirKind::Look(_) => None,
            HirKind::Alternation(parts) => {
                let each: Option<Vec<Self>> = parts.iter().map(Self::by_pattern).collect();
                each.and_then(|each| Self::one_of(each.into_iter().flat_map(|needed| needed.0).collect()))
            }
            HirKind::Concat(parts) => {
                let each = parts.iter().filter_map(Self::by_pattern);
                let later = (1..parts.len().min(PARTS_MAX)).filter_map(|at| {
                    let parts = parts.iter().skip(at).take(PARTS_AT_ONCE).cloned();
                    Self::by_beginning(&Hir::concat(parts.collect()))
                });
                each.chain(later).max_by_key(Self::worth)
            }
        };
        inside.into_iter().chain(Self::by_beginning(pattern)).max_by_key(Self::worth)
    }

    /// What the beginning of every match of a pattern needs.
    fn by_beginning(pattern: &Hir) -> Option<Self> {
        let beginnings = Extractor::new().extract(pattern);
        let words =
            beginnings.literals()?.iter().map(|literal| word_of(literal.as_bytes()).map(<[u8]>::to_vec));
        Self::one_of(words.collect::<Option<_>>()?)
    }

    fn one_of(mut words: Vec<Vec<u8>>) -> Option<Self> {
        let sort = |words: &mut Vec<Vec<u8>>| {
            words.sort_unstable();
            words.dedup();
        };
        sort(&mut words);
        if words.len() > WORDS_MAX {
            for word in &mut words {
                word.truncate(WORD_BYTES_CUT);
            }
            sort(&mut words);
        }
        let is_fit =
            !words.is_empty() && words.len() <= WORDS_MAX && !words.iter().any(|word| may_be_added(word));
        is_fit.then_some(Self(words))
    }

    /// How much is ruled out by them, roughly: the shortest word decides, then their number.
    fn worth(&self) -> (usize, Reverse<usize>) {
        let shortest = self.0.iter().map(Vec::len).min().unwrap_or(0);
        (shortest.min(WORD_BYTES_ENOUGH), Reverse(self.0.len()))
    }
}

/// The longest word in a piece of a match.
fn word_of(piece: &[u8]) -> Option<&[u8]> {
    let words = piece.split(|byte| !byte.is_ascii_alphanumeric());
    words.filter(|word| word.len() >= WORD_BYTES_MIN && !may_be_added(word)).max_by_key(|word| word.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    fn needed(pattern: &str) -> Vec<String> {
        let needed = Needed::by_pattern(&regex_syntax::parse(pattern).expect("a pattern"));
        let words = needed.map(|needed| needed.0).unwrap_or_default();
        words.into_iter().map(|word| String::from_utf8(word).expect("ASCII")).collect()
    }

    #[test]
    fn the_words_of_a_pattern_are_those_that_every_match_holds() {
        assert_eq!(needed("needle-[0-9]+ ([a-z]+) (?:is|was) found"), ["needle"]);
        assert_eq!(needed(r"(\w+)Error: no"), ["Error"]);
        assert_eq!(needed("(?:apple|pear)s? [0-9]"), ["apple", "pear"]);
        assert_eq!(needed("x+(tree)+"), ["tree"]);
        assert_eq!(needed("tree (?i)abcd"), ["tree"], "what may be written in several ways is worth less");
        assert_eq!(needed("(?i)a9b"), ["A9B", "A9b", "a9B", "a9b"]);
        for everything in [".*", r"\d+", "a|bee", "(?:tree)?", "(?:tree)*", "", "é", "image", "thinking|tree"]
        {
            assert!(needed(everything).is_empty(), "{everything}");
        }
    }

    #[test]
    fn letters_that_are_the_same_in_another_script_are_no_reason_to_rule_out() {
        let words = needed("(?i)kitten");
        assert!(!words.is_empty());
        let kelvin = "\u{212a}itten";
        assert!(Regex::new("(?i)kitten").expect("a pattern").is_match(kelvin));
        assert!(words.iter().any(|word| kelvin.contains(word)), "{words:?}");
    }

    proptest! {
        #[test]
        fn every_match_holds_a_needed_word(
            pattern in r"(?:\(\?i\))?(?:[a-cK ]{1,3}|\(ab\|[ab]c\)|[a-c]\+|\[bc\]|\\b|\(\?:bca\)\?|\.){1,5}",
            text in "[a-cAkK ſ\u{212a}]{0,24}",
        ) {
            let syntax = regex_syntax::parse(&pattern).expect("a pattern");
            if let Some(Needed(words)) = Needed::by_pattern(&syntax) {
                for found in Regex::new(&pattern).expect("a pattern").find_iter(&text) {
                    let found = found.as_str().as_bytes();
                    let holds = words.iter().any(|word| memchr::memmem::find(found, word).is_some());
                    prop_assert!(holds, "{pattern} {words:?}");
                }
            }
        }
    }
}
