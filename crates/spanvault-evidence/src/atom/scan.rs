//! Walks a text once and hands every detail to a receiver.

use std::borrow::Cow;
use std::ops::ControlFlow;

use spanvault_types::ByteRange;

use super::chunk::{self, Flags};
use super::{Atom, AtomKind, quote};

/// What kind of text is scanned: what is layout in one is content in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Words that somebody says.
    Prose,
    /// What a tool returned: gutters and JSON keys are layout.
    Output,
    /// A string of a call's arguments.
    Argument,
}

/// A detail and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found<'t> {
    pub(super) kind: AtomKind,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) normal: Cow<'t, str>,
}

impl Found<'_> {
    pub(super) fn atom(&self, text: &str, part: usize, range: ByteRange) -> Atom {
        Atom {
            kind: self.kind,
            text: text.get(self.start..self.end).unwrap_or_default().to_owned(),
            normal: self.normal.clone().into_owned(),
            part,
            range,
        }
    }
}

/// Who gets what is found, and may break off.
pub(super) type Receiver<'r, 't> = &'r mut dyn FnMut(Found<'t>) -> ControlFlow<()>;

/// Scans `text`, in the order of starts but for what stands inside of a quotation.
pub(super) fn scan<'t>(text: &'t str, layout: Layout, each: Receiver<'_, 't>) -> ControlFlow<()> {
    Scanner::new(text, layout).run(Scanner::skip_words, each)
}

/// A place in a text.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) layout: Layout,
    pub(super) at: usize,
    /// Whether only blanks stand between the start of the line and `at`.
    pub(super) line: bool,
    /// A closing quote character that was met already stands here.
    closes_at: usize,
}

impl<'t> Scanner<'t> {
    const fn new(text: &'t str, layout: Layout) -> Self {
        Self { text, bytes: text.as_bytes(), layout, at: 0, line: true, closes_at: 0 }
    }

    /// Scans to the end; `skip_words` may move over whole words in which nothing is to be found.
    fn run(mut self, skip_words: impl Fn(&mut Self) -> bool, each: Receiver<'_, 't>) -> ControlFlow<()> {
        self.skip_gutter();
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.line = true;
                    self.skip_gutter();
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            if byte.is_ascii_lowercase() && skip_words(&mut self) {
                self.line = false;
                continue;
            }
            if chunk::starts(byte) {
                self.chunk(each)?;
            } else if byte < 0x80 {
                if matches!(byte, b'"' | b'\'' | b'`') {
                    self.quotation(each)?;
                }
                self.at += 1;
            } else {
                self.beyond_ascii(each)?;
            }
            self.line = false;
        }
        ControlFlow::Continue(())
    }

    /// Moves over words of small letters alone, up to the word that goes on otherwise: nothing is to be found in them. Says
    /// whether there were any.
    fn skip_words(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_plain = |byte: &u8| byte.is_ascii_lowercase() || *byte == b' ';
        let blocks = rest.as_chunks::<16>().0;
        let plain =
            blocks.iter().take_while(|block| block.iter().fold(true, |all, byte| all & is_plain(byte)));
        let skipped = plain.count() * 16;
        let tail = rest.get(skipped..).unwrap_or_default();
        let plain = skipped + tail.iter().take_while(|byte| is_plain(byte)).count();
        let words = rest.get(..plain).unwrap_or_default();
        let Some(last) = memchr::memrchr(b' ', words) else { return false };
        self.at += last;
        true
    }

    /// A quotation that opens here; its inside is scanned as well.
    fn quotation(&mut self, each: Receiver<'_, 't>) -> ControlFlow<()> {
        if self.closes_at == self.at && self.at > 0 {
            return ControlFlow::Continue(());
        }
        let Some(quoted) = quote::open(self.text, self.at) else { return ControlFlow::Continue(()) };
        self.closes_at = quoted.end;
        let is_key = self.layout != Layout::Prose && quote::is_key(self.bytes, quoted.end);
        if !is_key && !quoted.is_empty() {
            let inside = self.text.get(quoted.clone()).unwrap_or_default();
            each(Found {
                kind: AtomKind::Quotation,
                start: quoted.start,
                end: quoted.end,
                normal: quote::normal(inside),
            })?;
        }
        ControlFlow::Continue(())
    }

    /// A character beyond ASCII: a quote, a currency, a wide digit or a letter.
    fn beyond_ascii(&mut self, each: Receiver<'_, 't>) -> ControlFlow<()> {
        let Some(c) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return ControlFlow::Continue(());
        };
        if quote::opens(c) {
            self.quotation(each)?;
        } else if chunk::is_part_of_word(c) || super::number::is_currency(c) {
            return self.chunk(each);
        }
        self.at += c.len_utf8();
        ControlFlow::Continue(())
    }

    fn chunk(&mut self, each: Receiver<'_, 't>) -> ControlFlow<()> {
        let start = self.at;
        let (end, flags) = chunk::end(self.text, start);
        let end = end.max(start + 1);
        // Most words hold nothing.
        if !flags.intersects(Flags::TELLING)
            && self.bytes.get(end) != Some(&b':')
            && !flags.intersects(Flags::UPPER)
        {
            self.at = end;
            return ControlFlow::Continue(());
        }
        self.at = chunk::read(self, start, end, flags, each)?;
        // Whatever was read, the scan moves on, and onto a character.
        while self.at <= start || !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        ControlFlow::Continue(())
    }

    /// At the start of a line: moves over what only numbers lines.
    fn skip_gutter(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|b| **b == b' ').count();
        let digits = rest.iter().skip(blanks).take(10).take_while(|b| b.is_ascii_digit()).count();
        let after = rest.get(blanks + digits..).unwrap_or_default();
        let skip = match self.layout {
            Layout::Output if digits > 0 => match after {
                // `cat -n`, in its plain form and in that of coding agents.
                [b'\t', ..] => Some(1),
                [0xE2, 0x86, 0x92, ..] => Some(3),
                // `grep -n`, and its context lines; `12:30` is a time.
                [b':' | b'-', next, ..] if !next.is_ascii_digit() && blanks == 0 => Some(1),
                [b':' | b'-'] if blanks == 0 => Some(1),
                _ => None,
            },
            // `1. `, `2) `: the numbers of a list.
            Layout::Prose if (1..=2).contains(&digits) => match after {
                [b'.' | b')', b' ', ..] => Some(1),
                _ => None,
            },
            Layout::Output if after.starts_with(b"@@ -") => {
                let line = after.iter().take(80).take_while(|b| **b != b'\n').count();
                after
                    .get(2..line)
                    .and_then(|head| head.windows(2).position(|pair| pair == b"@@"))
                    .map(|at| at + 4)
            }
            Layout::Prose | Layout::Output | Layout::Argument => None,
        };
        if let Some(skip) = skip {
            self.at += blanks + digits + skip;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found<'t>(
        text: &'t str,
        layout: Layout,
        skip_words: impl Fn(&mut Scanner<'t>) -> bool,
    ) -> Vec<Found<'t>> {
        let mut found = Vec::new();
        let end = Scanner::new(text, layout).run(skip_words, &mut |one| {
            found.push(one);
            ControlFlow::Continue(())
        });
        assert!(end.is_continue());
        found
    }

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-z]{1,9}( [a-z]{1,9}){0,8}",
            1 => "[a-z]{4090,4100}",
            2 => "[ -~]{0,6}",
            1 => "\\PC{0,3}",
            1 => prop::sample::select(vec!["error", "fatal", "May 5", "12", "ms", "5 minutes", "main.rs", "src/", "\"", "'", "`", "é"])
                .prop_map(str::to_owned),
        ];
        let mark = prop::sample::select(vec!["", " ", "  ", ":", ": ", "\n", ".", "://", "["]);
        proptest::collection::vec((piece, mark), 0..12)
            .prop_map(|pieces| pieces.into_iter().map(|(piece, mark)| piece + mark).collect())
    }

    proptest! {
        #[test]
        fn nothing_is_to_be_found_in_words_that_are_skipped(text in texts()) {
            for layout in [Layout::Prose, Layout::Output, Layout::Argument] {
                let slow = found(&text, layout, |_scanner| false);
                prop_assert_eq!(found(&text, layout, Scanner::skip_words), slow);
            }
        }
    }
}
