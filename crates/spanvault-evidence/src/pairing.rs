//! Which result answers which call.

use spanvault_types::SpanContent;

use crate::{CallEffect, FateReading};

/// A part of a span of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The span, as an index into the record's spans.
    pub span: usize,
    /// The part of the span.
    pub part: usize,
}

/// A call with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedCall {
    /// The call.
    pub call: At,
    /// Its result, where there is one.
    pub result: Option<At>,
    /// What it does.
    pub effect: CallEffect,
    /// What became of it.
    pub fate: FateReading,
}

/// Pairs the calls of one record with their results, in source order of the calls.
pub fn pair(spans: &[&SpanContent]) -> Vec<PairedCall> {
    let _ = spans;
    Vec::new()
}
