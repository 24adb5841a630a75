//! What a command of a script depends on, and what all of them add up to: the directory, the variables, the
//! tally.

use std::collections::HashMap;

use super::command::{self, Arg, Command, Input};
use super::lexer::tokenize;
use super::token::Unreadable;
use super::{DEPTH_MAX, SCRIPT_BYTES_MAX, VALUES_MAX, resolve, script};
use crate::effect::tally::Tally;

/// Reads scripts into one tally.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) tally: Tally,
    pub(super) directory: Directory,
    /// The values that a variable can have; a name that is not here is unknown.
    pub(super) variables: HashMap<String, Vec<String>>,
    /// Functions, and what their bodies were read under: the directory and the count of assignments.
    functions: HashMap<String, (Directory, u64)>,
    assignments: u64,
    depth: usize,
}

/// The directory that commands run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Directory {
    /// Where the call started, which its words do not say.
    Start,
    /// This one.
    At(String),
    /// One that cannot be told: what is relative to it cannot be named.
    Lost,
}

impl Reader {
    pub(super) fn new(directory: Option<&str>) -> Self {
        Self {
            tally: Tally::default(),
            directory: directory.map_or(Directory::Start, |at| Directory::At(at.to_owned())),
            variables: HashMap::new(),
            functions: HashMap::new(),
            assignments: 0,
            depth: 0,
        }
    }

    pub(super) fn into_tally(self) -> Tally {
        self.tally
    }

    /// Reads a script; what cannot be read is opaque.
    pub(super) fn read(&mut self, text: &str) {
        if self.depth >= DEPTH_MAX || text.len() > SCRIPT_BYTES_MAX {
            self.tally.hide();
            return;
        }
        self.depth += 1;
        match tokenize(text).and_then(|tokens| script::walk(self, &tokens)) {
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
        self.assignments += 1;
        match values {
            Some(values) if values.len() <= VALUES_MAX => {
                self.variables.insert(name.to_owned(), values);
            }
            _ => {
                self.variables.remove(name);
            }
        }
    }

    /// Remembers a function; its body is read where it stands, as if it ran.
    pub(super) fn define(&mut self, name: &str) {
        self.functions.insert(name.to_owned(), (self.directory.clone(), self.assignments));
    }

    /// Calls a function; `false` where there is none of that name. A body that was read under another directory
    /// or other variables may do something else now.
    pub(super) fn call(&mut self, name: &str) -> bool {
        let Some((directory, assignments)) = self.functions.get(name) else { return false };
        if *directory != self.directory || *assignments != self.assignments {
            self.tally.hide();
        }
        true
    }
}
