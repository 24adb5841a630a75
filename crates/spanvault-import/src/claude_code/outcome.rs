//! What Claude Code says about the fate of a call, beside the text of its result.
//!
//! The error flag is left out where there was no error, so absent means `false`. Whether a call ran at all is
//! told only by the wording of the result, and only where the flag is set.

use spanvault_types::{Outcome, Part, PartBody};

use crate::json::Raw;

/// How results begin whose call was never carried out.
const NOT_EXECUTED: [&str; 8] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "<tool_use_error>Sibling tool call errored",
    "Sibling tool call errored",
    "<tool_use_error>Error: No such tool available",
    "Claude requested permissions to ",
    "Permission to use ",
    "User rejected tool use",
];

/// Completes the results of one line with what its `toolUseResult` says.
pub(super) fn complete(parts: &mut [Part], details: Option<Raw<'_>>) {
    let mut results: Vec<&mut Outcome> = parts
        .iter_mut()
        .filter_map(|part| if let PartBody::Result(outcome) = &mut part.body { Some(outcome) } else { None })
        .collect();
    // The details speak of one result; beside several they could speak of any.
    let details = details.filter(|_| results.len() == 1);
    for outcome in &mut results {
        complete_one(outcome, details);
    }
}

fn complete_one(outcome: &mut Outcome, details: Option<Raw<'_>>) {
    let [interrupted, error_flag, code, code_snake, code_return] = details.map_or([None; 5], |details| {
        details.fields(["interrupted", "is_error", "exitCode", "exit_code", "returnCode"])
    });
    let interrupted = interrupted.is_some_and(|flag| flag.is_true());
    let flag = outcome.is_error.or(error_flag.and_then(|flag| flag.boolean()));
    // An interrupted command did something, but not what it was called for.
    let is_error = flag.unwrap_or(false) || interrupted;
    outcome.is_error = Some(is_error);
    outcome.exit_code = code.or(code_snake).or(code_return).and_then(|code| code.integer());
    if !is_error {
        return;
    }
    if outcome.exit_code.is_none() {
        outcome.exit_code = exit_code_line(&outcome.text);
    }
    let said = details.and_then(|details| details.string()).unwrap_or_default();
    let said = said.strip_prefix("Error: ").unwrap_or(&said);
    if was_not_executed(&outcome.text) || was_not_executed(said) {
        outcome.executed = Some(false);
    }
}

/// Whether the result of a call says that it was never carried out.
pub(crate) fn was_not_executed(result: &str) -> bool {
    NOT_EXECUTED.iter().any(|start| result.starts_with(start))
}

/// The number in a first line `Exit code N`.
fn exit_code_line(text: &str) -> Option<i64> {
    text.lines().next()?.strip_prefix("Exit code ")?.trim_end().parse().ok()
}
