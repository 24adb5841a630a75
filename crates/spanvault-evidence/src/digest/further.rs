//! The lines of a digest that may be cut: what changed, what was named, what side effects returned, what was read.

use std::collections::{BTreeMap, HashMap, HashSet};

use spanvault_types::{PartBody, Position, Role};

use super::{DigestInput, call_of};
use crate::line::{call_line, pointer, tail};
use crate::{At, Atom, AtomKind, Effect, Fate, PairedCall};

/// The lines that may be cut, most telling first. What comes after the changes is counted only if it is asked for.
pub(super) fn further<'a>(input: &'a DigestInput<'a>) -> impl Iterator<Item = String> + 'a {
    let is_covered = |paired: &&PairedCall| input.covered.binary_search(&paired.call.span).is_ok();
    let calls: Vec<_> = input.reading.calls.iter().filter(is_covered).collect();
    let changes = changes(input, &calls);
    let details = move || {
        let details = Details::of(input, &calls);
        let mut lines = packed("named", &details.named.most_often_first());
        lines.extend(packed("returned", &details.returned.most_often_first()));
        lines.extend(details.only_read.line());
        lines
    };
    changes.into_iter().chain(std::iter::once_with(details).flatten())
}

/// One resource that calls changed.
struct Change {
    first: usize,
    times: usize,
    failed: usize,
    unknown: usize,
    last: usize,
    opaque: bool,
}

/// Resources changed, most often first; each with how the changes ended.
fn changes(input: &DigestInput<'_>, calls: &[&PairedCall]) -> Vec<String> {
    let mut by_resource: BTreeMap<String, Change> = BTreeMap::new();
    for paired in calls {
        let (Effect::Mutates | Effect::External | Effect::Opaque) = paired.effect.effect else { continue };
        if paired.effect.effect == Effect::Opaque && paired.effect.is_check {
            continue;
        }
        let Some(call) = call_of(input.spans, paired) else { continue };
        let mut resources: Vec<String> = paired.effect.writes.iter().map(|path| tail(path, 140)).collect();
        if resources.is_empty() {
            resources.push(call_line(call, &paired.effect, 100));
        }
        for resource in resources {
            let change = by_resource.entry(resource).or_insert(Change {
                first: paired.call.span,
                times: 0,
                failed: 0,
                unknown: 0,
                last: paired.call.span,
                opaque: false,
            });
            change.times += 1;
            change.failed += usize::from(paired.fate.fate == Fate::Failed);
            change.unknown += usize::from(paired.fate.fate == Fate::Unknown);
            change.last = paired.call.span;
            change.opaque |= paired.effect.effect == Effect::Opaque;
        }
    }
    let mut changes: Vec<_> = by_resource.into_iter().collect();
    changes.sort_by(|(_, a), (_, b)| (b.times, a.first).cmp(&(a.times, b.first)));
    let line = |(resource, change): (String, Change)| {
        let pointer = input.positions.get(change.last).map_or(String::new(), |position| pointer(*position));
        let verb = if change.opaque { "ran, cannot be seen through" } else { "changed" };
        format!("{verb}: {resource}: {} ({pointer})", fates(&change))
    };
    changes.into_iter().map(line).collect()
}

fn fates(change: &Change) -> String {
    let done = change.times - change.failed - change.unknown;
    let mut said = Vec::new();
    for (count, fate) in
        [(done, Fate::Succeeded), (change.failed, Fate::Failed), (change.unknown, Fate::Unknown)]
    {
        if count == change.times && count == 1 {
            return fate.as_str().to_owned();
        }
        if count > 0 {
            said.push(format!("{} ×{count}", fate.as_str()));
        }
    }
    said.join(", ")
}

/// A detail with how often it was named and where first.
type Named = (String, usize, Position);

/// The details of the covered spans, by who states them.
#[derive(Default)]
struct Details<'a> {
    /// Paths and identifiers that the user or the agent named.
    named: Tally,
    /// Identifiers and amounts that side effects returned.
    returned: Tally,
    /// What stands in the output of reading calls alone.
    only_read: OnlyRead<'a>,
}

impl<'a> Details<'a> {
    fn of(input: &DigestInput<'a>, calls: &[&PairedCall]) -> Self {
        let changing =
            |paired: &&&PairedCall| matches!(paired.effect.effect, Effect::Mutates | Effect::External);
        let changed: HashSet<_> = calls.iter().filter(changing).filter_map(|paired| paired.result).collect();
        let mut details = Self::default();
        for (&span, atoms) in input.covered.iter().zip(input.atoms) {
            let (Some(text), Some(position)) = (input.spans.get(span), input.positions.get(span)) else {
                continue;
            };
            for atom in *atoms {
                let Some(part) = text.content.parts.get(atom.part) else { continue };
                let here = At { span, part: atom.part };
                let result = matches!(part.body, PartBody::Result(_));
                let returned = result && changed.contains(&here);
                details.only_read.see(atom, result && !returned);
                let by_people = matches!(text.content.role, Role::User | Role::Assistant)
                    && matches!(part.body, PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_));
                if by_people && matches!(atom.kind, AtomKind::Path | AtomKind::Url | AtomKind::Identifier) {
                    details.named.count(atom, *position);
                } else if returned && (atom.kind == AtomKind::Identifier || is_amount(atom)) {
                    details.returned.count(atom, *position);
                }
            }
        }
        details
    }
}

/// Details, and whether each stands in the output of reading calls alone.
#[derive(Default)]
struct OnlyRead<'a>(HashMap<(AtomKind, &'a str), bool>);

impl<'a> OnlyRead<'a> {
    fn see(&mut self, atom: &'a Atom, read: bool) {
        if !matches!(
            atom.kind,
            AtomKind::Call | AtomKind::Argument | AtomKind::Negation | AtomKind::NullResult
        ) {
            self.0.entry((atom.kind, atom.normal.as_str())).and_modify(|only| *only &= read).or_insert(read);
        }
    }

    /// How many there are of each kind.
    fn line(&self) -> Option<String> {
        let count = |kind: AtomKind| self.0.iter().filter(|((of, _), only)| *of == kind && **only).count();
        let counts: Vec<_> = AtomKind::ALL
            .into_iter()
            .map(|kind| (kind, count(kind)))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{} {count}", kind.as_str()))
            .collect();
        (!counts.is_empty()).then(|| format!("only in what was read: {}", counts.join(", ")))
    }
}

/// A number with a currency.
fn is_amount(atom: &Atom) -> bool {
    atom.kind == AtomKind::Number && atom.text.contains(['$', '€', '£', '¥'])
}

#[derive(Default)]
struct Tally(HashMap<String, Named>);

impl Tally {
    fn count(&mut self, atom: &Atom, at: Position) {
        self.0.entry(atom.normal.clone()).or_insert_with(|| (atom.text.clone(), 0, at)).1 += 1;
    }

    fn most_often_first(self) -> Vec<Named> {
        let mut named: Vec<_> = self.0.into_values().collect();
        named.sort_by(|a, b| (b.1, a.2, &a.0).cmp(&(a.1, b.2, &b.0)));
        named
    }
}

/// How long a line of several details may be, in bytes, and how many such lines there are at most.
const PACKED_BYTES: usize = 160;
const PACKED_LINES: usize = 3;

fn packed(verb: &str, details: &[Named]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (words, times, at) in details {
        let often = if *times > 1 { format!(" ×{times}") } else { String::new() };
        let said = format!("{}{often} ({})", tail(words, 100), pointer(*at));
        let room = lines.last().is_some_and(|line| line.len() + said.len() + 2 <= PACKED_BYTES);
        match lines.last_mut() {
            Some(line) if room => {
                line.push_str(", ");
                line.push_str(&said);
            }
            _ => lines.push(format!("{verb}: {said}")),
        }
    }
    lines.truncate(PACKED_LINES);
    lines
}
