//! Finds the statements of a text that announce an act: "let me run the tests", "I'll fix the rest",
//! "now updating the handler:". What becomes of them is the business of `obligation`.

use std::ops::Range;

use super::cue::{announced, begins_cue, cue_at, refined};
use super::verb::{Acts, acts};
use crate::prose::{Sentence, Word, sentences, words};

/// A statement that something will or must be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    /// The words, in the text.
    pub(crate) range: Range<usize>,
    /// What would carry it out.
    pub(crate) acts: Acts,
    /// How much of what is to be done it speaks of.
    pub(crate) extent: Extent,
    /// Where its sentence ends.
    sentence_end: usize,
    /// Whether more words of the same text follow its sentence.
    pub(crate) words_follow: bool,
    /// Whether the text puts a question to the reader after it.
    pub(crate) asks_later: bool,
}

/// How much of what is to be done a promise speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// Only the beginning ("I'll start by …").
    Beginning,
    /// A list of several steps, which one call does not do.
    Plan,
}

impl Promise {
    /// A promise of `acts` in the words `range`, of which no more is known.
    pub(crate) const fn of(range: Range<usize>, acts: Acts) -> Self {
        Self {
            sentence_end: range.end,
            range,
            acts,
            extent: Extent::Whole,
            words_follow: false,
            asks_later: false,
        }
    }
}

/// How many promises of one text are told apart; the last one stands for all that follow it.
const PROMISES_MAX: usize = 4096;

/// The promises of an agent's text, in order.
pub(crate) fn promises(text: &str) -> Vec<Promise> {
    let mut finder = Finder::default();
    for sentence in sentences(text) {
        finder.sentence(text, &sentence, &words(text, &sentence.range));
    }
    finder.finish(text)
}

/// Looks for promises, sentence by sentence.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    found: Vec<Promise>,
    /// The start of the last sentence that asks the reader.
    last_question: Option<usize>,
    /// How many items of a list stand before this sentence, without anything between.
    steps: usize,
}

impl Finder {
    /// Looks at the next sentence of the text.
    pub(crate) fn sentence(&mut self, text: &str, sentence: &Sentence, words: &[Word<'_>]) {
        if sentence.starts_line {
            self.steps = if sentence.item { self.steps + 1 } else { 0 };
        }
        let headed = |promise: &&mut Promise| text[..promise.sentence_end].ends_with([':', '：']);
        if let Some(last) = self.found.last_mut().filter(|_| self.steps == 2).filter(headed) {
            last.extent = Extent::Plan;
        }
        if asks(&text[sentence.range.clone()], words) {
            self.last_question = Some(sentence.range.start);
        }
        if self.found.len() < PROMISES_MAX {
            in_sentence(text, sentence, words, &mut self.found);
        }
    }

    /// Whether any sentence asked the reader.
    pub(crate) fn asked(&self) -> bool {
        self.last_question.is_some()
    }

    /// The promises that were found.
    pub(crate) fn finish(self, text: &str) -> Vec<Promise> {
        let mut found = bounded(text, self.found);
        let last_word = text.rfind(char::is_alphanumeric).unwrap_or(0);
        for promise in &mut found {
            promise.words_follow = last_word > promise.sentence_end;
            promise.asks_later = self.last_question.is_some_and(|at| at >= promise.sentence_end);
        }
        found
    }
}

/// Lets the last of too many promises stand for the rest of the text.
pub(crate) fn bounded(text: &str, mut found: Vec<Promise>) -> Vec<Promise> {
    if let Some(last) = found.get_mut(PROMISES_MAX - 1) {
        last.range.end = text.len();
        last.acts = Acts::BY_CALL;
        found.truncate(PROMISES_MAX);
    }
    found
}

/// Whether a sentence puts a question or a request for an answer to the reader.
fn asks(said: &str, words: &[Word<'_>]) -> bool {
    is_question(said)
        || words.windows(2).enumerate().any(|(at, two)| {
            let third = words.get(at + 2).map_or("", |word| &*word.lower);
            match (&*two[0].lower, &*two[1].lower) {
                ("please", "provide" | "confirm" | "share" | "specify") | ("could", "you") => true,
                ("let", "me") => third == "know",
                _ => false,
            }
        })
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['*', '_', ' ', '"', '”']).ends_with(['?', '？'])
}

fn in_sentence(text: &str, sentence: &Sentence, words: &[Word<'_>], found: &mut Vec<Promise>) {
    let said = &text[sentence.range.clone()];
    let weak = is_question(said) || is_offer(words);
    let from = found.len();
    let mut at = 0;
    while at < words.len() {
        let Some(cue) = cue_at(words, at, sentence, said) else {
            at += 1;
            continue;
        };
        let act = announced(words, at, cue).filter(|_| !(weak && cue.weakens));
        let Some(act) = act else {
            at += cue.len.max(1);
            continue;
        };
        end_before(text, found.get_mut(from..), words[at].range.start);
        let first = Promise::of(words[at].range.start..sentence.range.end, act.acts);
        let extent = if act.begins { Extent::Beginning } else { Extent::Whole };
        found.push(Promise { extent, ..first });
        at = act.verb + 1;
        if let Some((next, acts)) = second_act(words, at, act.acts) {
            let start = words[next].range.start;
            end_before(text, found.get_mut(from..), start);
            found.push(Promise::of(start..sentence.range.end, acts));
            at = next + 1;
        }
    }
}

/// Ends the last promise where another begins, the words that join the two left out.
fn end_before(text: &str, found: Option<&mut [Promise]>, end: usize) {
    const JOINS: [&str; 5] = [" and", " then", " but", " so", " after that"];
    let Some(last) = found.and_then(<[Promise]>::last_mut) else { return };
    let mut said = &text[last.range.start..end];
    loop {
        said = said.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '"' | '”' | ')'));
        match JOINS.iter().find_map(|word| said.strip_suffix(word)) {
            Some(before) => said = before,
            None => break,
        }
    }
    last.range.end = last.range.start + said.len();
}

/// "…, and run the tests": a second act of another kind, joined by "and" or "then". Looking and speaking serve
/// the first act; they are not owed beside it.
fn second_act(words: &[Word<'_>], from: usize, first: Acts) -> Option<(usize, Acts)> {
    let serves = first.and(Acts::LOOK).and(Acts::THINK).and(Acts::SPEAK);
    let mut at = from;
    while let Some(word) = words.get(at).filter(|word| !begins_cue(&word.lower)) {
        at += 1;
        if !matches!(&*word.lower, "and" | "then") {
            continue;
        }
        while words.get(at).is_some_and(|word| matches!(&*word.lower, "then" | "also" | "again")) {
            at += 1;
        }
        let act = words.get(at).filter(|word| is_act(&word.lower, words.get(at + 1)))?;
        if let Some(acts) =
            acts(&act.lower).map(|acts| refined(acts, words, at)).filter(|acts| !acts.meets(serves))
        {
            return Some((at, acts));
        }
    }
    None
}

/// Whether a word after "and" is an act and no thing: "and hook implementations" is one, "and hook it up" is not.
fn is_act(word: &str, next: Option<&Word<'_>>) -> bool {
    const NOUNS: &str = "hook design document order record log track sort cover port patch process address issue post \
                         test build release tag stage commit push update change copy format return exchange install \
                         measure count map figure view list study query list reason plan report answer show need use work \
                         approach benchmark profile lint call book mark set reserve upgrade pass stop request";
    const DETERMINERS: &str = "the a an it them this these that those all any each every its my our to";
    let noun = NOUNS.split_whitespace().any(|noun| noun == word);
    let determined = next.is_none_or(|next| {
        next.lower.is_empty() || DETERMINERS.split(' ').any(|determiner| determiner == next.lower)
    });
    !word.ends_with("ing") && (!noun || determined)
}

/// "If you'd like, I can …": an offer is no promise.
fn is_offer(words: &[Word<'_>]) -> bool {
    const WISHES: &str = "want need have like prefer would wish";
    let wishes = |word: &str| WISHES.split(' ').any(|wish| wish == word);
    words.windows(3).any(|three| {
        let [first, second, third] = three else { return false };
        let you = first.lower == "if" && second.lower == "you" && wishes(&third.lower);
        you || (first.lower == "if" && second.lower == "you'd")
            || (first.lower == "whenever" && second.lower.starts_with("you"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObligationKind::{self, Change, Commit, Look, Run, Speak};

    fn said(text: &str) -> Vec<(&str, ObligationKind)> {
        promises(text).into_iter().map(|promise| (&text[promise.range], promise.acts.kind())).collect()
    }

    #[test]
    fn a_statement_of_what_will_be_done_is_a_promise_with_its_words_and_kind() {
        for (text, words, kind) in [
            ("All green. Let me run the integration tests:", "Let me run the integration tests:", Run),
            ("I’ll start by reading conf.yaml.", "I’ll start by reading conf.yaml.", Look),
            ("Now updating Gemini handler:", "Now updating Gemini handler:", Change),
            ("Now update `handle()`:", "Now update `handle()`:", Change),
            ("So I need to add `os/exec`.", "I need to add `os/exec`.", Change),
            ("I am going to commit this.", "I am going to commit this.", Commit),
            ("Let me take a quick look", "Let me take a quick look", Look),
            ("I will now summarize it.", "I will now summarize it.", Speak),
            ("Fixing the import:", "Fixing the import:", Change),
            ("Need to check the log", "Need to check the log", Look),
            ("I'll need your full name.", "I'll need your full name.", ObligationKind::Ask),
            ("I'll create a script for the PR", "I'll create a script for the PR", Run),
            ("I'll create a PR now", "I'll create a PR now", Commit),
        ] {
            assert_eq!(said(text), [(words, kind)]);
        }
    }

    #[test]
    fn two_acts_in_a_sentence_are_two_promises() {
        assert_eq!(
            said("Let me check the log, then I'll fix the handler and run the tests."),
            [("Let me check the log", Look), ("I'll fix the handler", Change), ("run the tests.", Run)]
        );
        assert_eq!(said("I'll update the docs and hook implementations.").len(), 1);
    }

    #[test]
    fn what_is_not_promised_is_not_read_as_a_promise() {
        for text in [
            "Let me know if you have any questions.",
            "I'll be happy to help.",
            "I will no longer be able to change this.",
            "If you'd like, I'll add a test.",
            "Should I update the file?",
            "The tests need to be updated.",
            "You should run the tests.",
            "I checked what I need to change.",
            "The user wants me to add a flag.",
            "She said \"I'll run it\" and `let me fix` it.",
            "```\nlet me run this\n```",
            "I won't change it.",
            "Looking at the code:",
            "Fixed the handler. All tests pass.",
        ] {
            assert_eq!(said(text), [], "{text}");
        }
    }
}
