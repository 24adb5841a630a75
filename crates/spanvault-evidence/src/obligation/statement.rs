//! What an agent's text says: promises, denials, what is done, whether it asks. One pass over its sentences.

use std::ops::Range;

use super::promise::{Finder, Promise};
use crate::negative::denial::is_denial;
use crate::prose::{Word, sentences, words_into};

/// What a text says.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) promises: Vec<Promise>,
    /// Whether it puts a question or a request to the reader.
    pub(crate) asks: bool,
    /// Whether it says anything at all.
    pub(crate) speaks: bool,
    /// The sentences that deny something or state a failure or an absence.
    pub(crate) denials: Vec<Range<usize>>,
    /// The sentences that say that something has been done.
    pub(crate) done: Vec<Range<usize>>,
}

/// Reads a text.
pub(crate) fn statement(text: &str) -> Statement {
    let mut finder = Finder::default();
    let (mut denials, mut done) = (Vec::new(), Vec::new());
    let mut words = Vec::new();
    for sentence in sentences(text) {
        words_into(text, &sentence.range, &mut words);
        finder.sentence(text, &sentence, &words);
        if is_denial(&words) {
            denials.push(sentence.range);
        } else if says_done(&words) {
            done.push(sentence.range);
        }
    }
    let asks = finder.asked();
    let speaks = text.chars().any(char::is_alphanumeric);
    Statement { promises: finder.finish(text), asks, speaks, denials, done }
}

/// Whether a sentence says that something has been done.
fn says_done(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| {
        matches!(
            &*word.lower,
            "done"
                | "fixed"
                | "added"
                | "updated"
                | "created"
                | "removed"
                | "implemented"
                | "completed"
                | "finished"
                | "committed"
                | "pushed"
                | "ran"
                | "verified"
                | "checked"
                | "merged"
                | "renamed"
                | "refactored"
                | "resolved"
                | "deleted"
                | "wrote"
                | "written"
                | "installed"
                | "changed"
                | "replaced"
                | "moved"
                | "passes"
                | "pass"
                | "passed"
                | "works"
                | "reverted"
                | "tested"
                | "confirmed"
                | "rewrote"
                | "simplified"
        )
    }) && !words.iter().any(|word| word.lower == "yet")
}
