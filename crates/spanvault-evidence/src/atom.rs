//! Atoms: the single verifiable details of a span.

use spanvault_types::{ByteRange, SpanContent};

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
pub fn atoms(content: &SpanContent, original: &[u8]) -> Vec<Atom> {
    let _ = (content, original);
    Vec::new()
}

/// The atoms of a text, in the order of their start; ranges are in the text, the part is 0.
pub fn atoms_of_text(text: &str) -> Vec<Atom> {
    let _ = text;
    Vec::new()
}
