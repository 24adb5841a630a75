//! One simple command: which reader knows it.

use super::reader::Reader;
use super::{code, files, git, network, rules, wrappers};

/// A simple command, expanded as far as it can be.
#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    /// Its name and arguments.
    pub(super) args: Vec<Arg>,
    /// What it reads on its standard input.
    pub(super) input: Input,
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arg {
    pub(super) text: String,
    /// Whether the text is what the command gets; `false` where a variable or a script decides.
    pub(super) certain: bool,
    /// Whether it is a file name pattern.
    pub(super) pattern: bool,
}

impl Arg {
    pub(super) fn certain(text: &str) -> Self {
        Self { text: text.to_owned(), certain: true, pattern: false }
    }
}

/// What a command reads on its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Input {
    /// Nothing that the script gives it.
    #[default]
    Nothing,
    /// Something that cannot be told.
    Stream,
    /// The names of files under these paths.
    Names(Vec<String>),
    /// This text; literal where the shell expands nothing in it.
    Text { text: String, literal: bool },
}

/// Variables whose value is code or a library for the commands that follow.
pub(super) fn loads_code(variable: &str) -> bool {
    const CODE: &[&str] = &[
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "GIT_SSH_COMMAND",
        "GIT_SSH",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "PERL5OPT",
        "RUBYOPT",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "LESSOPEN",
        "RUSTC_WRAPPER",
    ];
    CODE.contains(&variable)
}

/// Directories whose programs are what their names say.
const PROGRAM_DIRECTORIES: &[&str] = &["bin", "sbin", ".bin"];

/// Counts what `command` does; gives what it writes to its standard output, as far as the next command needs it.
pub(super) fn run(reader: &mut Reader, command: &Command) -> Input {
    let Some(first) = command.args.first() else { return Input::Stream };
    if !first.certain || first.pattern {
        // `((…))` is a word of its own, and only computes.
        if first.text != "((…))" {
            reader.tally.hide();
        }
        return Input::Stream;
    }
    let (directory, name) =
        first.text.rsplit_once('/').map_or(("", first.text.as_str()), |(dir, name)| (dir, name));
    let name = name.strip_suffix(".exe").unwrap_or(name).to_owned();
    let last = directory.rsplit('/').next().unwrap_or(directory);
    let known_place = directory.is_empty() || PROGRAM_DIRECTORIES.contains(&last) || is_wrapper_script(&name);
    if reader.call(&name) {
        return Input::Stream;
    }
    if !known_place {
        code::run_file(reader, &first.text);
        return Input::Stream;
    }
    let args = command.args.get(1..).unwrap_or_default();
    if let [only] = args
        && matches!(only.text.as_str(), "--version" | "--help")
    {
        return Input::Stream;
    }
    wrappers::run(reader, &name, args, &command.input)
        .or_else(|| files::run(reader, &name, args, &command.input))
        .or_else(|| git::run(reader, &name, args))
        .or_else(|| network::run(reader, &name, args))
        .or_else(|| code::run(reader, &name, args, &command.input))
        .unwrap_or_else(|| rules::run(reader, &name, args))
}

/// Scripts that stand for a build tool wherever they lie.
fn is_wrapper_script(name: &str) -> bool {
    matches!(name, "gradlew" | "mvnw" | "manage.py")
}

/// Splits options from operands. `values` are the options that take a value as a separate word.
pub(super) struct Options<'a> {
    args: &'a [Arg],
    values: &'a [&'a str],
    at: usize,
    ended: bool,
}

/// An option or an operand.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// `-x`, `--long`, with its value if it takes one.
    Option(&'a str, Option<Arg>),
    /// Anything else.
    Operand(&'a Arg),
}

impl<'a> Options<'a> {
    pub(super) fn new(args: &'a [Arg], values: &'a [&'a str]) -> Self {
        Self { args, values, at: 0, ended: false }
    }

    /// The arguments that have not been given yet.
    pub(super) fn rest(&self) -> &'a [Arg] {
        self.args.get(self.at..).unwrap_or_default()
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let arg = self.args.get(self.at)?;
        self.at += 1;
        let text = arg.text.as_str();
        if self.ended || !text.starts_with('-') || text == "-" {
            return Some(Part::Operand(arg));
        }
        if text == "--" {
            self.ended = true;
            return self.next();
        }
        if let Some((name, value)) = text.split_once('=')
            && name.starts_with("--")
        {
            return Some(Part::Option(name, Some(Arg { text: value.to_owned(), ..arg.clone() })));
        }
        if self.values.contains(&text) {
            let value = self.args.get(self.at).cloned();
            self.at += 1;
            return Some(Part::Option(text, value));
        }
        // `-ofile`: a short option with its value in the same word.
        if !text.starts_with("--")
            && let Some(short) = text.get(..2)
            && self.values.contains(&short)
            && text.len() > 2
        {
            let value = Arg { text: text.get(2..).unwrap_or_default().to_owned(), ..arg.clone() };
            return Some(Part::Option(short, Some(value)));
        }
        Some(Part::Option(text, None))
    }
}
