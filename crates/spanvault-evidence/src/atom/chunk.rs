//! Runs of characters that can be one detail, and which kind of detail they are.

use std::ops::ControlFlow;

use super::scan::{Found, Layout, Receiver, Scanner};
use super::{AtomKind, name, number, path, time};

/// What kinds of characters a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags(u16);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    pub(super) const DIGIT: Self = Self(1);
    pub(super) const LOWER: Self = Self(1 << 1);
    pub(super) const UPPER: Self = Self(1 << 2);
    pub(super) const UNDERSCORE: Self = Self(1 << 3);
    pub(super) const DASH: Self = Self(1 << 4);
    pub(super) const DOT: Self = Self(1 << 5);
    pub(super) const SLASH: Self = Self(1 << 6);
    pub(super) const BACKSLASH: Self = Self(1 << 7);
    pub(super) const AT: Self = Self(1 << 8);
    pub(super) const HASH: Self = Self(1 << 9);
    pub(super) const SIGN: Self = Self(1 << 10);
    pub(super) const BEYOND_ASCII: Self = Self(1 << 11);
    pub(super) const COLON: Self = Self(1 << 12);
    pub(super) const COMMA: Self = Self(1 << 13);
    /// Without any of these a chunk is a plain word.
    pub(super) const TELLING: Self =
        Self(Self::DIGIT.0 | Self::DOT.0 | Self::SLASH.0 | Self::BACKSLASH.0 | Self::AT.0 | Self::HASH.0);

    pub(super) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The kind of every ASCII character that a chunk may hold; `NONE` ends a chunk, or stands for more than one byte.
const KINDS: [Flags; 256] = {
    let mut table = [Flags::NONE; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the value of a byte")]
        let character = byte as u8;
        table[byte] = match character {
            b'0'..=b'9' => Flags::DIGIT,
            b'a'..=b'z' => Flags::LOWER,
            b'A'..=b'Z' => Flags::UPPER,
            b'_' => Flags::UNDERSCORE,
            b'-' => Flags::DASH,
            b'.' => Flags::DOT,
            b'/' => Flags::SLASH,
            b'\\' => Flags::BACKSLASH,
            b'@' => Flags::AT,
            b'#' => Flags::HASH,
            b'+' | b'$' | b'~' | b'%' => Flags::SIGN,
            _ => Flags::NONE,
        };
        byte += 1;
    }
    table
};

fn flag(byte: u8) -> Flags {
    KINDS.get(usize::from(byte)).copied().unwrap_or(Flags::NONE)
}

/// Whether an ASCII character starts a chunk.
pub(super) fn starts(byte: u8) -> bool {
    flag(byte) != Flags::NONE
}

/// Whether a character beyond ASCII can be part of a word: letters, but not those of scripts without spaces
/// between words, which end a detail as a space would.
pub(super) fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() && (!is_unspaced(c) || number::wide_digit(c).is_some())
}

/// Letters of scripts that are written without spaces.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0x9FFF | 0xA960..=0xA97F | 0xAC00..=0xD7FF
        | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF66..=0xFFDC | 0x20000..=0x3FFFF)
}

/// The longest chunk that is read as one, in bytes; what is longer is cut. A bound on every recogniser.
const CHUNK_BYTES_MAX: usize = 4 << 10;

/// Where the chunk that starts at `start` ends, and what it holds.
pub(super) fn end(text: &str, start: usize) -> (usize, Flags) {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(start + CHUNK_BYTES_MAX);
    let mut flags = Flags::NONE;
    let mut at = start;
    let within = bytes.get(..limit).unwrap_or_default();
    while let Some(&byte) = within.get(at) {
        let kind = flag(byte);
        if kind != Flags::NONE {
            flags = flags.with(kind);
            at += 1;
        } else if byte < 0x80 {
            if matches!(byte, b':' | b',') && between_digits(bytes, at) {
                flags = flags.with(if byte == b':' { Flags::COLON } else { Flags::COMMA });
                at += 1;
            } else {
                break;
            }
        } else {
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
            // In a path every letter counts, and the marks that join them.
            let joins = is_part_of_word(c)
                || (flags.intersects(Flags::SLASH.with(Flags::BACKSLASH)) && c.is_alphanumeric())
                || (at == start && number::is_currency(c))
                || (number::is_thin_space(c) && between_digits_around(bytes, at, c.len_utf8()));
            if !joins {
                break;
            }
            flags = flags.with(Flags::BEYOND_ASCII);
            if number::wide_digit(c).is_some() {
                flags = flags.with(Flags::DIGIT);
            }
            at += c.len_utf8();
        }
    }
    (at, flags)
}

fn between_digits(bytes: &[u8], at: usize) -> bool {
    between_digits_around(bytes, at, 1)
}

fn between_digits_around(bytes: &[u8], at: usize, len: usize) -> bool {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    at.checked_sub(1).is_some_and(|before| digit(bytes.get(before))) && digit(bytes.get(at + len))
}

/// Reads a chunk; gives the place from which the scan goes on.
pub(super) fn read<'t>(
    scanner: &Scanner<'t>,
    start: usize,
    end: usize,
    flags: Flags,
    each: Receiver<'_, 't>,
) -> ControlFlow<(), usize> {
    let text = scanner.text;
    let next = scanner.bytes.get(end).copied();
    if next == Some(b':') {
        let rest = text.get(end..).unwrap_or_default();
        if rest.starts_with("://")
            && let Some((from, to)) = path::url(text, start, end)
        {
            each(path::found_url(text, from, to))?;
            return ControlFlow::Continue(to);
        }
        if let Some(to) = path::drive(text, start, end) {
            each(path::found(text, start, to))?;
            return ControlFlow::Continue(to);
        }
        if let Some(to) = name::address(text, start) {
            each(found(text, AtomKind::Identifier, start, to))?;
            return ControlFlow::Continue(to);
        }
    }
    let chunk = text.get(start..end).unwrap_or_default();
    if !flags.intersects(Flags::TELLING) {
        if let Some(to) = time::month_first(text, start, end) {
            each(time::found(text, start, to))?;
            return ControlFlow::Continue(to);
        }
        if name::is_error(chunk)
            || (scanner.line && scanner.layout == Layout::Output && name::announces_error(chunk, next))
        {
            each(Found {
                normal: chunk.to_ascii_lowercase().into(),
                ..found(text, AtomKind::ErrorKind, start, end)
            })?;
        }
        return ControlFlow::Continue(end);
    }
    if let Some(to) = time::at(text, start, end, flags) {
        each(time::found(text, start, to))?;
        return ControlFlow::Continue(to);
    }
    let to = trimmed(chunk, start);
    if to == start {
        return ControlFlow::Continue(end);
    }
    if flags.intersects(Flags::SLASH.with(Flags::BACKSLASH)) {
        return path_chunk(scanner, start, to, end, each);
    }
    word(scanner, start, to, end, flags, each)
}

/// One past the last character of a chunk without the punctuation of its sentence.
fn trimmed(chunk: &str, start: usize) -> usize {
    start + chunk.trim_end_matches(['.', '-', '+', '~', '$', '#', '@', '\\']).len()
}

fn path_chunk<'t>(
    scanner: &Scanner<'t>,
    start: usize,
    to: usize,
    end: usize,
    each: Receiver<'_, 't>,
) -> ControlFlow<(), usize> {
    let text = scanner.text;
    if scanner.layout == Layout::Output
        && scanner.line
        && let Some((to, on)) = path::context_gutter(scanner.bytes, start, end)
        && let Some(path) = path::in_chunk(text, start, to, None)
    {
        each(path::found(text, path.start, path.end))?;
        return ControlFlow::Continue(on);
    }
    let before = start.checked_sub(1).and_then(|at| scanner.bytes.get(at)).copied();
    if let Some(path) = path::in_chunk(text, start, to, before) {
        let found = if path.is_url {
            path::found_url(text, path.start, path.end)
        } else {
            path::found(text, path.start, path.end)
        };
        each(found)?;
        // `path:12:` and `path-12-` at the start of a line of output: a grep.
        if scanner.layout == Layout::Output && scanner.line {
            return ControlFlow::Continue(path::after_gutter(scanner.bytes, path.end));
        }
        return ControlFlow::Continue(path.end.max(start + 1));
    }
    // Not a path: `1/2`, `km/h`, `and/or`. Its pieces may still tell something.
    pieces(scanner, start, end, b"/\\", each)
}

/// Reads what stands between separators, piece by piece.
fn pieces<'t>(
    scanner: &Scanner<'t>,
    start: usize,
    end: usize,
    separators: &[u8],
    each: Receiver<'_, 't>,
) -> ControlFlow<(), usize> {
    let mut from = start;
    for at in start..=end {
        let ends = at == end || scanner.bytes.get(at).is_some_and(|b| separators.contains(b));
        if !ends {
            continue;
        }
        if at > from {
            let piece = scanner.text.get(from..at).unwrap_or_default();
            let flags = piece.bytes().fold(Flags::NONE, |flags, byte| {
                flags.with(match byte {
                    b':' => Flags::COLON,
                    b',' => Flags::COMMA,
                    _ => flag(byte),
                })
            });
            let to = trimmed(piece, from);
            if flags.intersects(Flags::TELLING) && to > from {
                word(scanner, from, to, at, flags, each)?;
            }
        }
        from = at + 1;
    }
    ControlFlow::Continue(end)
}

/// A chunk without separators of paths.
fn word<'t>(
    scanner: &Scanner<'t>,
    start: usize,
    to: usize,
    end: usize,
    flags: Flags,
    each: Receiver<'_, 't>,
) -> ControlFlow<(), usize> {
    let text = scanner.text;
    let chunk = text.get(start..to).unwrap_or_default();
    if flags.intersects(Flags::AT) && name::is_email(chunk) {
        each(Found {
            normal: chunk.to_ascii_lowercase().into(),
            ..found(text, AtomKind::Identifier, start, to)
        })?;
        return ControlFlow::Continue(end);
    }
    // `console.log(` is a call.
    if flags.intersects(Flags::DOT) && scanner.bytes.get(end) != Some(&b'(') && path::is_file_name(chunk) {
        each(path::found(text, start, to))?;
        return ControlFlow::Continue(if scanner.layout == Layout::Output && scanner.line {
            path::after_gutter(scanner.bytes, to).max(end)
        } else {
            end
        });
    }
    if !flags.intersects(Flags::DIGIT) {
        if name::is_error(chunk) {
            each(Found {
                normal: chunk.to_ascii_lowercase().into(),
                ..found(text, AtomKind::ErrorKind, start, to)
            })?;
        } else if chunk.starts_with("www.") && chunk.len() > 6 {
            each(path::found_url(text, start, to))?;
        }
        return ControlFlow::Continue(end);
    }
    if let Some(number) = number::at(text, start, to) {
        each(Found {
            kind: AtomKind::Number,
            start: number.start,
            end: number.end,
            normal: number.normal.into(),
        })?;
        return ControlFlow::Continue(number.end.max(start + 1).max(if number.end >= to { end } else { 0 }));
    }
    if let Some(from) = name::identifier(chunk) {
        let from = start + from;
        each(name::found(text, from, to))?;
        return ControlFlow::Continue(end);
    }
    if name::is_error(chunk) {
        each(Found {
            normal: chunk.to_ascii_lowercase().into(),
            ..found(text, AtomKind::ErrorKind, start, to)
        })?;
        return ControlFlow::Continue(end);
    }
    // `1,2,3`, `10-20`, `a..b`, `10:5`: lists and ranges.
    let split: &[u8] = if flags.intersects(Flags::COMMA) {
        b","
    } else if flags.intersects(Flags::COLON) {
        b":"
    } else if chunk.contains("..") {
        b"."
    } else if chunk.trim_start_matches('-').contains('-')
        && chunk.bytes().all(|b| b.is_ascii_digit() || b".-%".contains(&b))
    {
        b"-"
    } else if flags.intersects(Flags::AT.with(Flags::SIGN)) {
        b"@+~$%#"
    } else {
        return ControlFlow::Continue(end);
    };
    pieces(scanner, start, end, split, each)
}

/// A detail whose normal form is its text.
pub(super) fn found(text: &str, kind: AtomKind, start: usize, end: usize) -> Found<'_> {
    Found { kind, start, end, normal: text.get(start..end).unwrap_or_default().into() }
}
