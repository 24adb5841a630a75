//! The store from outside: what was acknowledged is there, and nothing else is claimed.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail a test by panicking, as the tests do"
)]

mod blocks;
mod crash;
mod damage;
mod life;
mod long_originals;
mod neighbours;
mod noise;
mod real;
mod room;
mod space;
mod support;
mod sweeps;
mod tiers;
