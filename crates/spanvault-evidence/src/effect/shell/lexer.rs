//! Cuts a script into words, operators and here-documents. One pass, no recursion.

use super::enclosed::{end_of_parens, runs_scripts, split_body};
use super::token::{Body, Piece, Token, Tokens, Unreadable, Word};

/// Cuts a script into tokens.
pub(super) fn tokenize(script: &str) -> Result<Tokens, Unreadable> {
    let mut lexer = Lexer { text: script, at: 0, out: Tokens::default(), waiting: Vec::new(), misses: 0 };
    lexer.run()?;
    Ok(lexer.out)
}

/// A place in a script.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) out: Tokens,
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
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn byte(&self, offset: usize) -> Option<u8> {
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
}
