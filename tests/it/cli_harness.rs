//! Runs the program in a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory with a vault in it, and the program to work on it.
pub(crate) struct Sandbox {
    dir: TempDir,
}

/// What one run of the program came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// The real path of a file in the sandbox.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn vault(&self) -> PathBuf {
        self.path("vault")
    }

    /// Writes a file in the sandbox.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The program, with the vault of the sandbox and nothing of this process's surroundings.
    pub(crate) fn command<A: AsRef<str>>(&self, args: &[A]) -> Command {
        let mut command = program();
        command
            .current_dir(self.dir.path())
            .env("SPANVAULT_DIR", self.vault())
            .args(args.iter().map(AsRef::as_ref))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program; it must not be killed.
    pub(crate) fn run<A: AsRef<str>>(&self, args: &[A]) -> Ran {
        Ran::from(self.command(args).output().unwrap())
    }

    /// Runs the program, which must do what it was asked.
    pub(crate) fn ok<A: AsRef<str>>(&self, args: &[A]) -> Ran {
        let ran = self.run(args);
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        assert_eq!(ran.code, 0, "{}: {}{}", args.join(" "), ran.out, ran.err);
        assert_eq!(ran.err, "", "{}", args.join(" "));
        ran
    }

    /// The lines of JSON that a command prints, which must do what it was asked.
    pub(crate) fn json<A: AsRef<str>>(&self, args: &[A]) -> Vec<Value> {
        let args: Vec<&str> = ["--json"].into_iter().chain(args.iter().map(AsRef::as_ref)).collect();
        self.ok(&args).json()
    }

    /// The only line of JSON that a command prints.
    pub(crate) fn json_one<A: AsRef<str>>(&self, args: &[A]) -> Value {
        let mut lines = self.json(args);
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.remove(0)
    }

    /// Text with what differs from run to run made equal: the directory and instants.
    pub(crate) fn steady(&self, text: &str) -> String {
        let dir = self.dir.path().canonicalize().unwrap();
        without_instants(&text.replace(dir.to_str().unwrap(), "[DIR]"))
    }
}

/// The program, in a known environment.
pub(crate) fn program() -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_spanvault-under-test")));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LC_ALL", "C.UTF-8");
    command
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the program is not killed"),
            out: String::from_utf8(output.stdout).expect("the answer is text"),
            err: String::from_utf8(output.stderr).expect("errors are text"),
        }
    }
}

impl Ran {
    /// The lines of the answer as JSON objects.
    pub(crate) fn json(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}")))
            .collect()
    }

    /// The error as JSON.
    pub(crate) fn error(&self) -> Value {
        serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error} in {:?}", self.err))
    }
}

/// Replaces every instant of RFC 3339 in UTC.
fn without_instants(text: &str) -> String {
    let mut steady = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = instant_length(rest).unwrap_or(0);
        steady.push_str(if length > 0 { "[INSTANT]" } else { &rest[..c.len_utf8()] });
        rest = &rest[length.max(c.len_utf8())..];
    }
    steady
}

/// The length of the instant that `text` begins with, if it does.
fn instant_length(text: &str) -> Option<usize> {
    let fits = |(at, c): (usize, char)| match at {
        4 | 7 => c == '-',
        10 => c == 'T',
        _ => c.is_ascii_digit(),
    };
    let is_day = text.char_indices().take(11).filter(|found| fits(*found)).count() == 11;
    let end = text.find('Z').filter(|end| (19..=23).contains(end))?;
    is_day.then_some(end + 1)
}
