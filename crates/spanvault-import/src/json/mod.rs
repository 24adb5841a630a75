//! A JSON reader that knows where everything stands.
//!
//! `serde_json` gives values without their place, refuses lone surrogate escapes that real transcripts hold,
//! and takes objects with certain member names for numbers or raw text. Here a value is a slice of the
//! original with its offset; numbers keep every digit, the last of several equal names counts, and nesting
//! costs a bit a level and no stack. What is accepted is exactly JSON: see the tests, which compare with
//! `serde_json`.

mod build;
mod grammar;
mod nesting;
mod raw;
mod string;
#[cfg(test)]
mod tests;

pub(crate) use build::{sketch, sketch_shallow, sketch_with_rest};
pub(crate) use grammar::{ends_scalar, skip_space};
pub(crate) use nesting::{Container, Nesting};
pub(crate) use raw::Raw;
pub(crate) use string::{decode, decode_inner};

/// What is wrong with JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It ends too early.
    Truncated,
    /// Something else stands where the grammar wants something.
    Unexpected {
        /// The byte.
        at: usize,
    },
}

/// Whether JSON takes this byte for white space.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
