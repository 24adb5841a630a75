//! Reads what spans prove, owe and drop: atoms, effects of calls and their fates, classes; promises and negative
//! results; what makes a span live; and what a summary of spans leaves out.
//!
//! Pure: content in, facts out; no I/O, no clock, no model, and the same bytes always read the same. What cannot
//! be seen through is *opaque* or *unknown*, never harmless. Start with [`atoms`] for one span, [`pair`] for the
//! calls of a record, [`read_session`] for a whole session and [`Manifest`] for a summary.

mod admission;
mod atom;
mod checkpoint;
mod class;
mod digest;
mod effect;
mod fate;
mod line;
mod liveness;
mod negative;
mod obligation;
mod omission;
mod pairing;
mod prose;
mod reading;
mod session_atoms;
mod summarize;
#[cfg(test)]
mod testing;
mod tokens;

pub use admission::{Admission, SummarySources, admit};
pub use atom::{Atom, AtomKind, atoms, atoms_of_text, holds_detail};
pub use checkpoint::{Checkpoint, checkpoint};
pub use class::{as_read_by_gate, class_of_call, classes};
pub use digest::{DIGEST_LINES_MAX, DIGEST_TOKENS_MAX, Digest, DigestInput, DigestTooLong, digest};
pub use effect::{CallEffect, Effect, Lowered, Registry, RegistryError, effect_of};
pub use fate::{Fate, FateReading, exit_code_of, fate_of, is_empty_result};
pub use liveness::{CarriedMark, LiveMark, live, open_marks};
pub use negative::{Negative, NegativeKind};
pub use obligation::{Obligation, ObligationKind};
pub use omission::{Detail, Manifest, ManifestError, NUMBERS_SHOWN_MAX, Shown, SourceDetails};
pub use pairing::{At, PairedCall, pair};
pub use reading::{SessionReading, SpanDebts, SpanReading, SpanText, debts_since, read_session};
pub use session_atoms::SessionAtoms;
pub use summarize::{source_text, summarize};
pub use tokens::{tokens_of_bytes, tokens_of_span};

/// A digest of the sources of this crate: another state of them may read the same bytes otherwise.
pub const SOURCE_DIGEST: &str = env!("SPANVAULT_SOURCE_DIGEST");
