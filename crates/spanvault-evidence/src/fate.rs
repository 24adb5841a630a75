//! What became of a call, read from flags, exit statuses and the words that runtimes use for failure.
//!
//! A result counts as a failure only where something says so: the record's own flag, a status that is not 0, or
//! a text that a runtime writes in place of a result. The words *inside* a file or a command's output are
//! content, not a verdict, so an "error" that was read from a log file fails nothing. Where no flag and no status
//! stands beside content that *begins* like a failure, it may be either, and nobody can say.

mod empty;
mod status;

use spanvault_types::{Call, Outcome};

pub use empty::is_empty_result;
pub(crate) use empty::null_words;
pub(crate) use status::exit_code_in;
pub use status::exit_code_of;

use crate::effect::{Registry, returns_content};

/// What became of a call, as its result reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    /// The result reports no failure.
    Succeeded,
    /// The result reports a failure, or that the call never ran.
    Failed,
    /// There is no result, or it does not say.
    Unknown,
}

impl Fate {
    /// The word that JSON, queries and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// The fate of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FateReading {
    /// What became of it.
    pub fate: Fate,
    /// `false` where the result says that the call was rejected or never started.
    pub executed: bool,
}

/// What became of `call`, whose tool `registry` may know.
pub fn fate_of(call: &Call, outcome: Option<&Outcome>, registry: &Registry) -> FateReading {
    let Some(outcome) = outcome else { return FateReading { fate: Fate::Unknown, executed: true } };
    if outcome.executed == Some(false) || never_ran(outcome) {
        return FateReading { fate: Fate::Failed, executed: false };
    }
    let failed = outcome.is_error == Some(true)
        || exit_code_of(outcome).is_some_and(|code| code != 0)
        || outcome.text.trim_start().starts_with("<tool_use_error>")
        || (outcome.is_error.is_none() && !returns_content(call, registry) && reports_failure(&outcome.text))
        || (outcome.is_error.is_none() && refuses_an_edit(&outcome.text));
    let fate = if failed {
        Fate::Failed
    } else if outcome.is_error.is_none()
        && exit_code_of(outcome).is_none()
        && may_report_failure(&outcome.text)
    {
        Fate::Unknown
    } else {
        Fate::Succeeded
    };
    FateReading { fate, executed: true }
}

/// Whether content begins as a report of failure does, with a kind of error and a colon: `Error: no such file`.
fn may_report_failure(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let Some((kind, said)) = first.split_once(':') else { return false };
    let one_word =
        !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    one_word && !said.trim().is_empty() && reports_failure(first)
}

/// What runtimes write in place of a result when a call was rejected, cancelled or never started.
const NEVER_RAN: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled: parallel tool call",
    "Cancelled: parallel tool call",
    "[Request interrupted by user for tool use]",
    "Tool use rejected",
    "Tool call rejected",
    "exec command rejected by user",
    "Rejected by user",
    "User rejected",
    "User denied",
    "Permission to use ",
    "Command not executed",
];

/// Whether the text says that the call did not run. Such texts are short, and a flag or their own form backs
/// them: the output of a command may start with any words.
fn never_ran(outcome: &Outcome) -> bool {
    let text = outcome.text.trim_start();
    let says_so = NEVER_RAN.iter().any(|words| text.starts_with(words));
    says_so && (outcome.is_error == Some(true) || (outcome.is_error.is_none() && text.len() <= 2_000))
}

/// What editing tools say, and nobody else, when they changed nothing.
const REFUSED_EDITS: &[&str] = &[
    "Your proposed edit has introduced new syntax error",
    "String to replace not found in file",
    "No replacement was performed",
    "File has not been read yet",
    "Could not find the exact text in ",
    "[No exact match found in ",
    "Failed to edit, ",
    "The string to replace was not found in ",
];

fn refuses_an_edit(text: &str) -> bool {
    let text = text.trim_start();
    REFUSED_EDITS.iter().any(|words| text.starts_with(words))
}

/// Whether a result that is its tool's own statement reports a failure: it starts with `Error`, `…Error`,
/// `…Exception`, `ERROR` or `Failed`, or it is a JSON object that says so.
fn reports_failure(text: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let word = word.trim_end_matches('.');
    let last = word.rsplit('.').next().unwrap_or(word);
    let names_failure = last == "ERROR"
        || last == "Failed"
        || last == "FAILED"
        || last.ends_with("Error")
        || (last.ends_with("Exception") && rest.starts_with([':', '(']))
        || (last == "error" && rest.starts_with(':'));
    names_failure || (word.is_empty() && rest.starts_with('{') && object_reports_failure(text))
}

/// The largest JSON result that is parsed for a failure, in bytes: a report of failure is short.
const FAILURE_REPORT_BYTES_MAX: usize = 16 << 10;

fn object_reports_failure(text: &str) -> bool {
    if text.len() > FAILURE_REPORT_BYTES_MAX {
        return false;
    }
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(text) else { return false };
    let is = |name: &str, wanted: bool| object.get(name).and_then(serde_json::Value::as_bool) == Some(wanted);
    let named = object.get("error").is_some_and(|error| match error {
        serde_json::Value::String(words) => !words.is_empty(),
        serde_json::Value::Object(fields) => !fields.is_empty(),
        serde_json::Value::Bool(flag) => *flag,
        serde_json::Value::Null | serde_json::Value::Number(_) | serde_json::Value::Array(_) => false,
    });
    named || is("success", false) || is("ok", false) || is("isError", true) || is("is_error", true)
}

#[cfg(test)]
mod tests;
