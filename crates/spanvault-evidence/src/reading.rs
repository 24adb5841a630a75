//! Reads a session as a whole: its calls and their results, classes, promises and what became of them,
//! negative results and what absorbed them. One pass over the spans; nothing is decided here.

mod reader;

use spanvault_types::{EvidentialClass, SpanContent};

use crate::{
    Negative, Obligation, PairedCall, Registry, as_read_by_gate, classes, holds_detail, pair, tokens_of_span,
};
use reader::Reader;

/// A span as its importer read it, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct SpanText<'a> {
    /// What it says.
    pub content: &'a SpanContent,
    /// Its exact bytes.
    pub original: &'a [u8],
}

/// What a session says, span by span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReading {
    /// Its calls, in source order.
    pub calls: Vec<PairedCall>,
    /// Its spans.
    pub spans: Vec<SpanReading>,
}

/// What one span says, owes and settles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanReading {
    /// The class; a result has that of its call.
    pub class: EvidentialClass,
    /// The class as the gate reads it.
    pub read_as: EvidentialClass,
    /// Whether the span itself denies something, or reports a failure or nothing.
    pub negative: bool,
    /// What it promises and leaves pending, whatever became of it.
    pub opens: Vec<Obligation>,
    /// Earlier spans that it discharged something of, ascending.
    pub discharges: Vec<usize>,
    /// Its negative results, whatever absorbed them.
    pub negatives: Vec<Negative>,
    /// Estimated tokens of what a model reads in it.
    pub tokens: u64,
}

/// What one span owes: the part of a [`SpanReading`] that can make it live.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanDebts {
    /// What it promises and leaves pending, whatever became of it.
    pub opens: Vec<Obligation>,
    /// Its negative results, whatever absorbed them.
    pub negatives: Vec<Negative>,
}

/// What the spans from number `from` on owe, as [`read_session`] says it of them; nothing for those before. What comes
/// before a span answers for it only as its call, so of those no more is read than their calls.
pub fn debts_since(spans: &[SpanText<'_>], registry: &Registry, from: usize) -> Vec<SpanDebts> {
    let contents: Vec<_> = spans.iter().map(|span| span.content).collect();
    let calls = pair(&contents, registry);
    let mut reader = Reader::new(spans, &calls);
    reader.skip_to(from);
    for at in from..spans.len() {
        reader.span(at);
    }
    let debts = |read: reader::Read| SpanDebts { opens: read.opens, negatives: read.negatives };
    reader.finish().into_iter().map(debts).collect()
}

/// Reads the spans of one session, in order; `registry` knows the tools.
pub fn read_session(spans: &[SpanText<'_>], registry: &Registry) -> SessionReading {
    let contents: Vec<_> = spans.iter().map(|span| span.content).collect();
    let calls = pair(&contents, registry);
    let classes = classes(&contents, &calls, registry);
    let mut reader = Reader::new(spans, &calls);
    for at in 0..spans.len() {
        reader.span(at);
    }
    let read = reader.finish();
    let spans = spans
        .iter()
        .zip(classes)
        .zip(read)
        .map(|((span, class), read)| {
            let narrative = class == EvidentialClass::Narrative;
            let detailed = narrative && (read.negative || holds_detail(span.content));
            SpanReading {
                class,
                read_as: as_read_by_gate(class, detailed, !read.opens.is_empty()),
                tokens: tokens_of_span(span.content),
                negative: read.negative,
                opens: read.opens,
                discharges: read.discharges,
                negatives: read.negatives,
            }
        })
        .collect();
    SessionReading { calls, spans }
}

#[cfg(test)]
mod tests;
