//! The digest that stands in the context under a summary: a guide to the pointers, never proof of absence.
//!
//! First what must not be lost (open promises, negative results, references), which is never cut; then a few
//! lines on what changed, what was named and what side effects returned; at last the counts and the command that
//! expands the rest.

mod further;

use spanvault_types::{Carried, CarriedKind, Part, Position};

use crate::line::{call_line, negative_line, pointer, short, tail};
use crate::negative::call_at;
use crate::{
    Atom, LiveMark, Manifest, Obligation, ObligationKind, PairedCall, SessionReading, SpanText,
    tokens_of_bytes,
};
use further::further;

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
    /// The atoms of each of them.
    pub atoms: &'a [&'a [Atom]],
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
    for line in further(input).take(DIGEST_LINES_MAX) {
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
            let opens = reading.spans.get(span).map_or(&[][..], |read| &read.opens);
            let is_result =
                |open: &Obligation| open.range == mark.range && open.kind == ObligationKind::Result;
            if !opens.iter().any(is_result) {
                return format!("open: {}", short(&mark.words, 160));
            }
            let at_part = |paired: &&PairedCall| {
                let part = spans.get(span).and_then(|text| text.content.parts.get(paired.call.part));
                part.is_some_and(|part| part.range == mark.range)
            };
            let first = reading.calls.partition_point(|paired| paired.call.span < span);
            let here = reading.calls.iter().skip(first).take_while(|paired| paired.call.span == span);
            let paired = here.into_iter().find(at_part);
            let call =
                paired.and_then(|paired| Some(call_line(call_of(spans, paired)?, &paired.effect, 100)));
            let call = call.unwrap_or_else(|| mark.words.clone());
            format!("no result: {call}; whether it was carried out is not known")
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
