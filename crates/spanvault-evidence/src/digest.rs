//! The digest that stands in the context under a summary: a guide to the pointers, never proof of absence.
//!
//! First what must not be lost (open promises, negative results, references), which is never cut; then a few
//! lines on what changed, what was named and what side effects returned; at last the counts and the command that
//! expands the rest.

use std::collections::{BTreeMap, HashMap, HashSet};

use spanvault_types::{Carried, CarriedKind, Part, PartBody, Position, Role};

use crate::line::{call_line, negative_line, pointer, short, tail};
use crate::negative::call_at;
use crate::{
    Atom, AtomKind, Effect, Fate, LiveMark, Manifest, PairedCall, SessionReading, SpanText, atoms,
    tokens_of_bytes,
};

/// The most that a digest takes in the context, in estimated tokens.
pub const DIGEST_TOKENS_MAX: u64 = 500;

/// The most lines after those that are never cut.
pub const DIGEST_LINES_MAX: usize = 12;

/// What a digest is made from. `positions` and `marks` have one entry for each span of the session.
#[derive(Debug, Clone, Copy)]
pub struct DigestInput<'a> {
    /// The session.
    pub reading: &'a SessionReading,
    /// Its spans.
    pub spans: &'a [SpanText<'a>],
    /// Where its spans stand in the log.
    pub positions: &'a [Position],
    /// The spans that the summary stands for, itself or through summaries, ascending.
    pub covered: &'a [usize],
    /// What makes them live and the digest is to carry.
    pub marks: &'a [Vec<LiveMark>],
    /// What the summary's text dropped.
    pub manifest: &'a Manifest,
    /// The most that the lines after the never-cut part should take, in estimated tokens; at most
    /// [`DIGEST_TOKENS_MAX`] holds for the whole.
    pub budget: u64,
}

/// A digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    lines: Vec<String>,
    counts: String,
    /// What it carries: these make no span live any more while the digest stands in the context.
    pub carried: Vec<Carried>,
}

/// The never-cut part alone is longer than a digest may be: the range must be split, or the span stay verbatim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write a digest: what it must carry takes {tokens} tokens, more than {DIGEST_TOKENS_MAX}")]
pub struct DigestTooLong {
    /// The estimated tokens of the never-cut part.
    pub tokens: u64,
}

impl Digest {
    /// The digest as it stands in the context under summary `summary`.
    pub fn render(&self, summary: Position) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&self.counts);
        text.push_str(&expand_hint(summary));
        text
    }

    /// Its estimated tokens, whatever the summary's position.
    pub fn tokens(&self) -> u64 {
        tokens_of_bytes(self.render(Position::new(u64::MAX)).len() as u64)
    }
}

fn expand_hint(summary: Position) -> String {
    format!("; all of it: spanvault expand m{summary}")
}

/// Writes the digest of a summary.
///
/// # Errors
/// [`DigestTooLong`] where what it must carry does not fit.
pub fn digest(input: &DigestInput<'_>) -> Result<Digest, DigestTooLong> {
    let (mut lines, carried) = never_cut(input);
    let counts = counts_line(input);
    let reserved = counts.len() + expand_hint(Position::new(u64::MAX)).len();
    let mut bytes = lines.iter().map(|line| line.len() + 1).sum::<usize>() + reserved;
    if tokens_of_bytes(bytes as u64) > DIGEST_TOKENS_MAX {
        return Err(DigestTooLong { tokens: tokens_of_bytes(bytes as u64) });
    }
    let most = bytes.saturating_add(usize::try_from(input.budget).unwrap_or(usize::MAX).saturating_mul(4));
    let most = most.min(usize::try_from(DIGEST_TOKENS_MAX * 4).unwrap_or(usize::MAX));
    for line in further(input).into_iter().take(DIGEST_LINES_MAX) {
        bytes += line.len() + 1;
        if bytes > most {
            break;
        }
        lines.push(line);
    }
    Ok(Digest { lines, counts, carried })
}

/// Open promises, then negative results, then references, each with its pointer.
fn never_cut(input: &DigestInput<'_>) -> (Vec<String>, Vec<Carried>) {
    let mut lines = Vec::new();
    let mut carried = Vec::new();
    for kind in [CarriedKind::Obligation, CarriedKind::Negative, CarriedKind::Reference] {
        for &span in input.covered {
            let (Some(marks), Some(position)) = (input.marks.get(span), input.positions.get(span)) else {
                continue;
            };
            for mark in marks.iter().filter(|mark| mark.kind == kind) {
                lines.push(format!(
                    "{} ({})",
                    mark_line(input.reading, input.spans, span, mark),
                    pointer(*position)
                ));
                carried.push(Carried { span: *position, kind, range: mark.range });
            }
        }
    }
    carried.sort_unstable();
    carried.dedup();
    (lines, carried)
}

/// What a mark says, in a line without its pointer.
pub(crate) fn mark_line(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    span: usize,
    mark: &LiveMark,
) -> String {
    match mark.kind {
        CarriedKind::Obligation => {
            let result_due = reading.spans.get(span).is_some_and(|read| {
                read.opens
                    .iter()
                    .any(|open| open.range == mark.range && open.kind == crate::ObligationKind::Result)
            });
            let verb = if result_due { "result due" } else { "open" };
            format!("{verb}: {}", short(&mark.words, 160))
        }
        CarriedKind::Negative => {
            let negatives = reading.spans.get(span).map_or(&[][..], |read| &read.negatives);
            let Some(negative) = negatives.iter().find(|negative| negative.range == mark.range) else {
                return format!("negative: {}", short(&mark.words, 120));
            };
            let number = reading.calls.binary_search_by_key(&negative.call, |paired| paired.call).ok();
            let paired = number.and_then(|number| reading.calls.get(number));
            let call =
                paired.and_then(|paired| Some(call_line(call_of(spans, paired)?, &paired.effect, 100)));
            negative_line(negative.kind, &call.unwrap_or_default(), &negative.words)
        }
        CarriedKind::Reference => format!("reference: {}", tail(&mark.words, 200)),
    }
}

fn call_of<'a>(spans: &'a [SpanText<'_>], paired: &PairedCall) -> Option<&'a spanvault_types::Call> {
    let part: Option<&Part> = spans.get(paired.call.span)?.content.parts.get(paired.call.part);
    call_at(part)
}

/// The lines that may be cut, most telling first.
fn further(input: &DigestInput<'_>) -> Vec<String> {
    let covered: HashSet<usize> = input.covered.iter().copied().collect();
    let calls: Vec<_> =
        input.reading.calls.iter().filter(|paired| covered.contains(&paired.call.span)).collect();
    let mut lines = changes(input, &calls);
    let details = Details::of(input, &calls);
    lines.extend(packed("named", &details.named.most_often_first()));
    lines.extend(packed("returned", &details.returned.most_often_first()));
    lines.extend(details.only_read.line());
    lines
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
struct Details {
    /// Paths and identifiers that the user or the agent named.
    named: Tally,
    /// Identifiers and amounts that side effects returned.
    returned: Tally,
    /// What stands in the output of reading calls alone.
    only_read: OnlyRead,
}

impl Details {
    fn of(input: &DigestInput<'_>, calls: &[&PairedCall]) -> Self {
        let changing =
            |paired: &&&PairedCall| matches!(paired.effect.effect, Effect::Mutates | Effect::External);
        let changed: HashSet<_> = calls.iter().filter(changing).filter_map(|paired| paired.result).collect();
        let mut details = Self::default();
        for &span in input.covered {
            let (Some(text), Some(position)) = (input.spans.get(span), input.positions.get(span)) else {
                continue;
            };
            for atom in atoms(text.content, text.original) {
                let Some(part) = text.content.parts.get(atom.part) else { continue };
                let here = crate::At { span, part: atom.part };
                let result = matches!(part.body, PartBody::Result(_));
                let returned = result && changed.contains(&here);
                details.only_read.see(&atom, result && !returned);
                let by_people = matches!(text.content.role, Role::User | Role::Assistant)
                    && matches!(part.body, PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_));
                if by_people && matches!(atom.kind, AtomKind::Path | AtomKind::Url | AtomKind::Identifier) {
                    details.named.count(&atom, *position);
                } else if returned && (atom.kind == AtomKind::Identifier || is_amount(&atom)) {
                    details.returned.count(&atom, *position);
                }
            }
        }
        details
    }
}

/// Details, and whether each stands in the output of reading calls alone.
#[derive(Default)]
struct OnlyRead(HashMap<(AtomKind, String), bool>);

impl OnlyRead {
    fn see(&mut self, atom: &Atom, read: bool) {
        if !matches!(
            atom.kind,
            AtomKind::Call | AtomKind::Argument | AtomKind::Negation | AtomKind::NullResult
        ) {
            self.0.entry((atom.kind, atom.normal.clone())).and_modify(|only| *only &= read).or_insert(read);
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

/// How much stands behind the summary and how much of it the text says.
fn counts_line(input: &DigestInput<'_>) -> String {
    let fidelity = input.manifest.fidelity();
    let total: u64 = fidelity.iter().map(|fidelity| fidelity.total).sum();
    let kept: u64 = fidelity.iter().map(|fidelity| fidelity.kept).sum();
    let percent = (kept * 100).checked_div(total).unwrap_or(100);
    let spans = input.covered.len();
    format!("{spans} spans; {} of {total} details not in this text, fidelity {percent} %", total - kept)
}

#[cfg(test)]
mod tests;
