//! Tells error messages and excuses from what a summarizer was asked for.
//!
//! A summary may well tell of errors. So no word condemns a text: the sentences that are an error message or an
//! excuse are left out, and what remains has to say something of the sources.

/// The text without the sentences that are no summary; `None` where there are none.
pub(crate) fn without_excuses(text: &str) -> Option<String> {
    let mut kept = String::new();
    let mut left_out = false;
    for line in text.lines() {
        let lower = line.to_lowercase();
        if lower.trim_start().starts_with("traceback (most recent call last)") || is_error_object(&lower) {
            // What follows is the rest of it.
            return Some(kept);
        }
        for sentence in sentences(line) {
            if is_excuse(sentence) {
                left_out = true;
            } else {
                kept.push_str(sentence);
            }
        }
        kept.push('\n');
    }
    left_out.then_some(kept)
}

/// The sentences of a line, whatever they are written in; a stop inside a name ends none.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let ends = |(at, stop): (usize, &str)| {
            let end = at + stop.len();
            rest[end..].starts_with(char::is_whitespace).then_some(end)
        };
        let end = rest.match_indices(['.', '!', '?', ';']).find_map(ends).unwrap_or(rest.len());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

fn is_error_object(lower: &str) -> bool {
    let squeezed: String = lower.chars().filter(|c| !c.is_whitespace()).take(40).collect();
    squeezed.starts_with("{\"error\"")
        || squeezed.starts_with("{\"type\":\"error\"")
        || squeezed.starts_with("{'error'")
}

/// Words that name a failure when something like a colon follows them.
const FAILURES: &str = "error|exception|fatal|panic|timeout|failure|fatal error|api error|internal error|request failed|\
                        internal server error|connection error|validation error|critical|warning|failed";

/// Words that begin an error message whatever follows.
const BEGINNINGS: &str = "timed out|rate limit|429 |500 internal|502 bad|503 service|504 gateway|overloaded|invalid api key|\
                          unauthorized|permission denied|traceback";

/// Words that say that there is nothing to say.
const EXCUSES: &str = "i don't see any|i do not see any|no events provided|no events were provided|any events provided|\
                       no conversation provided|no messages provided|no content provided|no text provided|no transcript provided|\
                       nothing to summarize|nothing to summarise|no content to summar|cannot summar|can't summar|unable to summar|\
                       unable to generate|failed to generate|failed to summar|please provide|please share|you haven't provided|\
                       you have not provided|haven't shared|as an ai|i'm sorry, but|i am sorry, but|i cannot assist|i can't assist|\
                       object has no attribute|'nonetype'|maximum context length|context_length_exceeded|rate limit exceeded|\
                       insufficient_quota|overloaded_error|connection refused|max retries exceeded";

fn is_excuse(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let said = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let whole = said.trim_end_matches(|c: char| !c.is_alphanumeric());
    matches!(whole, "none" | "null" | "undefined" | "nan" | "n/a" | "nil")
        || BEGINNINGS.split('|').any(|beginning| said.starts_with(beginning))
        || FAILURES.split('|').any(|failure| said.strip_prefix(failure).is_some_and(is_announced))
        || names_an_error(said)
        || is_failed_component(lower.trim_start())
        || EXCUSES.split('|').any(|excuse| lower.contains(excuse))
}

/// What follows the name of a failure where it is the head of a message.
fn is_announced(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['*', '_', ' ']);
    rest.is_empty()
        || rest.starts_with([':', '!', '.', '(', '-', '–', '—'])
        || rest.starts_with("code")
        || rest.starts_with("occurred")
}

/// "openai.RateLimitError: …".
fn names_an_error(said: &str) -> bool {
    said.split_once(':').is_some_and(|(name, _)| {
        !name.contains(char::is_whitespace) && (name.ends_with("error") || name.ends_with("exception"))
    }) || said
        .split('.')
        .any(|name| name.trim().ends_with("error") && !name.trim().contains(' ') && name.trim().len() > 5)
}

/// "[Compactor] failed: …".
fn is_failed_component(said: &str) -> bool {
    let Some((name, rest)) = said.strip_prefix('[').and_then(|said| said.split_once(']')) else {
        return false;
    };
    let rest = rest.trim_start_matches([':', ' ']);
    let failed =
        ["failed", "error", "exception", "timed out", "crashed"].iter().any(|word| rest.starts_with(word));
    name.len() < 40 && !name.contains(char::is_whitespace) && failed
}
