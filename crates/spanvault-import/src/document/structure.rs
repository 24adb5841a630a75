//! Walks over a JSON document in chunks and says where the elements begin and end.
//!
//! Outside elements the grammar of brackets, names and commas is checked. Inside, only brackets and strings
//! are followed, so that one bad element does not hide the next; whether it is JSON shows when it is read.

use memchr::memchr2;

use super::{Frame, LineNames, Step};
use crate::importer::BOM;
use crate::json::{Container, Nesting, decode_inner, ends_scalar, is_space};

/// A longer member name is none that a path asks for.
const NAME_BYTES_MAX: usize = 256;
/// Of the text that names the session no more than this is looked at, escapes included.
const SESSION_BYTES_MAX: usize = 4096;

/// What [`Structure::walk`] came upon.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The chunk is used up.
    More,
    /// The next byte begins an element.
    Begins(Place),
    /// The element ended with the byte before.
    Ends,
    /// The next byte is not JSON.
    Broken,
}

/// The transcript and the index of an element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The transcript: a JSON pointer, or a line and one.
    pub(super) record: String,
    /// What the name of the session ends with, where the document names none.
    pub(super) session: String,
    /// The place in its array.
    pub(super) index: u64,
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
    /// Before the name of a member that is an element.
    NameStart,
    Name {
        escaped: bool,
    },
    /// After the name, before the colon.
    NameEnd,
    Start,
    Scalar,
    Brackets,
    String {
        escaped: bool,
    },
}

/// An open container that a path leads through.
#[derive(Debug, Clone)]
struct Crossing {
    /// The paths that lead through it.
    paths: Vec<&'static [Step]>,
    /// The place of its current element, if it is an array.
    index: u64,
}

pub(super) struct Structure {
    frame: Frame,
    /// The one path that is followed from now on.
    taken: Option<&'static [Step]>,
    /// The line that the document stands on, where each line is one.
    line: Option<(u64, LineNames)>,
    nesting: Nesting,
    state: State,
    /// The open containers that lie on paths, outermost first.
    trail: Vec<Crossing>,
    /// Where an element after the last one would stand.
    next: Place,
    /// The name before the colon, raw, as far as a path could ask for it.
    name: Vec<u8>,
    /// The element that the walk is in, and the depth that it stands at.
    element: Option<(Inside, usize)>,
    /// The text of the member that names the session, raw and with its closing quote.
    session: Vec<u8>,
}

impl Structure {
    pub(super) fn new(frame: Frame, line: Option<(u64, LineNames)>) -> Self {
        Self {
            frame,
            taken: None,
            line,
            nesting: Nesting::default(),
            state: State::Mark(0),
            trail: Vec::new(),
            next: line.map_or_else(Place::default, |(line, names)| Place {
                record: match names {
                    LineNames::Place => format!("/{line}"),
                    LineNames::LineAndPlace => format!("line {line}"),
                },
                session: format!("/{line}"),
                index: 0,
            }),
            name: Vec::new(),
            element: None,
            session: Vec::new(),
        }
    }

    /// The name of the session that the document has given so far.
    pub(super) fn session(&self) -> Option<String> {
        let (quote, inner) = self.session.split_last()?;
        let whole = *quote == b'"' && self.session.len() <= SESSION_BYTES_MAX;
        whole.then(|| decode_inner(&String::from_utf8_lossy(inner)).into_owned())
    }

    /// Whether the document could end here.
    pub(super) fn is_complete(&self) -> bool {
        let may_end = matches!(self.state, State::Mark(0) | State::Value | State::AfterValue | State::Scalar);
        self.nesting.depth() == 0 && may_end
    }

    /// Where an element after the last one would stand.
    pub(super) fn next_place(&self) -> Place {
        let innermost = self.trail.last().and_then(|crossing| crossing.paths.first());
        match innermost.filter(|path| path.len() == self.trail.len() && self.on_path()) {
            Some(path) => {
                let mut place = self.place(path);
                place.index += u64::from(self.state == State::AfterValue);
                place
            }
            None => self.next.clone(),
        }
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
                    if let Some(place) = self.element_place() {
                        self.element = Some((Inside::Start, self.nesting.depth()));
                        self.next = Place { index: place.index + 1, ..place.clone() };
                        return (at, Signal::Begins(place));
                    }
                    self.value(byte);
                    at += 1;
                }
                State::FirstName | State::Name if byte == b'"' => {
                    if let Some(place) = self.member_place() {
                        self.element = Some((Inside::NameStart, self.nesting.depth()));
                        self.next = Place { index: place.index + 1, ..place.clone() };
                        return (at, Signal::Begins(place));
                    }
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

    /// Where an element that `path` leads to would stand now.
    fn place(&self, path: &'static [Step]) -> Place {
        let array = path.len().saturating_sub(1);
        let short = self.pointer(path, record_steps(path));
        let before = self.frame.paths.iter().take_while(|other| **other != path);
        let taken = !self.frame.one_path && before.into_iter().any(|other| same_transcript(other, path));
        let own = if taken { self.pointer(path, array) } else { short.clone() };
        let index = self.trail.get(array).map_or(0, |crossing| crossing.index);
        let (record, session) = match self.line {
            None => (own, short),
            // An array is the whole file, and not one line of many.
            Some((0, LineNames::Place)) if path.first() == Some(&Step::Each) => (own, short),
            Some((line, LineNames::Place)) => (format!("/{line}{own}"), format!("/{line}{short}")),
            Some((line, LineNames::LineAndPlace)) => {
                let array = format!("line {line} {}", self.pointer(path, array));
                (array.trim_end().to_owned(), format!("/{line}{short}"))
            }
        };
        Place { record, session, index }
    }

    /// The JSON pointer that the first `steps` of a path have led to.
    fn pointer(&self, path: &'static [Step], steps: usize) -> String {
        let mut pointer = String::new();
        for (step, crossing) in path.iter().zip(&self.trail).take(steps) {
            pointer.push('/');
            match step {
                Step::Member(name) => pointer.push_str(name),
                Step::Each | Step::EachMember => pointer.push_str(&crossing.index.to_string()),
            }
        }
        pointer
    }

    /// Whether the innermost container is one that a path leads through.
    fn on_path(&self) -> bool {
        !self.trail.is_empty() && self.nesting.depth() == self.trail.len()
    }

    /// The paths that the next value lies on.
    fn next_paths(&self) -> Vec<&'static [Step]> {
        let Some(crossing) = self.trail.last().filter(|_| self.on_path()) else { return Vec::new() };
        let level = self.trail.len() - 1;
        let leads = |path: &&&'static [Step]| {
            path.get(level).is_some_and(|step| match step {
                Step::Each => true,
                Step::EachMember => false,
                Step::Member(name) => self.is_named(name),
            }) && self.taken.is_none_or(|taken| taken == **path)
        };
        crossing.paths.iter().filter(leads).copied().collect()
    }

    fn is_named(&self, name: &str) -> bool {
        decode_inner(&String::from_utf8_lossy(&self.name)) == name
    }

    /// Whether the walk is directly inside the root object.
    fn is_in_root(&self) -> bool {
        self.nesting.depth() == 1 && self.nesting.top() == Some(Container::Object)
    }

    /// Whether the next or current value is the text that names the session.
    fn is_session(&self) -> bool {
        self.is_in_root() && self.frame.session.is_some_and(|name| self.is_named(name))
    }

    /// The place of the next value, if it is an element.
    fn element_place(&mut self) -> Option<Place> {
        if self.frame.paths.is_empty() {
            return (self.nesting.depth() == 0).then(Place::default);
        }
        let path = self.next_paths().into_iter().find(|path| path.len() == self.trail.len())?;
        if self.frame.one_path {
            self.taken = Some(path);
        }
        Some(self.place(path))
    }

    /// The place of the next member with its name, if that is an element.
    fn member_place(&self) -> Option<Place> {
        let crossing = self.trail.last().filter(|_| self.on_path())?;
        let is_next = |path: &&&'static [Step]| {
            path.len() == self.trail.len() && path.last() == Some(&Step::EachMember)
        };
        crossing.paths.iter().find(is_next).map(|path| self.place(path))
    }

    /// Begins a value that is no element.
    fn value(&mut self, byte: u8) {
        let container = match byte {
            b'{' => Container::Object,
            b'[' => Container::Array,
            b'"' => {
                self.state = State::String { name: false, escaped: false };
                if self.is_session() {
                    self.session.clear();
                }
                return;
            }
            _ => {
                self.state = State::Scalar;
                return;
            }
        };
        let fits = |path: &&'static [Step]| match path.get(self.trail.len()) {
            Some(Step::Member(_) | Step::EachMember) => container == Container::Object,
            Some(Step::Each) => container == Container::Array,
            None => false,
        };
        let lead = if self.nesting.depth() == 0 { self.frame.paths.to_vec() } else { self.next_paths() };
        let paths: Vec<_> = lead.into_iter().filter(fits).collect();
        if !paths.is_empty() {
            self.trail.push(Crossing { paths, index: 0 });
        }
        self.nesting.push(container);
        self.state = if container == Container::Object { State::FirstName } else { State::FirstElement };
    }

    fn close(&mut self) {
        if self.on_path() {
            self.trail.pop();
        }
        self.nesting.pop();
        self.state = State::AfterValue;
    }

    /// Takes a comma or a closing bracket; whether it was right.
    fn after_value(&mut self, byte: u8) -> bool {
        match (self.nesting.top(), byte) {
            (Some(container), b',') => {
                if self.on_path()
                    && let Some(crossing) = self.trail.last_mut()
                {
                    crossing.index += 1;
                }
                self.state = if container == Container::Object { State::Name } else { State::Value };
            }
            (Some(Container::Object), b'}') | (Some(Container::Array), b']') => self.close(),
            _ => return false,
        }
        true
    }

    /// Walks on in a string outside elements.
    fn string(&mut self, rest: &[u8], name: bool, escaped: bool) -> usize {
        let (used, state) = string_end(rest, escaped);
        if name && (self.on_path() || self.is_in_root()) && self.name.len() <= NAME_BYTES_MAX {
            let room = NAME_BYTES_MAX + 1 - self.name.len();
            self.name.extend(rest.iter().take(used.min(room)));
        } else if !name && self.is_session() {
            let room = (SESSION_BYTES_MAX + 1).saturating_sub(self.session.len());
            self.session.extend(rest.iter().take(used.min(room)));
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
                (Inside::NameStart, _) => {
                    at += 1;
                    Inside::Name { escaped: false }
                }
                (Inside::Name { escaped }, _) => {
                    let (used, state) = string_end(bytes.get(at..).unwrap_or_default(), escaped);
                    at += used;
                    state.map_or(Inside::NameEnd, |escaped| Inside::Name { escaped })
                }
                (Inside::NameEnd, b':') => {
                    at += 1;
                    Inside::Start
                }
                (Inside::NameEnd | Inside::Start, byte) if is_space(byte) => {
                    at += 1;
                    inside
                }
                (Inside::NameEnd, _) => return (at, Signal::Broken),
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

/// How many steps of a path name its transcript: up to the last array but the one of the elements.
fn record_steps(path: &[Step]) -> usize {
    let outer = path.get(..path.len().saturating_sub(1)).unwrap_or_default();
    outer.iter().rposition(|step| *step == Step::Each).map_or(0, |at| at + 1)
}

/// Whether two paths through documents of one kind would name the same transcript.
fn same_transcript(a: &[Step], b: &[Step]) -> bool {
    let steps = record_steps(a);
    let is_array = |path: &[Step]| path.first() == Some(&Step::Each);
    steps == record_steps(b) && is_array(a) == is_array(b) && a.get(..steps) == b.get(..steps)
}
