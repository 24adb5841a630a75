//! `rebuild`: everything derived, made anew from the truth.

use std::io;

use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Progress, Response, counted};

/// Make the index and the sidecars anew from the log
///
/// Nothing that was recorded is touched: the log is the truth, and everything else in a vault can be derived from
/// it again. An index that cannot be trusted is rebuilt by itself; this does it on demand.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault rebuild")]
pub(crate) struct RebuildArgs {}

pub(crate) fn run(_args: &RebuildArgs, context: &mut Context) -> Result<Exit, Failure> {
    context.writing(|vault, output| {
        let progress = Progress::of_things("rebuild");
        let report = vault.rebuild(&mut |at| progress.update(at.done, at.total))?;
        drop(progress);
        output.emit(&RebuildResponse { frames: report.frames })?;
        Ok(Exit::Done)
    })
}

#[derive(Debug, Serialize)]
struct RebuildResponse {
    frames: u64,
}

impl Response for RebuildResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format_args!("rebuilt the index and the sidecars from {}", counted(self.frames, "frame")))
    }
}
