//! The derived index of a vault: under which key the log's events are found.
//!
//! An index holds pairs of a key ([`spanvault_types::key`]) and the log position that the key leads to, and no
//! bytes of any original. It is disposable: everything in it can be made again from the log, what is read through it
//! is verified in the log, and *absent* is never answered from it alone. So nothing here is relied on for
//! durability, and a damaged index costs time, never an answer.
//!
//! Start with [`Index`]. [`SledIndex`] keeps it on disk and [`open_trusted`] decides whether what is there may be
//! used; [`MemoryIndex`] is its twin for simulations. [`postings`] are look-ups of another kind: which spans may hold a
//! term, in immutable files beside the index.

mod entry;
mod error;
mod files;
mod index;
mod memory;
pub mod postings;
mod quiet;
mod sled_index;
mod stamp;
mod trust;

#[cfg(test)]
mod tests;

pub use entry::KEY_BYTES_MAX;
pub use error::IndexError;
pub use index::{Applied, Entry, Index};
pub use memory::MemoryIndex;
pub use sled_index::SledIndex;
pub use trust::{Distrust, LogView, Opened, Trust, open_trusted};
