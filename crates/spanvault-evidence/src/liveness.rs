//! What makes a span live: an open obligation, a negative result that nothing absorbed, or a detail that the
//! kept context uses and that only this span states.

use std::collections::{BTreeMap, HashMap, HashSet};

use spanvault_types::{ByteRange, CarriedKind, PartBody, Role};

use crate::negative::request::strings;
use crate::obligation::command_of;
use crate::{AtomKind, Negative, Obligation, SessionAtoms, SessionReading, SpanText, atoms_of_text};

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
/// in the context by a summary already. All slices have one entry for each span of the session, and so has `atoms`.
pub fn live(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    atoms: &SessionAtoms,
    candidates: &[bool],
    kept: &[bool],
    carried: &[CarriedMark],
) -> Vec<Vec<LiveMark>> {
    let debts = reading.spans.iter().map(|span| (&*span.opens, &*span.negatives));
    let mut marks = open_marks(debts, candidates, kept, carried);
    let context = Context { candidates, kept, carried: carried.iter().copied().collect() };
    for (source, reference) in references(reading, spans, atoms, &context) {
        if let Some(marks) = marks.get_mut(source) {
            marks.push(reference);
        }
    }
    marks
}

/// As [`live`] without references: the promises that are open in each candidate, and its unabsorbed negative results.
/// `debts` are what each span promises and what negative results it has.
///
/// What is kept has no live reference, for it states its details where they are used; so this is all that makes the
/// spans live that stay.
pub fn open_marks<'r>(
    debts: impl Iterator<Item = (&'r [Obligation], &'r [Negative])>,
    candidates: &[bool],
    kept: &[bool],
    carried: &[CarriedMark],
) -> Vec<Vec<LiveMark>> {
    let context = Context { candidates, kept, carried: carried.iter().copied().collect() };
    let open_in = |(at, (opens, negatives)): (usize, (&[Obligation], &[Negative]))| {
        if !context.is_candidate(at) {
            return Vec::new();
        }
        let open = opens.iter().filter(|obligation| obligation.is_open());
        let open = open.map(|open| mark(CarriedKind::Obligation, open.range, &open.words));
        let unabsorbed = negatives.iter().filter(|negative| !context.absorbs(negative));
        let unabsorbed =
            unabsorbed.map(|negative| mark(CarriedKind::Negative, negative.range, &negative.words));
        open.chain(unabsorbed).filter(|mark| !context.carries(at, mark.kind, mark.range)).collect()
    };
    debts.enumerate().map(open_in).collect()
}

fn mark(kind: CarriedKind, range: ByteRange, words: &str) -> LiveMark {
    LiveMark { kind, range, words: words.to_owned(), used_by: None }
}

/// What stands in the context, and what is about to leave it.
struct Context<'a> {
    candidates: &'a [bool],
    kept: &'a [bool],
    carried: HashSet<CarriedMark>,
}

impl Context<'_> {
    fn is_candidate(&self, span: usize) -> bool {
        self.candidates.get(span).copied().unwrap_or(false)
    }

    fn is_kept(&self, span: usize) -> bool {
        self.kept.get(span).copied().unwrap_or(false)
    }

    fn carries(&self, span: usize, kind: CarriedKind, range: ByteRange) -> bool {
        self.carried.contains(&CarriedMark { span, kind, range })
    }

    /// Whether a later success settled it, or a statement that stays says it.
    fn absorbs(&self, negative: &Negative) -> bool {
        negative.succeeded_in.is_some() || negative.denied_in.is_some_and(|said| self.is_kept(said))
    }
}

/// Where a detail that the kept context uses was stated before.
#[derive(Default)]
struct Sources {
    /// Whether something that stays states or carries it.
    stays: bool,
    /// The last candidate that states it, and the last one that is a user's or the runtime's message.
    last: Option<(usize, ByteRange)>,
    stated: Option<(usize, ByteRange)>,
}

/// The details that calls of the kept context use and whose only remaining source is a candidate. Where several
/// candidates state one, a user's or the runtime's message answers for it, otherwise the last of them.
fn references(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    atoms: &SessionAtoms,
    context: &Context<'_>,
) -> Vec<(usize, LiveMark)> {
    let used = used_details(reading, spans, context);
    let last_use = used.values().map(|(span, _)| *span).max().unwrap_or(0);
    let mut sources: BTreeMap<&str, Sources> = BTreeMap::new();
    for (at, span) in spans.iter().enumerate().take(last_use) {
        for atom in &*atoms.of(at, span) {
            let is_detail = matches!(atom.kind, AtomKind::Path | AtomKind::Identifier);
            let Some((normal, (used_by, _))) = used.get_key_value(atom.normal.as_str()).filter(|_| is_detail)
            else {
                continue;
            };
            if at >= *used_by {
                continue;
            }
            let sources = sources.entry(normal).or_default();
            sources.stays |= context.is_kept(at) || context.carries(at, CarriedKind::Reference, atom.range);
            if context.is_candidate(at) {
                sources.last = Some((at, atom.range));
                if matches!(span.content.role, Role::User | Role::System) {
                    sources.stated = Some((at, atom.range));
                }
            }
        }
    }
    let dangling =
        sources.into_iter().filter(|(_, sources)| !sources.stays).filter_map(|(normal, sources)| {
            let (source, range) = sources.stated.or(sources.last)?;
            let (used_by, words) = used.get(normal)?;
            Some((source, LiveMark { used_by: Some(*used_by), ..mark(CarriedKind::Reference, range, words) }))
        });
    dangling.collect()
}

/// Paths and identifiers that calls of the kept context use, by normal form, with the first span that does and
/// the words. What stands inside long arguments is content that a call writes, not a detail that it uses.
fn used_details(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    context: &Context<'_>,
) -> HashMap<String, (usize, String)> {
    let mut used = HashMap::new();
    for paired in &reading.calls {
        let at = paired.call.span;
        if !context.is_kept(at) {
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
