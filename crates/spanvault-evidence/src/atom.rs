//! Atoms: the single verifiable details of a span.
//!
//! One pass over each text by hand-written recognisers with bounded look-ahead, so that no text makes it slow.
//! Layout is left out: line-number gutters of readers and greps, numbers of list items, keys of JSON output.
//! Deliberately absent: meaning. An atom says that these characters stand there, not that they are true.

mod arguments;
mod chunk;
mod json;
mod locate;
mod name;
mod negation;
mod number;
mod path;
mod quote;
mod scan;
mod time;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use spanvault_types::{ByteRange, Outcome, PartBody, SpanContent};

use crate::fate::{exit_code_in, null_words};
pub(crate) use locate::Locator;
use scan::{Found, Layout, scan};

/// What kind of detail an atom is. The numbers are stable: they stand in manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AtomKind {
    /// A tool call; the text is the tool's name.
    Call = 0,
    /// One argument of a call, a leaf of its JSON; the normal form starts with its pointer.
    Argument = 1,
    /// A file path: POSIX, Windows, UNC, `~`, or relative with an extension.
    Path = 2,
    /// A URL.
    Url = 3,
    /// A number with its sign, unit, currency or percent sign.
    Number = 4,
    /// An identifier: UUID, hash, ticket, order, e-mail, IP, version, `snake_case_id_42`.
    Identifier = 5,
    /// A date, a time, or both.
    Timestamp = 6,
    /// A quotation or a code span, without its quote characters.
    Quotation = 7,
    /// A denial: the clause that says that something is not so.
    Negation = 8,
    /// A result that returned nothing.
    NullResult = 9,
    /// A process exit status.
    ExitCode = 10,
    /// The name of an error.
    ErrorKind = 11,
}

impl AtomKind {
    /// Every kind, by its number.
    pub const ALL: [Self; 12] = [
        Self::Call,
        Self::Argument,
        Self::Path,
        Self::Url,
        Self::Number,
        Self::Identifier,
        Self::Timestamp,
        Self::Quotation,
        Self::Negation,
        Self::NullResult,
        Self::ExitCode,
        Self::ErrorKind,
    ];

    /// The word that JSON, queries and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Argument => "argument",
            Self::Path => "path",
            Self::Url => "url",
            Self::Number => "number",
            Self::Identifier => "identifier",
            Self::Timestamp => "timestamp",
            Self::Quotation => "quotation",
            Self::Negation => "negation",
            Self::NullResult => "null_result",
            Self::ExitCode => "exit_code",
            Self::ErrorKind => "error_kind",
        }
    }
}

/// One verifiable detail.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Atom {
    /// What it is.
    pub kind: AtomKind,
    /// As it stands in the (decoded) text.
    pub text: String,
    /// The form in which equal details are equal: `1,024` and `1024` are one.
    pub normal: String,
    /// The part of the span that it stands in.
    pub part: usize,
    /// Where its bytes stand: in the original for [`atoms`], in the text for [`atoms_of_text`].
    pub range: ByteRange,
}

/// The atoms of a span, in the order of its parts and of their start; ranges are in `original`.
///
/// Where the bytes of an atom cannot be found in the original (its importer gathered the text from elsewhere),
/// the range is that of the whole part.
pub fn atoms(content: &SpanContent, original: &[u8]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for (index, part) in content.parts.iter().enumerate() {
        match &part.body {
            PartBody::Call(call) => arguments::atoms_of_call(index, part, call, original, &mut atoms),
            PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => {
                let mut locator = Locator::new(part, text, original);
                place(&found_in(text, Layout::Prose), text, index, &mut locator, &mut atoms);
            }
            PartBody::Result(outcome) => {
                let mut locator = Locator::new(part, &outcome.text, original);
                place(&found_in_result(outcome), &outcome.text, index, &mut locator, &mut atoms);
            }
        }
    }
    atoms
}

/// The atoms of a text, in the order of their start; ranges are in the text, the part is 0.
pub fn atoms_of_text(text: &str) -> Vec<Atom> {
    let found = found_in(text, Layout::Prose);
    let range = |found: &Found<'_>| ByteRange { start: found.start as u64, end: found.end as u64 };
    found.iter().map(|found| found.atom(text, 0, range(found))).collect()
}

/// Whether a span holds any detail at all: what makes the gate read a narrative span as structured.
pub fn holds_detail(content: &SpanContent) -> bool {
    content.parts.iter().any(|part| match &part.body {
        PartBody::Call(_) | PartBody::Result(_) => true,
        PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => {
            let first = &mut |_: Found<'_>| ControlFlow::Break(());
            scan(text, Layout::Prose, first).is_break() || negation::scan(text, first).is_break()
        }
    })
}

/// From this many atoms of one text on, one that stands there already is left out: it proves nothing new, and
/// a text of ten million ones must not take their memory.
const REPEATS_MAX: usize = 16 << 10;

fn found_in<'t>(text: &'t str, layout: Layout) -> Vec<Found<'t>> {
    let mut found: Vec<Found<'t>> = Vec::new();
    let mut known: HashSet<(AtomKind, Cow<'t, str>)> = HashSet::new();
    let mut keep = |atom: Found<'t>| {
        if found.len() == REPEATS_MAX && known.is_empty() {
            known = found.iter().map(|atom| (atom.kind, atom.normal.clone())).collect();
        }
        if found.len() < REPEATS_MAX || known.insert((atom.kind, atom.normal.clone())) {
            found.push(atom);
        }
        ControlFlow::Continue(())
    };
    // Both run to the end: keeping an atom never breaks off.
    let (_, _) = match layout {
        Layout::Prose => (scan(text, layout, &mut keep), negation::scan(text, &mut keep)),
        Layout::Output | Layout::Argument => (scan(text, layout, &mut keep), ControlFlow::Continue(())),
    };
    sort(&mut found);
    found
}

/// What stands in a result: its words, and what its wrapper says of them.
fn found_in_result(outcome: &Outcome) -> Vec<Found<'_>> {
    let text = outcome.text.as_str();
    let mut found = found_in(text, Layout::Output);
    if let Some(words) = null_words(text) {
        let normal = text.get(words.clone()).unwrap_or_default().to_ascii_lowercase();
        found.push(Found {
            kind: AtomKind::NullResult,
            start: words.start,
            end: words.end,
            normal: normal.into(),
        });
    }
    if let Some((code, digits)) = exit_code_in(text) {
        let normal = code.to_string().into();
        found.push(Found { kind: AtomKind::ExitCode, start: digits.start, end: digits.end, normal });
    }
    sort(&mut found);
    found
}

/// By start; what encloses comes before what it encloses.
fn sort(found: &mut [Found<'_>]) {
    found.sort_by(|a, b| (a.start, b.end, a.kind).cmp(&(b.start, a.end, b.kind)));
}

/// Makes atoms of what was found in a text, with their place in the original.
fn place(found: &[Found<'_>], text: &str, part: usize, locator: &mut Locator<'_>, atoms: &mut Vec<Atom>) {
    atoms.extend(found.iter().map(|found| found.atom(text, part, locator.locate(found.start, found.end))));
}

#[cfg(test)]
mod tests;
