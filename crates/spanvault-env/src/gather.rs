//! Waiting for a group, so that one piece of work serves all of it.

use std::time::Duration;

/// Nobody waits longer than this, in microseconds.
const PATIENCE_US_MAX: u64 = 5_000;

/// How long the one who works for a group waits for the others before it begins.
///
/// Those whom the last work served are on their way with their next wish: where it begins without them, half of them are
/// always too late for what the other half has just begun. So it waits for as many as there were, at most for half
/// of what the last work took, and not at all where there was only one.
#[derive(Debug, Default)]
pub struct Gather {
    served: usize,
    took_us: u64,
}

impl Gather {
    /// Work has served this many, and took this long.
    pub const fn served(&mut self, members: usize, took_us: u64) {
        (self.served, self.took_us) = (members, took_us);
    }

    /// Whether no more are to be waited for when this many are there.
    pub const fn is_whole(&self, waiting: usize) -> bool {
        waiting >= self.served
    }

    /// How long to wait for those who are not there.
    pub fn patience(&self) -> Duration {
        Duration::from_micros((self.took_us / 2).min(PATIENCE_US_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_works_waits_for_as_many_as_there_were_and_half_as_long_as_it_took() {
        let mut gather = Gather::default();
        assert!(gather.is_whole(0) && gather.patience().is_zero());
        gather.served(3, 200);
        assert!(!gather.is_whole(2) && gather.is_whole(3));
        assert_eq!(gather.patience(), Duration::from_micros(100));
        gather.served(1, u64::MAX);
        assert!(gather.is_whole(1));
        assert_eq!(gather.patience(), Duration::from_micros(PATIENCE_US_MAX));
    }
}
