//! Asking: queries over originals, and answers that are never confidently wrong.
//!
//! [`Query`] says what to find and where, [`evaluate`] looks through what an [`Originals`] hands it, and an
//! [`Answer`] is *present*, *absent* or *insufficient* with its evidence and its coverage. Everything here is pure:
//! no store, no files, no clock. Nothing is looked up in summaries, because a summary is never proof of absence.
//!
//! How certainty is kept:
//! - Whatever might match but cannot be seen (its bytes are gone or were never parsed, its time is unknown, its
//!   result is gone, its effect cannot be seen through) is a *doubt*, standing in its place among what was found.
//!   A doubt never counts as a match and never as none; only answers that no doubt could change are certain. A doubt
//!   after the n-th match cannot change which one is the n-th; a doubt before it can.
//! - An unseen span is no doubt where its record proves that it cannot match: the recorded kind names the strongest
//!   part of a span, so a span recorded as a message holds no call and no result. Lost content is never guessed at.
//! - A call is paired with its result by an id that both name, or by order. Either may be wrong where an unseen span
//!   stands where a call or a result could have stood, so such a pair is in doubt as well.
//!
//! What a text search looks at: the decoded words of messages, thinking, summaries of the source's own runtime, calls
//! (tool, argument names and values) and results. Records of the runtime that are no conversation (progress lines,
//! snapshots, titles) hold no words and no calls; `"kinds": ["original"]` searches the exact bytes of every original
//! and so sees them too.

mod answer;
mod calls;
mod coverage;
mod doubt;
mod equality;
mod error;
mod evaluate;
mod extract;
mod find_calls;
mod find_text;
mod get;
mod ground;
mod kinds;
mod locate;
mod matching;
mod originals;
mod plan;
mod query;
mod reading;
mod rivals;
mod scope;
mod seek;
mod settle;
mod sieve;
pub(crate) mod terms;
mod text;
mod wire;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Coverage, Evidence, Missing, MissingReason, OpaqueCall, Verdict};
pub use equality::json_equal;
pub use error::{AskError, QueryError};
pub use evaluate::{OneOfMany, evaluate, evaluate_all};
pub use get::{Get, JsonPlace};
pub use matching::{Match, contains, equal, glob, prefix, regex, suffix};
pub use originals::{
    AskSpan, Narrowed, Originals, RuledOut, Sight, Transcript, Transcripts, UnseenReason, Within,
};
pub use query::{Calls, Find, Query, Scope, Side, Text, Words};
pub use sieve::Sieve;
pub use terms::Need;
