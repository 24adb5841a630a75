//! The program `spanvault`; everything is in the library, so that tests can look at it.

use std::process::ExitCode;

fn main() -> ExitCode {
    spanvault_cli::run(std::env::args_os().collect())
}
