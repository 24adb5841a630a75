//! What makes a span live: an open obligation, a negative result that nothing absorbed, or a detail that the
//! kept context uses and that only this span states.

use std::collections::HashMap;

use spanvault_types::{ByteRange, CarriedKind, PartBody, Role};

use crate::obligation::command_of;
use crate::request::strings;
use crate::{AtomKind, SessionReading, SpanText, atoms, atoms_of_text};

/// One thing that makes a span live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveMark {
    /// What it is.
    pub kind: CarriedKind,
    /// Where its words stand in the span's original.
    pub range: ByteRange,
    /// Its words, decoded; for a reference the detail.
    pub words: String,
    /// For a reference, the kept span that uses it.
    pub used_by: Option<usize>,
}

/// One thing that a checkpoint or digest in the context carries: it makes no span live any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CarriedMark {
    /// The span that it is open in.
    pub span: usize,
    /// What it is.
    pub kind: CarriedKind,
    /// Where its words stand in that span's original.
    pub range: ByteRange,
}

/// What makes each candidate live; empty where a span is quiescent or no candidate.
///
/// `kept` are the spans that stay in the context verbatim; a span that is neither kept nor a candidate stands
/// in the context by a summary already. All slices have one entry for each span of the session.
pub fn live(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    candidates: &[bool],
    kept: &[bool],
    carried: &[CarriedMark],
) -> Vec<Vec<LiveMark>> {
    let is = |flags: &[bool], span: usize| flags.get(span).copied().unwrap_or(false);
    let mut marks: Vec<Vec<LiveMark>> = vec![Vec::new(); spans.len()];
    for (at, span) in reading.spans.iter().enumerate().filter(|(at, _)| is(candidates, *at)) {
        let Some(found) = marks.get_mut(at) else { break };
        for open in span.opens.iter().filter(|obligation| obligation.is_open()) {
            found.push(mark(CarriedKind::Obligation, open.range, &open.words));
        }
        for negative in &span.negatives {
            let denied = negative.denied_in.is_some_and(|said| is(kept, said));
            if negative.succeeded_in.is_none() && !denied {
                found.push(mark(CarriedKind::Negative, negative.range, &negative.words));
            }
        }
    }
    for reference in references(reading, spans, candidates, kept) {
        marks[reference.source].push(LiveMark {
            used_by: Some(reference.used_by),
            ..mark(CarriedKind::Reference, reference.range, &reference.words)
        });
    }
    let carried_here = |span: usize, mark: &LiveMark| {
        carried.iter().any(|carried| {
            let same_span = carried.span == span && carried.kind == mark.kind;
            same_span
                && carried.range.start < mark.range.end.max(mark.range.start + 1)
                && mark.range.start < carried.range.end.max(carried.range.start + 1)
        })
    };
    if !carried.is_empty() {
        for (span, marks) in marks.iter_mut().enumerate() {
            marks.retain(|mark| !carried_here(span, mark));
        }
    }
    marks
}

fn mark(kind: CarriedKind, range: ByteRange, words: &str) -> LiveMark {
    LiveMark { kind, range, words: words.to_owned(), used_by: None }
}

struct Reference {
    source: usize,
    range: ByteRange,
    words: String,
    used_by: usize,
}

/// Where a detail that the kept context uses was stated before.
#[derive(Default)]
struct Sources {
    kept: bool,
    /// The last candidate that states it, and the last one that is a user's or the runtime's message.
    last: Option<(usize, ByteRange)>,
    stated: Option<(usize, ByteRange)>,
}

/// The details that calls of the kept context use and whose only remaining source is a candidate. Where several
/// candidates state one, a user's or the runtime's message answers for it, otherwise the last of them.
fn references(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    candidates: &[bool],
    kept: &[bool],
) -> Vec<Reference> {
    let is = |flags: &[bool], span: usize| flags.get(span).copied().unwrap_or(false);
    let used = used_details(reading, spans, kept);
    let mut sources: HashMap<&str, Sources> = HashMap::new();
    let last_use = used.values().map(|(span, _)| *span).max().unwrap_or(0);
    for (at, span) in spans.iter().enumerate().take(last_use) {
        if !is(kept, at) && !is(candidates, at) {
            continue;
        }
        for atom in atoms(span.content, span.original) {
            if !matches!(atom.kind, AtomKind::Path | AtomKind::Identifier | AtomKind::Argument) {
                continue;
            }
            let Some((normal, (used_by, _))) = used.get_key_value(atom.normal.as_str()) else { continue };
            if at >= *used_by {
                continue;
            }
            let sources = sources.entry(normal).or_default();
            if is(kept, at) {
                sources.kept = true;
            } else {
                sources.last = Some((at, atom.range));
                if matches!(span.content.role, Role::User | Role::System) {
                    sources.stated = Some((at, atom.range));
                }
            }
        }
    }
    let mut found: Vec<_> = sources
        .into_iter()
        .filter(|(_, sources)| !sources.kept)
        .filter_map(|(normal, sources)| {
            let (source, range) = sources.stated.or(sources.last)?;
            let (used_by, words) = used.get(normal)?;
            Some(Reference { source, range, words: words.clone(), used_by: *used_by })
        })
        .collect();
    found.sort_by(|a, b| (a.source, a.range, &a.words).cmp(&(b.source, b.range, &b.words)));
    found
}

/// Paths and identifiers that calls of the kept context use, by normal form, with the first span that does and
/// the words. What stands inside long arguments is content that a call writes, not a detail that it uses.
fn used_details(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    kept: &[bool],
) -> HashMap<String, (usize, String)> {
    let mut used = HashMap::new();
    for paired in &reading.calls {
        let at = paired.call.span;
        if !kept.get(at).copied().unwrap_or(false) {
            continue;
        }
        let Some(PartBody::Call(call)) =
            spans.get(at).and_then(|span| span.content.parts.get(paired.call.part)).map(|part| &part.body)
        else {
            continue;
        };
        let words = strings(&call.args)
            .into_iter()
            .chain(command_of(call))
            .chain(paired.effect.paths.iter().map(String::as_str));
        for atom in words.flat_map(atoms_of_text) {
            if matches!(atom.kind, AtomKind::Path | AtomKind::Identifier) {
                used.entry(atom.normal).or_insert((at, atom.text));
            }
        }
    }
    used
}

#[cfg(test)]
mod tests;
