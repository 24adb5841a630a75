//! The pending items of a summary: each is a promise of its own, so that a checkpoint carries the items and
//! not the whole text. A summary without such a section is read like any other statement of the agent.

use std::ops::Range;

use super::promise::{Promise, bounded, promises};
use super::verb::{Acts, Verb, acts, verb};
use crate::prose::{sentences, words};

/// What a summary says is still to be done.
pub(crate) fn pending_items(text: &str) -> Vec<Promise> {
    let mut found = Vec::new();
    let mut sections = 0;
    let mut lines = Lines { text, at: 0 };
    while let Some(line) = lines.next() {
        if let Some(rest) = pending_heading(text, &line) {
            sections += 1;
            section(text, rest, &mut lines, &mut found);
        }
    }
    if sections == 0 {
        // Without sections only what is announced and not followed by its telling is owed.
        found = promises(text).into_iter().filter(|p| !p.acts.meets(Acts::SPEAK.and(Acts::THINK))).collect();
    }
    bounded(text, found)
}

/// Walks the lines of a text; each without its line end.
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let end = start + rest.find('\n').unwrap_or(rest.len());
        self.at = (end + 1).min(self.text.len());
        Some(start..end)
    }
}

/// A heading that opens a section of pending things; gives what follows it on its line.
fn pending_heading(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let (title, rest) = heading(text, line)?;
    let title = text[title].to_lowercase();
    let pending = [
        "pending",
        "remaining",
        "next step",
        "todo",
        "to-do",
        "to do",
        "outstanding",
        "unfinished",
        "still open",
        "left to do",
    ];
    (pending.iter().any(|word| title.contains(word)) && !title.contains("completed")).then_some(rest)
}

/// A line that is a heading: its title, and what follows it on the line.
fn heading(text: &str, line: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let said = &text[line.clone()];
    let indent = said.len() - said.trim_start().len();
    let bare = said.trim();
    let marked =
        bare.starts_with('#') || bare.starts_with("**") || bare.starts_with(|c: char| c.is_ascii_digit());
    let colon = said.find(':').map(|at| at + 1);
    let end = match colon {
        Some(colon) => colon,
        None if bare.starts_with('#') || (bare.starts_with("**") && bare.ends_with("**")) => said.len(),
        None => return None,
    };
    let title = said[..end].trim_matches(|c: char| !c.is_alphanumeric());
    let short = title.split_whitespace().count() <= 8;
    let plain = indent == 0 && !bare.starts_with(['-', '*']) || marked;
    (plain && short && indent < 3).then_some((line.start..line.start + end, line.start + end..line.end))
}

/// Reads the items of a section up to the next heading.
fn section(text: &str, rest: Range<usize>, lines: &mut Lines<'_>, found: &mut Vec<Promise>) {
    push(text, rest, found);
    let mut level = None;
    let mut paragraph_over = false;
    loop {
        let before = lines.at;
        let Some(line) = lines.next() else { return };
        let said = &text[line.clone()];
        if said.trim().is_empty() {
            paragraph_over |= level.is_none() && !found.is_empty();
            continue;
        }
        let indent = said.len() - said.trim_start().len();
        let item = is_item(said.trim_start());
        let ends = heading(text, &line)
            .is_some_and(|_| !item || (indent == 0 && level.is_some_and(|level| level > 0)));
        let stray = indent == 0 && !item && (level.is_some() || paragraph_over);
        if ends || stray {
            lines.at = before;
            return;
        }
        // What is nested under an item belongs to it; without a list the first line is the item.
        let owed = match level {
            Some(level) => item && indent <= level,
            None => item || !paragraph_over,
        };
        if item {
            level.get_or_insert(indent);
        } else {
            paragraph_over = true;
        }
        if owed {
            push(text, line, found);
        }
    }
}

fn is_item(said: &str) -> bool {
    let digits = said.len() - said.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    said.starts_with(['-', '*', '•']) && !said.starts_with("**")
        || (digits > 0 && said[digits..].starts_with(['.', ')']))
}

fn push(text: &str, line: Range<usize>, found: &mut Vec<Promise>) {
    let Some(first) = sentences(&text[line.clone()]).next() else { return };
    let start = line.start + first.range.start;
    let item = text[start..line.end].trim_end();
    let lower = item.to_lowercase();
    let checked = text[line.clone()].to_lowercase().contains("[x]");
    let nothing =
        ["none", "no ", "n/a", "nothing", "not applicable", "all ", "awaiting", "waiting", "wait ", "user "];
    let over = checked
        || lower.contains('✅')
        || lower.contains("completed")
        || lower.contains("~~")
        || lower.contains("(done)");
    if over || nothing.iter().any(|word| lower.starts_with(word)) || !item.chars().any(char::is_alphanumeric)
    {
        return;
    }
    found.push(Promise::of(start..start + item.len(), acts_of_item(item)));
}

/// What would carry out an item: the strongest of the acts that it names first ("investigate and fix").
pub(crate) fn acts_of_item(item: &str) -> Acts {
    let first = sentences(item).next().map_or(0..0, |first| first.range);
    let words = words(item, &first);
    let mut strongest = Acts::NONE;
    let mut expects = true;
    for word in words.iter().take(40) {
        match verb(&word.lower) {
            Some(Verb::Acts(_)) if expects => {
                if let Some(acts) = acts(&word.lower) {
                    strongest = if rank(acts) > rank(strongest) { acts } else { strongest };
                }
                expects = false;
            }
            Some(Verb::Opens) if !matches!(&*word.lower, "and" | "then" | "to") => {}
            _ => {
                let joins = matches!(&*word.lower, "and" | "then" | "to" | "need" | "needs");
                expects = joins || (expects && strongest.is_none());
            }
        }
    }
    if strongest.is_none() { Acts::BY_CALL } else { strongest }
}

fn rank(acts: Acts) -> u8 {
    [Acts::SPEAK.and(Acts::ASK).and(Acts::THINK), Acts::LOOK, Acts::RUN, Acts::CHANGE, Acts::COMMIT]
        .iter()
        .zip(1..)
        .filter(|(set, _)| acts.meets(**set))
        .map(|(_, rank)| rank)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObligationKind;

    fn items(text: &str) -> Vec<(&str, ObligationKind)> {
        pending_items(text).into_iter().map(|p| (&text[p.range], p.acts.kind())).collect()
    }

    #[test]
    fn the_pending_items_of_a_summary_are_promises_one_by_one() {
        let text = "1. Intent:\n   - review tests\n\n7. Pending Tasks:\n   - Investigate and fix `TestResume` failure\n   - Update CLAUDE.md\n     - with a warning\n\n8. Current Work:\n   I just fixed a bug.\n\n9. Optional Next Step:\n   Run the linter. It needs Go 1.22.\n\nIf you need details, read the transcript.";
        assert_eq!(
            items(text),
            [
                ("Investigate and fix `TestResume` failure", ObligationKind::Change),
                ("Update CLAUDE.md", ObligationKind::Change),
                ("Run the linter. It needs Go 1.22.", ObligationKind::Run),
            ]
        );
    }

    #[test]
    fn nothing_pending_opens_nothing() {
        assert_eq!(
            items(
                "## Pending Tasks\nNone - all tasks are done.\n\n## Next Steps\n- [x] Push the branch\n- ✅ Merge"
            ),
            []
        );
        assert_eq!(items("We fixed the parser and merged it."), []);
    }

    #[test]
    fn items_beside_their_heading_and_in_other_styles_are_found() {
        let text = "**Pending**: push the branch\n\n### Remaining work\n1. write docs\n2) ask for review\n\n### Notes\n- keep calm";
        let found: Vec<_> = items(text).into_iter().map(|(words, _)| words).collect();
        assert_eq!(found, ["push the branch", "write docs", "ask for review"]);
    }

    #[test]
    fn a_summary_without_sections_is_read_like_any_statement() {
        assert_eq!(
            items("Fixed the parser. I still need to push the branch."),
            [("I still need to push the branch.", ObligationKind::Commit)]
        );
    }
}
