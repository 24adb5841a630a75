//! The blocks of sidecars that were read last, decoded.
//!
//! Look-ups come in order, so the next one mostly wants a block that one before it wanted. A block belongs to one
//! sidecar as it was opened, and was whole when it was read; one that is written anew has another number.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use spanvault_env::sync::Mutex;

use crate::segment::{Entry, Slot};

/// Blocks of keys that are kept: about 20 KiB each in memory.
const KEY_BLOCKS_MAX: usize = 64;
/// Blocks of slots that are kept: 4 KiB each in memory.
const SLOT_BLOCKS_MAX: usize = 64;

/// The number of a sidecar, and where in it a block begins.
pub(super) type BlockId = (u64, u64);

/// What is kept of all sidecars of a store, a bounded number of blocks.
#[derive(Debug)]
pub(crate) struct Recent {
    pub(super) keys: Shelf<Entry>,
    pub(super) slots: Shelf<Slot>,
}

impl Default for Recent {
    fn default() -> Self {
        Self { keys: Shelf::new(KEY_BLOCKS_MAX), slots: Shelf::new(SLOT_BLOCKS_MAX) }
    }
}

/// Blocks of one kind, the one used last in front.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    blocks: Mutex<VecDeque<(BlockId, Arc<[T]>)>>,
    max: usize,
}

impl<T> Shelf<T> {
    const fn new(max: usize) -> Self {
        Self { blocks: Mutex::new(VecDeque::new()), max }
    }

    /// The block, read by `read` if it is not at hand. The lock is not held meanwhile.
    pub(super) fn get<E>(
        &self,
        id: BlockId,
        read: impl FnOnce() -> Result<Vec<T>, E>,
    ) -> Result<Arc<[T]>, E> {
        if let Some(block) = self.at_hand(&id) {
            return Ok(block);
        }
        let block: Arc<[T]> = read()?.into();
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.push_front((id, Arc::clone(&block)));
        blocks.truncate(self.max);
        Ok(block)
    }

    fn at_hand(&self, id: &BlockId) -> Option<Arc<[T]>> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let at = blocks.iter().position(|(kept, _block)| kept == id)?;
        if at > 0 {
            let found = blocks.remove(at)?;
            blocks.push_front(found);
        }
        blocks.front().map(|(_id, block)| Arc::clone(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_that_was_unused_for_longest_goes() {
        let shelf = Shelf::new(2);
        let read = |n: u64| shelf.get((1, n), || Ok::<_, ()>(vec![n])).unwrap();
        let is_kept = |n: u64| shelf.get((1, n), || Err(())).is_ok();
        assert_eq!((read(1)[0], read(2)[0]), (1, 2));
        assert!(is_kept(1), "and is used last from here on");
        read(3);
        assert!(is_kept(1) && is_kept(3) && !is_kept(2));
    }

    #[test]
    fn a_block_of_another_sidecar_at_the_same_place_is_another_block() {
        let shelf = Shelf::new(2);
        let read = |sidecar: u64| shelf.get((sidecar, 7), || Ok::<_, ()>(vec![sidecar])).unwrap()[0];
        assert_eq!((read(1), read(2), read(1)), (1, 2, 1));
    }

    #[test]
    fn a_block_that_cannot_be_read_is_not_kept() {
        let shelf = Shelf::<u8>::new(2);
        assert!(shelf.get((1, 1), || Err(())).is_err());
        assert_eq!(*shelf.get((1, 1), || Ok::<_, ()>(vec![9])).unwrap(), [9]);
    }
}
