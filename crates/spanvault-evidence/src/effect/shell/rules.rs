//! Commands that a rule describes: what they do by default, by option and by subcommand. The rules are data
//! (`commands.json`); a command without one is opaque.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::command::{Arg, Input};
use super::reader::Reader;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Deed {
    /// Looks; its operands are paths.
    Reads,
    /// Looks or speaks; its operands are words.
    Says,
    /// Writes every operand.
    Writes,
    /// Reads its first operand and writes its second.
    Second,
    /// Looks where it has no operand, and acts outside where it has one.
    Bare,
    /// A check that only reads.
    Lints,
    /// A test or a build: runs code.
    Tests,
    /// Rewrites its operands, or everything under the directory where it has none.
    Formats,
    /// Runs tasks by name: a check where every name is a check's.
    Tasks,
    /// Runs one task by name; what follows is for the task.
    Task,
    /// Changes something that is no file.
    External,
    /// Cannot be seen through.
    Opaque,
}

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Meaning {
    /// Takes a value that is no operand.
    Value,
    /// Takes a value that names a file which is written.
    Output,
    /// Takes a value that names a file which is read.
    Input,
    /// Takes no value, and makes the command do this instead.
    #[serde(untagged)]
    Does(Deed),
}

/// A rule in its short form (what the command does) or its long one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Rule {
    Short(Deed),
    Long(Box<LongRule>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongRule {
    /// What it does where no option or subcommand says otherwise.
    does: Deed,
    /// How many operands come before the paths.
    #[serde(default)]
    skip: usize,
    #[serde(default)]
    options: HashMap<String, Meaning>,
    #[serde(default)]
    subcommands: HashMap<String, Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    lists: HashMap<Deed, Vec<String>>,
    commands: HashMap<String, Rule>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program and a test reads it")]
static RULES: LazyLock<HashMap<String, Rule>> = LazyLock::new(|| {
    let file: File =
        serde_json::from_str(include_str!("commands.json")).expect("commands.json is well-formed");
    let listed = file
        .lists
        .into_iter()
        .flat_map(|(deed, names)| names.into_iter().map(move |name| (name, Rule::Short(deed))));
    listed.chain(file.commands).collect()
});

/// Counts a command by its rule.
pub(super) fn run(reader: &mut Reader, name: &str, args: &[Arg]) -> Input {
    match RULES.get(name) {
        Some(rule) => apply(reader, rule, args),
        None => reader.tally.hide(),
    }
    Input::Stream
}

fn apply(reader: &mut Reader, rule: &Rule, args: &[Arg]) {
    let (mut rule, mut args) = (rule, args);
    // Down the subcommands: `gh pr view` is three words deep.
    while let Rule::Long(long) = rule
        && let Some((sub, after)) = long.subcommand(args)
    {
        (rule, args) = (sub, after);
    }
    match rule {
        Rule::Short(deed) => {
            let operands: Vec<&Arg> = args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
            act(reader, *deed, &operands);
        }
        Rule::Long(long) => long.apply(reader, args),
    }
}

impl LongRule {
    /// The rule of the subcommand that the first operand names, and the arguments behind it.
    fn subcommand<'a>(&self, args: &'a [Arg]) -> Option<(&Rule, &'a [Arg])> {
        let mut at = 0;
        let name = loop {
            let arg = args.get(at)?;
            at += 1;
            match self.options.get(&arg.text) {
                // Its value is no subcommand.
                Some(Meaning::Value | Meaning::Output | Meaning::Input) => at += 1,
                Some(Meaning::Does(_)) => {}
                None if arg.text.starts_with(['-', '+']) => {}
                None => break arg,
            }
        };
        let rule = self.subcommands.get(&name.text).filter(|_| name.certain)?;
        Some((rule, args.get(at..).unwrap_or_default()))
    }

    fn apply(&self, reader: &mut Reader, args: &[Arg]) {
        let mut deed = self.does;
        let mut operands: Vec<&Arg> = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.text.as_str();
            if text == "--" {
                operands.extend(rest);
                break;
            }
            if !text.starts_with('-') || text == "-" {
                operands.push(arg);
                continue;
            }
            for (meaning, attached) in self.meanings(text) {
                let value = || attached.map(|value| Arg { text: value.to_owned(), ..arg.clone() });
                match meaning {
                    Meaning::Does(does) => deed = does,
                    Meaning::Value | Meaning::Output | Meaning::Input => {
                        match (meaning, value().or_else(|| rest.next().cloned())) {
                            (Meaning::Output, Some(file)) => reader.write(&file),
                            (Meaning::Output, None) => reader.tally.hide(),
                            (Meaning::Input, Some(file)) => reader.touch(&file.text),
                            _ => {}
                        }
                    }
                }
            }
        }
        act(reader, deed, operands.get(self.skip.min(operands.len())..).unwrap_or_default());
    }

    /// What an option word means, with the value that stands in the same word: `--output=f`, `-of`, `-uo`.
    fn meanings<'a>(&self, text: &'a str) -> Vec<(Meaning, Option<&'a str>)> {
        let (name, attached) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if let Some(meaning) = self.options.get(name) {
            return vec![(*meaning, attached)];
        }
        // A command that has long options behind one dash does not bundle short ones.
        let bundles = !self.options.keys().any(|name| name.len() > 2 && !name.starts_with("--"));
        if text.starts_with("--") || !bundles {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (at, letter) in text.char_indices().skip(1) {
            match self.options.get(&format!("-{letter}")) {
                Some(Meaning::Does(does)) => found.push((Meaning::Does(*does), None)),
                Some(meaning) => {
                    let value = text.get(at + letter.len_utf8()..).filter(|value| !value.is_empty());
                    found.push((*meaning, value));
                    break;
                }
                None => {}
            }
        }
        found
    }
}

fn act(reader: &mut Reader, deed: Deed, operands: &[&Arg]) {
    match deed {
        Deed::Says => {}
        Deed::Reads | Deed::Lints => {
            operands
                .iter()
                .filter(|arg| looks_like_a_path(&arg.text))
                .for_each(|arg| reader.touch(&arg.text));
            if deed == Deed::Lints {
                reader.tally.lint();
            }
        }
        Deed::Writes => operands.iter().for_each(|arg| reader.write(arg)),
        Deed::Second => {
            if let Some(first) = operands.first() {
                reader.touch(&first.text);
            }
            if let Some(second) = operands.get(1) {
                reader.write(second);
            }
        }
        Deed::Bare if operands.is_empty() => {}
        Deed::Tests => {
            operands.iter().filter(|arg| arg.text.contains('/')).for_each(|arg| reader.touch(&arg.text));
            reader.tally.test();
        }
        Deed::Formats if operands.is_empty() => reader.write(&Arg::certain(".")),
        Deed::Formats => operands.iter().for_each(|arg| reader.write(arg)),
        Deed::Tasks | Deed::Task => {
            let count = if deed == Deed::Task { 1 } else { operands.len() };
            // `make VERBOSE=1 test`: a setting is no task.
            let mut tasks = operands.iter().filter(|arg| !arg.text.contains('=')).take(count);
            if tasks.all(|task| task.certain && is_check(&task.text)) {
                reader.tally.test();
            } else {
                reader.tally.hide();
            }
        }
        Deed::Bare | Deed::External => reader.tally.act_outside(),
        Deed::Opaque => reader.tally.hide(),
    }
}

/// Whether an operand of a reader is worth keeping as a path: options, numbers and expressions are not.
fn looks_like_a_path(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || "/._-~*?[]{}$+@ ".contains(c);
    !text.is_empty() && !text.bytes().all(|b| b.is_ascii_digit()) && text.chars().all(word)
}

/// Words in the name of a task that only checks or builds.
const CHECKS: &[&str] = &[
    "test",
    "tests",
    "lint",
    "check",
    "checks",
    "typecheck",
    "types",
    "tsc",
    "build",
    "compile",
    "e2e",
    "unit",
    "integration",
    "verify",
    "vet",
    "spec",
    "coverage",
    "ci",
    "bench",
    "audit",
    "validate",
    "all",
    "clippy",
    "mypy",
    "pytest",
    "jest",
    "vitest",
    "eslint",
];

/// Words that make a task more than a check, whatever else its name says.
const ACTS: &[&str] = &[
    "fix", "fmt", "format", "deploy", "publish", "release", "install", "clean", "update", "upgrade", "push",
    "write", "start", "serve", "dev", "watch", "migrate", "seed", "upload", "down", "up", "reset", "init",
    "snapshot", "generate", "gen",
];

/// Whether a task is a check, by its name: `test:integration`, `lint`, `check-types`.
pub(super) fn is_check(task: &str) -> bool {
    let words = || task.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words().any(|word| CHECKS.contains(&word)) && !words().any(|word| ACTS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_read_and_no_command_has_two() {
        let file: File = serde_json::from_str(include_str!("commands.json")).unwrap();
        let listed: usize = file.lists.values().map(Vec::len).sum();
        assert_eq!(listed + file.commands.len(), RULES.len());
    }
}
