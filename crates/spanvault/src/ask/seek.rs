//! Picks what an answer is about out of what is found, doubts in their places.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;
use spanvault_types::Position;

use super::answer::{EXAMPLES_MAX, LISTED_MAX};
use super::doubt::{Doubt, Doubts};
use super::equality::json_equal;
use super::get::Get;
use super::locate::Place;
use super::originals::AskSpan;
use super::plan::Pick;

/// The most matches of a question about the only one whose values are read, to show what it may mean.
const VALUES_MAX: u64 = 20;

/// Something found.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) spot: Spot,
    pub(super) timestamp_ms: Option<i64>,
    pub(super) proof: Vec<Exhibit>,
    pub(super) extracted: Extracted,
    pub(super) paths: Vec<String>,
}

/// Where something was found: in which transcript, span and part, and where in the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) transcript: usize,
    pub(super) span: usize,
    pub(super) part: usize,
    pub(super) offset: usize,
}

/// A piece of evidence before its bytes are looked up.
#[derive(Debug, Clone)]
pub(super) struct Exhibit {
    pub(super) span: AskSpan,
    pub(super) place: Place,
}

/// What was asked for of a hit.
#[derive(Debug, Clone)]
pub(super) enum Extracted {
    /// Nothing beyond its being there.
    NotAsked,
    /// It has no such thing.
    Nothing,
    /// This.
    Value(Value),
    /// One of these, and the question does not say which.
    Several(Vec<Value>),
    /// It stands in what cannot be seen.
    InDoubt { doubts: Vec<Doubt>, known: Value },
}

/// How much of a hit is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Where it is.
    Place,
    /// Also what was asked for.
    Value,
}

/// Takes hits and doubts in source order and keeps what the answer is about.
#[derive(Debug)]
pub(super) struct Seeker {
    pick: Pick,
    /// Whether something is gathered from every hit.
    gathers: bool,
    /// The most hits that are kept where all or the only one are asked for.
    kept_max: usize,
    hits: u64,
    kept: VecDeque<Kept>,
    doubts: Doubts,
    paths: BTreeSet<String>,
    spans: Vec<Position>,
    values_differ: bool,
}

#[derive(Debug)]
struct Kept {
    hit: Hit,
    doubts_before: u64,
}

/// What a [`Seeker`] kept.
#[derive(Debug)]
pub(super) struct Sought {
    pub(super) pick: Pick,
    /// How many were found; where the n-th from the start was asked for, at most n.
    pub(super) hits: u64,
    /// In source order: of all or the only one the first few, otherwise those that were picked.
    pub(super) kept: Vec<Hit>,
    /// Those that could change the answer.
    pub(super) doubts: Doubts,
    pub(super) paths: BTreeSet<String>,
    /// The spans of all hits, each once.
    pub(super) spans: Vec<Position>,
    /// Whether the values of the hits, where they were read, are not all the same.
    pub(super) values_differ: bool,
}

impl Seeker {
    pub(super) fn new(pick: Pick, get: &Get) -> Self {
        Self {
            pick,
            gathers: matches!(get, Get::Paths | Get::Spans) || get.is_of_text(),
            kept_max: if *get == Get::Exists { EXAMPLES_MAX } else { LISTED_MAX },
            hits: 0,
            kept: VecDeque::new(),
            doubts: Doubts::default(),
            paths: BTreeSet::new(),
            spans: Vec::new(),
            values_differ: false,
        }
    }

    /// Takes a hit; `make` makes as much of it as is wanted, if anything is.
    pub(super) fn hit(&mut self, make: impl FnOnce(Depth) -> Hit) {
        let doubts_before = self.doubts.count();
        let keep = |hit| Kept { hit, doubts_before };
        match self.pick {
            Pick::All | Pick::Only => {
                self.hits += 1;
                let room = self.kept.len() < self.kept_max;
                if !room && !self.gathers {
                    return;
                }
                let only = self.pick == Pick::Only;
                let deep = only && (self.gathers || self.hits <= VALUES_MAX);
                let mut hit = make(if deep { Depth::Value } else { Depth::Place });
                self.gather(&mut hit);
                if room {
                    self.kept.push_back(keep(hit));
                }
            }
            Pick::Nth(nth) if nth.get() > 0 => {
                if self.is_settled() {
                    return;
                }
                self.hits += 1;
                if self.is_settled() {
                    let mut hit = make(Depth::Value);
                    self.gather(&mut hit);
                    self.kept.push_back(keep(hit));
                }
            }
            Pick::Nth(nth) => {
                self.hits += 1;
                self.kept.push_back(keep(make(Depth::Value)));
                if self.kept.len() as u64 > nth.get().unsigned_abs() {
                    self.kept.pop_front();
                }
                if self.hits >= nth.get().unsigned_abs()
                    && let Some(first) = self.kept.front()
                {
                    self.doubts.forget_before(first.doubts_before);
                }
            }
            Pick::Ends => {
                self.hits += 1;
                if self.kept.len() > 1 {
                    self.kept.pop_back();
                }
                self.kept.push_back(keep(make(Depth::Place)));
            }
        }
    }

    /// Takes something that may be a hit, or several.
    pub(super) fn doubt(&mut self, doubt: Doubt) {
        if !self.is_settled() {
            self.doubts.push(doubt);
        }
    }

    /// Takes several of them.
    pub(super) fn doubts(&mut self, doubts: impl IntoIterator<Item = Doubt>) {
        doubts.into_iter().for_each(|doubt| self.doubt(doubt));
    }

    /// Takes `more` of them that are not at hand to be listed. Where they stand among what was found is not known, so
    /// this is for picks that do not ask.
    pub(super) fn doubts_left_out(&mut self, more: u64) {
        self.doubts.count_more(more);
    }

    /// Whether nothing that comes can change what is picked.
    fn is_settled(&self) -> bool {
        matches!(self.pick, Pick::Nth(nth) if nth.get() > 0 && self.hits >= nth.get().unsigned_abs())
    }

    fn gather(&mut self, hit: &mut Hit) {
        self.paths.extend(std::mem::take(&mut hit.paths));
        if let Some(exhibit) = hit.proof.first()
            && self.spans.last() != Some(&exhibit.span.span)
        {
            self.spans.push(exhibit.span.span);
        }
        if let Extracted::Value(value) = &hit.extracted
            && let Some(Extracted::Value(first)) = self.kept.front().map(|kept| &kept.hit.extracted)
        {
            self.values_differ |= !json_equal(first, value);
        }
    }

    pub(super) fn finish(mut self) -> Sought {
        if matches!(self.pick, Pick::Nth(nth) if nth.get() < 0) {
            let wanted = match self.pick {
                Pick::Nth(nth) => nth.get().unsigned_abs(),
                Pick::All | Pick::Only | Pick::Ends => 0,
            };
            self.kept.truncate(usize::from(self.hits >= wanted));
            if let Some(mut kept) = self.kept.pop_front() {
                self.gather(&mut kept.hit);
                self.kept.push_back(kept);
            }
        }
        Sought {
            pick: self.pick,
            hits: self.hits,
            kept: self.kept.into_iter().map(|kept| kept.hit).collect(),
            doubts: self.doubts,
            paths: self.paths,
            spans: self.spans,
            values_differ: self.values_differ,
        }
    }
}

impl Sought {
    /// Whether as many were found as the question needs.
    pub(super) const fn is_found(&self) -> bool {
        match self.pick {
            Pick::Nth(nth) => self.hits >= nth.get().unsigned_abs(),
            Pick::All | Pick::Only | Pick::Ends => self.hits > 0,
        }
    }
}
