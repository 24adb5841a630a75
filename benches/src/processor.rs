//! How long the processors worked for this process, as Linux counts it: what a busy machine does not change.

use std::time::Duration;

use crate::Outcome;

/// A tick of that count. It is the same on every architecture that Linux runs on today.
const TICK: Duration = Duration::from_millis(10);

/// Runs `work`; gives the time that processors worked for this process meanwhile, on all its threads, in steps of a
/// hundredth of a second.
///
/// # Errors
/// What `work` says, and where the system does not say.
pub fn worked<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, Duration)> {
    let before = ticks()?;
    let done = work()?;
    let ticks = u32::try_from(ticks()?.saturating_sub(before))?;
    Ok((done, TICK * ticks))
}

/// Ticks in this process and in the system on its behalf.
fn ticks() -> Outcome<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name before the last bracket may hold anything.
    let (_name, fields) = stat.rsplit_once(')').ok_or("no such figure")?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || -> Outcome<u64> { Ok(fields.next().ok_or("no such figure")?.parse()?) };
    Ok(ticks()? + ticks()?)
}
