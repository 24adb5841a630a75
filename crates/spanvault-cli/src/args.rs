//! The grammar of the command line. Every command's own arguments stand in its module.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::commands;
use crate::help;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "spanvault",
    bin_name = "spanvault",
    version,
    about = "Keeps the evidence behind the summaries of long-running agents",
    long_about = "Keeps the evidence behind the summaries of long-running agents.\n\n\
        A vault records the transcripts of agents byte for byte. Summaries may replace spans in the context, and \
        old bytes may go, but only as far as the gate permits: nothing goes that something still rests on. Whatever \
        was compacted, demoted or expired, a question gets the exact answer with its evidence, or is told what is \
        missing.",
    subcommand_required = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that stand before or after the command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The directory of the vault; the first writing command creates it.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "SPANVAULT_DIR",
        hide_env_values = true,
        default_value = "./.spanvault",
        help_heading = "Global options"
    )]
    pub(crate) vault: PathBuf,
    /// Answer in JSON: lists have one object a line, errors are one on the standard error stream.
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ingest(commands::ingest::IngestArgs),
    Compact(commands::compact::CompactArgs),
    Context(commands::context::ContextArgs),
    Sessions(commands::sessions::SessionsArgs),
    Spans(commands::spans::SpansArgs),
    Show(commands::show::ShowArgs),
    Recover(commands::recover::RecoverArgs),
    Restore(commands::restore::RestoreArgs),
    Expand(commands::expand::ExpandArgs),
    Why(commands::why::WhyArgs),
    Ask(commands::ask::AskArgs),
    Assess(commands::assess::AssessArgs),
    Audit(commands::audit::AuditArgs),
    Replay(commands::replay::ReplayArgs),
    Check(commands::check::CheckArgs),
    Executed(commands::executed::ExecutedArgs),
    Checkpoint(commands::checkpoint::CheckpointArgs),
    Demand(commands::demand::DemandArgs),
    Hold(commands::hold::HoldArgs),
    Retention(commands::retention::RetentionArgs),
    Policy(commands::policy::PolicyArgs),
    Tier(commands::tier::TierArgs),
    Reclaim(commands::reclaim::ReclaimArgs),
    Stats(commands::stats::StatsArgs),
    Capacity(commands::capacity::CapacityArgs),
    Health(commands::health::HealthArgs),
    Registry(commands::registry::RegistryArgs),
    ConfirmClock(commands::confirm_clock::ConfirmClockArgs),
    Refusals(commands::refusals::RefusalsArgs),
    Log(commands::log::LogArgs),
    Verify(commands::verify::VerifyArgs),
    Rebuild(commands::rebuild::RebuildArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

/// The grammar of the command line, for completions, manual pages and tests.
pub fn command() -> clap::Command {
    help::grouped(Cli::command())
}
