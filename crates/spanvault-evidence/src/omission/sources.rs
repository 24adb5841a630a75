//! The details of originals, each once, in the order of a manifest.

use std::borrow::Cow;
use std::cmp::Ordering;

use spanvault_types::Position;

use crate::omission::{bounded, head};
use crate::{Atom, AtomKind};

/// Every detail of the originals of a summary, once. What a manifest is made from, and what it is held against.
#[derive(Debug)]
pub struct SourceDetails<'a>(Vec<SourceDetail<'a>>);

/// A detail where it was met first.
#[derive(Debug, Clone)]
pub(super) struct SourceDetail<'a> {
    pub(super) kind: AtomKind,
    /// As a manifest has it.
    pub(super) normal: Cow<'a, str>,
    /// As it stood in the original, where that differs.
    pub(super) text: Option<&'a str>,
    /// The earliest original that holds it.
    pub(super) at: Position,
}

impl SourceDetail<'_> {
    /// The order of a manifest.
    pub(super) fn key(&self) -> (AtomKind, &str) {
        (self.kind, &self.normal)
    }
}

impl<'a> SourceDetails<'a> {
    /// Of the atoms of each original.
    pub fn of(originals: impl IntoIterator<Item = (Position, &'a [Atom])>) -> Self {
        let mut details = Vec::new();
        for (at, atoms) in originals {
            details.extend(atoms.iter().map(|atom| SourceDetail {
                kind: atom.kind,
                normal: bounded(&atom.normal),
                text: (atom.text != atom.normal).then_some(&atom.text),
                at,
            }));
        }
        each_once(&mut details);
        Self(details)
    }

    pub(super) fn as_slice(&self) -> &[SourceDetail<'a>] {
        &self.0
    }
}

impl SourceDetail<'_> {
    /// Its text as a manifest has it.
    pub(super) fn surface(&self) -> Option<String> {
        self.text.map(|text| head(text).to_owned())
    }
}

/// Sorts details and leaves of equal ones the one that was met first, at the earliest original of all.
pub(super) fn each_once(details: &mut Vec<SourceDetail<'_>>) {
    // A stable sort: equal ones stay in the order in which they were met.
    details.sort_by(|a, b| a.key().cmp(&b.key()));
    details.dedup_by(|later, first| {
        let is_same = later.key() == first.key();
        if is_same {
            first.at = first.at.min(later.at);
        }
        is_same
    });
}

/// Says of details in ascending order whether a sorted list holds them, looking at each of its entries once.
#[derive(Debug)]
pub(super) struct Held<'a, T, K> {
    rest: &'a [T],
    key: K,
}

impl<'a, T, K: for<'t> Fn(&'t T) -> (AtomKind, &'t str)> Held<'a, T, K> {
    /// For a list that is sorted by `key`.
    pub(super) const fn in_sorted(list: &'a [T], key: K) -> Self {
        Self { rest: list, key }
    }

    /// The entry with this key, which is not below the one that was asked for before.
    pub(super) fn next(&mut self, wanted: (AtomKind, &str)) -> Option<&'a T> {
        while let Some((first, rest)) = self.rest.split_first() {
            match (self.key)(first).cmp(&wanted) {
                Ordering::Less => self.rest = rest,
                Ordering::Equal => return Some(first),
                Ordering::Greater => break,
            }
        }
        None
    }
}
