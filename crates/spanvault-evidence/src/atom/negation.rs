//! Denials: the clause around a word that denies.
//!
//! Only what somebody says is read, never code: fenced blocks and code spans are left out.

use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::AtomKind;
use super::scan::{Found, Receiver};

/// Words that deny. Those in Latin letters count only as whole words (`n't` and `n’t` end one).
const CUES: &[&str] = &[
    "not",
    "n't",
    "n’t",
    "no",
    "never",
    "none",
    "nothing",
    "nobody",
    "nowhere",
    "neither",
    "nor",
    "without",
    "cannot",
    "unable",
    "failed",
    "fails",
    "lacks",
    "absent",
    "missing", // English
    "nicht",
    "kein",
    "keine",
    "keinen",
    "niemals",
    "nichts",
    "ohne", // German
    "pas",
    "jamais",
    "aucun",
    "aucune",
    "sans",
    "rien", // French
    "nunca",
    "ningún",
    "ninguno",
    "ninguna",
    "nada",
    "sin", // Spanish
    "não",
    "nenhum",
    "nenhuma",
    "não",
    "нет",
    "не",
    "ни",
    "без",
    "никогда", // Portuguese, Russian
    "没有",
    "沒有",
    "不是",
    "不能",
    "不会",
    "不會",
    "不存在",
    "无法",
    "無法",
    "未",
    "从未",
    "没", // Chinese
    "ない",
    "ません",
    "なし",
    "なかった",
    "ず、", // Japanese
    "않",
    "없",
    "아니",
    "못했", // Korean
];

#[expect(clippy::expect_used, reason = "a fixed list of short words always builds")]
static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(CUES)
        .expect("the list of denials builds")
});

/// How far a clause reaches to either side of its word, in bytes.
const CLAUSE_BYTES_MAX: usize = 120;

/// Hands every denial to a receiver, clause by clause.
pub(super) fn scan<'t>(text: &'t str, each: Receiver<'_, 't>) -> ControlFlow<()> {
    let mut code = code_ranges(text).into_iter().peekable();
    let mut done = 0;
    for found in AUTOMATON.find_iter(text) {
        let (start, end) = (found.start(), found.end());
        while code.next_if(|range| range.end <= start).is_some() {}
        let in_code = code.peek().is_some_and(|range| range.start <= start);
        if start < done || in_code || !stands_alone(text, start, end) {
            continue;
        }
        let clause = clause(text, start, end, done);
        done = clause.end;
        let words = text.get(clause.clone()).unwrap_or_default();
        let normal = words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        each(Found {
            kind: AtomKind::Negation,
            start: clause.start,
            end: clause.end,
            normal: normal.into(),
        })?;
    }
    ControlFlow::Continue(())
}

/// Whether a cue is a word of its own. Scripts without spaces have no such bounds.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let cue = text.get(start..end).unwrap_or_default();
    let before = text.get(..start).and_then(|head| head.chars().next_back());
    let after = text.get(end..).and_then(|tail| tail.chars().next());
    if cue.chars().next().is_some_and(super::chunk::is_unspaced) {
        return true;
    }
    let joins = |c: Option<char>| {
        c.is_some_and(|c| (c.is_alphanumeric() && !super::chunk::is_unspaced(c)) || c == '_')
    };
    // `-no-`, `/not/`, `no.`: part of a name or an abbreviation, not of a sentence.
    let in_name = |c: Option<char>| matches!(c, Some('/' | '\\' | '=' | '-' | '@' | '#'));
    let contraction =
        cue.starts_with('n') && cue.ends_with('t') && !cue.is_ascii() || cue.eq_ignore_ascii_case("n't");
    let starts = if contraction {
        before.is_some_and(char::is_alphabetic)
    } else {
        !joins(before) && !in_name(before)
    };
    starts && !joins(after) && !in_name(after)
}

/// The clause around a word: to the marks that end it on either side, but not before `from`.
fn clause(text: &str, start: usize, end: usize, from: usize) -> Range<usize> {
    let mut low = start.saturating_sub(CLAUSE_BYTES_MAX).max(from);
    while !text.is_char_boundary(low) {
        low += 1;
    }
    let mut high = text.len().min(end + CLAUSE_BYTES_MAX);
    while !text.is_char_boundary(high) {
        high -= 1;
    }
    let head = text.get(low..start).unwrap_or_default();
    let tail = text.get(end..high).unwrap_or_default();
    let ends = |text: &str, at: usize, c: char| match c {
        '\n' | '!' | '?' | ';' | '。' | '，' | '；' | '！' | '？' | '、' | '—' | '…' => true,
        // `main.rs`, `1,024`, `a:b` go on.
        '.' | ',' | ':' => {
            text.get(at + 1..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        }
        _ => false,
    };
    let before = head.char_indices().rev().find(|(at, c)| {
        // The last character of the head is followed by the cue, not by its end.
        let last = at + c.len_utf8() == head.len();
        !last && ends(head, *at, *c) || matches!(c, '\n' | '。' | '，' | '！' | '？')
    });
    let after = tail.char_indices().find(|(at, c)| ends(tail, *at, *c));
    let left = before.map_or(low, |(at, c)| low + at + c.len_utf8());
    let right = after.map_or(high, |(at, _)| end + at);
    let words = text.get(left..right).unwrap_or_default();
    let blank = words.len()
        - words.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '#' | '>')).len();
    let left = (left + blank).min(start);
    left..left + text.get(left..right).unwrap_or_default().trim_end().len()
}

/// The parts of a text that are code: fenced blocks, and spans between backquotes on one line.
fn code_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    if !text.contains('`') {
        return ranges;
    }
    let mut at = 0;
    let mut fence: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let opens = line.trim_start().starts_with("```");
        match (fence, opens) {
            (None, true) => fence = Some(start),
            (Some(from), true) => {
                ranges.push(from..at);
                fence = None;
            }
            (Some(_), false) => {}
            (None, false) => {
                let mut ticks = line.match_indices('`').map(|(tick, _)| start + tick);
                while let (Some(open), Some(close)) = (ticks.next(), ticks.next()) {
                    ranges.push(open..close + 1);
                }
            }
        }
    }
    ranges.extend(fence.map(|from| from..text.len()));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denials(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let end = scan(text, &mut |atom| {
            found.push(&text[atom.start..atom.end]);
            ControlFlow::Continue(())
        });
        assert!(end.is_continue());
        found
    }

    #[test]
    fn the_clause_that_is_denied_is_read_and_code_is_not() {
        assert_eq!(
            denials("I looked, but main.rs does not import it. Fine."),
            ["but main.rs does not import it"]
        );
        assert_eq!(denials("We can't, and no one did"), ["We can't", "and no one did"]);
        assert_eq!(denials("Use `if not x` or:\n```\nif not y\n```\ndone"), Vec::<&str>::new());
        assert_eq!(denials("notice the knot, --no-verify and not_x"), Vec::<&str>::new());
        assert_eq!(denials("配置已改。没有写入 /etc。"), ["没有写入 /etc"]);
        assert_eq!(denials("ファイルはありません。"), ["ファイルはありません"]);
        assert_eq!(denials("Das geht nicht."), ["Das geht nicht"]);
    }
}
