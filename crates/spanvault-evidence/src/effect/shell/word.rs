//! Cuts one word into what is known of it and what is not.

use super::enclosed::{end_of_ansi_quotes, end_of_braces, end_of_parens, runs_scripts, without_ansi_escapes};
use super::lexer::Lexer;
use super::token::{Piece, Token, Unreadable, Word, is_name};

impl Lexer<'_> {
    /// Reads the word that starts here.
    pub(super) fn word(&mut self) -> Result<(), Unreadable> {
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
