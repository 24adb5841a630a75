//! Whether words say that something is not so, is missing or went wrong.

use crate::prose::{Word, sentences, words};

/// Whether `text`, as prose, denies something or states a failure or an absence.
pub(crate) fn denies(text: &str) -> bool {
    sentences(text).any(|sentence| is_denial(&words(text, &sentence.range)))
}

/// Whether the words of a sentence deny something or state a failure or an absence.
pub(crate) fn is_denial(words: &[Word<'_>]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let next = |offset: usize| words.get(at + offset).map_or("", |word| &*word.lower);
        let before = at.checked_sub(1).map_or("", |before| &*words[before].lower);
        match &*word.lower {
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
}
