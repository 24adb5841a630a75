//! Promises that are put off, and the words of the object of a change.

use super::promise::Promise;
use super::verb::Acts;

/// What says that something is for later.
const PUTS_OFF: &[&str] = &[
    "still have to",
    "still has to",
    "still need to",
    "still needs to",
    "still must",
    "still got to",
    "still want to",
    "later",
    "afterwards",
    "eventually",
    "tomorrow",
    "once ",
    "as soon as",
    "at the end",
    "follow-up",
    "follow up",
];

/// Words that name no object, and verbs that any change is made with.
const NO_OBJECT: &[&str] = &[
    "the",
    "and",
    "for",
    "with",
    "that",
    "this",
    "them",
    "then",
    "it",
    "its",
    "still",
    "have",
    "has",
    "need",
    "needs",
    "must",
    "got",
    "want",
    "will",
    "should",
    "later",
    "afterwards",
    "eventually",
    "tomorrow",
    "once",
    "soon",
    "end",
    "follow",
    "all",
    "some",
    "any",
    "also",
    "into",
    "from",
    "new",
    "our",
    "your",
    "their",
    "you",
    "update",
    "add",
    "fix",
    "change",
    "make",
    "create",
    "write",
    "edit",
    "remove",
    "delete",
    "set",
    "file",
    "files",
    "code",
    "things",
    "thing",
    "everything",
    "something",
    "rest",
    "done",
    "was",
    "were",
    "are",
    "been",
];

/// How many words of one text are looked at.
const WORDS_MAX: usize = 2_048;
/// How far before a promise its sentence is looked at, in bytes.
const BEFORE_BYTES: usize = 80;

/// Whether a promise is said to be for later.
pub(super) fn is_for_later(text: &str, promise: &Promise) -> bool {
    puts_off(text.get(promise.range.clone()).unwrap_or_default())
        || puts_off(before(text, promise.range.start))
}

/// The words of the object of a change; none where it is no change, or names no object: then it is a promise like any
/// other.
pub(super) fn object(text: &str, promise: &Promise) -> Vec<String> {
    let is_change = promise.acts.meets(Acts::CHANGE.and(Acts::COMMIT))
        && !promise.acts.meets(Acts::LOOK.and(Acts::RUN).and(Acts::SPEAK).and(Acts::ASK));
    let said = text.get(promise.range.clone()).unwrap_or_default();
    if !is_change {
        return Vec::new();
    }
    let mut words: Vec<String> = object_words(said).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn puts_off(said: &str) -> bool {
    let said = said.to_lowercase();
    PUTS_OFF.iter().any(|cue| said.contains(cue))
}

/// What stands in the same sentence before `at`.
fn before(text: &str, at: usize) -> &str {
    let mut start = at.saturating_sub(BEFORE_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let before = text.get(start..at).unwrap_or_default();
    before.rsplit(['.', '!', '?', ';', '\n']).next().unwrap_or_default()
}

/// The words of a text that may name an object, in lower case.
pub(super) fn object_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 3)
        .take(WORDS_MAX)
        .map(str::to_lowercase)
        .filter(|word| !NO_OBJECT.contains(&word.as_str()))
}
