//! The real world: the operating system's files, clocks and random bytes (Linux).

mod clock;
mod disk;
mod lock;
mod random;
#[cfg(test)]
mod tests;

pub use clock::RealClock;
pub use disk::RealDisk;
pub use random::RealRandom;
