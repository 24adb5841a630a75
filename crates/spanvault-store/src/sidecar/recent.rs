//! The blocks of sidecars that were read lately.
//!
//! A block belongs to one sidecar as it was opened, and was whole when it was read; one that is written anew has
//! another number.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use spanvault_env::sync::RwLock;

use super::block::KeyBlock;
use crate::segment::Slot;

/// Blocks of keys that are kept: somewhat less than 5 KiB each.
const KEY_BLOCKS_MAX: usize = 1_750;
/// Blocks of slots that are kept: 4 KiB each in memory, for half a million frames.
const SLOT_BLOCKS_MAX: usize = 2_048;

/// The number of a sidecar, and where in it a block begins.
pub(super) type BlockId = (u64, u64);

/// What is kept of all sidecars of a store, a bounded number of blocks.
#[derive(Debug)]
pub(crate) struct Recent {
    pub(super) keys: Shelf<KeyBlock>,
    pub(super) slots: Shelf<[Slot]>,
}

impl Default for Recent {
    fn default() -> Self {
        Self { keys: Shelf::new(KEY_BLOCKS_MAX), slots: Shelf::new(SLOT_BLOCKS_MAX) }
    }
}

/// Blocks of one kind. Once there are too many, those go that nobody has wanted since the last time.
#[derive(Debug)]
pub(super) struct Shelf<T: ?Sized> {
    blocks: RwLock<BTreeMap<BlockId, Kept<T>>>,
    max: usize,
}

#[derive(Debug)]
struct Kept<T: ?Sized> {
    block: Arc<T>,
    used: AtomicBool,
}

impl<T: ?Sized> Shelf<T> {
    const fn new(max: usize) -> Self {
        Self { blocks: RwLock::new(BTreeMap::new()), max }
    }

    /// The block, read by `read` if it is not at hand. Nothing is locked meanwhile.
    pub(super) fn get<E>(&self, id: BlockId, read: impl FnOnce() -> Result<Arc<T>, E>) -> Result<Arc<T>, E> {
        if let Some(kept) = self.blocks.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            // Only written where it changes, so that readers do not take the line from each other.
            if !kept.used.load(Ordering::Relaxed) {
                kept.used.store(true, Ordering::Relaxed);
            }
            return Ok(Arc::clone(&kept.block));
        }
        let block = read()?;
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        if blocks.len() >= self.max {
            blocks.retain(|_id, kept| kept.used.swap(false, Ordering::Relaxed));
        }
        if blocks.len() >= self.max {
            // All of them were wanted: every other one has to do.
            let mut stays = false;
            blocks.retain(|_id, _kept| {
                stays = !stays;
                stays
            });
        }
        blocks.insert(id, Kept { block: Arc::clone(&block), used: AtomicBool::new(false) });
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_nobody_wants_again_goes_before_one_that_somebody_does() {
        let shelf = Shelf::<[u64]>::new(2);
        let read = |n: u64| shelf.get((1, n), || Ok::<_, ()>(Arc::from([n]))).unwrap();
        let is_kept = |n: u64| shelf.get((1, n), || Err(())).is_ok();
        assert_eq!((read(1)[0], read(2)[0]), (1, 2));
        assert!(is_kept(1), "and is wanted again");
        read(3);
        assert!(is_kept(1) && is_kept(3) && !is_kept(2));
    }

    #[test]
    fn there_are_never_more_than_a_shelf_has_room_for() {
        let shelf = Shelf::<[u64]>::new(8);
        for round in 0..4 {
            for n in 0..100_u64 {
                assert_eq!(shelf.get((round, n), || Ok::<_, ()>(Arc::from([n]))).unwrap()[0], n);
                assert_eq!(shelf.get((round, n), || Err(())).map(|block| block[0]), Ok(n), "it is at hand");
                assert!(shelf.blocks.read().unwrap().len() <= 8);
            }
        }
    }

    #[test]
    fn a_block_of_another_sidecar_at_the_same_place_is_another_block() {
        let shelf = Shelf::<[u64]>::new(2);
        let read = |sidecar: u64| shelf.get((sidecar, 7), || Ok::<_, ()>(Arc::from([sidecar]))).unwrap()[0];
        assert_eq!((read(1), read(2), read(1)), (1, 2, 1));
    }

    #[test]
    fn a_block_that_cannot_be_read_is_not_kept() {
        let shelf = Shelf::<[u8]>::new(2);
        assert!(shelf.get((1, 1), || Err(())).is_err());
        assert_eq!(*shelf.get((1, 1), || Ok::<_, ()>(Arc::from([9]))).unwrap(), [9]);
    }
}
