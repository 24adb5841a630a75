//! Finds the entries of block mappings and sequences by their indentation.
//!
//! In block style every line of a value stands deeper than its name or its dash, whatever the value is: so lines
//! tell entries apart, and the bytes of each are known exactly.

use std::ops::Range;

/// An entry of a block mapping.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    /// All its lines.
    pub(super) lines: Range<usize>,
    /// What stands in the first line after the colon.
    pub(super) inline: &'a str,
    /// The lines after the first one.
    pub(super) below: Range<usize>,
}

/// The entries of the mapping whose lines are `lines` of `text`; it may begin with a dash.
pub(super) fn entries<'a>(text: &'a str, lines: Range<usize>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = Vec::new();
    let Some(depth) = lines_of(text, lines.clone()).find_map(|(_, line)| {
        depth_of(line).map(|depth| {
            // The dash of an item counts as white space.
            depth + dash(line.get(depth..).unwrap_or_default())
        })
    }) else {
        return entries;
    };
    for (at, line) in lines_of(text, lines) {
        let own = depth_of(line).map(|indent| {
            let dash = if entries.is_empty() { dash(line.get(indent..).unwrap_or_default()) } else { 0 };
            indent + dash
        });
        let rest = line.get(depth..).unwrap_or_default();
        let named = (own == Some(depth) && dash(rest) == 0).then(|| split_name(rest)).flatten();
        match (named, entries.last_mut()) {
            (Some((name, inline)), _) => {
                let end = at + line.len();
                entries.push(Entry { name, lines: at..end, inline, below: end..end });
            }
            (None, Some(last)) => {
                last.lines.end = at + line.len();
                last.below.end = last.lines.end;
            }
            (None, None) => {}
        }
    }
    entries
}

/// The items of the block sequence whose lines are `lines` of `text`.
pub(super) fn items(text: &str, lines: Range<usize>) -> Vec<Range<usize>> {
    let mut items: Vec<Range<usize>> = Vec::new();
    let mut depth = None;
    for (at, line) in lines_of(text, lines) {
        let Some(indent) = depth_of(line) else { continue };
        let end = at + line.len();
        if dash(line.get(indent..).unwrap_or_default()) > 0 && *depth.get_or_insert(indent) == indent {
            items.push(at..end);
        } else if let Some(last) = items.last_mut() {
            last.end = end;
        } else {
            // It is no sequence.
            break;
        }
    }
    items
}

/// A range without the white space at its end.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let len = text.get(range.clone()).unwrap_or_default().trim_end().len();
    range.start..range.start + len
}

/// How deep a line stands, if it says anything.
fn depth_of(line: &str) -> Option<usize> {
    line.bytes()
        .position(|byte| byte != b' ')
        .filter(|at| !line.get(*at..).unwrap_or_default().trim().is_empty())
}

/// How much the dash takes that a line begins with; 0 where there is none.
pub(super) fn dash(line: &str) -> usize {
    match line.strip_prefix('-') {
        Some(rest) if rest.trim().is_empty() => 1,
        Some(rest) if rest.starts_with(' ') => 1 + rest.len() - rest.trim_start_matches(' ').len(),
        Some(_) | None => 0,
    }
}

fn split_name(line: &str) -> Option<(&str, &str)> {
    let (name, inline) = line.split_once(':')?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-$.".contains(&byte));
    (plain && !name.is_empty() && inline.starts_with([' ', '\n', '\r'])).then_some((name, inline.trim()))
}

/// The lines of a range with the place of each, ends included.
fn lines_of(text: &str, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let mut at = range.start;
    text.get(range).unwrap_or_default().split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}
