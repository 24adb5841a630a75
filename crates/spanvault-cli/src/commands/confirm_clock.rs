//! `confirm-clock`: a person credits store time.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault_types::StoreTime;

use crate::actor::ReasonedArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response};
use crate::values::instant;
use crate::wire;

/// Credit store time up to an instant, and trust the clock again
///
/// Store time decides removals and never runs faster than real time: it stands still while the machine is down. This
/// override credits that time, goes into the log with who and why, and never credits more than the machine's own
/// clock shows.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    spanvault confirm-clock --at 2026-12-01T00:00:00Z --reason \"the machine was down for maintenance\"")]
pub(crate) struct ConfirmClockArgs {
    /// The instant, such as 2026-12-01T00:00:00Z
    #[arg(long, value_name = "T", value_parser = instant)]
    at: StoreTime,
    #[command(flatten)]
    by: ReasonedArgs,
}

pub(crate) fn run(args: &ConfirmClockArgs, context: &mut Context) -> Result<Exit, Failure> {
    let by = args.by.actor()?;
    context.writing(|vault, output| {
        let before = vault.now();
        let after = vault.confirm_clock(args.at, by)?;
        output.emit(&ConfirmClockResponse { before: wire::instant(before), after: wire::instant(after) })?;
        Ok(Exit::Done)
    })
}

#[derive(Debug, Serialize)]
struct ConfirmClockResponse {
    before: String,
    after: String,
}

impl Response for ConfirmClockResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format_args!("store time was {} and is {}", self.before, self.after))
    }
}
