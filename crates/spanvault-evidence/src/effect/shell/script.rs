//! Walks a script, command by command, and keeps what a command depends on: the directory, the variables, what
//! is piped into it.
//!
//! Every branch counts as taken and every loop body as run: what a script *can* do is what it does.

use std::collections::{HashMap, HashSet};

use super::command::{self, Arg, Command, Input};
use super::lexer::{Piece, Token, Tokens, Unreadable, Word, is_name, tokenize};
use super::{DEPTH_MAX, SCRIPT_BYTES_MAX, resolve};
use crate::effect::tally::Tally;

/// How many values a variable or a word may stand for before it counts as unknown.
const VALUES_MAX: usize = 32;

/// Reads scripts into one tally.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) tally: Tally,
    directory: Directory,
    /// The values that a variable can have; a name that is not here is unknown.
    variables: HashMap<String, Vec<String>>,
    functions: HashSet<String>,
    depth: usize,
}

/// The directory that commands run in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Directory {
    /// Where the call started, which its words do not say.
    Start,
    /// This one.
    At(String),
    /// One that cannot be told: what is relative to it cannot be named.
    Lost,
}

/// A construct that is open.
#[derive(Debug)]
enum Open {
    /// `( … )`, and the directory to come back to.
    Subshell(Directory),
    /// `{ … }`.
    Group,
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

impl Reader {
    pub(super) fn new(directory: Option<&str>) -> Self {
        Self {
            tally: Tally::default(),
            directory: directory.map_or(Directory::Start, |at| Directory::At(at.to_owned())),
            variables: HashMap::new(),
            functions: HashSet::new(),
            depth: 0,
        }
    }

    pub(super) fn into_tally(self) -> Tally {
        self.tally
    }

    /// Reads a script; what cannot be read is opaque.
    pub(super) fn read(&mut self, script: &str) {
        if self.depth >= DEPTH_MAX || script.len() > SCRIPT_BYTES_MAX {
            self.tally.hide();
            return;
        }
        self.depth += 1;
        match tokenize(script).and_then(|tokens| self.walk(&tokens)) {
            Ok(()) => {}
            Err(Unreadable) => self.tally.hide(),
        }
        self.depth -= 1;
    }

    /// Reads a script that runs in a shell of its own.
    pub(super) fn read_apart(&mut self, script: &str) {
        let directory = self.directory.clone();
        self.read(script);
        self.directory = directory;
    }

    /// Reads a command given as separate words.
    pub(super) fn read_words(&mut self, words: &[&str]) {
        let args = words.iter().map(|word| Arg::certain(word)).collect();
        command::run(self, &Command { args, input: Input::Nothing });
    }

    /// A path of the script, resolved; `None` where the directory is lost and the path is relative to it.
    pub(super) fn path(&self, path: &str) -> Option<String> {
        match &self.directory {
            Directory::Start => Some(resolve(None, path)),
            Directory::At(directory) => Some(resolve(Some(directory), path)),
            Directory::Lost => path.starts_with(['/', '~']).then(|| resolve(None, path)),
        }
    }

    /// Counts a path that is read.
    pub(super) fn touch(&mut self, path: &str) {
        let resolved = self.path(path);
        self.tally.touch(resolved.as_deref().unwrap_or(path));
    }

    /// Counts a path that is written; one that cannot be told makes the call opaque.
    pub(super) fn write(&mut self, arg: &Arg) {
        let known =
            matches!(arg.text.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "-");
        if known || arg.text.is_empty() {
            return;
        }
        match self.path(&arg.text) {
            Some(path) if arg.certain => self.tally.write(&path),
            other => {
                self.tally.write(other.as_deref().unwrap_or(&arg.text));
                self.tally.hide();
            }
        }
    }

    /// Changes the directory, as `cd` does.
    pub(super) fn change_directory(&mut self, arg: Option<&Arg>) {
        self.directory = match arg {
            None => Directory::At("~".into()),
            Some(arg) if arg.certain && !arg.pattern && arg.text != "-" => match self.path(&arg.text) {
                Some(path) => Directory::At(path),
                None => Directory::Lost,
            },
            Some(_) => Directory::Lost,
        };
    }

    /// Forgets or learns a variable.
    pub(super) fn assign(&mut self, name: &str, values: Option<Vec<String>>) {
        match values {
            Some(values) if values.len() <= VALUES_MAX => {
                self.variables.insert(name.to_owned(), values);
            }
            _ => {
                self.variables.remove(name);
            }
        }
    }

    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    fn walk(&mut self, tokens: &Tokens) -> Result<(), Unreadable> {
        let mut walk = Walk { tokens, at: 0, open: Vec::new(), pipe: Pipe::default() };
        while walk.at < tokens.tokens.len() {
            self.step(&mut walk)?;
        }
        if walk.open.is_empty() { Ok(()) } else { Err(Unreadable) }
    }

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
                walk.open.push(Open::Group);
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
                let Some(Open::Group) = walk.open.pop() else { return Err(Unreadable) };
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
                self.functions.insert(name);
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
                    self.functions.insert(name.text.clone());
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
                let inside = walk.open.iter().any(|open| matches!(open, Open::Branch(_) | Open::Case(_)));
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

    /// The word as one argument, for places that take only one.
    fn one(&self, word: &Word) -> Arg {
        let mut args = self.expand(word);
        match args.len() {
            1 => args.swap_remove(0),
            _ => Arg { text: plain(word), certain: false, pattern: false },
        }
    }

    /// The arguments that a word stands for: one for each value that its variables and braces can have.
    fn expand(&self, word: &Word) -> Vec<Arg> {
        let mut expansion = Expansion::default();
        for piece in &word.pieces {
            match piece {
                Piece::Quoted(text) => expansion.text(text),
                Piece::Bare(text) => {
                    expansion.values(&braces(text), text);
                    let is_set = text.split_once('[').is_some_and(|(_, rest)| rest.contains(']'));
                    if text.contains(['*', '?']) || is_set {
                        expansion.args.iter_mut().for_each(|arg| arg.pattern = true);
                    }
                }
                Piece::Variable(name, quoted) => match (name.as_str(), self.variables.get(name)) {
                    (_, Some(values)) if !quoted && values.iter().any(|value| splits(value)) => {
                        if word.pieces.len() == 1 {
                            return split(values);
                        }
                        expansion.unknown(&format!("${name}"));
                    }
                    (_, Some(values)) => expansion.values(values, &format!("${name}")),
                    ("HOME", None) if expansion.is_empty() => expansion.text("~"),
                    ("PWD", None) if expansion.is_empty() && self.directory != Directory::Lost => {
                        expansion.text(&self.path(".").unwrap_or_default());
                    }
                    _ => expansion.unknown(&format!("${name}")),
                },
                Piece::Unknown(text) => expansion.unknown(text),
            }
        }
        expansion.args
    }
}

/// The arguments that a word stands for, as far as it is read.
struct Expansion {
    args: Vec<Arg>,
}

impl Default for Expansion {
    fn default() -> Self {
        Self { args: vec![Arg::certain("")] }
    }
}

impl Expansion {
    /// Whether nothing was read yet but quote characters.
    fn is_empty(&self) -> bool {
        self.args.iter().all(|arg| arg.text.is_empty())
    }

    fn text(&mut self, text: &str) {
        for arg in &mut self.args {
            arg.text.push_str(text);
        }
    }

    /// Something with several values, written as `plain`; too many are unknown.
    fn values(&mut self, values: &[String], plain: &str) {
        match values {
            [value] => self.text(value),
            _ if values.is_empty() || values.len() * self.args.len() > VALUES_MAX => self.unknown(plain),
            _ => {
                let continued =
                    |arg: &Arg, value: &String| Arg { text: format!("{}{value}", arg.text), ..arg.clone() };
                self.args = self
                    .args
                    .iter()
                    .flat_map(|arg| values.iter().map(move |value| continued(arg, value)))
                    .collect();
            }
        }
    }

    fn unknown(&mut self, plain: &str) {
        self.args.truncate(1);
        self.text(plain);
        for arg in &mut self.args {
            arg.certain = false;
        }
    }
}

/// Whether the shell cuts or matches a value that stands outside of quotes.
fn splits(value: &str) -> bool {
    value.contains([' ', '\t', '\n', '*', '?', '['])
}

/// The arguments that unquoted values are cut into.
fn split(values: &[String]) -> Vec<Arg> {
    values
        .iter()
        .flat_map(|value| value.split_whitespace())
        .map(|text| Arg { text: text.to_owned(), certain: true, pattern: text.contains(['*', '?', '[']) })
        .collect()
}

/// How many groups of braces of one word are expanded.
const BRACES_MAX: usize = 4;

/// `a{b,c}d` in its variants. Braces in braces stay as they are, and so does what has too many variants.
fn braces(text: &str) -> Vec<String> {
    let mut variants = vec![text.to_owned()];
    for _ in 0..BRACES_MAX {
        let mut next = Vec::with_capacity(variants.len());
        for variant in &variants {
            match first_group(variant) {
                Some((before, list, after)) => {
                    next.extend(list.split(',').map(|part| format!("{before}{part}{after}")));
                }
                None => next.push(variant.clone()),
            }
        }
        if next.len() == variants.len() || next.len() > VALUES_MAX {
            break;
        }
        variants = next;
    }
    variants
}

/// The first group of braces with a comma in it: what stands before, inside and behind it.
fn first_group(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let plain = inside.contains(',') && !inside.contains('{') && inside.matches(',').count() < VALUES_MAX;
    plain.then_some((before, inside, after))
}

/// The word as it is written, without its quotes.
fn plain(word: &Word) -> String {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Bare(part) | Piece::Quoted(part) | Piece::Unknown(part) => text.push_str(part),
            Piece::Variable(name, _) => {
                text.push('$');
                text.push_str(name);
            }
        }
    }
    text
}

/// A place in a script.
struct Walk<'a> {
    tokens: &'a Tokens,
    at: usize,
    open: Vec<Open>,
    pipe: Pipe,
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
