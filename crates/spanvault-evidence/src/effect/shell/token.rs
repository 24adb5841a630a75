//! The tokens of a script.

/// One token of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, quotes and all.
    Word(Word),
    /// A control operator: `&&`, `||`, `;`, `;;`, `&`, `|`, `(`, `)`.
    Op(&'static str),
    /// A redirection operator; its target is the next word.
    Redirect(&'static str),
    /// A here-document, by its place in [`Tokens::bodies`].
    Here(usize),
    /// The end of a line.
    Newline,
}

/// A word, cut where its text is known and where it is not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    pub(super) pieces: Vec<Piece>,
    /// Scripts that run to make this word: `$(…)`, backquotes, `<(…)`.
    pub(super) scripts: Vec<String>,
    /// Whether some part of it could not be read at all.
    pub(super) unread: bool,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text outside of quotes: patterns and braces mean something in it.
    Bare(String),
    /// Text inside of quotes.
    Quoted(String),
    /// `$NAME` or `${NAME}`, and whether it stands in quotes: outside of them its value is cut at blanks.
    Variable(String, bool),
    /// Something only the shell knows, as it is written.
    Unknown(String),
}

impl Word {
    /// The word, if it is one piece of text outside of quotes: only such a word can be a keyword.
    pub(super) fn keyword(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Bare(text)] => Some(text),
            _ => None,
        }
    }
}

/// A here-document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Body {
    pub(super) text: String,
    /// Whether the shell expands it (its delimiter is not quoted).
    pub(super) expands: bool,
}

/// A script in tokens.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) tokens: Vec<Token>,
    pub(super) bodies: Vec<Body>,
}

/// The script does not follow the grammar as far as it is known here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Whether `text` is a shell name.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}
