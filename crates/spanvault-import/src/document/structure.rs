//! Walks over a JSON document in chunks and says where the elements begin and end.
//!
//! Outside elements the grammar of brackets, names and commas is checked. Inside, only brackets and strings
//! are followed, so that one bad element does not hide the next; whether it is JSON shows when it is read.

use memchr::memchr2;

use super::Step;
use crate::importer::BOM;
use crate::json::{Container, Nesting, decode_inner, ends_scalar, is_space};

/// A longer member name is none that a path asks for.
const NAME_BYTES_MAX: usize = 256;

/// What [`Structure::walk`] came upon.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The chunk is used up.
    More,
    /// The next byte begins an element.
    Begins {
        /// The transcript, as a JSON pointer.
        record: String,
        /// The place in its array.
        index: u64,
    },
    /// The element ended with the byte before.
    Ends,
    /// The next byte is not JSON.
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but this many bytes of a byte order mark.
    Mark(usize),
    /// A value must come.
    Value,
    /// A value or the end of its array.
    FirstElement,
    /// A name or the end of its object.
    FirstName,
    /// A name must come.
    Name,
    /// Inside a name or a string.
    String {
        name: bool,
        escaped: bool,
    },
    Colon,
    /// Inside a number or word.
    Scalar,
    /// A value has ended.
    AfterValue,
}

/// Where the walk stands inside an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Start,
    Scalar,
    Brackets,
    String { escaped: bool },
}

pub(super) struct Structure {
    paths: &'static [&'static [Step]],
    /// The path that fits the root; empty before the root and where none does.
    path: &'static [Step],
    nesting: Nesting,
    state: State,
    /// How many steps of the path the open containers have gone.
    level: usize,
    /// For each step of the path the place in its array.
    indexes: Vec<u64>,
    /// The name before the colon, raw, as far as a path could ask for it.
    name: Vec<u8>,
    /// The element that the walk is in, and the depth that it stands at.
    element: Option<(Inside, usize)>,
}

impl Structure {
    pub(super) fn new(paths: &'static [&'static [Step]]) -> Self {
        Self {
            paths,
            path: &[],
            nesting: Nesting::default(),
            state: State::Mark(0),
            level: 0,
            indexes: Vec::new(),
            name: Vec::new(),
            element: None,
        }
    }

    /// Whether the document could end here.
    pub(super) fn is_complete(&self) -> bool {
        let may_end = matches!(self.state, State::Mark(0) | State::Value | State::AfterValue | State::Scalar);
        self.nesting.depth() == 0 && may_end
    }

    /// The transcript and the index that an element after the last one would have.
    pub(super) fn next_place(&self) -> (String, u64) {
        let (record, index) = self.place();
        (
            record,
            if self.level + 1 == self.path.len() && self.state == State::AfterValue {
                index + 1
            } else {
                index
            },
        )
    }

    /// Walks over `bytes` up to the next signal; also gives how many bytes were walked over.
    pub(super) fn walk(&mut self, bytes: &[u8]) -> (usize, Signal) {
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            if let Some((inside, depth)) = self.element {
                return self.walk_element(bytes, at, inside, depth);
            }
            match self.state {
                State::Mark(seen) if BOM.get(seen) == Some(&byte) => {
                    at += 1;
                    self.state = if seen + 1 == BOM.len() { State::Value } else { State::Mark(seen + 1) };
                }
                State::Mark(0) => self.state = State::Value,
                State::String { name, escaped } => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    at += self.string(rest, name, escaped);
                }
                State::Scalar => {
                    if ends_scalar(byte) {
                        self.state = State::AfterValue;
                    } else {
                        at += 1;
                    }
                }
                _ if is_space(byte) => at += 1,
                State::Value | State::FirstElement if begins_value(byte) => {
                    if self.is_element() {
                        self.element = Some((Inside::Start, self.nesting.depth()));
                        let (record, index) = self.place();
                        return (at, Signal::Begins { record, index });
                    }
                    self.value(byte);
                    at += 1;
                }
                State::FirstName | State::Name if byte == b'"' => {
                    self.name.clear();
                    self.state = State::String { name: true, escaped: false };
                    at += 1;
                }
                State::Colon if byte == b':' => {
                    self.state = State::Value;
                    at += 1;
                }
                State::FirstElement if byte == b']' => {
                    self.close();
                    at += 1;
                }
                State::FirstName if byte == b'}' => {
                    self.close();
                    at += 1;
                }
                State::AfterValue => {
                    if !self.after_value(byte) {
                        return (at, Signal::Broken);
                    }
                    at += 1;
                }
                State::Mark(_)
                | State::Value
                | State::FirstElement
                | State::FirstName
                | State::Name
                | State::Colon => {
                    return (at, Signal::Broken);
                }
            }
        }
        (at, Signal::More)
    }

    fn place(&self) -> (String, u64) {
        let (last, before) = self.indexes.split_last().map_or((0, &[][..]), |(last, before)| (*last, before));
        let mut record = String::new();
        for (step, index) in self.path.iter().zip(before) {
            if *step == Step::Each {
                record.push('/');
                record.push_str(&index.to_string());
            }
        }
        (record, last)
    }

    /// Whether the innermost container is the one that the path has led to.
    fn on_path(&self) -> bool {
        !self.path.is_empty() && self.nesting.depth() == self.level + 1
    }

    /// Whether the next value is one that the path goes on with.
    fn is_next_step(&self) -> bool {
        self.on_path()
            && self.path.get(self.level).is_some_and(|step| match step {
                Step::Each => true,
                Step::Member(name) => decode_inner(&String::from_utf8_lossy(&self.name)) == *name,
            })
    }

    fn is_element(&self) -> bool {
        self.level + 1 == self.path.len() && self.is_next_step()
    }

    /// Begins a value that is no element.
    fn value(&mut self, byte: u8) {
        let container = match byte {
            b'{' => Container::Object,
            b'[' => Container::Array,
            b'"' => {
                self.state = State::String { name: false, escaped: false };
                return;
            }
            _ => {
                self.state = State::Scalar;
                return;
            }
        };
        let fits = |step: Option<&Step>| match step {
            Some(Step::Member(_)) => container == Container::Object,
            Some(Step::Each) => container == Container::Array,
            None => false,
        };
        if self.nesting.depth() == 0 {
            self.path = self.paths.iter().copied().find(|path| fits(path.first())).unwrap_or_default();
            self.indexes = vec![0; self.path.len()];
        } else if self.is_next_step() && fits(self.path.get(self.level + 1)) {
            self.level += 1;
            if let Some(index) = self.indexes.get_mut(self.level) {
                *index = 0;
            }
        }
        self.nesting.push(container);
        self.state = if container == Container::Object { State::FirstName } else { State::FirstElement };
    }

    fn close(&mut self) {
        if self.on_path() {
            self.level = self.level.saturating_sub(1);
        }
        self.nesting.pop();
        self.state = State::AfterValue;
    }

    /// Takes a comma or a closing bracket; whether it was right.
    fn after_value(&mut self, byte: u8) -> bool {
        match (self.nesting.top(), byte) {
            (Some(Container::Object), b',') => self.state = State::Name,
            (Some(Container::Array), b',') => {
                if self.on_path()
                    && let Some(index) = self.indexes.get_mut(self.level)
                {
                    *index += 1;
                }
                self.state = State::Value;
            }
            (Some(Container::Object), b'}') | (Some(Container::Array), b']') => self.close(),
            _ => return false,
        }
        true
    }

    /// Walks on in a string outside elements.
    fn string(&mut self, rest: &[u8], name: bool, escaped: bool) -> usize {
        let (used, state) = string_end(rest, escaped);
        if name && self.on_path() && self.name.len() <= NAME_BYTES_MAX {
            let room = NAME_BYTES_MAX + 1 - self.name.len();
            self.name.extend(rest.iter().take(used.min(room)));
        }
        self.state = match state {
            Some(escaped) => State::String { name, escaped },
            None if name => {
                // The closing quote came along.
                self.name.pop();
                State::Colon
            }
            None => State::AfterValue,
        };
        used
    }

    fn walk_element(&mut self, bytes: &[u8], mut at: usize, inside: Inside, depth: usize) -> (usize, Signal) {
        let mut inside = inside;
        while let Some(byte) = bytes.get(at).copied() {
            inside = match (inside, byte) {
                (Inside::String { escaped }, _) => {
                    let (used, state) = string_end(bytes.get(at..).unwrap_or_default(), escaped);
                    at += used;
                    match state {
                        Some(escaped) => Inside::String { escaped },
                        None if self.nesting.depth() == depth => return self.end_element(at),
                        None => Inside::Brackets,
                    }
                }
                (Inside::Scalar, byte) if ends_scalar(byte) => return self.end_element(at),
                (Inside::Start | Inside::Brackets, b'"') => {
                    at += 1;
                    Inside::String { escaped: false }
                }
                (Inside::Start | Inside::Brackets, b'{' | b'[') => {
                    at += 1;
                    self.nesting.push(if byte == b'{' { Container::Object } else { Container::Array });
                    Inside::Brackets
                }
                (Inside::Brackets, b'}' | b']') => {
                    let wanted = if byte == b'}' { Container::Object } else { Container::Array };
                    if self.nesting.top() != Some(wanted) {
                        return (at, Signal::Broken);
                    }
                    at += 1;
                    self.nesting.pop();
                    if self.nesting.depth() == depth {
                        return self.end_element(at);
                    }
                    Inside::Brackets
                }
                (Inside::Start | Inside::Scalar, _) => {
                    at += 1;
                    Inside::Scalar
                }
                (Inside::Brackets, _) => {
                    at += 1;
                    Inside::Brackets
                }
            };
        }
        self.element = Some((inside, depth));
        (at, Signal::More)
    }

    fn end_element(&mut self, at: usize) -> (usize, Signal) {
        self.element = None;
        self.state = State::AfterValue;
        (at, Signal::Ends)
    }
}

/// How far a string goes in `rest`: bytes used, and `None` at its end or else whether an escape is open.
fn string_end(rest: &[u8], escaped: bool) -> (usize, Option<bool>) {
    let mut at = usize::from(escaped && !rest.is_empty());
    while let Some(found) = memchr2(b'"', b'\\', rest.get(at..).unwrap_or_default()) {
        at += found;
        if rest.get(at) == Some(&b'"') {
            return (at + 1, None);
        }
        at += 2;
    }
    // An escape at the very end is still open.
    if at > rest.len() { (rest.len(), Some(true)) } else { (rest.len(), Some(false)) }
}

const fn begins_value(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}
