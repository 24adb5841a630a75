//! Code in a session of an interpreter: names that it does not bind were bound before it, and may be anything.

use std::collections::{HashMap, HashSet};

use super::bare::{Bare, string};
use crate::effect::tally::Tally;

/// Skills of an agent's session that only look (OpenHands).
const LOOKS: &[&str] =
    &["open_file", "goto_line", "scroll_down", "scroll_up", "search_dir", "search_file", "find_file"];

/// Skills that write the file which they name first.
const WRITES: &[&str] =
    &["create_file", "edit_file", "edit_file_by_replace", "insert_content_at_line", "append_file"];

/// What every session knows from the start.
const BUILT_IN: &str = "
    False None True and as assert async await break case class continue def del elif else except finally for from
    global if import in is lambda match nonlocal not or pass raise return try while with yield print len range str int
    float complex list dict set frozenset tuple sorted sum min max abs round enumerate zip map filter any all isinstance
    issubclass type repr format bool bytes bytearray chr ord hex oct bin hash id iter next reversed slice divmod pow
    object super property staticmethod classmethod callable dir display Exception BaseException StopIteration
    KeyboardInterrupt NotImplemented Ellipsis f r b rb br fr rf u __name__ _";

/// Whether every name in `code` is bound in it or known in every session.
pub(super) fn binds_its_names(code: &str) -> bool {
    let tokens = tokens(code);
    let bound = Bound::of(&tokens);
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            word if is_name(word) => {
                let after = |ahead: usize| tokens.get(at + ahead).copied().unwrap_or_default();
                let is_member = at.checked_sub(1).and_then(|before| tokens.get(before)) == Some(&".");
                let is_keyword = depth > 0 && after(1) == "=" && after(2) != "=";
                let known = bound.knows(word, at)
                    || LOOKS.contains(&word)
                    || WRITES.contains(&word)
                    || BUILT_IN.split_whitespace().any(|name| name == word)
                    || word.ends_with("Error");
                if !is_member && !is_keyword && !known {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Adds the files that skills write. One whose file is no literal cannot be seen.
pub(super) fn add_writes(code: &str, bare: &Bare, tally: &mut Tally) {
    let named = tokens(&bare.code).iter().filter(|word| WRITES.contains(word)).count();
    let mut seen = 0;
    for skill in WRITES {
        for (at, _) in code.match_indices(skill) {
            let before = code.get(..at).unwrap_or_default();
            let Some(rest) =
                code.get(at + skill.len()..).and_then(|rest| rest.trim_start().strip_prefix('('))
            else {
                continue;
            };
            if before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')) {
                continue;
            }
            let rest = rest.trim_start();
            let literal = rest.strip_prefix("file_name").and_then(|rest| rest.trim_start().strip_prefix('='));
            if let Some((path, _)) = string(literal.unwrap_or(rest).trim_start()) {
                tally.write(path);
                seen += 1;
            }
        }
    }
    if seen != named {
        tally.hide();
    }
}

/// Names and single signs; a line end is a token, other white space is none.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = if is_word(c) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
        let (token, after) = rest.split_at(len);
        if !c.is_whitespace() || c == '\n' {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The names that code binds, and from which token on: what it imports, defines and goes through anywhere, what it assigns
/// once the statement is over. `targets` are the tokens that are assigned to.
#[derive(Debug, Default)]
struct Bound<'a> {
    from: HashMap<&'a str, usize>,
    targets: HashSet<usize>,
}

impl<'a> Bound<'a> {
    fn of(tokens: &[&'a str]) -> Self {
        let mut bound = Self::default();
        // The tokens of the statement so far, and those of its names that are assigned.
        let mut statement: Vec<(usize, &str)> = Vec::new();
        let mut assigned: Vec<&str> = Vec::new();
        let mut depth = 0_usize;
        // Until this token, names are bound.
        let mut until: Option<&str> = None;
        for (at, token) in tokens.iter().copied().enumerate() {
            let after = |ahead: usize| tokens.get(at + ahead).copied().unwrap_or_default();
            match token {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let ends = matches!(token, "\n" | ";") && depth == 0;
            until = until.filter(|end| *end != token && !ends);
            match token {
                "import" | "from" | "global" => until = Some(";"),
                "def" | "lambda" => until = Some(":"),
                "for" => until = Some("in"),
                "as" | "class" => bound.anywhere(after(1)),
                ":" if after(1) == "=" => {
                    statement.last().into_iter().for_each(|(_, name)| bound.anywhere(name));
                }
                "=" if depth == 0 && after(1) != "=" => {
                    let is_target = |(_, token): &(usize, &str)| {
                        is_name(token) || matches!(*token, "," | "(" | ")" | "*" | "=")
                    };
                    if statement.iter().all(is_target) {
                        let names = statement.iter().filter(|(_, token)| is_name(token));
                        bound.targets.extend(names.clone().map(|(at, _)| at));
                        assigned.extend(names.map(|(_, name)| *name));
                    }
                }
                name if is_name(name) && until.is_some() => bound.anywhere(name),
                _ => {}
            }
            if ends {
                statement.clear();
                for name in assigned.drain(..) {
                    bound.from.entry(name).or_insert(at);
                }
            } else {
                statement.push((at, token));
            }
        }
        bound
    }

    fn anywhere(&mut self, name: &'a str) {
        self.from.insert(name, 0);
    }

    fn knows(&self, name: &str, at: usize) -> bool {
        self.targets.contains(&at) || self.from.get(name).is_some_and(|from| *from <= at)
    }
}
