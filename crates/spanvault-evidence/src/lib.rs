//! Reads what spans prove: atoms, effects of calls, their fates, classes.
//!
//! Pure: content in, facts out; no I/O, no clock, no model, and the same bytes always read the same. What cannot
//! be seen through is *opaque* or *unknown*, never harmless. Start with [`atoms`] for one span and [`pair`] for
//! a record.

mod absorb;
mod admission;
mod atom;
mod checkpoint;
mod class;
mod command_line;
mod cue;
mod denial;
mod digest;
mod effect;
mod excuse;
mod failure;
mod fate;
mod ledger;
mod line;
mod liveness;
mod manifest;
mod negative;
mod obligation;
mod omission;
mod pairing;
mod pending;
mod place;
mod promise;
mod prose;
mod reader;
mod reading;
mod request;
mod statement;
mod summarize;
mod task;
#[cfg(test)]
mod testing;
mod tokens;
mod verb;

pub use admission::{Admission, SummarySources, admit};
pub use atom::{Atom, AtomKind, atoms, atoms_of_text, holds_detail};
pub use checkpoint::{Checkpoint, checkpoint};
pub use class::{as_read_by_gate, class_of_call, classes};
pub use digest::{DIGEST_LINES_MAX, DIGEST_TOKENS_MAX, Digest, DigestInput, DigestTooLong, digest};
pub use effect::{CallEffect, Effect, effect_of};
pub use fate::{Fate, FateReading, exit_code_of, fate_of, is_empty_result};
pub use liveness::{CarriedMark, LiveMark, live};
pub use manifest::ManifestError;
pub use negative::{Negative, NegativeKind};
pub use obligation::Obligation;
pub use omission::{Detail, Manifest, NUMBERS_SHOWN_MAX, Shown};
pub use pairing::{At, PairedCall, pair};
pub use reading::{SessionReading, SpanReading, SpanText, read_session};
pub use summarize::{source_text, summarize};
pub use tokens::{tokens_of_bytes, tokens_of_span};
pub use verb::ObligationKind;
