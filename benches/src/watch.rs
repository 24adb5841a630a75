//! Takes time.

use std::time::{Duration, Instant};

/// Runs `work` and takes its time.
///
/// # Errors
/// What `work` says.
pub fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = now();
    let done = work()?;
    Ok((done, start.elapsed()))
}

#[expect(clippy::disallowed_methods, reason = "a measurement is of real time, and only this module takes it")]
fn now() -> Instant {
    Instant::now()
}
