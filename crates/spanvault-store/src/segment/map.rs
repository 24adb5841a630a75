//! Where the frames of one segment are and under which keys: the sidecar's content, in memory.

use spanvault_types::key::{Key, Table};
use spanvault_types::{Position, StoreTime};

use super::keys::KeySet;
use super::range::KeyRange;

/// Keys are at most this long (`spanvault_types::key`).
pub(crate) const KEY_BYTES_MAX: usize = 41;

/// What sidecars keep of the key of an original.
const SHORTENED_BYTES: usize = 9;

/// A key without an allocation of its own.
#[derive(Clone, Copy)]
pub(crate) struct ShortKey {
    len: u8,
    bytes: [u8; KEY_BYTES_MAX],
}

impl ShortKey {
    /// The key that comes before all others.
    pub(crate) const EMPTY: Self = Self { len: 0, bytes: [0; KEY_BYTES_MAX] };

    /// The key with these bytes; `None` where they are too many.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let mut bytes = [0; KEY_BYTES_MAX];
        bytes.get_mut(..key.len())?.copy_from_slice(key);
        Some(Self { len: u8::try_from(key.len()).ok()?, bytes })
    }

    /// As much of it as sidecars keep: of the key of an original the table and eight bytes of its hash. The frame that it
    /// leads to has the rest.
    pub(crate) fn shortened(&self) -> Self {
        self.as_slice()
            .get(..SHORTENED_BYTES)
            .filter(|_| self.is_original())
            .and_then(Self::new)
            .unwrap_or(*self)
    }

    /// Whether it is what [`ShortKey::shortened`] left of a key.
    pub(crate) fn is_shortened(&self) -> bool {
        self.is_original() && usize::from(self.len) == SHORTENED_BYTES
    }

    fn is_original(&self) -> bool {
        self.as_slice().first() == Some(&(Table::Original as u8))
    }

    /// The first bytes as a number: where those of two keys differ they decide which comes first.
    pub(crate) fn leading(&self) -> u64 {
        self.bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl std::fmt::Debug for ShortKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl PartialEq for ShortKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for ShortKey {}

impl Ord for ShortKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // What a key does not fill is zero, so where the first bytes differ they decide as the whole keys would.
        self.leading().cmp(&other.leading()).then_with(|| self.as_slice().cmp(other.as_slice()))
    }
}

impl PartialOrd for ShortKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// One key and the position that it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) key: ShortKey,
    pub(crate) at: u64,
}

impl Entry {
    pub(crate) fn to_pair(self) -> (Key, Position) {
        (self.key.as_slice().to_vec(), Position::new(self.at))
    }
}

/// Offset and time are kept in 48 bits; all of them set means that nobody knows.
pub(crate) const UNKNOWN: u64 = (1 << 48) - 1;

/// Where one frame is, and the store time of its commit in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) offset: u64,
    pub(crate) time: u64,
}

impl Slot {
    /// The slot of a frame whose head is damaged.
    pub(crate) const LOST: Self = Self { offset: UNKNOWN, time: UNKNOWN };

    pub(crate) fn at(offset: u64, time: Option<StoreTime>) -> Self {
        Self { offset, time: time.map_or(UNKNOWN, |time| time.as_ms().min(UNKNOWN - 1)) }
    }

    pub(crate) fn offset(self) -> Option<u64> {
        (self.offset != UNKNOWN).then_some(self.offset)
    }

    pub(crate) fn time(self) -> Option<StoreTime> {
        (self.time != UNKNOWN).then(|| StoreTime::from_ms(self.time))
    }
}

/// The frames and keys of one segment.
#[derive(Debug, Clone)]
pub(crate) struct SegmentMap {
    /// The position of the first slot; the others follow without a gap.
    pub(crate) first: u64,
    pub(crate) slots: Vec<Slot>,
    pub(crate) keys: KeySet,
    /// Bytes of the bodies that are in the segment.
    pub(crate) body_bytes: u64,
    /// Where the next frame goes.
    pub(crate) end: u64,
}

impl SegmentMap {
    pub(crate) fn new(first: u64, end: u64) -> Self {
        Self { first, slots: Vec::new(), keys: KeySet::default(), body_bytes: 0, end }
    }

    /// The position after the last slot.
    pub(crate) fn next(&self) -> u64 {
        self.first + crate::bytes::len_u64(self.slots.len())
    }

    pub(crate) fn slot(&self, at: u64) -> Option<Slot> {
        self.slots.get(usize::try_from(at.checked_sub(self.first)?).ok()?).copied()
    }

    /// Where the frame after `at` begins, as far as that is known.
    pub(crate) fn offset_after(&self, at: u64) -> Option<u64> {
        if at.checked_add(1)? == self.next() { Some(self.end) } else { self.slot(at + 1)?.offset() }
    }

    /// The entries in a range of keys, sorted.
    pub(crate) fn scan(&self, range: &KeyRange) -> Vec<Entry> {
        self.keys.scan(range)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn map(keys: &[&[u8]]) -> SegmentMap {
        let mut map = SegmentMap::new(1, 0);
        map.keys.extend((1..).zip(keys).map(|(at, key)| Entry { key: ShortKey::new(key).unwrap(), at }));
        map
    }

    proptest! {
        #[test]
        fn keys_sort_as_their_bytes_do(
            a in prop::collection::vec(0_u8..3, 0..=KEY_BYTES_MAX), b in prop::collection::vec(0_u8..3, 0..12),
        ) {
            let keys = [&a, &b].map(|key| ShortKey::new(key).unwrap());
            prop_assert_eq!(keys[0].cmp(&keys[1]), a.cmp(&b));
        }
    }

    #[test]
    fn a_scan_finds_all_keys_with_the_prefix_and_no_other() {
        let map = map(&[b"a", b"ab", b"ab\xff", b"ac", b"b", b"\xff\xff", b"\xff"]);
        let found = |prefix: &[u8]| {
            let range = KeyRange::prefix(prefix).unwrap();
            map.scan(&range).iter().map(|entry| entry.at).collect::<Vec<_>>()
        };
        assert_eq!(found(b"ab"), [2, 3]);
        assert_eq!(found(b"a"), [1, 2, 3, 4]);
        assert_eq!(found(b"\xff"), [7, 6]);
        assert!(found(b"ab\xff\xff").is_empty());
        assert_eq!(found(b"").len(), 7);
        assert!(KeyRange::prefix(&[b'a'; 60]).is_none(), "no key is that long");
    }
}
