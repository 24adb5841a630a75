//! What a word stands for once its variables, quotes and braces are read.

use super::VALUES_MAX;
use super::command::Arg;
use super::reader::{Directory, Reader};
use super::token::{Piece, Word};

impl Reader {
    /// The word as one argument, for places that take only one.
    pub(super) fn one(&self, word: &Word) -> Arg {
        let mut args = self.expand(word);
        match args.len() {
            1 => args.swap_remove(0),
            _ => Arg { text: plain(word), certain: false, pattern: false },
        }
    }

    /// The arguments that a word stands for: one for each value that its variables and braces can have.
    pub(super) fn expand(&self, word: &Word) -> Vec<Arg> {
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
