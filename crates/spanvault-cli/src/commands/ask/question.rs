//! A question made of flags.

use clap::{Args, ValueEnum};
use serde_json::Value;
use spanvault::ask::{Find, Get, Query, Words, equal, glob};
use spanvault_types::Role;

use crate::failure::Failure;

/// Every word that `--get` knows, as the query contract lists them.
const GET_HELP: &str = "What to say of it: exists, count, spans, args, arg:NAME, paths, result, result.json:FIELD, \
    result.regex:RE, result.number, result.exit_code, result.empty, fate, quote or value";

/// A question for people; everything that is given must hold.
#[derive(Debug, Default, Args)]
pub(crate) struct QuestionArgs {
    /// Calls of this tool; given again: or of that one
    #[arg(long, value_name = "TOOL", help_heading = "Find calls")]
    tool: Vec<String>,
    /// Calls with this argument, as text (NAME=VALUE) or as JSON (NAME:=VALUE)
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = argument, help_heading = "Find calls")]
    args: Vec<(String, Value)>,
    /// Calls that touch such a path, shell commands included
    #[arg(long, value_name = "GLOB", help_heading = "Find calls")]
    path: Option<String>,
    /// Calls with this effect; given again: or with that one
    #[arg(long, value_name = "EFFECT", help_heading = "Find calls")]
    effect: Vec<EffectValue>,
    /// Calls with this fate
    #[arg(long, value_name = "FATE", help_heading = "Find calls")]
    fate: Option<FateValue>,
    /// Calls that returned nothing, failed or were denied
    #[arg(long, help_heading = "Find calls")]
    negative: bool,
    /// Exactly these words
    #[arg(long, value_name = "WORDS", help_heading = "Find words", conflicts_with = "regex")]
    text: Option<String>,
    /// What a regular expression matches
    #[arg(long, value_name = "RE", help_heading = "Find words")]
    regex: Option<String>,
    /// Only in this session, by its name or a unique start of it
    #[arg(long, value_name = "S", help_heading = "Look in")]
    session: Option<String>,
    /// Only in this ingested file, by its path or the end of it
    #[arg(long, value_name = "FILE", help_heading = "Look in")]
    source: Option<String>,
    /// Only in this transcript of a file that holds many, such as /82
    #[arg(long, value_name = "RECORD", help_heading = "Look in")]
    record: Option<String>,
    /// Only where this one speaks
    #[arg(long, value_name = "ROLE", help_heading = "Look in")]
    role: Option<RoleValue>,
    /// Only the n-th: 1 is the first, -1 the last
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Say")]
    nth: Option<i64>,
    /// What to say of it
    #[arg(long, value_name = "WHAT", help_heading = "Say", group = "say", help = GET_HELP)]
    get: Option<String>,
    /// Whether there is one (where nothing else is said)
    #[arg(long, help_heading = "Say", group = "say")]
    exists: bool,
    /// How many there are
    #[arg(long, help_heading = "Say", group = "say")]
    count: bool,
}

/// What a call does.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum EffectValue {
    /// Looks only
    Reads,
    /// Changes files or data
    Mutates,
    /// Acts on somebody else's system
    External,
    /// Cannot be seen through
    Opaque,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FateValue {
    /// It did what it was to do
    Succeeded,
    /// It did not
    Failed,
    /// Nobody says
    Unknown,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleValue {
    /// The person
    User,
    /// The agent
    Assistant,
    /// A tool
    Tool,
    /// The runtime
    System,
}

fn argument(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, or NAME:=JSON")?;
    let (name, value) = match name.strip_suffix(':') {
        Some(name) => {
            (name, serde_json::from_str(value).map_err(|error| format!("read the JSON value: {error}"))?)
        }
        None => (name, Value::String(value.to_owned())),
    };
    if name.is_empty() { Err("an argument has a name".to_owned()) } else { Ok((name.to_owned(), value)) }
}

impl QuestionArgs {
    /// Fails where a flag of this group stands beside `flag`, which is a whole question.
    pub(super) fn must_be_empty(&self, flag: &str) -> Result<(), Failure> {
        let is_empty = self.asks_for_no_call()
            && self.words().is_none()
            && [&self.session, &self.source, &self.record, &self.get].iter().all(|value| value.is_none())
            && self.role.is_none()
            && self.nth.is_none()
            && !self.exists
            && !self.count;
        if is_empty {
            return Ok(());
        }
        Err(Failure::usage(
            format!("ask with {flag} and other flags"),
            format!("put everything into {flag}, or ask with the other flags alone"),
        ))
    }

    fn asks_for_no_call(&self) -> bool {
        self.tool.is_empty()
            && self.args.is_empty()
            && self.path.is_none()
            && self.effect.is_empty()
            && self.fate.is_none()
            && !self.negative
    }

    fn words(&self) -> Option<Words> {
        let contains = self.text.clone().map(Words::Contains);
        contains.or_else(|| self.regex.clone().map(Words::Regex))
    }

    /// The query that the flags say.
    pub(super) fn query(&self) -> Result<Query, Failure> {
        let mut query = match (self.words(), self.asks_for_no_call()) {
            (Some(words), true) => Query::text(words),
            (None, false) => self.calls(),
            (Some(_), false) => {
                return Err(Failure::usage(
                    "ask for calls and for words at once",
                    "give --text or --regex alone, or ask for the calls whose arguments hold it with --arg",
                ));
            }
            (None, true) => {
                return Err(Failure::usage(
                    "ask for nothing",
                    "say what to find: --tool, --path, --effect, --text, --regex or --query; see \"spanvault ask --help\"",
                ));
            }
        };
        query.scope.session.clone_from(&self.session);
        query.scope.source.clone_from(&self.source);
        query.scope.record.clone_from(&self.record);
        query.scope.role = self.role.map(Role::from);
        query.nth = self.nth;
        query.get = match (&self.get, self.count) {
            (Some(word), _) => word.parse().map_err(spanvault::Error::from)?,
            (None, true) => Get::Count,
            (None, false) => Get::Exists,
        };
        query.check().map_err(spanvault::Error::from)?;
        Ok(query)
    }

    fn calls(&self) -> Query {
        let mut query = if self.negative { Query::negatives() } else { Query::any_call() };
        if let Find::Calls(calls) | Find::Negatives(calls) = &mut query.find {
            let words = |words: Vec<&'static str>| -> Option<Vec<String>> {
                (!words.is_empty()).then(|| words.into_iter().map(str::to_owned).collect())
            };
            calls.tool = (!self.tool.is_empty()).then(|| self.tool.clone());
            calls.args = self.args.iter().map(|(name, value)| (name.clone(), equal(value.clone()))).collect();
            calls.path = self.path.clone().map(glob);
            calls.effect = words(self.effect.iter().map(|effect| effect.word()).collect());
            calls.fate = self.fate.map(|fate| fate.word().to_owned());
        }
        query
    }
}

impl EffectValue {
    const fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Mutates => "mutates",
            Self::External => "external",
            Self::Opaque => "opaque",
        }
    }
}

impl FateValue {
    const fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl From<RoleValue> for Role {
    fn from(role: RoleValue) -> Self {
        match role {
            RoleValue::User => Self::User,
            RoleValue::Assistant => Self::Assistant,
            RoleValue::Tool => Self::Tool,
            RoleValue::System => Self::System,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(args: &QuestionArgs) -> String {
        serde_json::to_string(&args.query().unwrap()).unwrap()
    }

    #[test]
    fn an_argument_is_text_unless_it_is_said_to_be_json() {
        assert_eq!(argument("n=4"), Ok(("n".into(), Value::String("4".into()))));
        assert_eq!(argument("n:=4"), Ok(("n".into(), serde_json::json!(4))));
        assert_eq!(argument("q=a=b"), Ok(("q".into(), Value::String("a=b".into()))));
        for bad in ["n", "=4", ":=4", "n:=four"] {
            assert!(argument(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn flags_say_the_same_as_the_query_contract() {
        let written = QuestionArgs {
            tool: vec!["write_file".into()],
            path: Some("/etc/**".into()),
            fate: Some(FateValue::Succeeded),
            session: Some("run".into()),
            nth: Some(-1),
            count: false,
            ..QuestionArgs::default()
        };
        assert_eq!(
            json(&written),
            r#"{"in":{"session":"run"},"calls":{"tool":"write_file","fate":"succeeded","path":{"glob":"/etc/**"}},"nth":-1}"#
        );
        let words = QuestionArgs { text: Some("INV-1".into()), count: true, ..QuestionArgs::default() };
        assert_eq!(json(&words), r#"{"text":{"contains":"INV-1"},"get":"count"}"#);
    }

    #[test]
    fn calls_and_words_together_or_neither_are_refused() {
        assert!(QuestionArgs::default().query().is_err());
        let both = QuestionArgs { negative: true, text: Some("x".into()), ..QuestionArgs::default() };
        assert!(both.query().is_err());
    }
}
