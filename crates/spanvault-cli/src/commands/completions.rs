//! `completions`: what the shell can complete.

use clap::Args;
use clap_complete::{Shell, generate};

use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault completions bash > ~/.local/share/bash-completion/completions/spanvault\n  \
    spanvault completions zsh > \"${fpath[1]}/_spanvault\"")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &mut Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::command(), "spanvault", &mut script);
    context.output.bytes(&script)?;
    Ok(Exit::Done)
}
