//! How many originals are compressed together.

/// How originals are packed when they are demoted. What is in a pack already stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Packing {
    /// Each by itself: one is back within microseconds, and a damaged byte costs one at most.
    #[default]
    Single,
    /// Those of one session in blocks of up to 128 KiB: a quarter smaller. To get one back its whole block is unpacked, and a
    /// damaged byte may cost all that are in the block.
    Solid,
}

impl Packing {
    /// The length of what is compressed together; one original may be longer.
    pub(crate) const fn block_bytes(self) -> usize {
        match self {
            Self::Single => 0,
            Self::Solid => 128 << 10,
        }
    }
}
