//! Random bytes that a seed decides.

use std::sync::PoisonError;

use super::rng::Rng;
use crate::Random;
use crate::sync::Mutex;

/// Bytes that are the same in every run with the same seed.
#[derive(Debug)]
pub struct SimRandom {
    rng: Mutex<Rng>,
}

impl SimRandom {
    /// The bytes of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { rng: Mutex::new(Rng::new(seed)) }
    }
}

impl Random for SimRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in bytes.chunks_mut(8) {
            let drawn = rng.next().to_le_bytes();
            piece.copy_from_slice(drawn.get(..piece.len()).unwrap_or_default());
        }
    }
}
