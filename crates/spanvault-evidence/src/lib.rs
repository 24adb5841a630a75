//! Reads what spans prove: atoms, effects of calls, their fates, classes.
//!
//! Pure: content in, facts out; no I/O, no clock, no model, and the same bytes always read the same. What cannot
//! be seen through is *opaque* or *unknown*, never harmless. Start with [`atoms`] for one span and [`pair`] for
//! a record.

mod atom;
mod class;
mod effect;
mod fate;
mod pairing;
mod tokens;

pub use atom::{Atom, AtomKind, atoms, atoms_of_text};
pub use class::{as_read_by_gate, class_of_call, classes};
pub use effect::{CallEffect, Effect, effect_of};
pub use fate::{Fate, FateReading, exit_code_of, fate_of, is_empty_result};
pub use pairing::{At, PairedCall, pair};
pub use tokens::{tokens_of_bytes, tokens_of_span};
