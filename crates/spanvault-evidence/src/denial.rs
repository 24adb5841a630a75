//! Whether words say that something is not so, is missing or went wrong.

use crate::prose::{Word, sentences, words};

/// Whether `text`, as prose, denies something or states a failure or an absence.
pub(crate) fn denies(text: &str) -> bool {
    sentences(text).iter().any(|sentence| is_denial(&words(text, &sentence.range)))
}

/// The sentences of `text` that deny something or state a failure or an absence.
pub(crate) fn denials(text: &str) -> impl Iterator<Item = &str> {
    sentences(text)
        .into_iter()
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
                !matches!(next(1), "problem" | "worries" | "doubt" | "need" | "matter") && !next(1).is_empty()
            }
            "never" | "nothing" | "none" | "cannot" | "neither" | "nor" | "nobody" | "nowhere" | "unable"
            | "doesnt" | "without" => true,
            "missing" | "absent" | "nonexistent" | "non-existent" | "unavailable" | "undefined"
            | "impossible" => true,
            "fails" | "failed" | "failing" | "failure" | "failures" => {
                !matches!(before, "no" | "zero" | "0" | "if" | "when" | "the" | "fixed" | "any" | "on")
                    || matches!(word.lower.as_str(), "fails" | "failed")
            }
            "error" | "errors" | "wrong" | "broken" | "incorrect" => {
                matches!(before, "an" | "the" | "is" | "are" | "was" | "got" | "in" | "returns" | "returned")
                    && word.lower != "errors"
            }
            word => word.ends_with("n't"),
        }
    })
}

/// Texts of tools that say in their own words that something failed or was not found. Looked for at the head
/// of a line, in the first and last lines only: what stands in the middle is content.
pub(crate) fn failure_line(text: &str) -> Option<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    lines().take(6).chain(lines().rev().take(12)).find(|line| is_failure(line)).or_else(|| {
        // Test runners name what failed anywhere in their report.
        text.lines().find(|line| line.trim_start().starts_with("--- FAIL") || line.starts_with("FAILED "))
    })
}

fn is_failure(line: &str) -> bool {
    let line = line.trim();
    let lower: String = line.chars().take(200).collect::<String>().to_lowercase();
    let heads = [
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
        "exit code ",
        "exit status ",
        "<tool_use_error>",
        "e   ",
        "npm err!",
        "command failed",
        "make: ***",
    ];
    let anywhere = [
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
    let exit_zero = lower.starts_with("exit code 0") || lower.starts_with("exit status 0");
    !exit_zero
        && (heads.iter().any(|head| lower.starts_with(head))
            || line == "FAIL"
            || anywhere.iter().any(|words| lower.contains(words)))
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
        ] {
            assert!(denies(denial), "{denial}");
        }
        for plain in [
            "All tests pass.",
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
    }
}
