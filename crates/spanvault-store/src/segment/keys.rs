//! The keys of one segment in memory: sorted runs, each at least twice as long as the next.
//!
//! Keys come in batches and are mostly only kept; a tree would pay for each of them at once. Runs of like length are
//! merged, so an entry is moved a few times and a look-up asks a few runs.

use std::borrow::Cow;
use std::collections::HashSet;

use super::map::Entry;
use super::range::{KeyRange, digest_in, table_bit};

/// A set of entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeySet {
    /// The longest first.
    runs: Vec<Run>,
    /// Of keys that hold a digest: most that are looked for are in no run.
    digests: HashSet<u64>,
}

/// Entries that were sorted.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// The tables that it has keys of, by bit.
    tables: u64,
    /// Sorted, each once.
    entries: Vec<Entry>,
}

impl Run {
    fn new(mut entries: Vec<Entry>) -> Self {
        // Stable: what comes in stretches that are sorted is merged.
        entries.sort();
        entries.dedup();
        let tables = entries.iter().fold(0, |tables, entry| tables | table_of(entry));
        Self { tables, entries }
    }

    fn of(&self, range: &KeyRange) -> &[Entry] {
        if self.tables & range.tables == 0 { &[] } else { range.of(&self.entries) }
    }

    fn merge(&self, other: &Self) -> Self {
        Self { tables: self.tables | other.tables, entries: merged(&self.entries, &other.entries) }
    }
}

impl KeySet {
    /// Adds entries; one that is there already changes nothing.
    pub(crate) fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.add(Self::run(entries.into_iter().collect()));
    }

    /// Entries for [`KeySet::add`]; what takes long about adding them is done here. Stretches that are sorted already are
    /// merged.
    pub(crate) fn run(entries: Vec<Entry>) -> Run {
        Run::new(entries)
    }

    /// Adds entries; one that is there already changes nothing.
    pub(crate) fn add(&mut self, mut newest: Run) {
        if newest.entries.is_empty() {
            return;
        }
        self.digests.extend(newest.entries.iter().filter_map(|entry| digest_in(entry.key.as_slice())));
        while let Some(older) = self.runs.pop_if(|older| older.entries.len() < 2 * newest.entries.len()) {
            newest = older.merge(&newest);
        }
        self.runs.push(newest);
    }

    /// The entries in a range, sorted.
    pub(crate) fn scan(&self, range: &KeyRange) -> Vec<Entry> {
        let mut found = Vec::new();
        if range.digest.is_some_and(|digest| !self.digests.contains(&digest)) {
            return found;
        }
        for run in &self.runs {
            found.extend_from_slice(run.of(range));
        }
        if self.runs.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// The last entry in a range.
    pub(crate) fn last(&self, range: &KeyRange) -> Option<Entry> {
        self.runs.iter().filter_map(|run| run.of(range).last()).max().copied()
    }

    /// All entries, sorted.
    pub(crate) fn sorted(&self) -> Cow<'_, [Entry]> {
        match self.runs.as_slice() {
            [] => Cow::Borrowed(&[]),
            [only] => Cow::Borrowed(&only.entries),
            // The shortest first, so that no entry is moved more often than it must be.
            [.., last] => {
                let rest = self.runs.iter().rev().skip(1);
                Cow::Owned(rest.fold(last.entries.clone(), |found, run| merged(&run.entries, &found)))
            }
        }
    }

    /// All entries, run by run.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = Entry> {
        self.runs.into_iter().flat_map(|run| run.entries)
    }

    /// The tables that it has keys of, by bit.
    pub(crate) fn tables(&self) -> u64 {
        self.runs.iter().fold(0, |tables, run| tables | run.tables)
    }
}

fn table_of(entry: &Entry) -> u64 {
    entry.key.as_slice().first().map_or(0, |table| table_bit(*table))
}

/// Two sorted lists as one, each entry once.
fn merged(mut a: &[Entry], mut b: &[Entry]) -> Vec<Entry> {
    let mut both = Vec::with_capacity(a.len() + b.len());
    while let ([first_a, rest_a @ ..], [first_b, rest_b @ ..]) = (a, b) {
        match first_a.cmp(first_b) {
            std::cmp::Ordering::Less => {
                both.push(*first_a);
                a = rest_a;
            }
            std::cmp::Ordering::Greater => {
                both.push(*first_b);
                b = rest_b;
            }
            std::cmp::Ordering::Equal => {
                both.push(*first_a);
                (a, b) = (rest_a, rest_b);
            }
        }
    }
    both.extend_from_slice(a);
    both.extend_from_slice(b);
    both
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use spanvault_types::{ContentHash, key};

    use super::*;
    use crate::segment::ShortKey;

    fn entry(key: &[u8], at: u64) -> Entry {
        Entry { key: ShortKey::new(key).unwrap(), at }
    }

    proptest! {
        #[test]
        fn a_key_with_a_digest_is_found_by_it_and_by_what_it_begins_with(
            digests in prop::collection::vec(prop::array::uniform32(0_u8..2), 1..20), wanted in prop::array::uniform32(0_u8..2),
        ) {
            let mut keys = KeySet::default();
            let key = |digest: [u8; 32]| key::original(&ContentHash::from_bytes(digest));
            keys.extend((1..).zip(&digests).map(|(at, digest)| entry(&key(*digest), at)));
            for len in [0, 4, 8, 9, 33] {
                let prefix = key(wanted);
                let prefix = prefix.get(..len).unwrap();
                let there = digests.iter().filter(|digest| key(**digest).starts_with(prefix)).count();
                prop_assert_eq!(keys.scan(&KeyRange::prefix(prefix).unwrap()).len(), there);
            }
        }

        #[test]
        fn it_holds_what_a_sorted_set_holds(
            batches in prop::collection::vec(
                prop::collection::vec((prop::collection::vec(0_u8..4, 1..5), 0_u64..5), 0..20), 0..20,
            ),
            prefix in prop::collection::vec(0_u8..4, 0..3),
        ) {
            let (mut keys, mut model) = (KeySet::default(), BTreeSet::new());
            for batch in batches {
                let entries: Vec<_> = batch.iter().map(|(key, at)| entry(key, *at)).collect();
                keys.extend(entries.iter().copied());
                model.extend(entries);
            }
            let range = KeyRange::prefix(&prefix).unwrap();
            let wanted: Vec<_> =
                model.iter().filter(|entry| entry.key.as_slice().starts_with(&prefix)).copied().collect();
            prop_assert_eq!(keys.last(&range), wanted.last().copied());
            prop_assert_eq!(keys.scan(&range), wanted);
            let all: Vec<_> = model.into_iter().collect();
            prop_assert_eq!(&*keys.sorted(), all.as_slice());
            let runs: Vec<_> = keys.runs.iter().map(|run| run.entries.len()).collect();
            prop_assert!(runs.is_sorted_by(|longer, shorter| *longer >= 2 * shorter), "{:?}", runs);
        }
    }
}
