//! Cuts prose into sentences and words. Fenced code, quoted lines and tables are skipped: they are not the
//! speaker's own words. What stands in backticks or double quotes is one opaque word.

use std::borrow::Cow;
use std::ops::Range;

/// A sentence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Where it stands in the text, list markers and emphasis left out at its head.
    pub(crate) range: Range<usize>,
    /// Whether it begins its line.
    pub(crate) starts_line: bool,
    /// Whether it is an item of a list.
    pub(crate) item: bool,
}

/// The longest sentence, in bytes: a longer one is cut, so that no text makes its reader take much memory.
const SENTENCE_BYTES_MAX: usize = 4096;

/// The sentences of `text`, in order, one at a time.
pub(crate) fn sentences(text: &str) -> Sentences<'_> {
    Sentences { text, next_line: 0, fenced: false, line: 0..0, starts_line: false, item: false }
}

/// Iterates over sentences.
#[derive(Debug, Clone)]
pub(crate) struct Sentences<'a> {
    text: &'a str,
    next_line: usize,
    fenced: bool,
    /// What is left of the line at hand.
    line: Range<usize>,
    starts_line: bool,
    item: bool,
}

impl Iterator for Sentences<'_> {
    type Item = Sentence;

    fn next(&mut self) -> Option<Sentence> {
        loop {
            if self.line.is_empty() {
                self.begin_line()?;
                continue;
            }
            let end = sentence_end(self.text, &self.line);
            let range = trimmed(self.text, self.line.start..end);
            self.line.start = end;
            if let Some(range) = range {
                let starts_line = std::mem::take(&mut self.starts_line);
                return Some(Sentence { range, starts_line, item: self.item });
            }
        }
    }
}

impl Sentences<'_> {
    /// Moves to the next line; one that is no prose is left empty.
    fn begin_line(&mut self) -> Option<()> {
        let rest = self.text.get(self.next_line..).filter(|rest| !rest.is_empty())?;
        let start = self.next_line;
        let end = rest.find('\n').map_or(self.text.len(), |at| start + at + 1);
        self.next_line = end;
        let line = &self.text[start..end];
        let bare = line.trim_start();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            self.fenced = !self.fenced;
        } else if !self.fenced && !bare.starts_with(['>', '|']) {
            let (head, item) = head_of_line(line);
            self.line = start + head..end;
            self.starts_line = true;
            self.item = item;
        }
        Some(())
    }
}

/// Where the sentence at the head of `line` ends.
fn sentence_end(text: &str, line: &Range<usize>) -> usize {
    const CLOSING: &[u8] = b" \n\r\t*_)";
    let bytes = &text.as_bytes()[..line.end];
    let longest = line.start + SENTENCE_BYTES_MAX;
    let mut opaque = None;
    let mut at = line.start;
    while let Some(&byte) = bytes.get(at) {
        let c = if byte.is_ascii() { char::from(byte) } else { char_at(text, at) };
        at += c.len_utf8();
        match (c, opaque) {
            (_, Some(close)) if close == c => opaque = None,
            ('`' | '"' | '“', None) => opaque = Some(closing(c)),
            ('.' | '!' | '?' | ':' | ';', None)
                if bytes.get(at).is_none_or(|next| CLOSING.contains(next)) =>
            {
                return at;
            }
            ('。' | '！' | '？' | '：', None) => return at,
            _ if at > longest => return at,
            _ => {}
        }
    }
    line.end
}

/// The mark that closes what `mark` opens.
const fn closing(mark: char) -> char {
    if mark == '“' { '”' } else { mark }
}

fn char_at(text: &str, at: usize) -> char {
    text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The words of a sentence without the white space and emphasis around them.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let around = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | ')' | '(');
    let words = &text[range.clone()];
    let start = range.start + (words.len() - words.trim_start_matches(around).len());
    let said = words.trim_matches(around);
    (!said.is_empty()).then_some(start..start + said.len())
}

/// The length of indentation, list marker, check box and heading marks at the head of a line, and whether it
/// is an item of a list.
fn head_of_line(line: &str) -> (usize, bool) {
    let mut rest = line.trim_start();
    let mut item = false;
    if let Some(after) = rest.strip_prefix(['-', '*', '+', '•']).filter(|after| after.starts_with(' ')) {
        rest = after.trim_start();
        item = true;
    } else {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = rest[digits..].strip_prefix(['.', ')']).filter(|after| after.starts_with(' '));
        if let Some(after) = after.filter(|_| (1..=3).contains(&digits)) {
            rest = after.trim_start();
            item = true;
        }
    }
    for check_box in ["[ ] ", "[x] ", "[X] "] {
        if let Some(after) = rest.strip_prefix(check_box) {
            rest = after.trim_start();
        }
    }
    rest = rest.trim_start_matches('#').trim_start();
    (line.len() - rest.len(), item)
}

/// A word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Where it stands in the text.
    pub(crate) range: Range<usize>,
    /// In lower case, with straight apostrophes. Empty where it is opaque: a code span or a quotation.
    pub(crate) lower: Cow<'a, str>,
}

/// The words of a sentence.
pub(crate) fn words<'a>(text: &'a str, sentence: &Range<usize>) -> Vec<Word<'a>> {
    let mut found = Vec::new();
    words_into(text, sentence, &mut found);
    found
}

/// Puts the words of a sentence into `found`, in place of what is in it.
pub(crate) fn words_into<'a>(text: &'a str, sentence: &Range<usize>, found: &mut Vec<Word<'a>>) {
    found.clear();
    let mut at = sentence.start;
    while at < sentence.end {
        let c = char_at(text, at);
        let end = at + c.len_utf8();
        if matches!(c, '`' | '"' | '“') {
            let inside = &text[end..sentence.end];
            let close = closing(c);
            let end = inside.find(close).map_or(sentence.end, |length| end + length + close.len_utf8());
            found.push(Word { range: at..end, lower: Cow::Borrowed("") });
            at = end;
        } else if c.is_alphanumeric() || c == '_' {
            let rest = &text[at..sentence.end];
            let length = rest.find(|c: char| !in_word(c)).unwrap_or(rest.len());
            let word = rest[..length].trim_end_matches(['.', '-', '\'', '’', '/']);
            found.push(Word { range: at..at + word.len(), lower: lower(word) });
            at += length;
        } else {
            at = end;
        }
    }
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'' | '’' | '-' | '.' | '/')
}

fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase().replace('’', "'"))
    }
}

/// Names in a text that are worth matching: words with a digit, an underscore, an inner capital, a dot or a
/// slash, each path also by its last component.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '#' | '@' | '~')))
        .map(|word| word.trim_matches(['.', '-', '/', '@']))
        .filter(|word| is_name(word))
        .flat_map(|word| {
            let last = word.rsplit('/').next().filter(|last| last.len() < word.len() && last.len() > 2);
            std::iter::once(word).chain(last)
        })
}

/// What stands in backticks or quotation marks.
pub(crate) fn quotations(text: &str) -> impl Iterator<Item = &str> {
    ['`', '"']
        .into_iter()
        .flat_map(|mark| text.split(mark).skip(1).step_by(2))
        .filter(|quoted| !quoted.is_empty())
}

fn is_name(word: &str) -> bool {
    if word.len() < 3 || word.len() > 200 {
        return false;
    }
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let inner_capital = word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
    let joined = word.chars().skip(1).any(|c| matches!(c, '_' | '.' | '/'));
    (letters > 0 && (digits > 0 || inner_capital || joined)) || digits >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        sentences(text).map(|s| &text[s.range]).collect()
    }

    #[test]
    fn sentences_end_at_stops_that_are_followed_by_space_and_not_inside_names() {
        let text = "Read `a. b` in conf.yaml. Then v1.2 works! **Done:** yes";
        assert_eq!(cut(text), ["Read `a. b` in conf.yaml.", "Then v1.2 works!", "Done:", "yes"]);
    }

    #[test]
    fn fenced_code_quoted_lines_and_tables_are_not_prose() {
        assert_eq!(cut("a\n```\nlet me run it\n```\n> I'll do it\n| I will |\nb"), ["a", "b"]);
    }

    #[test]
    fn a_line_without_a_stop_is_cut_and_no_byte_of_it_is_lost() {
        let text = "é ".repeat(10_000);
        let lengths: Vec<_> = sentences(&text).map(|sentence| sentence.range.len()).collect();
        assert!(
            lengths.len() > 5 && lengths.iter().all(|length| *length <= SENTENCE_BYTES_MAX + 4),
            "{lengths:?}"
        );
        assert_eq!(sentences(&text).map(|s| text[s.range].matches('é').count()).sum::<usize>(), 10_000);
    }

    #[test]
    fn list_markers_and_headings_are_left_out() {
        assert_eq!(
            cut("## Next\n- [ ] one\n 12. two\n3.5 is a number"),
            ["Next", "one", "two", "3.5 is a number"]
        );
    }

    #[test]
    fn quotations_are_one_opaque_word() {
        let text = "I’ll check `let me run` now";
        let lower: Vec<_> = words(text, &(0..text.len())).into_iter().map(|w| w.lower).collect();
        assert_eq!(lower, ["i'll", "check", "", "now"]);
    }

    #[test]
    fn names_are_words_that_plain_prose_does_not_have() {
        let found: Vec<_> =
            names("fix TestResume in /etc/app/conf.yaml, then call it 42 or 2024 times").collect();
        assert_eq!(found, ["TestResume", "etc/app/conf.yaml", "conf.yaml", "2024"]);
    }
}
