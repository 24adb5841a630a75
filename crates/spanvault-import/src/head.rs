//! The start of a file, as every format looks at it: what one of them has made of it is there for the next.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use crate::json::{is_space, sketch, sketch_with_rest};
use crate::{Confidence, HEAD_BYTES};

/// As many lines tell what a file is; a file may start with lines that say little.
const LINES_MAX: usize = 48;

/// The start of a file: the whole of a small one, [`HEAD_BYTES`] of a large one.
#[derive(Debug)]
pub struct Head<'a> {
    bytes: &'a [u8],
    text: OnceCell<Cow<'a, str>>,
    first: OnceCell<Option<First>>,
    lines: OnceCell<Vec<Value>>,
}

/// The value that a file begins with, as far as it can be seen.
#[derive(Debug)]
struct First {
    value: Value,
    /// Whether nothing but white space follows it.
    is_alone: bool,
}

impl<'a> Head<'a> {
    /// The head of a file that begins with `bytes`; those behind [`HEAD_BYTES`] are not looked at. They may end
    /// anywhere, inside a record or inside a character.
    pub fn new(bytes: &'a [u8]) -> Self {
        let bytes = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
        Self { bytes, text: OnceCell::new(), first: OnceCell::new(), lines: OnceCell::new() }
    }

    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the file may go on behind it.
    pub(crate) const fn is_full(&self) -> bool {
        self.bytes.len() >= HEAD_BYTES
    }

    /// The head as text; what is no UTF-8 is replaced.
    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| match std::str::from_utf8(self.bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_not_utf8) => String::from_utf8_lossy(self.bytes),
        })
    }

    /// The lines that say anything, a byte order mark taken away.
    pub(crate) fn lines_of_text(&self) -> impl Iterator<Item = &str> {
        self.unmarked().split('\n').filter(|line| !line.bytes().all(is_space))
    }

    /// The sketch of the value that the file begins with, whatever follows it; `None` where there is none.
    pub(crate) fn first_value(&self) -> Option<&Value> {
        self.first().map(|first| &first.value)
    }

    /// The sketch of the document that the file could be; `None` where it is none. A value that more follows is no
    /// document.
    pub(crate) fn document(&self) -> Option<&Value> {
        self.first().filter(|first| first.is_alone).map(|first| &first.value)
    }

    /// The objects on the first lines, as far as the head shows them.
    pub(crate) fn objects(&self) -> &[Value] {
        self.lines.get_or_init(|| {
            self.lines_of_text().take(LINES_MAX).filter_map(sketch).filter(Value::is_object).collect()
        })
    }

    /// As sure as the surest of the first lines makes.
    pub(crate) fn surest(&self, of_line: impl Fn(&Value) -> Confidence) -> Confidence {
        self.objects().iter().map(of_line).max().unwrap_or(Confidence::No)
    }

    fn first(&self) -> Option<&First> {
        let seen = || sketch_with_rest(self.unmarked()).map(|(value, is_alone)| First { value, is_alone });
        self.first.get_or_init(seen).as_ref()
    }

    fn unmarked(&self) -> &str {
        self.text().strip_prefix('\u{feff}').unwrap_or(self.text())
    }
}
