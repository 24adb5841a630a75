//! Walks over one JSON value and checks it, without recursion.

use memchr::{memchr, memchr2};

use super::nesting::{Container, Nesting};
use super::{Fault, is_space};

/// The first place at or after `at` that is no white space.
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).copied().is_some_and(is_space) {
        at += 1;
    }
    at
}

/// The end of the value that starts at `at`, white space before it allowed.
pub(super) fn skip_value(bytes: &[u8], mut at: usize) -> Result<usize, Fault> {
    let mut nesting = Nesting::default();
    loop {
        at = skip_space(bytes, at);
        match byte(bytes, at)? {
            b'{' => {
                at = skip_space(bytes, at + 1);
                if byte(bytes, at)? == b'}' {
                    at += 1;
                } else {
                    nesting.push(Container::Object);
                    at = skip_name(bytes, at)?;
                    continue;
                }
            }
            b'[' => {
                at = skip_space(bytes, at + 1);
                if byte(bytes, at)? == b']' {
                    at += 1;
                } else {
                    nesting.push(Container::Array);
                    continue;
                }
            }
            b'"' => at = skip_string(bytes, at)?,
            b't' => at = skip_word(bytes, at, b"true")?,
            b'f' => at = skip_word(bytes, at, b"false")?,
            b'n' => at = skip_word(bytes, at, b"null")?,
            b'-' | b'0'..=b'9' => at = skip_number(bytes, at)?,
            _ => return Err(Fault::Unexpected { at }),
        }
        loop {
            let Some(container) = nesting.top() else { return Ok(at) };
            at = skip_space(bytes, at);
            match (container, byte(bytes, at)?) {
                (Container::Object, b',') => {
                    at = skip_name(bytes, skip_space(bytes, at + 1))?;
                    break;
                }
                (Container::Array, b',') => {
                    at += 1;
                    break;
                }
                (Container::Object, b'}') | (Container::Array, b']') => {
                    at += 1;
                    nesting.pop();
                }
                _ => return Err(Fault::Unexpected { at }),
            }
        }
    }
}

/// The end of the string literal that starts at `at`.
pub(super) fn skip_string(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    if byte(bytes, at)? != b'"' {
        return Err(Fault::Unexpected { at });
    }
    let mut at = at + 1;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let plain = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        let run = rest.get(..plain).unwrap_or_default();
        // Without an early exit the compiler looks at many bytes at once.
        if run.iter().copied().fold(u8::MAX, u8::min) < 0x20 {
            let control = run.iter().position(|b| *b < 0x20).unwrap_or_default();
            return Err(Fault::Unexpected { at: at + control });
        }
        at += plain;
        if byte(bytes, at)? == b'"' {
            return Ok(at + 1);
        }
        match byte(bytes, at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
            b'u' => {
                for digit in at + 2..at + 6 {
                    if !byte(bytes, digit)?.is_ascii_hexdigit() {
                        return Err(Fault::Unexpected { at: digit });
                    }
                }
                at += 6;
            }
            _ => return Err(Fault::Unexpected { at: at + 1 }),
        }
    }
}

/// The end of the value that starts at `at`, of text that was checked before.
pub(super) fn skip_checked(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = skip_checked_string(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ if depth == 0 => {
                let rest = bytes.get(at..)?;
                return Some(at + rest.iter().position(|b| ends_scalar(*b)).unwrap_or(rest.len()));
            }
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The end of the string literal that starts at `at`, of text that was checked before.
pub(super) fn skip_checked_string(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + 1;
    let mut at = start;
    loop {
        at += memchr(b'"', bytes.get(at..)?)?;
        // Most escapes are no quotes, so they are not looked at; a quote is escaped by an odd number of them.
        let escapes = bytes.get(start..at)?.iter().rev().take_while(|byte| **byte == b'\\').count();
        at += 1;
        if escapes.is_multiple_of(2) {
            return Some(at);
        }
    }
}

/// Whether a number or word ends before this byte.
pub(crate) const fn ends_scalar(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b',' | b']' | b'}')
}

/// The place after the colon of the member whose name starts at `at`.
pub(super) fn skip_name(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let at = skip_space(bytes, skip_string(bytes, at)?);
    if byte(bytes, at)? == b':' { Ok(at + 1) } else { Err(Fault::Unexpected { at }) }
}

fn skip_word(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, Fault> {
    for (offset, wanted) in word.iter().enumerate() {
        if byte(bytes, at + offset)? != *wanted {
            return Err(Fault::Unexpected { at: at + offset });
        }
    }
    Ok(at + word.len())
}

fn skip_number(bytes: &[u8], mut at: usize) -> Result<usize, Fault> {
    if byte(bytes, at)? == b'-' {
        at += 1;
    }
    at = if byte(bytes, at)? == b'0' { at + 1 } else { skip_digits(bytes, at)? };
    if bytes.get(at) == Some(&b'.') {
        at = skip_digits(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = skip_digits(bytes, at)?;
    }
    Ok(at)
}

/// The end of the digits at `at`, of which there must be one.
fn skip_digits(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    if !byte(bytes, at)?.is_ascii_digit() {
        return Err(Fault::Unexpected { at });
    }
    let rest = bytes.get(at..).unwrap_or_default();
    Ok(at + rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len()))
}

fn byte(bytes: &[u8], at: usize) -> Result<u8, Fault> {
    bytes.get(at).copied().ok_or(Fault::Truncated)
}
