//! The line by which a suite says how much it did.

use std::fmt::Display;
use std::io::Write as _;

/// Prints `RELIABILITY name value target`, past the capture of the test harness: docs/reliability.md has the names.
///
/// # Panics
/// Where nobody can read it.
#[expect(clippy::expect_used, reason = "a test that cannot say what it did has failed")]
pub fn reliability(name: &str, value: impl Display, target: impl Display) {
    writeln!(std::io::stdout(), "RELIABILITY {name} {value} {target}").expect("a line on standard output");
}
