//! The program under test: the command line as it is shipped.

use std::process::ExitCode;

fn main() -> ExitCode {
    spanvault_cli::run(std::env::args_os().collect())
}
