//! The only door to the world: files, clocks and randomness, real and simulated.
//!
//! No other engine crate calls the operating system. Start with [`Env`].

mod clock;
mod disk;
mod gather;
mod random;
mod real;
mod sim;
mod store_clock;
pub mod sync;

use std::sync::Arc;

pub use clock::{BootId, Clock};
pub use disk::{DirEntry, Disk, DiskFile, LockError, LockHandle, OpenMode};
pub use gather::Gather;
pub use random::Random;
pub use real::{RealClock, RealDisk, RealRandom};
pub use sim::{CallKind, Count, Fault, ScheduledFault, SimClock, SimDisk, SimRandom, Survival};
pub use store_clock::{ClockState, DRIFT_MS_MAX, StoreClock};

/// Everything that an engine needs of the world.
#[derive(Debug, Clone)]
pub struct Env {
    /// Files and directories.
    pub disk: Arc<dyn Disk>,
    /// Clocks.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub random: Arc<dyn Random>,
}

impl Env {
    /// The real world.
    pub fn real() -> Self {
        Self { disk: Arc::new(RealDisk), clock: Arc::new(RealClock::new()), random: Arc::new(RealRandom) }
    }

    /// A simulated world with an empty disk and clocks that are right, and the parts that a test turns. The seed
    /// decides boot ids and random bytes.
    pub fn simulated(seed: u64) -> (Self, Arc<SimDisk>, Arc<SimClock>) {
        let (disk, clock) = (Arc::new(SimDisk::new()), Arc::new(SimClock::new(seed)));
        let env = Self { disk: disk.clone(), clock: clock.clone(), random: Arc::new(SimRandom::new(seed)) };
        (env, disk, clock)
    }

    /// The same world with another disk: what a process finds after [`SimDisk::crash`] or [`SimDisk::restart`].
    #[must_use]
    pub fn with_disk(&self, disk: Arc<dyn Disk>) -> Self {
        Self { disk, ..self.clone() }
    }
}
