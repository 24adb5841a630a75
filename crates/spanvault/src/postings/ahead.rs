//! What was read of spans when they were recorded, kept until they are posted, so that nothing is read twice.
//!
//! An original is read as its record was, so what is posted is the same either way. Whatever is not here, because it is
//! too much, was recorded otherwise or by another process, is read from the log.

use std::collections::HashMap;
use std::sync::PoisonError;

use spanvault_env::sync::{Mutex, MutexGuard};
use spanvault_evidence::{Registry, effect_of};
use spanvault_index::postings::Term;
use spanvault_types::{ContentHash, PartBody, Position, SpanContent};

use crate::ask::terms;

/// No more is kept than this, in bytes.
const BYTES_MAX: usize = 8 << 20;
/// What a span takes beside its terms.
const SPAN_BYTES: usize = 96;

/// All that is posted of one span.
#[derive(Debug)]
pub(crate) struct SpanTerms {
    pub(super) hash: ContentHash,
    pub(super) terms: Box<[Term]>,
    /// Whether a call or result of it has no id.
    pub(super) is_nameless: bool,
}

impl SpanTerms {
    /// Of a span of `session` that says `content`.
    pub(crate) fn of(
        session: Position,
        content: &SpanContent,
        hash: ContentHash,
        registry: &Registry,
    ) -> Self {
        let (mut found, mut is_nameless) = (Vec::new(), false);
        for part in &content.parts {
            let id = match &part.body {
                PartBody::Call(call) => {
                    terms::post_call(call, &effect_of(call, registry), &mut |term| found.push(term));
                    &call.id
                }
                PartBody::Result(outcome) => &outcome.call_id,
                PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) => continue,
            };
            match id {
                Some(id) => found.push(terms::call_id(session, id)),
                None => is_nameless = true,
            }
        }
        Self { hash, terms: found.into_boxed_slice(), is_nameless }
    }

    const fn bytes(&self) -> usize {
        SPAN_BYTES + size_of::<Term>() * self.terms.len()
    }
}

/// The spans that were read and are not posted yet.
#[derive(Debug, Default)]
pub(crate) struct Ahead(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    spans: HashMap<Position, SpanTerms>,
    bytes: usize,
}

impl Ahead {
    /// Adds spans that are in the log, as far as there is room.
    pub(crate) fn add(&self, spans: Vec<(Position, SpanTerms)>) {
        let mut kept = self.kept();
        for (at, span) in spans {
            if kept.bytes + span.bytes() > BYTES_MAX {
                return;
            }
            kept.bytes += span.bytes();
            kept.spans.insert(at, span);
        }
    }

    /// Takes what there is of a span.
    pub(super) fn take(&self, at: Position) -> Option<SpanTerms> {
        let mut kept = self.kept();
        let span = kept.spans.remove(&at)?;
        kept.bytes -= span.bytes();
        if kept.spans.is_empty() {
            kept.spans = HashMap::new();
        }
        Some(span)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
