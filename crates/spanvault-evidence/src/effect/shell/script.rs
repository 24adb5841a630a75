//! Walks a script, command by command.
//!
//! Every branch counts as taken and every loop body as run: what a script *can* do is what it does.

use super::VALUES_MAX;
use super::command::{self, Arg, Command, Input};
use super::lexer::tokenize;
use super::reader::{Directory, Reader};
use super::token::{Piece, Token, Tokens, Unreadable, Word, is_name};

/// Counts what every command of a script does.
pub(super) fn walk(reader: &mut Reader, tokens: &Tokens) -> Result<(), Unreadable> {
    let mut walk = Walk { tokens, at: 0, open: Vec::new(), pipe: Pipe::default(), function: None };
    while walk.at < tokens.tokens.len() {
        reader.step(&mut walk)?;
    }
    if walk.open.is_empty() { Ok(()) } else { Err(Unreadable) }
}

/// A construct that is open.
#[derive(Debug)]
enum Open {
    /// `( … )`, and the directory to come back to.
    Subshell(Directory),
    /// `{ … }`.
    Group,
    /// The body of a function, which runs where it is called, if it is.
    Function(Directory),
    /// `if … fi`, `while … done`, `for … done`: whether it runs, and how often, is unknown.
    Branch(Directory),
    /// `case … esac`.
    Case(Directory),
}

/// What the next command stands in.
#[derive(Debug, Default)]
struct Pipe {
    /// What the command before writes to this one.
    input: Input,
    /// Whether `||` stands before it.
    otherwise: bool,
}

/// A place in a script.
struct Walk<'a> {
    tokens: &'a Tokens,
    at: usize,
    open: Vec<Open>,
    pipe: Pipe,
    /// A function whose body comes next, and the directory before it.
    function: Option<Directory>,
}

impl<'a> Walk<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn word(&mut self) -> Result<&'a Word, Unreadable> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word),
            _ => Err(Unreadable),
        }
    }

    fn skip_newlines(&mut self) {
        while self.peek() == Some(&Token::Newline) {
            self.at += 1;
        }
    }
}

impl Reader {
    /// Reads one separator, keyword or simple command.
    fn step(&mut self, walk: &mut Walk<'_>) -> Result<(), Unreadable> {
        match walk.peek() {
            Some(Token::Newline) => walk.at += 1,
            Some(Token::Op(op)) => {
                walk.at += 1;
                match *op {
                    "(" => walk.open.push(Open::Subshell(self.directory.clone())),
                    ")" => match walk.open.pop() {
                        Some(Open::Subshell(directory)) => {
                            self.directory = directory;
                            self.after_compound(walk)?;
                        }
                        _ => return Err(Unreadable),
                    },
                    ";;" | ";&" | ";;&" => match walk.open.last() {
                        Some(Open::Case(_)) => self.case_pattern(walk)?,
                        _ => return Err(Unreadable),
                    },
                    "|" | "|&" => {}
                    "||" => walk.pipe = Pipe { input: Input::Nothing, otherwise: true },
                    _ => walk.pipe = Pipe::default(),
                }
            }
            Some(Token::Word(word)) => match word.keyword() {
                Some(keyword) if self.keyword(keyword, walk)? => {}
                _ => self.simple(walk)?,
            },
            Some(Token::Redirect(_) | Token::Here(_)) => self.simple(walk)?,
            None => {}
        }
        Ok(())
    }

    /// Reads a keyword; `false` where the word is none.
    fn keyword(&mut self, keyword: &str, walk: &mut Walk<'_>) -> Result<bool, Unreadable> {
        match keyword {
            "if" | "while" | "until" => {
                walk.open.push(Open::Branch(self.directory.clone()));
                walk.at += 1;
            }
            "then" | "else" | "elif" | "do" | "!" => walk.at += 1,
            "{" => {
                walk.open.push(walk.function.take().map_or(Open::Group, Open::Function));
                walk.at += 1;
            }
            "fi" | "done" => {
                walk.at += 1;
                let Some(Open::Branch(before)) = walk.open.pop() else { return Err(Unreadable) };
                self.leave_branch(&before);
                self.after_compound(walk)?;
            }
            "esac" => {
                walk.at += 1;
                let Some(Open::Case(before)) = walk.open.pop() else { return Err(Unreadable) };
                self.leave_branch(&before);
                self.after_compound(walk)?;
            }
            "}" => {
                walk.at += 1;
                match walk.open.pop() {
                    Some(Open::Group) => {}
                    Some(Open::Function(before)) => self.leave_branch(&before),
                    _ => return Err(Unreadable),
                }
                self.after_compound(walk)?;
            }
            "for" | "select" => self.for_header(walk)?,
            "case" => {
                walk.at += 1;
                let subject = walk.word()?;
                self.run_scripts(subject);
                walk.skip_newlines();
                if walk.word()?.keyword() != Some("in") {
                    return Err(Unreadable);
                }
                walk.open.push(Open::Case(self.directory.clone()));
                self.case_pattern(walk)?;
            }
            // With options it is a command, and the reader of commands knows it.
            "time" if !matches!(walk.tokens.tokens.get(walk.at + 1), Some(Token::Word(word)) if word.keyword().is_some_and(|text| text.starts_with('-'))) =>
            {
                walk.at += 1;
            }
            "function" => {
                walk.at += 1;
                let name = walk.word()?.keyword().ok_or(Unreadable)?.to_owned();
                self.define(&name);
                walk.function = Some(self.directory.clone());
                if walk.peek() == Some(&Token::Op("(")) {
                    walk.at += 2;
                }
            }
            "[[" => loop {
                match walk.peek() {
                    Some(Token::Word(word)) => {
                        self.run_scripts(word);
                        walk.at += 1;
                        if word.keyword() == Some("]]") {
                            break;
                        }
                    }
                    Some(_) => walk.at += 1,
                    None => return Err(Unreadable),
                }
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// After a branch that may not have run, a directory that it changed is lost.
    fn leave_branch(&mut self, before: &Directory) {
        if self.directory != *before {
            self.directory = Directory::Lost;
        }
    }

    /// `for NAME in WORDS;` or `for ((…));`.
    fn for_header(&mut self, walk: &mut Walk<'_>) -> Result<(), Unreadable> {
        walk.at += 1;
        let name = walk.word()?;
        self.run_scripts(name);
        let name = name.keyword().map(str::to_owned);
        walk.skip_newlines();
        let mut values = Some(Vec::new());
        if let Some(Token::Word(word)) = walk.peek()
            && word.keyword() == Some("in")
        {
            walk.at += 1;
            while let Some(Token::Word(word)) = walk.peek() {
                walk.at += 1;
                self.run_scripts(word);
                for arg in self.expand(word) {
                    match &mut values {
                        Some(list) if arg.certain && list.len() < VALUES_MAX => list.push(arg.text),
                        _ => values = None,
                    }
                }
            }
        } else {
            values = None;
        }
        if let Some(name) = name {
            self.assign(&name, values);
        }
        walk.open.push(Open::Branch(self.directory.clone()));
        Ok(())
    }

    /// The pattern before a branch of `case`, or `esac`.
    fn case_pattern(&mut self, walk: &mut Walk<'_>) -> Result<(), Unreadable> {
        walk.skip_newlines();
        if let Some(Token::Word(word)) = walk.peek()
            && word.keyword() == Some("esac")
        {
            return Ok(());
        }
        loop {
            match walk.peek() {
                Some(Token::Word(word)) => self.run_scripts(word),
                Some(Token::Op("(" | "|")) => {}
                Some(Token::Op(")")) => {
                    walk.at += 1;
                    return Ok(());
                }
                _ => return Err(Unreadable),
            }
            walk.at += 1;
        }
    }

    /// Redirections after `)`, `}`, `fi`, `done` and `esac`.
    fn after_compound(&mut self, walk: &mut Walk<'_>) -> Result<(), Unreadable> {
        while let Some(Token::Redirect(_) | Token::Here(_)) = walk.peek() {
            self.redirect(walk, &mut Input::Nothing)?;
        }
        // What such a construct writes into a pipe is not followed.
        walk.pipe = Pipe { input: Input::Stream, otherwise: false };
        Ok(())
    }

    /// Reads a redirection; what a command reads from it is kept in `input`.
    fn redirect(&mut self, walk: &mut Walk<'_>, input: &mut Input) -> Result<(), Unreadable> {
        match walk.next() {
            Some(Token::Here(place)) => {
                let body = walk.tokens.bodies.get(*place).ok_or(Unreadable)?;
                if body.expands && (body.text.contains("$(") || body.text.contains('`')) {
                    self.read_expanded(&body.text);
                }
                *input = Input::Text {
                    text: body.text.clone(),
                    literal: !body.expands || !body.text.contains('$'),
                };
            }
            Some(Token::Redirect(op)) => {
                let word = walk.word()?;
                self.run_scripts(word);
                let target = self.one(word);
                match *op {
                    "<" => {
                        self.touch(&target.text);
                        *input = Input::Stream;
                    }
                    "<<<" => *input = Input::Text { literal: target.certain, text: target.text },
                    "<&" => {}
                    ">&" | "&>" | "&>>" | ">" | ">>" | ">|" | "<>" => {
                        let duplicates =
                            *op == ">&" && target.text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
                        // A pipe into a process: its script was read, and it is no file.
                        if !duplicates && word.scripts.is_empty() {
                            self.write(&target);
                        }
                    }
                    _ => return Err(Unreadable),
                }
            }
            _ => return Err(Unreadable),
        }
        Ok(())
    }

    /// The scripts in the text of a here-document that the shell expands.
    fn read_expanded(&mut self, text: &str) {
        let quoted = format!("\"{}\"", text.replace('"', " "));
        match tokenize(&quoted) {
            Ok(tokens) => {
                for token in &tokens.tokens {
                    if let Token::Word(word) = token {
                        self.run_scripts(word);
                    }
                }
            }
            Err(Unreadable) => self.tally.hide(),
        }
    }

    /// Reads one simple command with its assignments and redirections.
    fn simple(&mut self, walk: &mut Walk<'_>) -> Result<(), Unreadable> {
        let pipe = std::mem::take(&mut walk.pipe);
        let mut input = pipe.input;
        let mut args: Vec<Arg> = Vec::new();
        let mut assignments: Vec<(String, Option<Vec<String>>)> = Vec::new();
        let start = walk.at;
        loop {
            match walk.peek() {
                Some(Token::Word(word)) => {
                    walk.at += 1;
                    self.run_scripts(word);
                    match self.assignment(word) {
                        Some(assignment) if args.is_empty() => assignments.push(assignment),
                        _ => args.extend(self.expand(word)),
                    }
                }
                Some(Token::Redirect(_) | Token::Here(_)) => self.redirect(walk, &mut input)?,
                Some(Token::Op("(")) => {
                    // `name()`: a function. Its body is read where it stands, as if it ran.
                    let defines =
                        walk.at == start + 1 && walk.tokens.tokens.get(walk.at + 1) == Some(&Token::Op(")"));
                    let name = args.first().filter(|_| defines).ok_or(Unreadable)?;
                    self.define(&name.text);
                    walk.function = Some(self.directory.clone());
                    walk.at += 2;
                    return Ok(());
                }
                Some(Token::Newline | Token::Op(_)) | None => break,
            }
        }
        let may_move = pipe.otherwise
            && args.first().is_some_and(|arg| matches!(arg.text.as_str(), "cd" | "pushd" | "popd"));
        if args.is_empty() {
            for (name, values) in assignments {
                let inside = walk
                    .open
                    .iter()
                    .any(|open| matches!(open, Open::Branch(_) | Open::Case(_) | Open::Function(_)));
                let values = if inside { self.joined(&name, values) } else { values };
                self.assign(&name, values);
            }
            return Ok(());
        }
        if assignments.iter().any(|(name, _)| command::loads_code(name)) {
            self.tally.hide();
        }
        let piped = matches!(walk.peek(), Some(Token::Op("|" | "|&")));
        let directory = piped.then(|| self.directory.clone());
        let output = command::run(self, &Command { args, input });
        if let Some(directory) = directory {
            self.directory = directory;
            walk.pipe.input = output;
        } else if may_move {
            self.directory = Directory::Lost;
        }
        Ok(())
    }

    /// What a variable can be after an assignment that may not have happened.
    fn joined(&self, name: &str, values: Option<Vec<String>>) -> Option<Vec<String>> {
        let mut all = self.variables.get(name)?.clone();
        all.extend(values?);
        Some(all)
    }

    /// `NAME=value`, with the values that it can have.
    fn assignment(&self, word: &Word) -> Option<(String, Option<Vec<String>>)> {
        let Some(Piece::Bare(first)) = word.pieces.first() else { return None };
        let (name, start) = first.split_once('=')?;
        let adds = name.ends_with('+');
        let name = name.strip_suffix('+').unwrap_or(name);
        if !is_name(name) {
            return None;
        }
        let mut rest = word.clone();
        if let Some(piece) = rest.pieces.first_mut() {
            *piece = Piece::Quoted(start.to_owned());
        }
        let values = self.expand(&rest);
        let known = !adds && values.iter().all(|value| value.certain);
        Some((name.to_owned(), known.then(|| values.into_iter().map(|value| value.text).collect())))
    }

    /// Reads what runs to make a word.
    fn run_scripts(&mut self, word: &Word) {
        if word.unread {
            self.tally.hide();
        }
        for script in &word.scripts {
            self.read_apart(script);
        }
    }
}
