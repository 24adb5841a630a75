//! Work that is spread over a few threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{panic, thread};

/// More threads than this wait for the disk and for each other.
const THREADS_MAX: usize = 8;

/// As many threads as the machine runs at once, within bounds.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_MAX)
}

/// Does `work` on every item, several at once, and gives what comes of them in the order of the items.
///
/// A panic in one of them is passed on.
pub(crate) fn map_in_order<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = threads().min(items.len());
    if workers < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_item| None).collect());
    let take = || {
        while let Some((n, item)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            items.get(n).map(|item| (n, item))
        } {
            let result = work(item);
            if let Some(slot) = done.lock().unwrap_or_else(PoisonError::into_inner).get_mut(n) {
                *slot = Some(result);
            }
        }
    };
    thread::scope(|scope| {
        let helpers: Vec<_> = (1..workers).map(|_n| scope.spawn(take)).collect();
        take();
        for helper in helpers {
            if let Err(panicked) = helper.join() {
                panic::resume_unwind(panicked);
            }
        }
    });
    // Every item was taken, and who took it either finished or panicked.
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::map_in_order;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1_000).collect();
        assert_eq!(map_in_order(&items, |n| n * 2), items.iter().map(|n| n * 2).collect::<Vec<_>>());
        assert!(map_in_order(&[] as &[u32], |n| *n).is_empty());
    }

    #[test]
    #[should_panic(expected = "the seventh")]
    fn a_panic_is_passed_on() {
        let items: Vec<u32> = (0..20).collect();
        map_in_order(&items, |n| assert_ne!(*n, 7, "the seventh"));
    }
}
