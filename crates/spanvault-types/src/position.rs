//! Log positions: the numbers by which everything in the log is named.

use std::fmt;

use bincode::{Decode, Encode};

/// The sequence number of one frame of the log; never reused, never moved by a rewrite of its segment.
///
/// A span, session, source, summary, demand or hold is named by the position of the frame that made it,
/// an original by the position of the frame that first carried its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Encode, Decode)]
pub struct Position(u64);

impl Position {
    /// The position before the first frame: "nothing yet".
    pub const ZERO: Self = Self(0);

    /// Names the frame with sequence number `seq`; the first frame of a log has 1.
    pub const fn new(seq: u64) -> Self {
        Self(seq)
    }

    /// The sequence number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The position that follows, saturating.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}
