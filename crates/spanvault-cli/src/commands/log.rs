//! `log`: the ledger of the vault, event by event.

mod entry;

use clap::Args;
use spanvault_types::Position;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::sink::stream;
use entry::EntryResponse;

/// Show the ledger: every event of the log
///
/// The log is the truth of a vault: spans, summaries, verdicts, demands, holds, leases, demotions and tombstones,
/// chained by hashes. It outlives the bytes that it speaks about.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault log --from 1200\n  \
    spanvault log --verify")]
pub(crate) struct LogArgs {
    /// Begin at this position
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    from: u64,
}

pub(crate) fn run(args: &LogArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let mut list = context.output.list();
    stream(|sink| vault.log(Position::new(args.from), sink), |entry| list.push(&EntryResponse::from(entry)))?;
    list.finish()?;
    Ok(Exit::Done)
}
