//! Measurements: each beside its bare limit, or a peer, in the same run, with its results checked.
//!
//! The machines that run these are shared, so only ratios within one run say something. One file beside this folder
//! is one bench and one command, `cargo bench -p spanvault-benches --bench NAME`; `docs/performance.md` has the table.
//! Whatever a bench is told stands after `--`: `--record` appends a line to `history/NAME.jsonl`.
//!
//! This package alone goes past `spanvault_env`: what is measured here is the machine itself.

pub mod bulk;
pub mod child;
pub mod engine;
pub mod memory;
pub mod noise;
pub mod peer;
pub mod place;
pub mod postings;
pub mod processor;
pub mod raw;
pub mod records;
pub mod report;
pub mod settings;
pub mod shared_file;
pub mod spans;
pub mod stats;
pub mod table;
pub mod tables;
pub mod transcript;
pub mod watch;
pub mod whole;

/// What a bench ends with: whatever goes wrong ends it.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Ends a bench whose result is not what it has to be.
///
/// # Errors
/// Where `holds` does not.
pub fn check(holds: bool, what: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(what().into()) }
}
