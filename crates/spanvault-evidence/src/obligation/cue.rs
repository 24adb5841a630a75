//! The words that announce an act: "let me", "I'll", "I need to", "now updating …:", and which act they announce.

use super::verb::{Acts, Verb, acts, verb};
use crate::prose::{Sentence, Word};

/// Words that open an announcement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cue {
    /// How many words.
    pub(crate) len: usize,
    /// Whether a question turns it into mere deliberation ("should I …?"), and an offer into a mere offer.
    pub(crate) weakens: bool,
    /// Whether the next word must be a verb that is known.
    strict: bool,
}

impl Cue {
    const fn says(len: usize) -> Self {
        Self { len, weakens: false, strict: false }
    }

    const fn wills(len: usize) -> Self {
        Self { len, weakens: true, strict: false }
    }

    const fn musts(len: usize) -> Self {
        Self { len, weakens: true, strict: true }
    }
}

/// The cue that begins at word `at` of a sentence, `said` by its words.
pub(crate) fn cue_at(words: &[Word<'_>], at: usize, sentence: &Sentence, said: &str) -> Option<Cue> {
    match lower(words, at) {
        "let" if matches!(lower(words, at + 1), "me" | "us") => return Some(Cue::says(2)),
        "let's" | "lets" => return Some(Cue::says(1)),
        "i'll" | "we'll" => return Some(Cue::wills(1)),
        "i'm" | "we're" => return going(words, at, 1),
        "i" | "we" => return first_person(words, at),
        _ => {}
    }
    if at == 0 { at_the_head(words, sentence, said) } else { None }
}

/// Whether a word begins a new announcement.
pub(crate) fn begins_cue(word: &str) -> bool {
    matches!(word, "i" | "we" | "i'll" | "we'll" | "let" | "let's" | "i'm" | "we're")
}

fn lower<'a>(words: &'a [Word<'_>], at: usize) -> &'a str {
    words.get(at).map_or("", |word| &*word.lower)
}

fn first_person(words: &[Word<'_>], at: usize) -> Option<Cue> {
    let next = after_adverbs(words, at + 1);
    let len = next - at;
    match (lower(words, next), lower(words, next + 1)) {
        ("will" | "shall", _) => Some(Cue::wills(len + 1)),
        ("am" | "are", _) => going(words, at, len + 1),
        ("need" | "have" | "ought" | "plan" | "intend", "to") if !asked_about(words, at) => {
            Some(Cue::musts(len + 2))
        }
        ("should" | "must", _) if !asked_about(words, at) => Some(Cue::musts(len + 1)),
        _ => None,
    }
}

/// "whether I should", "what I need to": a thing spoken of, not promised.
fn asked_about(words: &[Word<'_>], at: usize) -> bool {
    const ASKING: &str =
        "if whether what when where why how which do does did everything all things until unless";
    at > 0 && ASKING.split(' ').any(|word| word == lower(words, at - 1))
}

/// "I'm going to …", "I am about to …".
fn going(words: &[Word<'_>], at: usize, len: usize) -> Option<Cue> {
    let next = after_adverbs(words, at + len);
    match (lower(words, next), lower(words, next + 1)) {
        ("going" | "about", "to") => Some(Cue::wills(next + 2 - at)),
        ("gonna", _) => Some(Cue::wills(next + 1 - at)),
        _ => None,
    }
}

fn after_adverbs(words: &[Word<'_>], from: usize) -> usize {
    (from..words.len()).find(|at| !is_adverb(lower(words, *at))).unwrap_or(words.len())
}

fn is_adverb(word: &str) -> bool {
    const ADVERBS: &str =
        "now also just still first then probably really definitely only simply next actually";
    ADVERBS.split(' ').any(|adverb| adverb == word)
}

/// Announcements without a subject at the head of a sentence: "Now updating …:", "Next, run …:", "Need to check".
fn at_the_head(words: &[Word<'_>], sentence: &Sentence, said: &str) -> Option<Cue> {
    const LEADS: &str = "now next then finally first also ok okay great good perfect alright";
    let announces = said.ends_with([':', '：', '…']) || said.ends_with("...");
    let led = LEADS.split(' ').any(|lead| lead == lower(words, 0));
    let lead = usize::from(led);
    match (lower(words, lead), lower(words, lead + 1)) {
        ("need" | "going" | "have", "to") if !sentence.item => return Some(Cue::musts(lead + 2)),
        ("time", "to") => return Some(Cue::musts(lead + 2)),
        // It tells what is seen: "Looking at the code:".
        ("looking" | "seeing" | "following", _) => return None,
        (act, _) if acts(act)?.meets(Acts::SPEAK) => return None,
        _ => {}
    }
    let gerund = lower(words, lead).ends_with("ing");
    let headed = sentence.starts_line && !sentence.item;
    match (led, gerund) {
        (true, true) => Some(Cue::says(lead)),
        (true, false) if matches!(lower(words, 0), "now" | "next" | "then") && announces => {
            Some(Cue::says(lead))
        }
        (false, true) if announces && headed => Some(Cue::says(0)),
        _ => None,
    }
}

/// The act that an announcement names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Announced {
    pub(crate) acts: Acts,
    /// The word that names it.
    pub(crate) verb: usize,
    /// Whether it is only a beginning ("start by").
    pub(crate) begins: bool,
}

/// How far after its cue an act may be named.
const REACH: usize = 7;

/// What the cue at word `at` announces, if it announces anything.
pub(crate) fn announced(words: &[Word<'_>], at: usize, cue: Cue) -> Option<Announced> {
    let mut begins = false;
    let mut opened = None;
    let from = at + cue.len;
    for at in from..words.len().min(from + REACH) {
        let word = lower(words, at);
        match verb(word).filter(|_| !is_thing(words, at)) {
            Some(Verb::Acts(acts)) => {
                return Some(Announced { acts: refined(acts, words, at), verb: at, begins });
            }
            Some(Verb::Idle) => return None,
            Some(Verb::Opens) => {
                let starts = matches!(word, "start" | "begin");
                begins |= starts && matches!(lower(words, at + 1), "by" | "with");
                // "I'll need your name": it has to be asked for.
                let wants = matches!(lower(words, at + 1), "your" | "you" | "more" | "an" | "some" | "the");
                if word == "need" && wants {
                    return Some(Announced { acts: Acts::ASK, verb: at, begins });
                }
                if starts
                    || matches!(word, "continue" | "proceed" | "try" | "retry" | "go" | "attempt" | "keep")
                {
                    opened = Some(at);
                }
            }
            // Words between an opening verb and the act ("proceed with the full update") are stepped over.
            None if opened.is_some() || is_adverb(word) || word.ends_with("ly") => {}
            None if cue.strict => return None,
            None => {
                let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
                let verbal = plain && !word.ends_with("ed");
                // Whatever it means, more than a look.
                let acts = Acts::RUN.and(Acts::CHANGE).and(Acts::COMMIT);
                return verbal.then_some(Announced { acts, verb: at, begins });
            }
        }
    }
    // "Let me continue with the handlers": whatever comes next.
    opened.map(|verb| Announced { acts: Acts::BY_CALL.and(Acts::SPEAK), verb, begins })
}

/// A noun that looks like a verb: "the first order", "this test".
fn is_thing(words: &[Word<'_>], at: usize) -> bool {
    const THINGS: &str = "order list log record document plan report map figure view test tag release issue post patch call book";
    const BEFORE: &str = "the a an this that your my our first second third next last each every";
    let is = |known: &str, at: usize| known.split(' ').any(|word| word == lower(words, at));
    at > 0 && is(THINGS, at) && is(BEFORE, at - 1)
}

/// Some verbs are told apart by what follows them: "make sure", "take a look", "create a commit", "write a report".
pub(crate) fn refined(acts: Acts, words: &[Word<'_>], at: usize) -> Acts {
    let within = |reach: usize, known: &str| {
        (1..reach).any(|offset| known.split(' ').any(|word| word == lower(words, at + offset)))
    };
    let near = |known: &str| within(7, known);
    match lower(words, at) {
        "make" | "making" if matches!(lower(words, at + 1), "sure" | "certain") => {
            Acts::LOOK.and(Acts::RUN).and(Acts::CHANGE)
        }
        "check" | "confirm" | "verify" | "clarify" | "discuss" if near("user you") && near("with") => {
            Acts::ASK
        }
        "set" if lower(words, at + 1) == "up" => Acts::CHANGE.and(Acts::RUN),
        "move" if lower(words, at + 1) == "on" => Acts::BY_CALL.and(Acts::SPEAK),
        "pull" if !matches!(lower(words, at + 1), "up" | "the") => {
            Acts::LOOK.and(Acts::RUN).and(Acts::COMMIT)
        }
        "merge" => Acts::CHANGE.and(Acts::COMMIT),
        "take" | "do" | "perform" | "make" | "run" | "taking" | "doing"
            if near(
                "look search searches check checks audit review research lookup investigation analysis dive",
            ) =>
        {
            Acts::LOOK.and(Acts::RUN).and(acts)
        }
        "create" | "open" | "make" | "do" if within(4, "commit pr pull merge tag") => Acts::COMMIT,
        "compile" | "create" | "write" | "make" | "put" | "prepare" | "do" | "generate" | "build"
            if near(
                "report summary list overview findings recommendations recommendation analysis explanation answer plan proposal response table",
            ) =>
        {
            Acts::SPEAK.and(Acts::CHANGE)
        }
        // A small program that is written only to be run.
        "write" | "create" | "add" | "do" | "make"
            if near("test script check reproduction reproducer example program snippet") =>
        {
            Acts::CHANGE.and(Acts::RUN)
        }
        _ => acts,
    }
}
