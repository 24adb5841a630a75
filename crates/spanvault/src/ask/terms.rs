//! The terms under which calls and results are looked up: one list for those who post and for those who ask.
//!
//! A call that a filter could match holds a term of every [`Clause`] of the filter's [`Need`]. So a span without one of
//! them holds no such call, and need not be read. What a pattern cannot be looked up by is no clause: then more is read,
//! never less.

use serde_json::Value;
use spanvault_evidence::{CallEffect, Effect};
use spanvault_index::postings::Term;
use spanvault_types::{Call, Position};

use super::equality::normal_number;
use super::matching::{Matcher, leaves};

/// Kinds of terms. Numbers are never reused for another meaning.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
enum Kind {
    /// A span of a session.
    SessionSpan = 1,
    /// An id of a call in a session: the call and its result.
    CallId = 2,
    /// A tool's name.
    Tool = 3,
    /// What a call does.
    Effect = 4,
    /// A call that cannot be seen through, by tool; without one, of any.
    Opaque = 5,
    /// A value of an argument by its name.
    Arg = 6,
    /// A value anywhere in the arguments.
    Value = 7,
    /// A whole path or string.
    Whole = 8,
    /// What stands before a `/` of it.
    Before = 9,
    /// What stands after its last `/`, or all of it where it has none.
    After = 10,
    /// There is more of it than was posted.
    More = 11,
}

/// The most terms that one call posts for what stands before each `/`.
const SLASHES_MAX: usize = 48;
/// The most values of one call that are posted.
const VALUES_MAX: usize = 256;

/// Where a path or string stands: in what the call touches, or in an argument.
#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    Touched { writes: bool },
    Arg(&'a str),
}

impl Place<'_> {
    const fn name(&self) -> &[u8] {
        match self {
            Self::Touched { writes: false } => b"",
            Self::Touched { writes: true } => b"\x01",
            Self::Arg(name) => name.as_bytes(),
        }
    }

    const fn tag(&self) -> &[u8] {
        match self {
            Self::Touched { .. } => b"t",
            Self::Arg(_) => b"a",
        }
    }

    fn term(&self, kind: Kind, text: &str) -> Term {
        Term::new(kind as u8, &[self.tag(), self.name(), text.as_bytes()])
    }
}

/// The spans of a session.
pub(crate) fn session_span(session: Position) -> Term {
    Term::new(Kind::SessionSpan as u8, &[&session.get().to_le_bytes()])
}

/// The calls and results of a session that name this id.
pub(crate) fn call_id(session: Position, id: &str) -> Term {
    Term::new(Kind::CallId as u8, &[&session.get().to_le_bytes(), id.as_bytes()])
}

/// Hands every term under which a call can be asked for to `post`.
pub(crate) fn post_call(call: &Call, effect: &CallEffect, post: &mut dyn FnMut(Term)) {
    post(tool(&call.tool));
    post(effect_term(effect.effect.as_str()));
    if effect.effect == Effect::Opaque {
        post(opaque(None));
        post(opaque(Some(&call.tool)));
        if !effect.writes.is_empty() {
            post(effect_term(OPAQUE_WRITES));
        }
    }
    for (paths, writes) in [(&effect.paths, false), (&effect.writes, true)] {
        for path in paths {
            post_string(Place::Touched { writes }, path, post);
        }
    }
    let mut values = 0;
    let mut count = |post: &mut dyn FnMut(Term), leaf: &Value| {
        values += 1;
        if values <= VALUES_MAX {
            post(value(leaf));
        }
        values <= VALUES_MAX
    };
    if let Some(args) = call.args.as_object() {
        for (name, arg) in args {
            if !is_inner(arg) {
                post(arg_is(name, arg));
            }
            for leaf in leaves(arg) {
                if !count(post, leaf) {
                    post(Place::Arg(name).term(Kind::More, ""));
                    break;
                }
                if let Some(text) = leaf.as_str() {
                    post_string(Place::Arg(name), text, post);
                }
            }
        }
    } else {
        leaves(&call.args).for_each(|leaf| {
            count(post, leaf);
        });
    }
    if values > VALUES_MAX {
        post(more_values());
    }
}

fn post_string(place: Place<'_>, text: &str, post: &mut dyn FnMut(Term)) {
    post(place.term(Kind::Whole, text));
    let mut slashes = memchr::memchr_iter(b'/', text.as_bytes());
    for at in slashes.by_ref().take(SLASHES_MAX).filter(|at| *at > 0) {
        post(place.term(Kind::Before, &text[..at]));
    }
    if slashes.next().is_some() {
        post(place.term(Kind::More, ""));
    }
    // `**/x` matches `x` as well, so what has no `/` stands after its last one as a whole.
    post(place.term(Kind::After, text.rsplit_once('/').map_or(text, |(_before, after)| after)));
}

const OPAQUE_WRITES: &str = "opaque, and known to write";

fn tool(name: &str) -> Term {
    Term::new(Kind::Tool as u8, &[name.as_bytes()])
}

fn effect_term(word: &str) -> Term {
    Term::new(Kind::Effect as u8, &[word.as_bytes()])
}

fn opaque(tool: Option<&str>) -> Term {
    match tool {
        Some(tool) => Term::new(Kind::Opaque as u8, &[tool.as_bytes()]),
        None => Term::new(Kind::Opaque as u8, &[]),
    }
}

fn arg_is(name: &str, leaf: &Value) -> Term {
    let (tag, text) = scalar(leaf);
    Term::new(Kind::Arg as u8, &[name.as_bytes(), &[tag], text.as_bytes()])
}

fn value(leaf: &Value) -> Term {
    let (tag, text) = scalar(leaf);
    Term::new(Kind::Value as u8, &[&[tag], text.as_bytes()])
}

fn more_values() -> Term {
    Term::new(Kind::More as u8, &[])
}

/// A value that holds nothing inside, so that equal ones give equal text.
fn scalar(leaf: &Value) -> (u8, String) {
    match leaf {
        Value::String(text) => (b's', text.clone()),
        Value::Number(number) => (b'n', normal_number(number)),
        Value::Bool(truth) => (b'b', truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => (b'0', String::new()),
    }
}

const fn is_inner(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// What a span must hold so that it can hold a call that is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Need {
    /// The span holds a term of each.
    pub(crate) clauses: Vec<Clause>,
    /// The terms of calls that cannot be seen through and so may be ones that are asked for; the span then need not
    /// hold a term of those clauses that [`Clause::unless_opaque`] marks.
    pub(crate) opaque: Vec<Term>,
    /// Whether each call under a term of `opaque` that is none of those asked for is a doubt, whatever it says.
    pub(crate) opaque_is_doubt: bool,
}

/// Terms one of which a span must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) any_of: Vec<Term>,
    /// Whether a call that cannot be seen through need not hold one.
    pub(crate) unless_opaque: bool,
}

impl Need {
    pub(super) fn add(&mut self, any_of: Vec<Term>, unless_opaque: bool) {
        self.clauses.push(Clause { any_of, unless_opaque });
    }

    /// Whether nothing is known that would narrow a search.
    pub(crate) const fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    pub(super) fn add_tools(&mut self, tools: &[String]) {
        self.add(tools.iter().map(|name| tool(name)).collect(), false);
        self.opaque = tools.iter().map(|name| opaque(Some(name))).collect();
    }

    pub(super) fn add_any_opaque(&mut self) {
        self.opaque = vec![opaque(None)];
    }

    pub(super) fn add_effects(&mut self, effects: &[Effect]) {
        let mut terms: Vec<Term> = effects.iter().map(|effect| effect_term(effect.as_str())).collect();
        if effects.contains(&Effect::Mutates) {
            terms.push(effect_term(OPAQUE_WRITES));
        }
        self.add(terms, true);
    }

    pub(super) fn add_path(&mut self, wanted: &Matcher, writes: bool) {
        if let Some(terms) = string_terms(Place::Touched { writes }, wanted) {
            self.add(terms, true);
        }
    }

    pub(super) fn add_arg(&mut self, name: &str, wanted: &Matcher) {
        match wanted {
            Matcher::Eq(value) if !is_inner(value) => self.add(vec![arg_is(name, value)], false),
            Matcher::Eq(_inner) => {}
            Matcher::Prefix(_)
            | Matcher::Suffix(_)
            | Matcher::Contains(_)
            | Matcher::Glob(_)
            | Matcher::Regex(_) => {
                if let Some(terms) = string_terms(Place::Arg(name), wanted) {
                    self.add(terms, false);
                }
            }
        }
    }

    pub(super) fn add_any_arg(&mut self, wanted: &Matcher) {
        if let Matcher::Eq(wanted) = wanted
            && !is_inner(wanted)
        {
            self.add(vec![value(wanted), more_values()], false);
        }
    }

    pub(super) fn add_args_exactly(&mut self, args: &Value) {
        for (name, arg) in args.as_object().into_iter().flatten().filter(|(_name, arg)| !is_inner(arg)) {
            self.add(vec![arg_is(name, arg)], false);
        }
    }
}

/// The terms one of which a string holds if the pattern can match it; `None` where it can match without any.
fn string_terms(place: Place<'_>, wanted: &Matcher) -> Option<Vec<Term>> {
    let found = match wanted {
        Matcher::Eq(Value::String(text)) => return Some(vec![place.term(Kind::Whole, text)]),
        // A path is a string, so nothing else equals one.
        Matcher::Eq(_other) => return Some(Vec::new()),
        Matcher::Prefix(text) => starts_with(place, text),
        Matcher::Suffix(text) => ends_with(place, text),
        Matcher::Glob(pattern) => {
            let pattern = pattern.glob().glob();
            let meta = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
            if pattern.contains('\\') {
                return None;
            }
            match (pattern.find(meta), pattern.rfind(meta)) {
                (Some(first), Some(last)) => {
                    starts_with(place, &pattern[..first]).or_else(|| ends_with(place, &pattern[last + 1..]))
                }
                // A number matches a pattern too, but has no `/`.
                (None, _) | (_, None) => pattern.contains('/').then(|| place.term(Kind::Whole, pattern)),
            }
        }
        Matcher::Contains(_) | Matcher::Regex(_) => None,
    }?;
    Some(vec![found, place.term(Kind::More, "")])
}

fn starts_with(place: Place<'_>, head: &str) -> Option<Term> {
    let (before, _rest) = head.rsplit_once('/')?;
    (!before.is_empty()).then(|| place.term(Kind::Before, before))
}

fn ends_with(place: Place<'_>, tail: &str) -> Option<Term> {
    let (_before, after) = tail.rsplit_once('/')?;
    (!after.is_empty()).then(|| place.term(Kind::After, after))
}

#[cfg(test)]
mod tests;
