//! Room ahead of the log: zeros behind the last frame of the open segment.
//!
//! A sync of a file that has grown has more to write than the bytes: its new length and where its new blocks are. Where one
//! short commit comes after the other, some of them therefore write zeros behind themselves, in the same call, and those
//! that follow write over them. To whoever opens the segment the zeros are a torn tail: they begin where the next
//! position would be, and nothing that was ever acknowledged is in them.

use std::io::IoSlice;

/// A longer batch needs no room: its sync has enough to write.
const SHORT_BYTES: u64 = 64 << 10;
/// Short batches have written this much, one after the other, before room is made.
const RUN_BYTES_MIN: u64 = 16 << 10;
/// The most that is written ahead at once.
const AHEAD_BYTES_MAX: usize = 128 << 10;

static ZEROS: [u8; AHEAD_BYTES_MAX] = [0; AHEAD_BYTES_MAX];

/// The room ahead of the open segment.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// What short batches have written since the last long one.
    run: u64,
    /// Where the room ends in the file; before the end of the log there is none.
    until: u64,
}

impl Room {
    /// How many zeros to write behind a batch of `bytes` that ends at `end`, in a segment that must not grow beyond
    /// `segment_bytes`.
    pub(crate) fn ahead(&mut self, bytes: u64, end: u64, segment_bytes: u64) -> usize {
        if bytes > SHORT_BYTES {
            self.run = 0;
            return 0;
        }
        self.run = self.run.saturating_add(bytes);
        if end <= self.until || self.run < RUN_BYTES_MIN {
            return 0;
        }
        let most = self.run.min(segment_bytes.saturating_sub(end));
        usize::try_from(most).unwrap_or(usize::MAX).min(AHEAD_BYTES_MAX)
    }

    /// So many zeros.
    pub(crate) fn zeros(ahead: usize) -> IoSlice<'static> {
        IoSlice::new(ZEROS.get(..ahead).unwrap_or(&ZEROS))
    }

    /// The file has room up to `until`.
    pub(crate) const fn made(&mut self, until: u64) {
        self.until = until;
    }

    /// There was no space for it: it is not tried again soon.
    pub(crate) const fn refused(&mut self) {
        self.run = 0;
    }

    /// Whether there is room behind `end`.
    pub(crate) const fn reaches_beyond(&self, end: u64) -> bool {
        self.until > end
    }

    /// The file ends with its frames, or another one has taken its place.
    pub(crate) const fn gone(&mut self) {
        self.until = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of batches of these lengths: what each writes ahead.
    fn written(batches: &[u64], segment_bytes: u64) -> Vec<usize> {
        let (mut room, mut end) = (Room::default(), 0);
        let write = |bytes: &u64| {
            end += bytes;
            let ahead = room.ahead(*bytes, end, segment_bytes);
            if ahead > 0 {
                room.made(end + ahead as u64);
            }
            ahead
        };
        batches.iter().map(write).collect()
    }

    #[test]
    fn room_grows_with_the_run_of_short_batches() {
        assert_eq!(written(&[5_000; 4], u64::MAX), [0, 0, 0, 20_000], "not before it is a run");
        let ahead = written(&[5_000; 400], u64::MAX);
        assert!(ahead.iter().filter(|ahead| **ahead > 0).count() < 25, "{ahead:?}");
        assert_eq!(ahead.iter().max(), Some(&AHEAD_BYTES_MAX));
    }

    #[test]
    fn a_long_batch_makes_no_room_and_ends_the_run() {
        assert_eq!(written(&[8_000, 8_000, 100_000, 8_000, 8_000], u64::MAX), [0; 5]);
    }

    #[test]
    fn no_segment_grows_too_long_for_its_room() {
        assert_eq!(written(&[8_000; 5], 25_000), [0, 0, 1_000, 0, 0]);
    }
}
