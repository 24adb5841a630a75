//! Reads what a tool of Codex said, and what that tells of the call's fate.
//!
//! An output is text, JSON text of an object with the text in it, an object, or a list of blocks, by version.

use spanvault_types::{Outcome, Part, PartBody};

use crate::blocks::{result_part, value_part};
use crate::json::Raw;

/// How outputs begin of calls that failed; there is no flag.
const FAILED: [&str; 7] = [
    "apply_patch verification failed",
    "failed to parse function arguments",
    "unsupported call",
    "unsupported custom tool call",
    "exec_command failed",
    "execution error",
    "aborted by user",
];
/// The whole output of a call that was under way when its turn was broken off.
const ABORTED: &str = "aborted";
/// How outputs begin of calls that were never carried out.
const NOT_EXECUTED: [&str; 3] =
    ["exec command rejected by user", "patch rejected by user", "rejected by user"];
/// What stands in the error of a command that was never begun, because the user did not let it.
const NOT_BEGUN: &str = "Rejected(\"rejected by user";
/// How such an error begins.
const BEGINNING: &str = "exec_command failed";
/// The line under which the output of a command stands, and above it what became of it.
const OUTPUT: &str = "Output:";
/// How the line begins that has the exit code, by version.
const EXIT_CODES: [&str; 2] = ["Exit code: ", "Process exited with code "];

/// The part that an output is.
pub(super) fn part(item: Raw<'_>, output: Option<Raw<'_>>, outcome: Outcome) -> Part {
    let wrapped = output.and_then(|output| Some((output, unwrap(&output.string()?)?)));
    let mut part = match (wrapped, output) {
        (Some((output, (text, exit_code))), _) => {
            value_part(output, PartBody::Result(Outcome { text, exit_code, ..outcome }))
        }
        (None, Some(output)) if output.field("success").is_some() => {
            let [content, success] = output.fields(["content", "success"]);
            let failed = success.and_then(|success| success.boolean()) == Some(false);
            result_part(output, content, Outcome { is_error: failed.then_some(true), ..outcome })
        }
        (None, output) => result_part(item, output, outcome),
    };
    if let PartBody::Result(outcome) = &mut part.body {
        complete(outcome);
    }
    part
}

/// The text and the exit code of an output that is an object written as JSON text.
fn unwrap(text: &str) -> Option<(String, Option<i64>)> {
    let object = Raw::whole(text).ok().filter(Raw::is_object)?;
    let [output, metadata] = object.fields(["output", "metadata"]);
    let code = metadata?.field("exit_code").and_then(|code| code.integer());
    Some((output?.string()?.into_owned(), code))
}

fn complete(outcome: &mut Outcome) {
    let text = outcome.text.trim_start();
    let starts_with = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    let is_begun = !text.starts_with(BEGINNING) || !text.replace("\\\"", "\"").contains(NOT_BEGUN);
    if starts_with(&NOT_EXECUTED) || !is_begun {
        outcome.executed = Some(false);
        outcome.is_error = Some(true);
    } else if starts_with(&FAILED) || text == ABORTED {
        outcome.is_error = Some(true);
    }
    outcome.exit_code = outcome.exit_code.or_else(|| shown_code(&outcome.text));
}

/// The exit code in the lines above the output, where there are such.
fn shown_code(text: &str) -> Option<i64> {
    /// More lines than this never stand above an output.
    const ABOVE_MAX: usize = 8;
    let above: Vec<&str> = text.lines().take(ABOVE_MAX).take_while(|line| *line != OUTPUT).collect();
    if above.len() == ABOVE_MAX || text.lines().nth(above.len()) != Some(OUTPUT) {
        return None;
    }
    above
        .iter()
        .find_map(|line| EXIT_CODES.iter().find_map(|start| line.strip_prefix(start)?.trim().parse().ok()))
}
