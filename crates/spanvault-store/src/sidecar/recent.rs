//! The blocks of sidecars that were read lately.
//!
//! Each sidecar has a spot for each of its blocks, so a block that is at hand is found without a search and without a
//! lock. A block was whole when it was read; a sidecar that is written anew has spots of its own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use arc_swap::ArcSwapOption;
use spanvault_env::sync::Mutex;

use super::block::{KeyBlock, SlotTable};

/// Blocks of keys that are kept: somewhat less than 5 KiB each.
const KEY_BLOCKS_MAX: usize = 1_750;
/// Blocks of slots that are kept: 4 KiB each in memory, for half a million frames.
const SLOT_BLOCKS_MAX: usize = 2_048;

/// What is kept of all sidecars of a store, a bounded number of blocks.
#[derive(Debug)]
pub(crate) struct Recent {
    pub(super) keys: Shelf<KeyBlock>,
    pub(super) slots: Shelf<SlotTable>,
}

impl Default for Recent {
    fn default() -> Self {
        Self { keys: Shelf::new(KEY_BLOCKS_MAX), slots: Shelf::new(SLOT_BLOCKS_MAX) }
    }
}

/// Where a block is while it is at hand.
#[derive(Debug)]
pub(super) struct Spot<T> {
    block: ArcSwapOption<T>,
    /// Whether somebody has wanted it since room was last made.
    used: AtomicBool,
}

/// The spots of the blocks of one kind in one sidecar.
pub(super) type Spots<T> = Arc<[Spot<T>]>;

/// So many spots, all of them empty.
pub(super) fn spots<T>(count: usize) -> Spots<T> {
    (0..count).map(|_n| Spot { block: ArcSwapOption::empty(), used: AtomicBool::new(false) }).collect()
}

/// Blocks of one kind. Once there are too many, the oldest goes that nobody has wanted since room was last made.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    /// The spots with a block in them, and their numbers.
    taken: Mutex<VecDeque<(Spots<T>, usize)>>,
    max: usize,
}

impl<T> Shelf<T> {
    const fn new(max: usize) -> Self {
        Self { taken: Mutex::new(VecDeque::new()), max }
    }

    /// The block of a spot, read by `read` if it is not at hand. Nothing is locked meanwhile. `None` where there is no
    /// such spot.
    pub(super) fn get<E>(
        &self,
        spots: &Spots<T>,
        number: usize,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<Arc<T>>, E> {
        let Some(spot) = spots.get(number) else { return Ok(None) };
        if let Some(block) = spot.block.load_full() {
            // Only written where it changes, so that readers do not take the line from each other.
            if !spot.used.load(Ordering::Relaxed) {
                spot.used.store(true, Ordering::Relaxed);
            }
            return Ok(Some(block));
        }
        let block = Arc::new(read()?);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have been quicker.
        if spot.block.load().is_none() {
            self.make_room(&mut taken);
            spot.used.store(false, Ordering::Relaxed);
            spot.block.store(Some(Arc::clone(&block)));
            taken.push_back((Arc::clone(spots), number));
        }
        Ok(Some(block))
    }

    /// Makes room for one block more.
    fn make_room(&self, taken: &mut VecDeque<(Spots<T>, usize)>) {
        let mut spared = 0;
        while taken.len() >= self.max
            && let Some((spots, number)) = taken.pop_front()
        {
            let Some(spot) = spots.get(number) else { continue };
            if spared <= taken.len() && spot.used.swap(false, Ordering::Relaxed) {
                spared += 1;
                taken.push_back((spots, number));
            } else {
                spot.block.store(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_nobody_wants_again_goes_before_one_that_somebody_does() {
        let (shelf, spots) = (Shelf::new(2), spots(4));
        let read = |n: usize| *shelf.get(&spots, n, || Ok::<_, ()>(n)).unwrap().unwrap();
        let is_kept = |n: usize| shelf.get(&spots, n, || Err(())).is_ok();
        assert_eq!((read(1), read(2)), (1, 2));
        assert!(is_kept(1), "and is wanted again");
        read(3);
        assert!(is_kept(1) && is_kept(3) && !is_kept(2));
    }

    #[test]
    fn there_are_never_more_than_a_shelf_has_room_for() {
        let shelf = Shelf::new(8);
        for _sidecar in 0..4 {
            let spots = spots(100);
            for n in 0..100_usize {
                assert_eq!(*shelf.get(&spots, n, || Ok::<_, ()>(n)).unwrap().unwrap(), n);
                assert_eq!(
                    shelf.get(&spots, n, || Err(())).map(|block| *block.unwrap()),
                    Ok(n),
                    "it is at hand"
                );
                assert!(spots.iter().filter(|spot| spot.block.load().is_some()).count() <= 8);
                assert!(shelf.taken.lock().unwrap().len() <= 8);
            }
        }
    }

    #[test]
    fn a_block_of_another_sidecar_at_the_same_place_is_another_block() {
        let shelf = Shelf::new(2);
        let sidecars = [spots(8), spots(8)];
        let read = |n: usize| *shelf.get(&sidecars[n], 7, || Ok::<_, ()>(n)).unwrap().unwrap();
        assert_eq!((read(0), read(1), read(0)), (0, 1, 0));
    }

    #[test]
    fn a_block_that_cannot_be_read_is_not_kept() {
        let (shelf, spots) = (Shelf::new(2), spots(2));
        assert!(shelf.get(&spots, 1, || Err(())).is_err());
        assert_eq!(shelf.get(&spots, 1, || Ok::<_, ()>(9)).unwrap().as_deref(), Some(&9));
        assert!(shelf.get(&spots, 2, || Ok::<_, ()>(9)).unwrap().is_none(), "there is no such spot");
    }

    #[test]
    fn readers_at_once_each_get_the_block_that_they_want() {
        let (shelf, spots) = (Shelf::new(3), spots(16));
        std::thread::scope(|scope| {
            for seed in 0..4_usize {
                let (shelf, spots) = (&shelf, &spots);
                scope.spawn(move || {
                    for step in 0..2_000_usize {
                        let n = (step * 7 + seed * 5 + step / 16) % 16;
                        assert_eq!(shelf.get(spots, n, || Ok::<_, ()>(n)).unwrap().as_deref(), Some(&n));
                    }
                });
            }
        });
        assert!(spots.iter().filter(|spot| spot.block.load().is_some()).count() <= 3);
    }
}
