//! A simulated world: every run with one seed is the same run.
//!
//! The disk forgets what was not synced, the clock jumps and reboots, calls fail when a test says so. Nothing here
//! touches the operating system.

mod clock;
mod random;
mod rng;

pub use clock::SimClock;
pub use random::SimRandom;
