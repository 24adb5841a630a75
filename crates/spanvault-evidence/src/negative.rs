//! Negative results: a call that failed, or a search that found nothing.

pub(crate) mod absorb;
mod command_line;
pub(crate) mod denial;
mod failure;
pub(crate) mod request;

use std::ops::Range;

use spanvault_types::{ByteRange, Call, Outcome, Part, PartBody};

use crate::atom::Locator;
use crate::fate::null_words;
use crate::obligation::command_of;
use crate::{At, Effect, Fate, PairedCall, exit_code_of, is_empty_result};
use command_line::simple_commands;
use denial::denies;
use failure::failure_line;

/// How a result is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NegativeKind {
    /// The call failed.
    Failed,
    /// The call was rejected or never started.
    NotExecuted,
    /// A search found nothing.
    FoundNothing,
}

impl NegativeKind {
    /// The words that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::NotExecuted => "not executed",
            Self::FoundNothing => "found nothing",
        }
    }
}

/// A negative result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negative {
    /// How.
    pub kind: NegativeKind,
    /// Where the words that say it stand in the original.
    pub range: ByteRange,
    /// The words that say it, decoded; empty where the result is.
    pub words: String,
    /// The call.
    pub call: At,
    /// The later span in which a call with the same tool and target, or the same search, succeeded.
    pub succeeded_in: Option<usize>,
    /// The last span of the same turn in which the agent says so, naming what was looked for. It absorbs the
    /// result only while that span stays in the context.
    pub denied_in: Option<usize>,
}

/// How many bytes of a result's words are shown.
const WORDS_BYTES_MAX: usize = 160;

/// Reads what is negative in a result.
pub(crate) fn negative(
    call: &Call,
    paired: &PairedCall,
    part: &Part,
    outcome: &Outcome,
    original: &[u8],
) -> Option<Negative> {
    let kind = kind_of(call, paired, outcome)?;
    let said = words_of(kind, &outcome.text);
    let words = outcome.text[said.clone()].trim().to_owned();
    let range = if said.is_empty() {
        part.range
    } else {
        Locator::new(part, &outcome.text, original).locate(said.start, said.end)
    };
    Some(Negative { kind, range, words, call: paired.call, succeeded_in: None, denied_in: None })
}

/// The words of a result that say it: of a failure the line that reports it, of a search the note of no match.
fn words_of(kind: NegativeKind, text: &str) -> Range<usize> {
    let nothing = null_words(text).filter(|_| kind == NegativeKind::FoundNothing);
    let said = nothing.or_else(|| {
        let line = failure_line(text).or_else(|| text.lines().find(|line| !line.trim().is_empty()))?;
        let start = line.as_ptr().addr() - text.as_ptr().addr();
        Some(start..start + line.len())
    });
    let said = said.unwrap_or(0..0);
    let mut end = said.end.min(said.start + WORDS_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    said.start..end
}

fn kind_of(call: &Call, paired: &PairedCall, outcome: &Outcome) -> Option<NegativeKind> {
    if !paired.fate.executed {
        return Some(NegativeKind::NotExecuted);
    }
    let searches = is_search(call, paired);
    // grep and its kin say "nothing" by exit status 1.
    let empty =
        is_empty_result(call, outcome) || (exit_code_of(outcome) == Some(1) && outcome.text.len() < 80);
    if searches && empty {
        return Some(NegativeKind::FoundNothing);
    }
    let reports_failure = || {
        paired.effect.is_check && failure_line(&outcome.text).is_some_and(|line| !line.contains("0 issues"))
    };
    (paired.fate.fate != Fate::Succeeded || reports_failure()).then_some(NegativeKind::Failed)
}

fn is_search(call: &Call, paired: &PairedCall) -> bool {
    if let Some(command) = command_of(call) {
        let searches = ["grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "ls", "locate", "which"];
        return paired.effect.effect == Effect::Reads
            && simple_commands(command).iter().any(|simple| {
                searches.contains(&simple.program())
                    || (simple.program() == "git" && simple.words.get(1).is_some_and(|word| word == "grep"))
            });
    }
    paired.effect.effect == Effect::Reads
}

/// Whether a result, by its own words, is negative or empty: the flag of the span, wider than [`Negative`].
pub(crate) fn result_is_negative(call: Option<(&Call, &PairedCall)>, outcome: &Outcome) -> bool {
    if outcome.is_error == Some(true)
        || outcome.executed == Some(false)
        || exit_code_of(outcome).is_some_and(|code| code != 0)
    {
        return true;
    }
    let Some((call, paired)) = call else { return outcome.text.trim().is_empty() };
    // Where it may be a failure as well, it is read as one.
    if paired.fate.fate != Fate::Succeeded || is_empty_result(call, outcome) {
        return true;
    }
    if (paired.effect.is_check || command_of(call).is_some()) && failure_line(&outcome.text).is_some() {
        return true;
    }
    let short = outcome.text.len() < 300 && outcome.text.lines().count() <= 3;
    short && denies(&outcome.text)
}

/// The call that a part is, where it is one.
pub(crate) fn call_at(part: Option<&Part>) -> Option<&Call> {
    match &part?.body {
        PartBody::Call(call) => Some(call),
        PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) | PartBody::Result(_) => None,
    }
}
