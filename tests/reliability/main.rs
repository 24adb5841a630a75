//! Simulations of the engines with everything that can go wrong, and the test of the tests: docs/reliability.md.
//!
//! `cargo test -p spanvault-tests --features planted --test reliability`; `SPANVAULT_RELIABILITY=1` for the numbers of
//! continuous integration, in an optimised build.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test makes its own files and keeps its own time")]

mod calls;
mod draw;
mod index;
mod ledger;
mod planted;
mod rot;
mod script;
mod simulation;
mod traces;
#[path = "../it/twin.rs"]
mod twin;
#[path = "../it/words.rs"]
mod words;
#[expect(dead_code, reason = "the stories in it belong to other tests")]
#[path = "../it/world.rs"]
mod world;

/// Whether a run has to reach the numbers of continuous integration.
fn is_full() -> bool {
    std::env::var_os("SPANVAULT_RELIABILITY").is_some_and(|set| set == "1")
}

/// The full number, or the small one of a run by the way.
fn number(small: u64, full: u64) -> u64 {
    if is_full() { full } else { small }
}
