//! What a shell command line does.
//!
//! A reader of our own rather than a shell parser from elsewhere: it must neither recurse nor backtrack on
//! hostile input, must read megabytes of here-documents quickly, and needs no tree, only the simple commands with
//! their words, redirections and the directory they run in. It covers the POSIX grammar and the common parts of
//! bash; what it does not understand is opaque.

mod archives;
mod awk;
mod code;
mod command;
mod enclosed;
mod expansion;
mod files;
mod git;
mod lexer;
mod network;
mod reader;
mod rules;
mod script;
mod search;
mod sed;
mod token;
mod word;
mod wrappers;

use super::tally::Tally;

/// The longest script that is read, in bytes; a longer one is opaque.
const SCRIPT_BYTES_MAX: usize = 4 << 20;

/// How deep scripts may stand in scripts (`bash -c`, `$(…)`, `eval`); deeper ones are opaque.
const DEPTH_MAX: usize = 12;

/// How many values a variable or a word may stand for before it counts as unknown.
const VALUES_MAX: usize = 32;

/// What a script does that starts in `directory` (unknown where `None`).
pub(super) fn read_script(script: &str, directory: Option<&str>) -> Tally {
    let mut reader = reader::Reader::new(directory);
    reader.read(script);
    reader.into_tally()
}

/// What a command does that is given as separate words, as `execve` takes them.
pub(super) fn read_words(words: &[&str], directory: Option<&str>) -> Tally {
    let mut reader = reader::Reader::new(directory);
    reader.read_words(words);
    reader.into_tally()
}

/// A path as it stands in a script, resolved by words alone against the directory it is relative to.
fn resolve(directory: Option<&str>, path: &str) -> String {
    let rooted = path.starts_with('/')
        || path.starts_with('~')
        || path.starts_with('$')
        || path.get(1..2) == Some(":");
    match directory {
        Some(directory) if !rooted => clean(&format!("{directory}/{path}")),
        _ => clean(path),
    }
}

/// A path without empty and `.` components, and with `name/..` taken out.
fn clean(path: &str) -> String {
    if !path.contains("//") && !path.contains("./") && !path.ends_with("/.") && !path.ends_with("..") {
        return if path.len() > 1 { path.trim_end_matches('/').to_owned() } else { path.to_owned() };
    }
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => match kept.last() {
                Some(&last) if last != ".." && !last.starts_with('$') => {
                    kept.pop();
                }
                None if rooted => {}
                _ => kept.push(".."),
            },
            _ => kept.push(component),
        }
    }
    match (rooted, kept.join("/")) {
        (true, rest) => format!("/{rest}"),
        (false, rest) if rest.is_empty() => ".".to_owned(),
        (false, rest) => rest,
    }
}

#[cfg(test)]
mod tests;
