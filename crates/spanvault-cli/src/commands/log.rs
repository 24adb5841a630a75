//! `log`: the ledger of the vault, event by event.

mod entry;

use clap::Args;
use spanvault::VerifyDepth;
use spanvault_types::Position;

use super::verify;
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
    /// Check the chain of hashes instead of listing it; exits with 6 where it is broken
    #[arg(long, conflicts_with = "from")]
    verify: bool,
}

pub(crate) fn run(args: &LogArgs, context: &mut Context) -> Result<Exit, Failure> {
    if args.verify {
        return verify::check(VerifyDepth::Structure, context);
    }
    let vault = context.reading()?;
    let mut list = context.output.list();
    stream(|sink| vault.log(Position::new(args.from), sink), |entry| list.push(&EntryResponse::from(entry)))?;
    list.finish()?;
    Ok(Exit::Done)
}
