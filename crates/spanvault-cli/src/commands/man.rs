//! `man`: the manual page.

use clap::Args;
use clap_mangen::Man;

use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Print the manual page, or that of one command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault man > /usr/local/share/man/man1/spanvault.1\n  \
    spanvault man ask | man -l -")]
pub(crate) struct ManArgs {
    /// The command; the whole program where none is named
    #[arg(value_name = "COMMAND", num_args = 0..)]
    command: Vec<String>,
}

pub(crate) fn run(args: &ManArgs, context: &mut Context) -> Result<Exit, Failure> {
    let mut command = crate::command();
    // Gives every subcommand its whole name.
    command.build();
    for name in &args.command {
        command = command.find_subcommand(name).cloned().ok_or_else(|| {
            Failure::usage(
                format!("print the manual page of {name:?}: there is no such command"),
                "\"spanvault help\" lists them",
            )
        })?;
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(|error| Failure::outside("write the manual page", error))?;
    context.output.bytes(&page)?;
    Ok(Exit::Done)
}
