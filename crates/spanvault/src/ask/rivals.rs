//! Which pairings of calls with results could be wrong because of what cannot be seen.

use std::collections::HashSet;

use spanvault_evidence::At;
use spanvault_types::{Call, Outcome, PartBody, SpanContent};

/// The most unseen spans that are named for one call.
const NAMED_MAX: usize = 8;

/// The unseen spans of a transcript that may hold calls or results, and the ids that are used more than once.
#[derive(Debug)]
pub(super) struct Rivals<'a> {
    unseen: Vec<usize>,
    worn: HashSet<&'a str>,
}

impl<'a> Rivals<'a> {
    /// `unseen` are the places of such spans, ascending.
    pub(super) fn new(contents: &[&'a SpanContent], unseen: Vec<usize>) -> Self {
        let mut worn = HashSet::new();
        if !unseen.is_empty() {
            let (mut called, mut answered) = (HashSet::new(), HashSet::new());
            for part in contents.iter().flat_map(|content| &content.parts) {
                let (known, id) = match &part.body {
                    PartBody::Call(call) => (&mut called, &call.id),
                    PartBody::Result(outcome) => (&mut answered, &outcome.call_id),
                    PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) => continue,
                };
                if let Some(id) = id.as_deref()
                    && !known.insert(id)
                {
                    worn.insert(id);
                }
            }
        }
        Self { unseen, worn }
    }

    /// A few of the unseen spans that could make the pairing of `call` with `result` wrong, the likeliest first.
    ///
    /// A result that names its call, follows it, and is the only one that is seen to name it, could be another's
    /// only if a call of the same id, or that call's own result, stood between. Anything else rests on the whole
    /// record: a call has no result only if none is unseen, and a pairing by order, by an id that is used again, or
    /// with a result that came early, is moved by any unseen call or result.
    pub(super) fn of(&self, call: (At, &Call), result: Option<(At, &Outcome)>) -> Vec<usize> {
        let (at, id) = (call.0, call.1.id.as_deref());
        let (before, after) = self.unseen.split_at(self.unseen.partition_point(|unseen| *unseen < at.span));
        match (id, result) {
            (Some(id), Some((answer, outcome)))
                if answer > at && outcome.call_id.as_deref() == Some(id) && !self.worn.contains(id) =>
            {
                after.iter().copied().take_while(|unseen| *unseen < answer.span).take(NAMED_MAX).collect()
            }
            _by_order_or_none => after.iter().chain(before).copied().take(NAMED_MAX).collect(),
        }
    }
}
