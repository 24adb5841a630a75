//! The clocks of the machine, and store time made of them.

use std::fmt::Debug;

/// Names one boot of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BootId(pub [u8; 16]);

/// The clocks of a machine.
pub trait Clock: Debug + Send + Sync {
    /// The wall clock: milliseconds after the Unix epoch. May jump. Never decides a deletion.
    fn wall_ms(&self) -> u64;

    /// Milliseconds since boot, time asleep included (`CLOCK_BOOTTIME`).
    fn boot_ms(&self) -> u64;

    /// Microseconds that only go up, from any beginning: how long something took. A clock without such a thing gives
    /// its milliseconds since boot.
    fn elapsed_us(&self) -> u64 {
        self.boot_ms().saturating_mul(1_000)
    }

    /// The boot, or `None` where it cannot be read: then the clock is suspect (I39).
    fn boot_id(&self) -> Option<BootId>;
}
