//! How long the processors worked for this process, as Linux counts it: what a busy machine does not change.

use std::ops::AddAssign;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::Outcome;
use crate::watch::timed;

/// What some work took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// On the clock.
    pub clock: Duration,
    /// Of all processors together.
    pub processor: Duration,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.clock += other.clock;
        self.processor += other.processor;
    }
}

/// Runs `work`; gives the time that processors worked for this process meanwhile, on all its threads.
///
/// # Errors
/// What `work` says, and where the system does not say.
pub fn worked<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, Duration)> {
    let before = so_far()?;
    let done = work()?;
    Ok((done, so_far()?.saturating_sub(before)))
}

/// Runs `work`; gives what it took on the clock and of the processors.
///
/// # Errors
/// As [`worked`].
pub fn spent<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, Spent)> {
    let ((done, clock), processor) = worked(|| timed(work))?;
    Ok((done, Spent { clock, processor }))
}

/// In this process and in the system on its behalf.
fn so_far() -> Outcome<Duration> {
    Ok(Duration::try_from(clock_gettime(ClockId::ProcessCPUTime))?)
}
