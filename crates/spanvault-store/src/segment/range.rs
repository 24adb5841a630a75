//! Which keys a look-up wants.

use std::cell::OnceCell;

use spanvault_types::key::{Table, key};
use spanvault_types::{Position, key as keys};

use super::map::{Entry, KEY_BYTES_MAX, ShortKey};
use crate::filter::Probe;

/// Entries that are looked at one by one before the end of a stretch is searched for.
const FEW: usize = 4;

/// A stretch of keys, and what tells that a segment has none of them.
#[derive(Debug, Clone)]
pub(crate) struct KeyRange {
    pub(crate) from: ShortKey,
    /// The first key behind the stretch; `None`: there is none.
    pub(crate) until: Option<ShortKey>,
    /// The tables that it touches, by bit.
    pub(crate) tables: u64,
    /// The digest that every key in it holds, if there is one.
    pub(crate) digest: Option<u64>,
    /// What filters are asked by, once one is asked.
    probe: OnceCell<Option<Probe>>,
}

impl KeyRange {
    /// Every key.
    pub(crate) fn all() -> Self {
        Self {
            from: ShortKey::EMPTY,
            until: None,
            tables: u64::MAX,
            digest: None,
            probe: OnceCell::from(None),
        }
    }

    /// Whether the whole range comes before `key`.
    pub(crate) fn ends_before(&self, key: &[u8]) -> bool {
        self.until.as_ref().is_some_and(|until| until.as_slice() <= key)
    }

    /// All keys that start with `prefix`; `None` where no key is that long.
    pub(crate) fn prefix(prefix: &[u8]) -> Option<Self> {
        let tables = prefix.first().map_or(u64::MAX, |table| table_bit(*table));
        Some(Self {
            from: ShortKey::new(prefix)?,
            until: successor(prefix),
            tables,
            digest: digest_in(prefix),
            probe: OnceCell::new(),
        })
    }

    /// The keys of `table` whose first field lies between two positions; the second is not among them.
    pub(crate) fn positions(table: Table, first: u64, until: u64) -> Option<Self> {
        let at = |seq| ShortKey::new(&key(table, &[Position::new(seq)]));
        let tables = table_bit(table as u8);
        let (from, until) = (at(first)?, Some(at(until)?));
        Some(Self { from, until, tables, digest: None, probe: OnceCell::from(None) })
    }

    /// The keys that [`ShortKey::shortened`] leaves of those in this range; `None` where it leaves them as they are.
    ///
    /// There may be others that leave the same.
    pub(crate) fn shortened(&self) -> Option<Self> {
        let from = self.from.shortened();
        let until = match self.until.map(|until| (until, until.shortened())) {
            Some((until, short)) if short != until => successor(short.as_slice()),
            other => other.map(|(until, _short)| until),
        };
        let is_other = from != self.from || until != self.until;
        is_other.then(|| Self { from, until, probe: OnceCell::new(), ..*self })
    }

    /// Whether a key lies in the range.
    pub(crate) fn contains(&self, key: &ShortKey) -> bool {
        self.from <= *key && !self.ends_before(key.as_slice())
    }

    /// Whether it can have keys that sidecars shorten.
    pub(crate) fn has_originals(&self) -> bool {
        self.tables & table_bit(Table::Original as u8) != 0
    }

    /// What a filter can tell by that it has none of these keys; `None` where it cannot.
    pub(crate) fn probe(&self) -> Option<&Probe> {
        self.probe.get_or_init(|| Probe::of(self.from.as_slice())).as_ref()
    }

    /// Those of these sorted entries that lie in the range.
    pub(crate) fn of<'e>(&self, entries: &'e [Entry]) -> &'e [Entry] {
        let from = entries.partition_point(|entry| entry.key < self.from);
        let rest = entries.get(from..).unwrap_or_default();
        let Some(until) = self.until else { return rest };
        // Mostly there are a few at most, and they stand side by side.
        let near = rest.iter().take(FEW).position(|entry| entry.key >= until);
        let len = near.unwrap_or_else(|| rest.partition_point(|entry| entry.key < until));
        rest.get(..len).unwrap_or_default()
    }
}

/// Part of the digest in a key that has one: a content hash, or the identity of a record. `None` where a prefix is too
/// short to tell.
pub(crate) fn digest_in(key: &[u8]) -> Option<u64> {
    let table = *key.first()?;
    let digest = if table == Table::Original as u8 {
        key.get(1..9)
    } else if table == Table::EventKey as u8 {
        key.get(17..25)
    } else {
        None
    };
    digest.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
}

/// The bit of a table in a set of tables.
pub(crate) fn table_bit(table: u8) -> u64 {
    1_u64.checked_shl(u32::from(table)).unwrap_or(1)
}

/// The first key after all keys that start with `prefix`.
fn successor(prefix: &[u8]) -> Option<ShortKey> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut bytes = [0; KEY_BYTES_MAX];
    let bytes = bytes.get_mut(..=last)?;
    bytes.copy_from_slice(prefix.get(..=last)?);
    *bytes.last_mut()? += 1;
    ShortKey::new(bytes)
}

/// The position that stands first in a key.
pub(crate) fn first_position(key: &ShortKey) -> Option<u64> {
    keys::field(key.as_slice(), 0).map(Position::get)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_shortened_range_has_the_shortened_key_of_all_that_the_range_has(
            table in prop_oneof![Just(1_u8), Just(1), Just(4), Just(0)],
            digest in prop::collection::vec(prop_oneof![Just(0_u8), Just(0xff), 0..2_u8], 32),
            prefix_len in 0_usize..=33,
            other in prop::collection::vec(prop_oneof![Just(0_u8), Just(0xff), 0..2_u8], 0..=33),
        ) {
            let key = [&[table], &digest[..]].concat();
            let short = ShortKey::new(&key).unwrap();
            let range = KeyRange::prefix(key.get(..prefix_len).unwrap()).unwrap();
            prop_assert!(range.contains(&short));
            let shortened = range.shortened();
            prop_assert!(shortened.as_ref().unwrap_or(&range).contains(&short.shortened()));
            let other = ShortKey::new(&other).unwrap();
            if range.contains(&other) {
                prop_assert!(shortened.as_ref().unwrap_or(&range).contains(&other.shortened()));
            }
            prop_assert_eq!(shortened.is_some(), table == 1 && prefix_len > 9);
        }
    }
}
