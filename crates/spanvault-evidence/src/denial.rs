//! Whether words say that something is not so, is missing or went wrong.

use crate::prose::{Word, sentences, words};

/// Whether `text`, as prose, denies something or states a failure or an absence.
pub(crate) fn denies(text: &str) -> bool {
    sentences(text).any(|sentence| is_denial(&words(text, &sentence.range)))
}

/// The sentences of `text` that deny something or state a failure or an absence.
pub(crate) fn denials(text: &str) -> impl Iterator<Item = &str> {
    sentences(text)
        .filter(|sentence| is_denial(&words(text, &sentence.range)))
        .map(|sentence| &text[sentence.range])
}

fn is_denial(words: &[Word]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let next = |offset: usize| words.get(at + offset).map_or("", |word| word.lower.as_str());
        let before = at.checked_sub(1).map_or("", |before| words[before].lower.as_str());
        match word.lower.as_str() {
            "not" => !matches!(next(1), "only" | "just" | "sure"),
            "no" => {
                let idle = ["problem", "worries", "doubt", "need", "matter"];
                at + 1 < words.len() && !idle.contains(&next(1))
            }
            "never" | "nothing" | "none" | "cannot" | "neither" | "nor" | "nobody" | "nowhere" | "unable"
            | "doesnt" | "without" | "missing" | "absent" | "nonexistent" | "non-existent"
            | "unavailable" | "undefined" | "impossible" => true,
            "fails" | "failed" => !matches!(before, "no" | "zero" | "0" | "if" | "when"),
            "failing" | "failure" | "failures" => {
                !matches!(before, "no" | "zero" | "0" | "if" | "when" | "the" | "fixed" | "any" | "on")
            }
            "error" if matches!(next(1), "is" | "was" | "occurs" | "occurred" | "says") => true,
            "error" | "errors" | "wrong" | "broken" | "incorrect" => {
                matches!(before, "an" | "the" | "is" | "are" | "was" | "got" | "in" | "returns" | "returned")
                    && word.lower != "errors"
            }
            word => word.ends_with("n't"),
        }
    })
}

/// The line of a tool's output that says in its own words that something failed or was not found.
///
/// It is looked for in the first and last lines only, for what stands in the middle is content; what test runners
/// say of single tests counts anywhere. A bare exit status is taken only where nothing says more.
pub(crate) fn failure_line(text: &str) -> Option<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let ends = || lines().take(6).chain(lines().rev().take(12));
    let of_a_test = |line: &&str| line.trim_start().starts_with("--- FAIL") || line.starts_with("FAILED ");
    ends()
        .find(|line| is_failure(line))
        .or_else(|| text.lines().find(of_a_test))
        .or_else(|| ends().find(|line| is_bad_exit(line)))
}

/// Words at the head of a line that report a failure.
const FAILURE_HEADS: [&str; 17] = [
    "error:",
    "error ",
    "error[",
    "fatal:",
    "fatal error",
    "traceback (most recent call last)",
    "fail ",
    "fail\t",
    "--- fail",
    "failed ",
    "failed:",
    "panic:",
    "<tool_use_error>",
    "e   ",
    "npm err!",
    "command failed",
    "make: ***",
];

/// Words anywhere in a line that report a failure or an absence.
const FAILURE_WORDS: [&str; 15] = [
    "no such file or directory",
    "command not found",
    "no module named",
    "modulenotfounderror",
    "permission denied",
    "not found:",
    "does not exist",
    "no matches found",
    "no files found",
    "0 issues",
    "nothing to commit",
    "could not ",
    "cannot ",
    "unable to ",
    "timed out",
];

fn is_failure(line: &str) -> bool {
    let lower = head_in_lower_case(line);
    FAILURE_HEADS.iter().any(|head| lower.starts_with(head))
        || line.trim() == "FAIL"
        || FAILURE_WORDS.iter().any(|words| lower.contains(words))
}

fn is_bad_exit(line: &str) -> bool {
    let lower = head_in_lower_case(line);
    let status = lower.strip_prefix("exit code ").or_else(|| lower.strip_prefix("exit status "));
    status.is_some_and(|status| status.starts_with(|c: char| c.is_ascii_digit()) && !status.starts_with('0'))
}

fn head_in_lower_case(line: &str) -> String {
    const CHARS: usize = 200;
    line.trim().chars().take(CHARS).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_failures_and_absences_are_told_from_plain_words() {
        for denial in [
            "It doesn't exist.",
            "There are no matches in the log.",
            "The test failed again.",
            "I can't find it.",
            "The function isn’t called.",
            "The import is missing.",
            "It is not a repository.",
            "There is no `TestX`.",
        ] {
            assert!(denies(denial), "{denial}");
        }
        for plain in [
            "All tests pass.",
            "12 passed, 0 failed",
            "No problem, done.",
            "Done. Added 6 tests.",
            "It writes `not found` to the log.",
            "```\nreturn nil, not ok\n```",
        ] {
            assert!(!denies(plain), "{plain}");
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
