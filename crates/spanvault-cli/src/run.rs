//! One run of the program, from its arguments to its exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::args::{Cli, command};
use crate::context::Context;
use crate::failure::Exit;
use crate::output::Output;
use crate::{commands, help};

/// Runs the program with these arguments, the program's own name first.
pub fn run(args: Vec<OsString>) -> ExitCode {
    // Global flags are looked for by hand only where the grammar itself was not met.
    let wants_json = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let cli = match command().try_get_matches_from(args).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(explain(&error, wants_json) as u8),
    };
    let mut context = Context::new(cli.global.vault, Output::stdout(cli.global.json));
    let ended = commands::run(&cli.command, &mut context);
    let finished = context.output.finish();
    let exit = match ended.and_then(|exit| finished.map(|()| exit)) {
        Ok(exit) => exit,
        Err(failure) => {
            failure.tell(cli.global.json);
            failure.exit()
        }
    };
    ExitCode::from(exit as u8)
}

/// Prints help where it was asked for, and what is wrong with the arguments otherwise.
fn explain(error: &clap::Error, wants_json: bool) -> Exit {
    if !error.use_stderr() {
        // Whoever closes the pipe has seen enough of the help.
        drop(error.print());
        return Exit::Done;
    }
    if wants_json {
        help::usage_error(error).tell(wants_json);
    } else {
        drop(error.print());
    }
    Exit::Usage
}
