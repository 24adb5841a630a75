//! Cuts a script into words, operators and here-documents. One pass, no recursion.

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

/// Cuts a script into tokens.
pub(super) fn tokenize(script: &str) -> Result<Tokens, Unreadable> {
    let mut lexer = Lexer { text: script, at: 0, out: Tokens::default(), waiting: Vec::new(), misses: 0 };
    lexer.run()?;
    Ok(lexer.out)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    out: Tokens,
    /// Here-documents whose bodies start after this line: delimiter, whether tabs are stripped, place.
    waiting: Vec<(String, bool, usize)>,
    /// How often `((` was not arithmetic.
    misses: u32,
}

/// Operators, longest first.
const OPERATORS: &[&str] = &[";;&", "&&", "||", ";;", ";&", "|&", ";", "&", "|", "(", ")"];
const REDIRECTIONS: &[&str] = &["&>>", "<<<", "&>", "<&", "<>", ">>", ">&", ">|", "<", ">"];

/// How far the end of `((…))` is looked for, in bytes, and how often in vain: bounds on what a script of
/// parentheses can cost.
const ARITHMETIC_BYTES_MAX: usize = 1 << 10;
const ARITHMETIC_MISSES_MAX: u32 = 16;

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    fn run(&mut self) -> Result<(), Unreadable> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.byte(1) == Some(b'\n') => self.at += 2,
                b'\n' => {
                    self.at += 1;
                    self.out.tokens.push(Token::Newline);
                    self.read_bodies();
                }
                b'#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                _ => self.token(byte)?,
            }
        }
        if self.waiting.is_empty() { Ok(()) } else { Err(Unreadable) }
    }

    fn token(&mut self, byte: u8) -> Result<(), Unreadable> {
        if byte == b'('
            && self.byte(1) == Some(b'(')
            && self.at_command()
            && self.misses < ARITHMETIC_MISSES_MAX
        {
            if self.skip_arithmetic() {
                return Ok(());
            }
            self.misses += 1;
        }
        // `2>` and `{fd}>`: the descriptor does not matter, only what is written.
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && digits < 4 && matches!(self.byte(digits), Some(b'<' | b'>')) {
            self.at += digits;
            return self.token_after_descriptor();
        }
        match byte {
            b'<' | b'>' if self.byte(1) == Some(b'(') => self.word(),
            b'<' | b'>' => self.token_after_descriptor(),
            b'&' if self.byte(1) == Some(b'>') => self.token_after_descriptor(),
            b'&' | b'|' | b';' | b'(' | b')' => {
                let Some(op) = OPERATORS.iter().find(|op| self.rest().starts_with(**op)) else {
                    return Err(Unreadable);
                };
                self.at += op.len();
                self.out.tokens.push(Token::Op(op));
                Ok(())
            }
            _ => self.word(),
        }
    }

    fn token_after_descriptor(&mut self) -> Result<(), Unreadable> {
        let rest = self.rest();
        if rest.starts_with("<<") && !rest.starts_with("<<<") {
            return self.here_document();
        }
        let Some(op) = REDIRECTIONS.iter().find(|op| rest.starts_with(**op)) else { return Err(Unreadable) };
        self.at += op.len();
        self.out.tokens.push(Token::Redirect(op));
        Ok(())
    }

    /// Whether the next token starts a command.
    fn at_command(&self) -> bool {
        match self.out.tokens.last() {
            None | Some(Token::Newline | Token::Op(_)) => true,
            Some(Token::Word(word)) => {
                matches!(
                    word.keyword(),
                    Some("if" | "while" | "until" | "then" | "else" | "elif" | "do" | "for" | "!")
                )
            }
            Some(Token::Redirect(_) | Token::Here(_)) => false,
        }
    }

    /// Skips `((…))`; leaves it alone where it is not closed that way.
    fn skip_arithmetic(&mut self) -> bool {
        let mut limit = self.text.len().min(self.at + ARITHMETIC_BYTES_MAX);
        while !self.text.is_char_boundary(limit) {
            limit -= 1;
        }
        let within = self.text.get(..limit).unwrap_or_default();
        let Some(end) = end_of_parens(within, self.at + 2) else { return false };
        // `end` is one past the inner parenthesis that closes; the outer one must follow at once.
        if within.as_bytes().get(end) != Some(&b')') {
            return false;
        }
        let inside = within.get(self.at..end).unwrap_or_default();
        let word = Word {
            pieces: vec![Piece::Unknown("((…))".into())],
            unread: runs_scripts(inside),
            ..Word::default()
        };
        self.at = end + 1;
        self.out.tokens.push(Token::Word(word));
        true
    }

    fn here_document(&mut self) -> Result<(), Unreadable> {
        let strip = self.rest().starts_with("<<-");
        self.at += if strip { 3 } else { 2 };
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let before = self.out.tokens.len();
        self.word()?;
        let Some(Token::Word(word)) = self.out.tokens.pop() else { return Err(Unreadable) };
        if self.out.tokens.len() != before {
            return Err(Unreadable);
        }
        let mut delimiter = String::new();
        let mut expands = true;
        for piece in &word.pieces {
            match piece {
                Piece::Bare(text) => delimiter.push_str(text),
                Piece::Quoted(text) => {
                    expands = false;
                    delimiter.push_str(text);
                }
                Piece::Variable(..) | Piece::Unknown(_) => return Err(Unreadable),
            }
        }
        let place = self.out.bodies.len();
        self.out.bodies.push(Body { text: String::new(), expands });
        self.out.tokens.push(Token::Here(place));
        self.waiting.push((delimiter, strip, place));
        Ok(())
    }

    /// Reads the bodies that start on this line. One that is not ended ends with the script, as in a shell.
    fn read_bodies(&mut self) {
        for (delimiter, strip, place) in std::mem::take(&mut self.waiting) {
            let rest = self.rest();
            let (body, after) = split_body(rest, &delimiter, strip);
            let text = rest.get(..body).unwrap_or_default().to_owned();
            self.at += after;
            if let Some(slot) = self.out.bodies.get_mut(place) {
                slot.text = text;
            }
        }
    }

    fn word(&mut self) -> Result<(), Unreadable> {
        let mut word = WordBuilder::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.byte(1) == Some(b'(') && word.is_empty() => {
                    self.at += 1;
                    self.substitution(&mut word)?;
                }
                b'(' if word.is_array_name() => {
                    let end = end_of_parens(self.text, self.at + 1).ok_or(Unreadable)?;
                    word.word.unread |= runs_scripts(self.text.get(self.at..end).unwrap_or_default());
                    self.at = end;
                    word.unknown("(…)");
                }
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'\\' => {
                    self.at += 1;
                    let Some(next) = self.rest().chars().next() else {
                        word.quoted("\\");
                        continue;
                    };
                    self.at += next.len_utf8();
                    if next != '\n' {
                        word.quoted(next.encode_utf8(&mut [0; 4]));
                    }
                }
                b'\'' => {
                    let inside = self.text.get(self.at + 1..).unwrap_or_default();
                    let end = inside.find('\'').ok_or(Unreadable)?;
                    word.quoted(inside.get(..end).unwrap_or_default());
                    self.at += end + 2;
                }
                b'"' => {
                    self.at += 1;
                    self.double_quotes(&mut word)?;
                }
                b'$' => self.dollar(&mut word, false)?,
                b'`' => self.backquotes(&mut word)?,
                _ => {
                    let rest = self.rest();
                    let end = rest
                        .bytes()
                        .position(|b| b" \t\r\n;&|()<>\\'\"$`".contains(&b))
                        .unwrap_or(rest.len());
                    word.bare(rest.get(..end).unwrap_or_default());
                    self.at += end;
                }
            }
        }
        self.out.tokens.push(Token::Word(word.word));
        Ok(())
    }

    /// The inside of double quotes, after the first; an empty one still makes a word.
    fn double_quotes(&mut self, word: &mut WordBuilder) -> Result<(), Unreadable> {
        word.quoted("");
        loop {
            match self.peek().ok_or(Unreadable)? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    let next = self
                        .text
                        .get(self.at + 1..)
                        .and_then(|rest| rest.chars().next())
                        .ok_or(Unreadable)?;
                    self.at += 1 + next.len_utf8();
                    match next {
                        '\n' => {}
                        '$' | '`' | '"' | '\\' => word.quoted(next.encode_utf8(&mut [0; 4])),
                        _ => {
                            word.quoted("\\");
                            word.quoted(next.encode_utf8(&mut [0; 4]));
                        }
                    }
                }
                b'$' => self.dollar(word, true)?,
                b'`' => self.backquotes(word)?,
                _ => {
                    let rest = self.rest();
                    let end = rest.bytes().position(|b| b"\"\\$`".contains(&b)).ok_or(Unreadable)?;
                    word.quoted(rest.get(..end).unwrap_or_default());
                    self.at += end;
                }
            }
        }
    }

    /// What starts with `$`.
    fn dollar(&mut self, word: &mut WordBuilder, quoted: bool) -> Result<(), Unreadable> {
        match self.byte(1) {
            Some(b'(') => {
                self.at += 1;
                if self.byte(1) == Some(b'(') {
                    let end = end_of_parens(self.text, self.at + 1).ok_or(Unreadable)?;
                    let inside = self.text.get(self.at + 1..end - 1).unwrap_or_default();
                    // `$((…))` is arithmetic only if both parentheses close together.
                    if inside.ends_with(')') {
                        word.word.unread |= runs_scripts(inside);
                        word.unknown("$((…))");
                        self.at = end;
                        return Ok(());
                    }
                }
                self.substitution(word)
            }
            Some(b'{') => {
                let end = end_of_braces(self.text, self.at + 2).ok_or(Unreadable)?;
                let inside = self.text.get(self.at + 2..end - 1).unwrap_or_default();
                if is_name(inside) {
                    word.variable(inside, quoted);
                } else {
                    word.word.unread |= runs_scripts(inside);
                    word.unknown(self.text.get(self.at..end).unwrap_or_default());
                }
                self.at = end;
                Ok(())
            }
            Some(b'\'') if !quoted => {
                let inside = self.text.get(self.at + 2..).unwrap_or_default();
                let end = end_of_ansi_quotes(inside).ok_or(Unreadable)?;
                word.quoted(&without_ansi_escapes(inside.get(..end).unwrap_or_default()));
                self.at += end + 3;
                Ok(())
            }
            Some(b'"') if !quoted => {
                self.at += 2;
                self.double_quotes(word)
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                let name = self.text.get(self.at + 1..).unwrap_or_default();
                let end =
                    name.bytes().position(|b| b != b'_' && !b.is_ascii_alphanumeric()).unwrap_or(name.len());
                word.variable(name.get(..end).unwrap_or_default(), quoted);
                self.at += 1 + end;
                Ok(())
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?$!-".contains(&byte) => {
                word.unknown(self.text.get(self.at..self.at + 2).unwrap_or_default());
                self.at += 2;
                Ok(())
            }
            _ => {
                word.quoted("$");
                self.at += 1;
                Ok(())
            }
        }
    }

    /// `(…)` of `$(…)`, `<(…)` or `>(…)`: the script in it runs.
    fn substitution(&mut self, word: &mut WordBuilder) -> Result<(), Unreadable> {
        let end = end_of_parens(self.text, self.at + 1).ok_or(Unreadable)?;
        match self.text.get(self.at + 1..end - 1).unwrap_or_default() {
            "pwd" => word.variable("PWD", true),
            script => {
                word.word.scripts.push(script.to_owned());
                word.unknown("$(…)");
            }
        }
        self.at = end;
        Ok(())
    }

    fn backquotes(&mut self, word: &mut WordBuilder) -> Result<(), Unreadable> {
        let inside = self.text.get(self.at + 1..).unwrap_or_default();
        let mut script = String::new();
        let mut escaped = false;
        for (at, c) in inside.char_indices() {
            match c {
                '`' if !escaped => {
                    word.word.scripts.push(script);
                    word.unknown("$(…)");
                    self.at += at + 2;
                    return Ok(());
                }
                '\\' if !escaped => escaped = true,
                _ => {
                    if escaped && !matches!(c, '`' | '$' | '\\') {
                        script.push('\\');
                    }
                    script.push(c);
                    escaped = false;
                }
            }
        }
        Err(Unreadable)
    }
}

#[derive(Default)]
struct WordBuilder {
    word: Word,
}

impl WordBuilder {
    fn is_empty(&self) -> bool {
        self.word.pieces.is_empty()
    }

    /// Whether what stands so far is `NAME=` or `NAME+=`, so that a parenthesis starts an array.
    fn is_array_name(&self) -> bool {
        match self.word.pieces.as_slice() {
            [Piece::Bare(text)] => {
                text.strip_suffix('=').is_some_and(|name| is_name(name.strip_suffix('+').unwrap_or(name)))
            }
            _ => false,
        }
    }

    fn bare(&mut self, text: &str) {
        match self.word.pieces.last_mut() {
            Some(Piece::Bare(last)) => last.push_str(text),
            _ => self.word.pieces.push(Piece::Bare(text.to_owned())),
        }
    }

    fn quoted(&mut self, text: &str) {
        match self.word.pieces.last_mut() {
            Some(Piece::Quoted(last)) => last.push_str(text),
            _ => self.word.pieces.push(Piece::Quoted(text.to_owned())),
        }
    }

    fn variable(&mut self, name: &str, quoted: bool) {
        self.word.pieces.push(Piece::Variable(name.to_owned(), quoted));
    }

    fn unknown(&mut self, text: &str) {
        self.word.pieces.push(Piece::Unknown(text.to_owned()));
    }
}

/// Whether `text` is a shell name.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

/// Whether a piece of text that is skipped could run a script.
fn runs_scripts(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("<(")
}

/// Where the body of a here-document ends and where the text after its delimiter starts.
fn split_body(text: &str, delimiter: &str, strip: bool) -> (usize, usize) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let bare = if strip { bare.trim_start_matches('\t') } else { bare };
        if bare == delimiter {
            return (at, at + line.len());
        }
        at += line.len();
    }
    (text.len(), text.len())
}

/// One past the parenthesis that closes what is open before `from`. Knows quotes, comments and here-documents,
/// whose insides may hold anything.
fn end_of_parens(text: &str, from: usize) -> Option<usize> {
    #[derive(PartialEq, Clone, Copy)]
    enum Inside {
        Parens,
        Quotes,
        Braces,
    }
    let bytes = text.as_bytes();
    let mut open = vec![Inside::Parens];
    let mut waiting: Vec<(String, bool)> = Vec::new();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let inside = *open.last()?;
        let next = bytes.get(at + 1).copied();
        at += 1;
        match (byte, inside) {
            (b'\\', _) => at += 1,
            (b'"', Inside::Parens | Inside::Braces) => open.push(Inside::Quotes),
            (b'$', _) if next == Some(b'(') => {
                open.push(Inside::Parens);
                at += 1;
            }
            (b'$', _) if next == Some(b'{') => {
                open.push(Inside::Braces);
                at += 1;
            }
            (b'"', Inside::Quotes) | (b'}', Inside::Braces) => {
                open.pop();
            }
            (b'\'', Inside::Parens | Inside::Braces) => at += text.get(at..)?.find('\'')? + 1,
            (b'(', Inside::Parens) => open.push(Inside::Parens),
            (b')', Inside::Parens) => {
                open.pop();
                if open.is_empty() {
                    return Some(at);
                }
            }
            (b'#', Inside::Parens) if at >= 2 && bytes.get(at - 2).is_some_and(u8::is_ascii_whitespace) => {
                at += text.get(at..)?.find('\n')?;
            }
            (b'<', Inside::Parens) if next == Some(b'<') && bytes.get(at + 1) != Some(&b'<') => {
                at += 1;
                let strip = bytes.get(at) == Some(&b'-');
                let rest = text.get(at + usize::from(strip)..)?;
                let word = rest.trim_start_matches([' ', '\t']);
                let end =
                    word.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c)).unwrap_or(word.len());
                let delimiter: String = word.get(..end)?.chars().filter(|c| !"'\"\\".contains(*c)).collect();
                // `$((1 << 2))`: no here-document starts with a number here.
                if !delimiter.is_empty() && !delimiter.starts_with(|c: char| c.is_ascii_digit()) {
                    waiting.push((delimiter, strip));
                }
            }
            (b'<', Inside::Parens) if next == Some(b'<') => at += 2,
            (b'\n', Inside::Parens) => {
                for (delimiter, strip) in waiting.drain(..) {
                    at += split_body(text.get(at..)?, &delimiter, strip).1;
                }
            }
            _ => {}
        }
    }
    None
}

/// One past the brace that closes `${`.
fn end_of_braces(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 1_usize;
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' => open += 1,
            b'}' => {
                open -= 1;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            b'\n' => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

fn end_of_ansi_quotes(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'\'' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// The text of `$'…'`: the common escapes; others are kept as they are written.
fn without_ansi_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(escaped @ ('\\' | '\'' | '"')) => out.push(escaped),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}
