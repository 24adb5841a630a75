//! Process exit statuses, and the wrappers that runtimes put them in.

use std::ops::Range;

use memchr::memmem;
use spanvault_types::Outcome;

/// The process exit status that a result reports: the record's own field, or the wrapper of its text.
pub fn exit_code_of(outcome: &Outcome) -> Option<i64> {
    outcome.exit_code.or_else(|| exit_code_in(&outcome.text).map(|(code, _)| code))
}

/// Words that a wrapper puts before the status at the start of a result.
const BEFORE: &[&str] = &[
    "<returncode>",
    "Exit code: ",
    "Exit code ",
    "exit code: ",
    "exitcode: ",
    "Process exited with code ",
    "exit_code: ",
];

/// Words that a wrapper puts before the status in the last line of a result.
const BEFORE_AT_END: &[&str] = &[
    "Command exited with code ",
    "Process exited with code ",
    "[The command completed with exit code ",
    "Command finished with exit code ",
    "[Command finished with exit code ",
];

/// How far from its end a result is searched for a closing line, in bytes.
const TAIL_BYTES: usize = 200;

/// The exit status in a result's text and where its digits stand.
pub(crate) fn exit_code_in(text: &str) -> Option<(i64, Range<usize>)> {
    let start = text.len() - text.trim_start().len();
    let body = text.get(start..)?;
    if let Some(words) = BEFORE.iter().find(|words| body.starts_with(**words)) {
        return number_at(text, start + words.len());
    }
    if body.starts_with('{') {
        return code_in_json(text);
    }
    if let Some(at) = code_in_report(body) {
        return number_at(text, start + at);
    }
    let mut tail = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let last = text.get(tail..)?;
    // All of them have it, and few results do.
    if !last.contains(" code ") {
        return None;
    }
    BEFORE_AT_END.iter().find_map(|words| {
        let at = last.rfind(words)? + words.len();
        let (code, range) = number_at(text, tail + at)?;
        let after = text.get(range.end..)?.trim_matches([']', '.', ' ', '\n', '\r']);
        after.is_empty().then_some((code, range))
    })
}

/// A report in lines of `Name: value`, as Gemini CLI writes it: `Command: … Exit Code: 0 …`.
fn code_in_report(body: &str) -> Option<usize> {
    if !body.starts_with("Command: ") && !body.starts_with("Output: ") {
        return None;
    }
    let words = "\nExit Code: ";
    body.rfind(words).map(|at| at + words.len())
}

/// `{"output": …, "metadata": {"exit_code": N, …}}`, as Codex writes it, found from its end.
fn code_in_json(text: &str) -> Option<(i64, Range<usize>)> {
    let name = "\"exit_code\":";
    let head = "\"metadata\"".as_bytes();
    // Few results have one, and that is found out faster from the front.
    memmem::find(text.as_bytes(), head)?;
    let metadata = memmem::rfind(text.as_bytes(), head)?;
    let at = metadata + text.get(metadata..)?.find(name)? + name.len();
    let blanks = text.get(at..)?.len() - text.get(at..)?.trim_start().len();
    number_at(text, at + blanks)
}

fn number_at(text: &str, start: usize) -> Option<(i64, Range<usize>)> {
    let rest = text.get(start..)?;
    let sign = usize::from(rest.starts_with('-'));
    let digits = rest.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    let range = start..start + sign + digits;
    let code = text.get(range.clone())?.parse().ok()?;
    Some((code, range))
}
