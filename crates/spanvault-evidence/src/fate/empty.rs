//! Whether a call returned nothing.

use std::ops::Range;

use spanvault_types::{Call, Outcome};

/// Whether a call returned nothing: white space, `[]`, `{}`, `None`, the tool's own words for no match, or a
/// wrapper around nothing.
///
/// An error with words in it is not empty: it returned its words. No tool is known so far whose call must be
/// looked at to tell.
pub fn is_empty_result(_call: &Call, outcome: &Outcome) -> bool {
    null_words(&outcome.text).is_some()
}

/// What tools say, alone on their line, when there is nothing.
const NOTHING: &[&str] = &[
    "[]",
    "{}",
    "()",
    "None",
    "null",
    "nil",
    "\"\"",
    "''",
    "(empty)",
    "(none)",
    "(no output)",
    "(no content)",
    "no output",
    "(bash completed with no output)",
    "no results",
    "no results found",
    "no matches",
    "no matches found",
    "no match",
    "no match found",
    "no files found",
    "no files matched",
    "no matching files",
    "no matching files found",
    "no entries found",
    "no data",
    "no data found",
    "not found",
    "nothing found",
    "empty",
    "0 matches",
    "0 results",
    "found 0 matches",
    "found 0 files",
    "found 0 results",
    "found 0 lines",
    "total 0",
    "<system>tool ran without output or errors</system>",
    "tool ran without output or errors",
    "tool ran without output",
    "your command ran successfully and did not produce any output",
    "command executed successfully with no output",
    "the command produced no output",
    "<system-reminder>warning: the file exists but the contents are empty.</system-reminder>",
    "file is empty",
    "the file is empty",
    "directory is empty",
    "the directory is empty",
    "no content found",
];

/// What starts the statement that a search found nothing; the rest of its line says what was sought.
const NOTHING_FOR: &[&str] = &[
    "no matches found for ",
    "no matches found in ",
    "no match found for ",
    "no matches for ",
    "no results for ",
    "no results found for ",
    "no files found matching ",
    "no files found in ",
    "no files matching ",
    "no files matched ",
    "no matches found matching ",
    "found 0 matches for ",
    "found 0 files ",
];

/// How long a statement of nothing may be, in bytes.
const STATEMENT_BYTES_MAX: usize = 400;

/// The words that say *nothing* in a result's text, or the empty range where there are none; `None` where the
/// result returned something.
pub(crate) fn null_words(text: &str) -> Option<Range<usize>> {
    let inner = unwrapped(text);
    let body = text.get(inner.clone())?;
    let trimmed = body.trim();
    let start = inner.start + (body.len() - body.trim_start().len());
    let range = start..start + trimmed.len();
    if trimmed.is_empty() {
        return Some(range);
    }
    let (first, rest) = trimmed.split_once('\n').unwrap_or((trimmed, ""));
    if first.len() > STATEMENT_BYTES_MAX {
        return None;
    }
    let lower = first.trim().to_ascii_lowercase();
    let statement = lower.trim_end_matches(['.', '!']);
    let says_nothing = NOTHING.iter().any(|words| words.eq_ignore_ascii_case(statement) || *words == lower)
        || NOTHING_FOR.iter().any(|words| lower.starts_with(words));
    // Only a remark about the search itself may follow, such as the page it would have shown.
    let rest = rest.trim();
    let remark = rest.is_empty()
        || (rest.starts_with('[') && rest.ends_with(']') && !rest.contains('\n') && rest.len() > 2);
    (says_nothing && remark).then_some(start..start + first.trim_end().len())
}

/// The part of a result's text that the tool returned, without the wrapper that its runtime puts around it.
pub(crate) fn unwrapped(text: &str) -> Range<usize> {
    let whole = 0..text.len();
    let start = text.len() - text.trim_start().len();
    let Some(body) = text.get(start..) else { return whole };
    if let Some(range) = between(body, "<returncode>", "<output>", "</output>") {
        return start + range.start..start + range.end;
    }
    if let Some(rest) = body.strip_prefix("Exit code ") {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest.get(digits..).unwrap_or_default();
        if digits > 0 && (after.is_empty() || after.starts_with('\n')) {
            return text.len() - after.len()..text.len();
        }
    }
    if let Some(range) = codex_output(body).or_else(|| gemini_output(body)) {
        return start + range.start..start + range.end;
    }
    whole
}

/// What stands between `open` and the last `close`, in a text that starts with `first`.
fn between(body: &str, first: &str, open: &str, close: &str) -> Option<Range<usize>> {
    if !body.starts_with(first) {
        return None;
    }
    let from = body.find(open)? + open.len();
    let to = body.rfind(close)?;
    (from <= to).then_some(from..to)
}

/// `{"output":"…","metadata":{…}}`: only an empty output is told apart, anything else is left as it is.
fn codex_output(body: &str) -> Option<Range<usize>> {
    let open = "{\"output\":\"";
    let rest = body.strip_prefix(open)?;
    rest.starts_with("\",\"metadata\"").then_some(open.len()..open.len())
}

/// A report in lines of `Name: value`: the lines from `Output: ` to the next name.
fn gemini_output(body: &str) -> Option<Range<usize>> {
    if !body.starts_with("Command: ") && !body.starts_with("Output: ") {
        return None;
    }
    let name = "Output: ";
    let from = if body.starts_with(name) { name.len() } else { body.find("\nOutput: ")? + 1 + name.len() };
    let rest = body.get(from..)?;
    let to = ["\nError: ", "\nExit Code: ", "\nSignal: "].iter().filter_map(|next| rest.rfind(next)).min()?;
    Some(from..from + to)
}
