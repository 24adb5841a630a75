//! Positions that mostly follow each other, kept as stretches.

use std::collections::BTreeMap;

use spanvault_types::Position;

/// A set of positions. What it takes in memory grows with its gaps, not with its positions.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    /// The first position of each stretch, and the last; no two touch.
    stretches: BTreeMap<u64, u64>,
}

impl Stretches {
    pub(super) fn insert(&mut self, at: Position) {
        if self.contains(at) {
            return;
        }
        let at = at.get();
        let before = self.stretches.range(..at).next_back().filter(|(_first, last)| **last + 1 == at);
        let first = before.map_or(at, |(first, _last)| *first);
        let last = at.checked_add(1).and_then(|next| self.stretches.remove(&next)).unwrap_or(at);
        self.stretches.insert(first, last);
    }

    pub(super) fn contains(&self, at: Position) -> bool {
        self.stretches.range(..=at.get()).next_back().is_some_and(|(_first, last)| at.get() <= *last)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_hold_what_a_set_holds_and_no_two_touch(positions in prop::collection::vec(0_u64..60, 0..80)) {
            let mut stretches = Stretches::default();
            for at in &positions {
                stretches.insert(Position::new(*at));
            }
            let model: BTreeSet<u64> = positions.into_iter().collect();
            for at in 0..62 {
                prop_assert_eq!(stretches.contains(Position::new(at)), model.contains(&at));
            }
            let gaps = model.iter().filter(|at| !model.contains(&(**at + 1))).count();
            prop_assert_eq!(stretches.stretches.len(), gaps);
        }
    }
}
