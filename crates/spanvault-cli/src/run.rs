//! One run of the program, from its arguments to its exit code.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::builder::StyledStr;

use crate::args::{Cli, command};
use crate::context::Context;
use crate::failure::Exit;
use crate::output::Output;
use crate::{commands, help};

/// Runs the program with these arguments, the program's own name first.
pub fn run(args: Vec<OsString>) -> ExitCode {
    if args.len() <= 1 {
        to_stderr(&command().render_help());
        return ExitCode::from(Exit::Usage as u8);
    }
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

/// Shows help to people; where nobody reads it, there is nobody to tell about that.
fn to_stderr(help: &StyledStr) {
    let stderr = io::stderr();
    let shown = if stderr.is_terminal() { help.ansi().to_string() } else { help.to_string() };
    drop(stderr.lock().write_all(shown.as_bytes()));
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
