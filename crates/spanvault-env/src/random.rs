//! Random bytes.

use std::fmt::Debug;

/// A source of random bytes.
pub trait Random: Debug + Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}
