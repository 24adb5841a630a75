//! Work that needs the processor alone, shared out among a few threads.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{panic, thread};

/// More threads than this are not started for one piece of work.
const THREADS_MAX: usize = 8;

/// How many processors there are; it takes several calls of the system to find out.
static PROCESSORS: OnceLock<usize> = OnceLock::new();

fn threads() -> usize {
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_MAX))
}

/// Does `work` with each item, several at once, and gives what comes of them in the order of the items. Each thread has
/// one stretch of them.
pub(crate) fn in_shares<T: Send, R: Send>(mut items: Vec<T>, work: &(impl Fn(T) -> R + Sync)) -> Vec<R> {
    let share = items.len().div_ceil(threads()).max(1);
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

/// Does `work` with each item, several at once, and `next` with what comes of each: on this thread, in the order of the
/// items, and while others are still worked at. Where there is nothing to go on with, this thread works too.
pub(crate) fn in_turn<T: Send, R: Send>(
    items: Vec<T>,
    work: &(impl Fn(T) -> R + Sync),
    mut next: impl FnMut(R),
) {
    let count = items.len();
    let others = threads().min(count).saturating_sub(1);
    if others == 0 {
        return items.into_iter().for_each(|item| next(work(item)));
    }
    let items = Mutex::new(items.into_iter().enumerate());
    let take = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        let (done, arriving) = channel();
        for _ in 0..others {
            let done = done.clone();
            let take = &take;
            scope.spawn(move || {
                while let Some((number, item)) = take() {
                    if done.send((number, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut ready = BTreeMap::new();
        for number in 0..count {
            let result = loop {
                ready.extend(arriving.try_iter());
                if let Some(result) = ready.remove(&number) {
                    break result;
                }
                let more = match take() {
                    Some((number, item)) => Ok((number, work(item))),
                    None => arriving.recv(),
                };
                // If one of the others panicked, so does the end of this scope.
                let Ok((number, result)) = more else { return };
                ready.insert(number, result);
            };
            next(result);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        for count in [0, 1, 2, 3, 7, 8, 9, 100] {
            let items: Vec<u32> = (0..count).collect();
            let wanted: Vec<u32> = items.iter().map(|n| n * 2).collect();
            assert_eq!(in_shares(items.clone(), &|n| n * 2), wanted);
            let mut found = Vec::new();
            in_turn(items, &|n| n * 2, |n| found.push(n));
            assert_eq!(found, wanted);
        }
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn work_that_panics_is_heard_of() {
        in_turn((0..100).collect(), &|n| assert_ne!(n, 50, "this one panicked"), |()| ());
    }
}
