//! Spanvault: byte-exact originals for long-running agents, and a gate that refuses to lose evidence.
//!
//! An agent's runtime replaces old parts of a transcript by summaries. Spanvault keeps the originals, maps every
//! summary to them, and refuses a replacement or a removal while evidence could still be needed. A question gets the
//! exact answer with its proof, or an explicit *insufficient evidence*.
//!
//! Start with [`Vault`]. Everything is synchronous, `Send + Sync`, and without global state; events go to `tracing`.

pub mod ask;

mod asking;
mod auto_compact;
mod capacity;
mod catalog;
mod checkpoint;
mod classes;
mod clock;
mod compact;
mod context;
mod demand;
mod draft;
mod error;
mod health;
mod hold;
mod ids;
mod index;
mod ingest;
mod integrity;
mod joint;
mod keepers;
mod ledger;
mod liveness;
mod operations;
mod options;
mod policy;
mod postings;
mod provenance;
mod recipe;
mod reclaim;
mod recorder;
mod recover;
mod registry;
mod scoped;
mod session;
mod session_list;
mod show;
mod spans;
mod threads;
mod tier;
mod vault;
mod view;

pub use auto_compact::AutoCompaction;
pub use capacity::{Amount, Capacity, KeptBy, Relief, Stats};
pub use checkpoint::CheckpointMade;
pub use compact::{
    BuiltIn, CompactionOptions, CompactionPlan, CompactionReport, Expiring, Keep, Over, PlannedRange,
    Preserved, RefusedSpan, Summarizer, SummaryMade, SummaryRequest,
};
pub use context::ContextItem;
pub use demand::{Declared, DemandInfo, NeededUntil, ScopeName, Unsatisfiable};
pub use draft::{Receipt, SpanDraft};
pub use error::{Error, ErrorKind, Result};
pub use health::Health;
pub use hold::{Held, HoldInfo};
pub use ids::{CheckpointId, DemandId, HASH_DIGITS_MIN, HoldId, Name, SpanId, SummaryId};
pub use ingest::{
    FileToIngest, ImportedSummary, IngestNews, IngestOptions, IngestReport, QuarantinedRecord, SideFile,
};
pub use integrity::RebuildReport;
pub use keepers::{ASSUMED_AUDIT_MS, GRACE};
pub use ledger::{LogEntry, RefusalInfo};
pub use liveness::LiveReason;
pub use operations::{
    Assessment, Audit, Checked, Claim, Executed, Execution, Replay, ReplayedSpan, SideEffect,
};
pub use options::{IndexKind, Options};
pub use policy::{NewRetention, Policy};
pub use provenance::{CitedOriginal, Expansion, Omission, Why};
pub use reclaim::{Act, ReclaimReport, ReclaimStep, Run};
pub use registry::{RegistryInfo, read_registry};
pub use session::Session;
pub use session_list::SessionInfo;
pub use show::Shown;
pub use spans::{OpenedObligation, SpanFilter, SpanInfo, Whereabouts};
pub use tier::{Cooling, TierReport};
pub use vault::Vault;

/// The guide for people who embed this crate: its code is compiled and run here.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/embedding.md")]
pub struct EmbeddingGuide;

pub use spanvault_evidence::{AtomKind, Lowered};
pub use spanvault_import::is_generic;
pub use spanvault_store::{
    Damage, Durability, Fault, LostTail, OpenReport, Packing, Progress, VerifyDepth, VerifyReport,
};
pub use spanvault_types as types;

#[cfg(test)]
mod tests {
    use super::ask::{Answer, Query};
    use super::{Error, Session, Vault};

    #[test]
    fn a_vault_and_what_it_hands_out_go_between_threads() {
        fn goes_between_threads<T: Send + Sync>() {}
        goes_between_threads::<Vault>();
        goes_between_threads::<Session<'static>>();
        goes_between_threads::<Error>();
        goes_between_threads::<Query>();
        goes_between_threads::<Answer>();
    }
}
