//! A simulated world: every run with one seed is the same run.
//!
//! The disk forgets what was not synced, the clock jumps and reboots, calls fail when a test says so. Nothing here
//! touches the operating system.

mod clock;
mod content;
mod crash;
mod disk;
mod fault;
mod handle;
mod random;
mod rng;
#[cfg(test)]
mod tests;
mod tree;
mod world;

pub use clock::SimClock;
pub use crash::Survival;
pub use disk::SimDisk;
pub use fault::{CallKind, Fault, ScheduledFault};
pub use random::SimRandom;
pub use world::Count;
