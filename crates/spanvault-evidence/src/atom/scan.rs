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
    Scanner { text, bytes: text.as_bytes(), layout, at: 0, line: true, closes_at: 0 }.run(each)
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
    fn run(mut self, each: Receiver<'_, 't>) -> ControlFlow<()> {
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
