//! Finds the statements of a text that announce an act: "let me run the tests", "I'll fix the rest",
//! "now updating the handler:". What becomes of them is the business of `obligation`.

use std::ops::Range;

use crate::prose::{Sentence, Word, sentences, words};
use crate::verb::{Acts, Verb, verb};

/// A statement that something will or must be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    /// The words, in the text.
    pub(crate) range: Range<usize>,
    /// What would carry it out.
    pub(crate) acts: Acts,
    /// Whether it says that it is only a beginning ("I'll start by …").
    pub(crate) begins: bool,
    /// Whether more words of the same text follow it.
    pub(crate) words_follow: bool,
    /// Whether the text puts a question to the reader after it.
    pub(crate) asks_later: bool,
}

/// The promises of an agent's text, in order.
pub(crate) fn promises(text: &str) -> Vec<Promise> {
    let sentences = sentences(text);
    let last_question = sentences.iter().rposition(|s| asks(&text[s.range.clone()]));
    let mut found = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        let words_follow = text[sentence.range.end..].chars().any(char::is_alphanumeric);
        let from = found.len();
        in_sentence(text, sentence, &mut found);
        for promise in &mut found[from..] {
            promise.words_follow = words_follow;
            promise.asks_later = last_question.is_some_and(|last| last > number);
        }
    }
    found
}

/// Whether a sentence puts a question or a request for an answer to the reader.
pub(crate) fn asks(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    lower.trim_end_matches(['*', '_', ' ']).ends_with(['?', '？'])
        || [
            "please provide",
            "please confirm",
            "please let me know",
            "let me know",
            "please share",
            "could you",
            "please specify",
        ]
        .iter()
        .any(|request| lower.contains(request))
}

fn in_sentence(text: &str, sentence: &Sentence, found: &mut Vec<Promise>) {
    let said = &text[sentence.range.clone()];
    let words = words(text, &sentence.range);
    let question = said.trim_end().ends_with(['?', '？']);
    let offer = is_offer(&words);
    let mut at = 0;
    let mut open: Option<Promise> = None;
    while at < words.len() {
        let Some(cue) = cue_at(&words, at, sentence, said) else {
            at += 1;
            continue;
        };
        let announced = announced(&words, at + cue.len, cue.strict);
        if (question && cue.deliberates) || (offer && cue.promises) {
            at += cue.len;
            continue;
        }
        let Some(act) = announced else {
            at += cue.len;
            continue;
        };
        if let Some(previous) = open.as_mut() {
            previous.range.end = trimmed_end(text, previous.range.start, words[at].range.start);
        }
        found.extend(open.take());
        open = Some(Promise {
            range: words[at].range.start..sentence.range.end,
            acts: act.acts,
            begins: act.begins,
            words_follow: false,
            asks_later: false,
        });
        at = act.verb + 1;
        if let Some(next) = second_act(&words, at, act.acts) {
            let first = open.take().map(|first| Promise {
                range: first.range.start..trimmed_end(text, first.range.start, words[next.0].range.start),
                ..first
            });
            found.extend(first);
            open = Some(Promise {
                range: words[next.0].range.start..sentence.range.end,
                acts: next.1,
                begins: false,
                words_follow: false,
                asks_later: false,
            });
            at = next.0 + 1;
        }
    }
    found.extend(open);
}

/// "…, and run the tests": a second act of another kind, joined by "and" or "then".
fn second_act(words: &[Word], from: usize, first: Acts) -> Option<(usize, Acts)> {
    let mut at = from;
    while at + 1 < words.len() {
        if cue_word(&words[at].lower) {
            return None;
        }
        let joins = matches!(words[at].lower.as_str(), "and" | "then");
        if joins {
            let next = (at + 1..words.len())
                .find(|next| !matches!(words[*next].lower.as_str(), "then" | "also" | "again"))?;
            // A base form only: "reading and writing" is a thing, not a second act.
            let act = base_acts(&words[next].lower);
            if let Some(acts) = act.filter(|acts| {
                !acts.meets(first) && !acts.meets(Acts::LOOK.and(Acts::THINK).and(Acts::SPEAK))
            }) {
                return Some((next, acts));
            }
        }
        at += 1;
    }
    None
}

fn base_acts(word: &str) -> Option<Acts> {
    if word.ends_with("ing") && word != "bring" { None } else { crate::verb::acts(word) }
}

fn cue_word(word: &str) -> bool {
    matches!(word, "i" | "we" | "i'll" | "we'll" | "let" | "let's" | "i'm" | "we're")
}

/// Where the words before another announcement end, the words that join the two left out.
fn trimmed_end(text: &str, start: usize, end: usize) -> usize {
    let mut said = &text[start..end];
    loop {
        let bare =
            said.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '"' | '”' | ')'));
        let joined =
            [" and", " then", " but", " so", " after that"].iter().find_map(|word| bare.strip_suffix(word));
        match joined {
            Some(before) => said = before,
            None => return start + bare.len(),
        }
    }
}

/// "If you'd like, I can …", "let me know …": an offer is no promise.
fn is_offer(words: &[Word]) -> bool {
    words.windows(3).any(|three| {
        let [a, b, c] = three else { return false };
        a.lower == "if"
            && ((b.lower == "you"
                && matches!(
                    c.lower.as_str(),
                    "want" | "need" | "have" | "like" | "prefer" | "would" | "wish" | "'d"
                ))
                || b.lower == "you'd")
    }) || words.windows(2).any(|two| two[0].lower == "whenever" && two[1].lower.starts_with("you"))
}

/// Words that open an announcement.
struct Cue {
    /// How many words.
    len: usize,
    /// Whether it may be deliberation ("I should"), which a question turns into one.
    deliberates: bool,
    /// Whether it promises ("I'll"), which an offer weakens.
    promises: bool,
    /// Whether the next word must be a verb of the lexicon.
    strict: bool,
}

impl Cue {
    const fn says(len: usize) -> Self {
        Self { len, deliberates: false, promises: false, strict: false }
    }

    const fn wills(len: usize) -> Self {
        Self { len, deliberates: true, promises: true, strict: false }
    }

    const fn musts(len: usize) -> Self {
        Self { len, deliberates: true, promises: true, strict: true }
    }
}

fn cue_at(words: &[Word], at: usize, sentence: &Sentence, said: &str) -> Option<Cue> {
    let word = |offset: usize| words.get(at + offset).map_or("", |word| word.lower.as_str());
    match word(0) {
        "let" if matches!(word(1), "me" | "us") => return Some(Cue::says(2)),
        "let's" | "lets" => return Some(Cue::says(1)),
        "i'll" | "we'll" => return Some(Cue::wills(1)),
        "i'm" | "we're" => return going(words, at, 1),
        "i" | "we" => return first_person(words, at),
        _ => {}
    }
    if at == 0 { at_the_head(words, sentence, said) } else { None }
}

fn first_person(words: &[Word], at: usize) -> Option<Cue> {
    let mut next = at + 1;
    while words.get(next).is_some_and(|word| is_adverb(&word.lower)) {
        next += 1;
    }
    let word = |offset: usize| words.get(next + offset).map_or("", |word| word.lower.as_str());
    let len = next - at;
    match (word(0), word(1)) {
        ("will" | "shall", _) => Some(Cue::wills(len + 1)),
        ("am" | "are", _) => going(words, at, len + 1),
        ("need" | "have" | "want" | "ought" | "plan" | "intend", "to") if !asked_about(words, at) => {
            Some(Cue::musts(len + 2))
        }
        ("should" | "must", _) if !asked_about(words, at) => Some(Cue::musts(len + 1)),
        _ => None,
    }
}

/// "whether I should", "what I need to": a thing spoken of, not promised.
fn asked_about(words: &[Word], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| {
        matches!(
            words[before].lower.as_str(),
            "if" | "whether"
                | "what"
                | "when"
                | "where"
                | "why"
                | "how"
                | "which"
                | "do"
                | "does"
                | "did"
                | "everything"
                | "all"
                | "things"
                | "until"
                | "unless"
        )
    })
}

/// "I'm going to …", "I am about to …", "I'm now adding …".
fn going(words: &[Word], at: usize, len: usize) -> Option<Cue> {
    let mut next = at + len;
    while words.get(next).is_some_and(|word| is_adverb(&word.lower)) {
        next += 1;
    }
    let word = |offset: usize| words.get(next + offset).map_or("", |word| word.lower.as_str());
    match (word(0), word(1)) {
        ("going" | "about", "to") => Some(Cue::wills(next + 2 - at)),
        ("gonna", _) => Some(Cue::wills(next + 1 - at)),
        _ => None,
    }
}

fn is_adverb(word: &str) -> bool {
    matches!(
        word,
        "now"
            | "also"
            | "just"
            | "still"
            | "first"
            | "then"
            | "probably"
            | "really"
            | "definitely"
            | "only"
            | "simply"
            | "next"
            | "actually"
    )
}

/// Announcements without a subject at the head of a sentence: "Now updating …:", "Next, run …:", "Need to check".
fn at_the_head(words: &[Word], sentence: &Sentence, said: &str) -> Option<Cue> {
    let word = |offset: usize| words.get(offset).map_or("", |word| word.lower.as_str());
    let announces = said.ends_with([':', '：', '…']) || said.ends_with("...");
    let ordinal = matches!(
        word(0),
        "now" | "next" | "then" | "finally" | "first" | "also" | "ok" | "okay" | "great" | "good" | "perfect"
    );
    let lead = usize::from(ordinal);
    match (word(lead), word(lead + 1)) {
        ("need" | "going" | "have", "to") if !sentence.item => return Some(Cue::musts(lead + 2)),
        ("time", "to") => return Some(Cue::musts(lead + 2)),
        _ => {}
    }
    let act = crate::verb::acts(word(lead))?;
    if act.meets(Acts::SPEAK) {
        return None;
    }
    let gerund = word(lead).ends_with("ing");
    let headed = sentence.starts_line && !sentence.item;
    match (ordinal, gerund) {
        (true, true) => Some(Cue::says(lead)),
        (true, false) if matches!(word(0), "now" | "next" | "then") && announces => Some(Cue::says(lead)),
        (false, true) if announces && headed => Some(Cue::says(0)),
        _ => None,
    }
}

/// The act that an announcement names.
struct Announced {
    acts: Acts,
    /// The word that names it.
    verb: usize,
    begins: bool,
}

/// How far after its cue an act may be named.
const REACH: usize = 7;

fn announced(words: &[Word], from: usize, strict: bool) -> Option<Announced> {
    let mut begins = false;
    let mut opened = None;
    for at in from..words.len().min(from + REACH) {
        let word = words[at].lower.as_str();
        match verb(word) {
            Some(Verb::Acts(acts)) => {
                return Some(Announced { acts: refined(acts, words, at), verb: at, begins });
            }
            Some(Verb::Idle) => return None,
            Some(Verb::Opens) => {
                begins |= matches!(word, "start" | "begin")
                    && matches!(words.get(at + 1).map(|w| w.lower.as_str()), Some("by" | "with"));
                if matches!(
                    word,
                    "start" | "begin" | "continue" | "proceed" | "try" | "go" | "attempt" | "keep"
                ) {
                    opened = Some(at);
                }
            }
            // Words between an opening verb and the act ("proceed with the full update") are stepped over.
            None if opened.is_some() => {}
            None if is_adverb(word) || word.ends_with("ly") => {}
            None if strict => return None,
            None => {
                let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
                return (plain && !word.ends_with("ed")).then_some(Announced {
                    acts: Acts::BY_CALL,
                    verb: at,
                    begins,
                });
            }
        }
    }
    opened.map(|verb| Announced { acts: Acts::BY_CALL, verb, begins })
}

/// Some verbs are told apart by what follows: "make sure", "take a look", "create a commit", "build passes".
fn refined(acts: Acts, words: &[Word], at: usize) -> Acts {
    let word = |offset: usize| words.get(at + offset).map_or("", |word| word.lower.as_str());
    match word(0) {
        "make" | "making" if word(1) == "sure" || word(1) == "certain" => {
            Acts::LOOK.and(Acts::RUN).and(Acts::CHANGE)
        }
        "take" | "taking" if (1..4).any(|offset| word(offset) == "look") => Acts::LOOK,
        "set" if word(1) == "up" => Acts::CHANGE.and(Acts::RUN),
        "pull" if word(1) != "up" && word(1) != "the" => Acts::LOOK.and(Acts::RUN).and(Acts::COMMIT),
        "write" | "create" | "add" | "do" | "make" if (1..5).any(|offset| is_probe(word(offset))) => {
            Acts::CHANGE.and(Acts::RUN)
        }
        "create" | "open" | "make" | "do" | "write"
            if (1..5).any(|offset| matches!(word(offset), "commit" | "pr" | "pull" | "merge" | "tag")) =>
        {
            Acts::COMMIT
        }
        "merge" => Acts::CHANGE.and(Acts::COMMIT),
        "perform" | "do"
            if (1..5).any(|offset| {
                matches!(word(offset), "search" | "searches" | "check" | "research" | "lookup")
            }) =>
        {
            Acts::LOOK.and(Acts::RUN)
        }
        _ => acts,
    }
}

/// A small program that is written only to be run.
fn is_probe(word: &str) -> bool {
    matches!(
        word,
        "test" | "script" | "check" | "reproduction" | "reproducer" | "example" | "program" | "snippet"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(&str, crate::ObligationKind)> {
        promises(text).into_iter().map(|p| (&text[p.range], p.acts.kind())).collect()
    }

    #[test]
    fn a_statement_of_what_will_be_done_is_a_promise_with_its_words_and_kind() {
        use crate::ObligationKind::{Change, Commit, Look, Run, Speak};
        assert_eq!(
            said("All green. Let me run the integration tests:"),
            [("Let me run the integration tests:", Run)]
        );
        assert_eq!(said("I’ll start by reading conf.yaml."), [("I’ll start by reading conf.yaml.", Look)]);
        assert_eq!(said("Now updating Gemini handler:"), [("Now updating Gemini handler:", Change)]);
        assert_eq!(said("Now update `handle()`:"), [("Now update `handle()`:", Change)]);
        assert_eq!(
            said("I need to add `os/exec` to the imports."),
            [("I need to add `os/exec` to the imports.", Change)]
        );
        assert_eq!(said("I am going to commit this."), [("I am going to commit this.", Commit)]);
        assert_eq!(said("Let me take a quick look"), [("Let me take a quick look", Look)]);
        assert_eq!(
            said("I will now summarize what I found."),
            [("I will now summarize what I found.", Speak)]
        );
    }

    #[test]
    fn two_acts_in_a_sentence_are_two_promises() {
        use crate::ObligationKind::{Change, Look, Run};
        let text = "Let me check the log, then I'll fix the handler and run the tests.";
        assert_eq!(
            said(text),
            [("Let me check the log", Look), ("I'll fix the handler", Change), ("run the tests.", Run)]
        );
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
            "Fixed the handler. All tests pass.",
        ] {
            assert_eq!(said(text), [], "{text}");
        }
    }
}
