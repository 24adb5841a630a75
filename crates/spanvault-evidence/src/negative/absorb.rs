//! Follows negative results through a session: which later call succeeded at the same thing, and where the agent
//! said that it failed.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::request::Request;
use crate::prose::{names, quotations};

/// A negative result by its span and its place among those of the span.
pub(crate) type Place = (usize, usize);

/// A negative result and what absorbs it.
#[derive(Debug)]
struct Entry {
    place: Place,
    /// How many of its requests no later call has carried out; a script may have failed at any of them.
    left: usize,
    succeeded_in: Option<usize>,
    denied_in: Option<usize>,
}

/// What absorbed a negative result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Absorbed {
    pub(crate) place: Place,
    pub(crate) succeeded_in: Option<usize>,
    pub(crate) denied_in: Option<usize>,
}

/// The negative results of this turn that a name stands for, and the last span that denies it.
#[derive(Debug, Default)]
struct Named {
    entries: Vec<usize>,
    denied_in: Option<usize>,
}

/// The negative results of a session, at one point of it.
#[derive(Debug, Default)]
pub(crate) struct Negatives {
    entries: Vec<Entry>,
    requested: HashMap<String, VecDeque<(usize, Request)>>,
    named: BTreeMap<String, Named>,
}

/// How many names of a call and its result are remembered.
const NAMES_MAX: usize = 64;

/// How many negative results with the same program or tool wait for a success; older ones stay unabsorbed.
const WAITING_MAX: usize = 64;

impl Negatives {
    /// A turn begins: what is denied from here on speaks of this turn.
    pub(crate) fn begin_turn(&mut self) {
        for named in std::mem::take(&mut self.named).into_values() {
            let Some(said) = named.denied_in else { continue };
            for entry in named.entries {
                let entry = &mut self.entries[entry];
                if entry.place.0 < said {
                    entry.denied_in = entry.denied_in.max(Some(said));
                }
            }
        }
    }

    /// Enters a negative result: what its call asked for, and the texts that name what was looked for.
    pub(crate) fn enter<'a>(
        &mut self,
        place: Place,
        requests: Vec<Request>,
        texts: impl Iterator<Item = &'a str>,
    ) {
        let entry = self.entries.len();
        self.entries.push(Entry { place, left: requests.len(), succeeded_in: None, denied_in: None });
        for request in requests {
            let waiting = self.requested.entry(request.key.clone()).or_default();
            if waiting.len() == WAITING_MAX {
                waiting.pop_front();
            }
            waiting.push_back((entry, request));
        }
        for name in texts
            .flat_map(|text| std::iter::once(text).filter(|text| text.len() < 100).chain(names(text)))
            .take(NAMES_MAX)
        {
            self.named.entry(name.to_owned()).or_default().entries.push(entry);
        }
    }

    /// A call in `span` that succeeded.
    pub(crate) fn succeeded(&mut self, span: usize, requests: &[Request]) {
        for request in requests {
            let Some(waiting) = self.requested.get_mut(&request.key) else { continue };
            let entries = &mut self.entries;
            waiting.retain(|(entry, earlier)| {
                let covered = request.covers(earlier);
                if let Some(entry) = entries.get_mut(*entry).filter(|_| covered) {
                    entry.left = entry.left.saturating_sub(1);
                    if entry.left == 0 {
                        entry.succeeded_in = Some(span);
                    }
                }
                !covered
            });
        }
    }

    /// A sentence of the agent in `span` that denies something.
    pub(crate) fn denied(&mut self, span: usize, sentence: &str) {
        for name in names(sentence).chain(quotations(sentence)) {
            if let Some(named) = self.named.get_mut(name) {
                named.denied_in = Some(span);
            }
        }
    }

    /// What was absorbed by the end of the session.
    pub(crate) fn absorbed(mut self) -> impl Iterator<Item = Absorbed> {
        self.begin_turn();
        self.entries.into_iter().map(|entry| Absorbed {
            place: entry.place,
            succeeded_in: entry.succeeded_in,
            denied_in: entry.denied_in,
        })
    }
}
