//! What a call asks for, so that a later call that asks for the same, or for more, is known: the same tool and
//! target, or the same search.

use serde_json::Value;
use spanvault_types::Call;

use super::command_line::{Simple, simple_commands};
use crate::PairedCall;
use crate::obligation::command_of;

/// One thing that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// The tool and its target, the search, or the program and its subcommand.
    pub(crate) key: String,
    /// For a command: its further words. Fewer of them ask for more.
    narrowed: Vec<String>,
}

impl Request {
    /// Whether carrying out `self` carries out `other`, which has the same key.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let wide =
            |word: &String| word == "." || word.ends_with("/...") || word == "--all" || word == "--workspace";
        self.narrowed.iter().all(|word| wide(word) || other.narrowed.contains(word))
    }
}

/// How many things one call can ask for; a longer script is one request as a whole.
const REQUESTS_MAX: usize = 16;

/// What `call` asks for; a script asks for each of its commands.
pub(crate) fn requests(call: &Call, paired: &PairedCall) -> Vec<Request> {
    if let Some(command) = command_of(call) {
        let commands = simple_commands(command);
        if (1..=REQUESTS_MAX).contains(&commands.len()) {
            return commands.iter().map(of_command).collect();
        }
        return vec![Request { key: format!("$\0{}", command.trim()), narrowed: Vec::new() }];
    }
    let search =
        ["pattern", "query", "regex", "q", "search_term"].iter().find_map(|key| call.args.get(key)?.as_str());
    let target = match (search, paired.effect.paths.first()) {
        (Some(search), _) => search.to_owned(),
        (None, Some(path)) => path.clone(),
        (None, None) => call.args.to_string(),
    };
    vec![Request { key: format!("{}\0{target}", call.tool), narrowed: Vec::new() }]
}

fn of_command(simple: &Simple) -> Request {
    let mut words =
        simple.words.iter().map(String::as_str).skip(1).filter(|word| !is_manner(word)).peekable();
    let mut key = format!("$\0{}", simple.program());
    if has_subcommands(simple.program()) {
        // "mise run lint" and "npm run build" name their task in the third word.
        while let Some(word) = words.next_if(|word| !word.starts_with('-')) {
            key.push(' ');
            key.push_str(word);
            if word != "run" && word != "exec" {
                break;
            }
        }
    }
    let mut narrowed = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "-m" | "--message" | "-F") {
            words.next();
        } else {
            narrowed.push(word.to_owned());
        }
    }
    Request { key, narrowed }
}

/// Words that say how, not what.
fn is_manner(word: &str) -> bool {
    const MANNER: &str =
        "-v -vv -q -x -s --verbose --quiet -race -count=1 --no-color --color=never --tb=short -n";
    MANNER.split(' ').any(|manner| manner == word)
}

fn has_subcommands(program: &str) -> bool {
    const PROGRAMS: &str = "git gh go cargo npm npx yarn pnpm bun mise make just task docker kubectl helm terraform pip pip3 \
                            poetry uv gradle mvn dotnet bundle rake mix apt apt-get brew systemctl python python3";
    PROGRAMS.split_whitespace().any(|known| known == program)
}

/// The short strings among the arguments of a call; long ones are content, not names.
pub(crate) fn strings(args: &Value) -> Vec<&str> {
    const LONG: usize = 512;
    let mut found = Vec::new();
    let mut left = vec![args];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) if text.len() <= LONG => found.push(text.as_str()),
            Value::Array(items) => left.extend(items.iter().rev()),
            Value::Object(fields) => left.extend(fields.values().rev()),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(command: &str) -> Request {
        let [simple] = &simple_commands(command)[..] else { panic!("{command} is not one command") };
        of_command(simple)
    }

    fn same(earlier: &str, later: &str) -> bool {
        let (earlier, later) = (one(earlier), one(later));
        earlier.key == later.key && later.covers(&earlier)
    }

    #[test]
    fn a_command_with_the_same_or_wider_operands_asks_for_the_same() {
        assert!(same("go test ./a -run TestX", "go test ./... 2>&1 | tail -5"));
        assert!(same("go test -v ./a", "go test ./a"));
        assert!(same("cd /repo && mise run lint", "mise run lint"));
        assert!(same("git commit -m 'one'", "git commit -m 'two, without the typo'"));
    }

    #[test]
    fn a_command_about_something_else_or_about_less_does_not() {
        assert!(!same("go test ./a", "go test ./b"));
        assert!(!same("go test ./...", "go test ./... -run TestX"));
        assert!(!same("mise run lint", "mise run test"));
        assert!(!same("rm a", "ls a"));
    }
}
