//! The only door to the world: files, clocks and randomness, real and simulated.
//!
//! No other engine crate calls the operating system. Start with [`Env`].

mod clock;
mod disk;
mod random;

use std::sync::Arc;

pub use clock::{BootId, Clock};
pub use disk::{Disk, DiskFile, DirEntry, LockError, LockHandle, OpenMode};
pub use random::Random;

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
