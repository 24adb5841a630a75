//! The log of a vault and the originals in it: append, reopen, read back, verify.
//!
//! The log is the truth; whatever else knows something about a vault can be rebuilt from it. This crate does not know
//! what a summary is, decides nothing, and removes nothing on its own. Start with [`Store`].
#![warn(clippy::indexing_slicing)]

mod batch;
mod bodies;
mod bytes;
mod chain;
mod cold;
mod cold_bodies;
mod column;
mod damage;
mod deferred;
mod demote;
mod draft;
mod durability;
mod error;
mod files;
mod filter;
mod flush;
mod frame;
mod frames;
mod free;
mod handles;
mod hint;
mod layout;
mod long;
mod lookup;
mod open;
mod originals;
mod read;
mod rebuild;
mod refresh;
mod remove;
mod repack;
mod report;
mod reserve;
mod rewrite;
mod room;
mod segment;
mod shares;
mod sidecar;
mod stamp;
mod store;
mod sweep;
mod tail;
mod tier;
mod unrecorded;
mod verify;
mod view;
mod whereabouts;
mod window;
mod writer;

pub use batch::{Batch, Body};
pub use bodies::Bodies;
pub use cold::Packing;
pub use cold_bodies::ColdBodies;
pub use column::Column;
pub use damage::{Damage, Fault};
pub use demote::DemoteReport;
pub use durability::Durability;
pub use error::StoreError;
pub use frames::Frames;
pub use free::{FreeOptions, FreeReport};
pub use originals::Originals;
pub use read::{BodyState, Frame, Original};
pub use rebuild::Progress;
pub use remove::Removal;
pub use report::{LostTail, OpenReport};
pub use store::{Access, Head, Store, StoreOptions};
pub use sweep::{Stretch, SweptSpan};
pub use verify::{VerifyDepth, VerifyReport};
pub use whereabouts::Whereabouts;
pub use writer::Writer;
