//! Whether a text may stand for its sources at all. No model judges it: a summary must not be empty, an error
//! message, a greeting, about something else, or larger than what it stands for.

mod excuse;

use std::collections::HashSet;

use spanvault_types::AdmissionFault;

use crate::summarize::said;
use crate::{Atom, AtomKind, SpanText, atoms_of_text, source_text, tokens_of_bytes, tokens_of_span};
use excuse::without_excuses;

/// An admitted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// Whether the text is a mere prefix of its sources: an emergency truncation, marked as such.
    pub degraded: bool,
}

/// What a summary stands for: spans, and the texts of summaries that it covers.
#[derive(Debug, Clone, Copy)]
pub struct SummarySources<'a> {
    /// The spans.
    pub spans: &'a [SpanText<'a>],
    /// The atoms of each of them.
    pub atoms: &'a [&'a [Atom]],
    /// The texts of the covered summaries, digests left out.
    pub summaries: &'a [&'a str],
}

/// Admits `text` as a summary of `sources`.
///
/// # Errors
/// The first [`AdmissionFault`] that speaks against it.
pub fn admit(text: &str, sources: &SummarySources<'_>) -> Result<Admission, AdmissionFault> {
    if sources.spans.is_empty() && sources.summaries.is_empty() {
        return Err(AdmissionFault::NoSources);
    }
    if !text.chars().any(char::is_alphanumeric) {
        return Err(AdmissionFault::Empty);
    }
    let rest = without_excuses(text);
    if rest.as_ref().is_some_and(|rest| !shares_detail(rest, sources)) {
        return Err(AdmissionFault::ErrorMessage);
    }
    let summaries = sources.summaries.iter().map(|summary| tokens_of_bytes(summary.len() as u64));
    let tokens: u64 = sources.spans.iter().map(|span| tokens_of_span(span.content)).chain(summaries).sum();
    if tokens_of_bytes(text.len() as u64) > tokens {
        return Err(AdmissionFault::LargerThanSources);
    }
    if !shares_detail(text, sources) {
        return Err(AdmissionFault::Unrelated);
    }
    Ok(Admission { degraded: is_prefix(text, sources) })
}

/// Whether the text says anything that its sources say: a detail, or enough of their words.
fn shares_detail(text: &str, sources: &SummarySources<'_>) -> bool {
    let telling = |kind: AtomKind, normal: &str| match kind {
        // Small numbers stand everywhere, and every denial has its own words.
        AtomKind::Number => normal.chars().filter(char::is_ascii_digit).count() >= 3,
        AtomKind::Negation | AtomKind::NullResult | AtomKind::ExitCode => false,
        AtomKind::Call
        | AtomKind::Argument
        | AtomKind::Path
        | AtomKind::Url
        | AtomKind::Identifier
        | AtomKind::Timestamp
        | AtomKind::Quotation
        | AtomKind::ErrorKind => normal.chars().count() >= 4,
    };
    let said: HashSet<_> = atoms_of_text(text)
        .into_iter()
        .filter(|atom| telling(atom.kind, &atom.normal))
        .map(|atom| atom.normal)
        .collect();
    if !said.is_empty() {
        let in_spans = || sources.atoms.iter().copied().flatten().any(|atom| said.contains(&atom.normal));
        let in_summaries = || {
            sources
                .summaries
                .iter()
                .flat_map(|summary| atoms_of_text(summary))
                .any(|atom| said.contains(&atom.normal))
        };
        if in_spans() || in_summaries() {
            return true;
        }
    }
    let told = telling_words(text);
    let source = telling_words(&source_text(sources.spans, sources.summaries));
    let shared = told.iter().filter(|word| source.contains(*word)).count();
    shared >= 2 && shared * 4 >= told.len() || (shared >= 1 && told.len() <= 3)
}

/// How much of a word tells it: "configured" and "configuration" are one.
const STEM_CHARS: usize = 5;

/// The stems of the words that carry meaning; of writing without spaces, its pairs of characters.
fn telling_words(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        if lower.chars().all(|c| c.is_ascii_digit()) {
            continue;
        }
        if lower.is_ascii() {
            if lower.len() >= 4 && !EMPTY_WORDS.contains(&lower.as_str()) {
                found.insert(lower.chars().take(STEM_CHARS).collect());
            }
        } else {
            let chars: Vec<char> = lower.chars().collect();
            found.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    found
}

/// Words of greetings, offers and talk about talk; sharing them shares nothing.
const EMPTY_WORDS: [&str; 86] = [
    "hello",
    "there",
    "help",
    "assist",
    "assistance",
    "today",
    "with",
    "your",
    "yours",
    "what",
    "would",
    "like",
    "please",
    "thank",
    "thanks",
    "welcome",
    "happy",
    "glad",
    "great",
    "sure",
    "course",
    "here",
    "that",
    "this",
    "these",
    "those",
    "from",
    "have",
    "been",
    "were",
    "will",
    "shall",
    "could",
    "should",
    "about",
    "into",
    "then",
    "than",
    "them",
    "they",
    "their",
    "some",
    "more",
    "most",
    "also",
    "just",
    "know",
    "need",
    "want",
    "make",
    "made",
    "when",
    "where",
    "which",
    "while",
    "after",
    "before",
    "other",
    "anything",
    "something",
    "nothing",
    "everything",
    "feel",
    "free",
    "questions",
    "question",
    "further",
    "summary",
    "summarize",
    "summarise",
    "conversation",
    "message",
    "messages",
    "user",
    "assistant",
    "agent",
    "text",
    "provide",
    "provided",
    "task",
    "done",
    "okay",
    "good",
    "morning",
    "ready",
    "asked",
];

/// Whether the text only repeats how its sources begin, with or without the speakers' names.
fn is_prefix(text: &str, sources: &SummarySources<'_>) -> bool {
    let squeezed = squeeze(text);
    let bare = || {
        let mut bare = String::new();
        for span in sources.spans {
            for part in &span.content.parts {
                bare.push_str(&squeeze(&crate::summarize::part_text(part)));
            }
            if bare.len() > squeezed.len() {
                break;
            }
        }
        bare
    };
    beginning(said(sources.spans, sources.summaries), squeezed.len()).starts_with(&squeezed)
        || bare().starts_with(&squeezed)
        || sources.summaries.iter().any(|summary| squeeze(summary).starts_with(&squeezed))
}

/// What [`squeeze`] makes of all `pieces` together, or so much of its beginning that it has `len` bytes.
fn beginning(pieces: impl Iterator<Item = String>, len: usize) -> String {
    let mut whole = String::new();
    let mut squeezed = String::new();
    for piece in pieces {
        squeezed.extend(telling_chars(&piece));
        // The note of a cut may stand at the end of all, but not before this.
        if squeezed.len() >= len + CUT.len() {
            return squeezed;
        }
        whole.push_str(&piece);
    }
    squeeze(&whole)
}

/// What stands at the end of a text that was cut.
const CUT: &str = "truncated";

/// Letters and digits only, a note that the text was cut left out.
fn squeeze(text: &str) -> String {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    let text = text.strip_suffix(CUT).unwrap_or(text);
    telling_chars(text).collect()
}

fn telling_chars(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests;
