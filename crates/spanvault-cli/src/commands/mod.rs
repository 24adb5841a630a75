//! The commands, one module each: its arguments, its flow, its answer.

pub(crate) mod ask;
pub(crate) mod assess;
pub(crate) mod audit;
pub(crate) mod capacity;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod confirm_clock;
pub(crate) mod context;
pub(crate) mod demand;
pub(crate) mod executed;
pub(crate) mod expand;
pub(crate) mod health;
pub(crate) mod hold;
pub(crate) mod ingest;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod policy;
pub(crate) mod rebuild;
pub(crate) mod reclaim;
pub(crate) mod recover;
pub(crate) mod refusals;
pub(crate) mod registry;
pub(crate) mod replay;
pub(crate) mod restore;
pub(crate) mod retention;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod spans;
pub(crate) mod stats;
pub(crate) mod tier;
pub(crate) mod verify;
pub(crate) mod why;

use crate::args::Command;
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Runs a command.
pub(crate) fn run(command: &Command, cx: &mut Context) -> Result<Exit, Failure> {
    match command {
        Command::Ingest(args) => ingest::run(args, cx),
        Command::Compact(args) => compact::run(args, cx),
        Command::Context(args) => context::run(args, cx),
        Command::Sessions(args) => sessions::run(args, cx),
        Command::Spans(args) => spans::run(args, cx),
        Command::Show(args) => show::run(args, cx),
        Command::Recover(args) => recover::run(args, cx),
        Command::Restore(args) => restore::run(args, cx),
        Command::Expand(args) => expand::run(args, cx),
        Command::Why(args) => why::run(args, cx),
        Command::Ask(args) => ask::run(args, cx),
        Command::Assess(args) => assess::run(args, cx),
        Command::Audit(args) => audit::run(args, cx),
        Command::Check(args) => check::run(args, cx),
        Command::Checkpoint(args) => checkpoint::run(args, cx),
        Command::Executed(args) => executed::run(args, cx),
        Command::Replay(args) => replay::run(args, cx),
        Command::Demand(args) => demand::run(args, cx),
        Command::Hold(args) => hold::run(args, cx),
        Command::Retention(args) => retention::run(args, cx),
        Command::Policy(args) => policy::run(args, cx),
        Command::Tier(args) => tier::run(args, cx),
        Command::Reclaim(args) => reclaim::run(args, cx),
        Command::Stats(args) => stats::run(args, cx),
        Command::Capacity(args) => capacity::run(args, cx),
        Command::Health(args) => health::run(args, cx),
        Command::Registry(args) => registry::run(args, cx),
        Command::ConfirmClock(args) => confirm_clock::run(args, cx),
        Command::Refusals(args) => refusals::run(args, cx),
        Command::Log(args) => log::run(args, cx),
        Command::Verify(args) => verify::run(args, cx),
        Command::Rebuild(args) => rebuild::run(args, cx),
        Command::Completions(args) => completions::run(args, cx),
        Command::Man(args) => man::run(args, cx),
    }
}
