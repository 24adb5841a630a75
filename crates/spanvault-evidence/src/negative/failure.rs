//! Finds the line of a tool's output that says in its own words that something failed or was not found.

use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

/// Words that report a failure at the head of a line, and words that report one, or an absence, anywhere in it.
const FAILURES: &str = r"(?im)^[ \t]*(?:error[:\[ ]|fatal(?::| error)|traceback \(most recent call last\)|(?:---[ ])?fail(?:[ \t]|$)|failed[: ]|panic:|<tool_use_error>|e   |npm err!|command failed|make: \*\*\*)|no such file or directory|command not found|no module named|modulenotfounderror|permission denied|not found:|does not exist|no matches found|no files found|\b0 issues|nothing to commit|could not |cannot |unable to |timed out";

/// A bare exit status other than 0.
const BAD_EXIT: &str = r"(?im)^[ \t]*exit (?:code|status) [1-9-]";

/// How much of the head and of the foot of an output is read for failures: what stands between them is content.
const HEAD_LINES: usize = 6;
const FOOT_LINES: usize = 12;

/// How many bytes head and foot have at most.
const END_BYTES: usize = 8 * 1024;

struct Patterns {
    failure: Regex,
    bad_exit: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns { failure: Regex::new(FAILURES).ok()?, bad_exit: Regex::new(BAD_EXIT).ok()? })
});

/// The line of an output that reports a failure or an absence.
///
/// It is looked for in the first and last lines only; what test runners say of single tests counts anywhere. A bare
/// exit status is taken only where nothing says more.
pub(crate) fn failure_line(text: &str) -> Option<&str> {
    let patterns = PATTERNS.as_ref()?;
    let ends = [head(text), foot(text)];
    let find = |pattern: &Regex| ends.iter().find_map(|end| Some(line_at(end, pattern.find(end)?.start())));
    find(&patterns.failure).or_else(|| failed_test(text)).or_else(|| find(&patterns.bad_exit))
}

/// The line at which a test runner says that a test failed.
fn failed_test(text: &str) -> Option<&str> {
    let heads = |at: &usize| {
        text[..*at].trim_end_matches([' ', '\t']).ends_with('\n') || text[..*at].trim().is_empty()
    };
    let marks = ["--- FAIL", "FAILED "];
    let found = marks.iter().filter_map(|mark| memmem::find_iter(text.as_bytes(), mark).find(heads)).min()?;
    Some(line_at(text, found))
}

/// The whole line that holds byte `at`.
fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..];
    line.lines().find(|line| !line.trim().is_empty()).unwrap_or(line)
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(END_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let lines = text[..end].split_inclusive('\n').filter(|line| !line.trim().is_empty()).take(HEAD_LINES);
    let last = lines.last().map_or(0, |line| line.as_ptr().addr() - text.as_ptr().addr() + line.len());
    &text[..last]
}

fn foot(text: &str) -> &str {
    let mut start = text.len().saturating_sub(END_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let lines =
        text[start..].split_inclusive('\n').rev().filter(|line| !line.trim().is_empty()).take(FOOT_LINES);
    let first = lines.last().map_or(text.len(), |line| line.as_ptr().addr() - text.as_ptr().addr());
    &text[first..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_compile() {
        assert!(PATTERNS.is_some());
    }

    #[test]
    fn what_tools_say_when_they_fail_is_found() {
        for (text, line) in [
            (
                "ls: cannot access 'x': No such file or directory\n",
                "ls: cannot access 'x': No such file or directory",
            ),
            ("compiling\nerror[E0425]: cannot find value", "error[E0425]: cannot find value"),
            (
                "<tool_use_error>File does not exist.</tool_use_error>",
                "<tool_use_error>File does not exist.</tool_use_error>",
            ),
            ("a\n  fatal: not a git repository", "  fatal: not a git repository"),
            ("python3: No module named pytest", "python3: No module named pytest"),
            ("FAIL", "FAIL"),
        ] {
            assert_eq!(failure_line(text), Some(line));
        }
        for text in
            ["", "\n\n", "ok", "failures: none of them", "10 issues", "Exit code 0", "an error of judgement"]
        {
            assert_eq!(failure_line(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_failure_stands_at_the_head_or_foot_of_an_output() {
        assert_eq!(failure_line("ok a\nok b\nFAIL\tpkg 0.2s"), Some("FAIL\tpkg 0.2s"));
        let listing = "a\n".repeat(40) + "error: in the middle\n" + &"b\n".repeat(40);
        assert_eq!(failure_line(&listing), None);
        assert_eq!(failure_line("Exit code 0\nfine"), None);
        assert_eq!(failure_line("Exit code 2\nerror: no rule"), Some("error: no rule"));
        assert_eq!(failure_line("Exit code 2\nwhatever"), Some("Exit code 2"));
    }
}
