//! Work that needs the processor alone, shared out among a few threads.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::{panic, thread};

/// More threads than this are not started for one piece of work.
const THREADS_MAX: usize = 8;

/// How many processors there are; it takes several calls of the system to find out.
static PROCESSORS: OnceLock<usize> = OnceLock::new();

/// Does `work` with each item, several at once, and gives what comes of them in the order of the items. Each thread has
/// one stretch of them.
pub(crate) fn in_shares<T: Send, R: Send>(mut items: Vec<T>, work: &(impl Fn(T) -> R + Sync)) -> Vec<R> {
    let threads = *PROCESSORS
        .get_or_init(|| thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_MAX));
    let share = items.len().div_ceil(threads).max(1);
    let run = |items: Vec<T>| -> Vec<R> { items.into_iter().map(work).collect() };
    thread::scope(|scope| {
        let mut others = Vec::new();
        while items.len() > share {
            let theirs = items.split_off(items.len() - share);
            others.push(scope.spawn(move || run(theirs)));
        }
        let mut done = run(items);
        for other in others.into_iter().rev() {
            done.extend(other.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        for count in [0, 1, 2, 3, 7, 8, 9, 100] {
            let items: Vec<u32> = (0..count).collect();
            let wanted: Vec<u32> = items.iter().map(|n| n * 2).collect();
            assert_eq!(in_shares(items, &|n| n * 2), wanted);
        }
    }
}
