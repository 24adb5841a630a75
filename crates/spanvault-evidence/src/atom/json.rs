//! Where the values of a JSON text stand in its bytes. Iterative, tolerant, and deaf to what it need not know.

use serde_json::Value;

/// A string, number, boolean or null, by its JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) pointer: String,
    /// First byte: of the content for a string, of the token otherwise.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_string: bool,
}

/// How deep containers may stand in each other; deeper text gives no leaves.
const DEPTH_MAX: usize = 200;

/// The longest pointer that is kept, in bytes.
const POINTER_BYTES_MAX: usize = 2 << 10;

/// What the leaves of a short text may take, in bytes; those of a longer one may take eight times its length.
const LEAF_BYTES_MIN: usize = 64 << 10;

struct Frame {
    /// The length of the pointer of the container itself.
    base: usize,
    /// The next index of an array; `None` in an object.
    index: Option<usize>,
}

/// The leaves of a JSON text in order of their bytes. Text that is not JSON gives what was found before that
/// showed.
pub(super) fn leaves(bytes: &[u8]) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut budget = LEAF_BYTES_MIN + 8 * bytes.len();
    let mut stack: Vec<Frame> = Vec::new();
    let mut pointer = String::new();
    let mut at = 0;
    let mut after_key = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => at += 1,
            b'}' | b']' => {
                let Some(frame) = stack.pop() else { break };
                pointer.truncate(frame.base);
                after_key = false;
                at += 1;
            }
            _ => {
                let in_object = stack.last().is_some_and(|frame| frame.index.is_none());
                if byte == b'"' && in_object && !after_key {
                    let Some(end) = end_of_string(bytes, at) else { break };
                    let base = stack.last().map_or(0, |frame| frame.base);
                    pointer.truncate(base);
                    push_key(&mut pointer, &unescaped(bytes.get(at + 1..end - 1).unwrap_or_default()));
                    after_key = true;
                    at = end;
                    continue;
                }
                if let Some(frame) = stack.last_mut()
                    && let Some(index) = &mut frame.index
                {
                    pointer.truncate(frame.base);
                    push_key(&mut pointer, &index.to_string());
                    *index += 1;
                }
                after_key = false;
                match byte {
                    b'{' | b'[' => {
                        if stack.len() == DEPTH_MAX {
                            break;
                        }
                        stack.push(Frame { base: pointer.len(), index: (byte == b'[').then_some(0) });
                        at += 1;
                    }
                    b'"' => {
                        let Some(end) = end_of_string(bytes, at) else { break };
                        keep(&mut found, &mut budget, &pointer, at + 1, end - 1, true);
                        at = end;
                    }
                    _ => {
                        let rest = bytes.get(at..).unwrap_or_default();
                        let len =
                            rest.iter().position(|b| b" \t\r\n,:{}[]\"".contains(b)).unwrap_or(rest.len());
                        keep(&mut found, &mut budget, &pointer, at, at + len, false);
                        at += len.max(1);
                    }
                }
            }
        }
    }
    found
}

/// Keeps a leaf, unless its pointer or all pointers together are too long: `budget` is what they may still take.
fn keep(found: &mut Vec<Leaf>, budget: &mut usize, pointer: &str, start: usize, end: usize, is_string: bool) {
    let cost = pointer.len() + size_of::<Leaf>();
    if pointer.len() <= POINTER_BYTES_MAX && cost <= *budget {
        *budget -= cost;
        found.push(Leaf { pointer: pointer.to_owned(), start, end, is_string });
    }
}

/// Adds a key to a pointer, as RFC 6901 writes it.
fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    if pointer.len() > POINTER_BYTES_MAX {
        return;
    }
    if key.contains(['~', '/']) {
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(key);
    }
}

/// One past the quote that ends the string literal at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 1;
    loop {
        let rest = bytes.get(from..)?;
        let next = memchr::memchr2(b'"', b'\\', rest)?;
        if rest.get(next) == Some(&b'"') {
            return Some(from + next + 1);
        }
        from += next + 2;
    }
}

/// The contents of all string literals of a JSON text, in order.
pub(super) fn strings(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let open = at + open;
        let Some(end) = end_of_string(bytes, open) else { break };
        found.push((open + 1, end - 1));
        at = end;
    }
    found
}

/// The leaves of a JSON value, by pointer, in the order that the value keeps; no more than `most`.
pub(super) fn leaves_of(value: &Value, most: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Vec<(String, &Value)> = vec![(String::new(), value)];
    while let Some((pointer, value)) = open.pop().filter(|_| found.len() < most) {
        let under = |key: &str| {
            let mut inner = pointer.clone();
            push_key(&mut inner, key);
            inner
        };
        match value {
            Value::Object(members) => {
                open.extend(members.iter().take(most).rev().map(|(key, value)| (under(key), value)));
            }
            Value::Array(items) => {
                open.extend(
                    items
                        .iter()
                        .enumerate()
                        .take(most)
                        .rev()
                        .map(|(index, value)| (under(&index.to_string()), value)),
                );
            }
            Value::String(text) => found.push((pointer, text.clone())),
            Value::Null | Value::Bool(_) | Value::Number(_) => found.push((pointer, value.to_string())),
        }
    }
    found
}

/// One character of the inside of a string literal: its decoded form and how many raw bytes it takes. A lone
/// surrogate is the replacement character, and so is an escape that means nothing.
pub(super) fn decode_escape(raw: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let digits = raw.get(at + 2..at + 6)?;
        let starts = raw.get(at) == Some(&b'\\') && raw.get(at + 1) == Some(&b'u');
        let digits = std::str::from_utf8(digits).ok().filter(|_| starts)?;
        u32::from_str_radix(digits, 16).ok()
    };
    match raw.get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(&byte @ (b'"' | b'\\' | b'/')) => (char::from(byte), 2),
        Some(b'u') => match (unit(0), unit(6)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(point), _) => (char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _) => (char::REPLACEMENT_CHARACTER, 2),
        },
        _ => (char::REPLACEMENT_CHARACTER, 2.min(raw.len())),
    }
}

/// The inside of a string literal, decoded.
pub(super) fn unescaped(raw: &[u8]) -> String {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        text.extend_from_slice(plain);
        let (c, len) = decode_escape(escape);
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = escape.get(len..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// How many bytes of `text` the inside of a string literal decodes to, if it decodes to a prefix of `text`.
pub(super) fn decodes_to_prefix(raw: &[u8], text: &str) -> Option<usize> {
    let mut rest = raw;
    let mut at = 0;
    let text = text.as_bytes();
    while !rest.is_empty() {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        let (head, escape) = rest.split_at(plain);
        if text.get(at..at + plain) != Some(head) {
            return None;
        }
        at += plain;
        rest = escape;
        if !escape.is_empty() {
            let (c, len) = decode_escape(escape);
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            if text.get(at..at + bytes.len()) != Some(bytes) {
                return None;
            }
            at += bytes.len();
            rest = escape.get(len..).unwrap_or_default();
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_found_with_their_pointers() {
        let text = br#"{"a":{"b/c":[1,"x\"y",{"d":null}]},"e":true,"f":[]}"#;
        let found: Vec<(String, &str)> = leaves(text)
            .into_iter()
            .map(|leaf| (leaf.pointer, std::str::from_utf8(&text[leaf.start..leaf.end]).unwrap()))
            .collect();
        let expected = [("/a/b~1c/0", "1"), ("/a/b~1c/1", "x\\\"y"), ("/a/b~1c/2/d", "null"), ("/e", "true")];
        assert_eq!(found, expected.map(|(pointer, text)| (pointer.to_owned(), text)));
    }

    #[test]
    fn deep_and_broken_text_ends_the_search_and_not_the_program() {
        assert!(leaves(&vec![b'['; 100_000]).is_empty());
        assert!(leaves(b"{\"a\":\"unclosed").is_empty());
        assert_eq!(leaves(b"]}x").len(), 0);
    }

    proptest::proptest! {
        #[test]
        fn escapes_decode_as_serde_reads_them(text: String) {
            let literal = serde_json::to_string(&text).unwrap();
            let raw = &literal.as_bytes()[1..literal.len() - 1];
            proptest::prop_assert_eq!(unescaped(raw), text.clone());
            proptest::prop_assert_eq!(decodes_to_prefix(raw, &text), Some(text.len()));
        }
    }
}
