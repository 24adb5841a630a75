//! `tier`: moves originals to the cold tier.

use std::io;

use clap::{Args, Subcommand};
use serde::Serialize;
use spanvault::{Cooling, Options, Packing, Run, TierReport};
use spanvault_types::{TimeError, Ttl};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Progress, Response, bytes, counted};

/// Move originals between the tiers
///
/// Cold originals are compressed and stay as recoverable as hot ones: every one is read back and compared before the
/// hot copy goes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault tier run --dry-run")]
pub(crate) struct TierArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Run(RunArgs),
}

/// Demote what is past its time in the hot tier
///
/// Without "--hot-for" the retention rules say what that is, and without a rule nothing is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault tier run\n  \
    spanvault tier run --hot-for 7d --dry-run\n  \
    spanvault tier run --hot-for 90d --solid")]
struct RunArgs {
    /// Demote what was recorded at least this long ago, whatever the rules say; 0s is everything
    #[arg(long, value_name = "D", value_parser = age_ms)]
    hot_for: Option<u64>,
    /// Pack the originals of a session together: a quarter smaller, and longer to get one back
    #[arg(long)]
    solid: bool,
    /// Show what would be demoted; move nothing
    #[arg(long)]
    dry_run: bool,
}

/// Reads an age in milliseconds, which may be zero: demotion loses nothing.
fn age_ms(text: &str) -> Result<u64, TimeError> {
    match Ttl::parse(text) {
        Ok(age) => Ok(age.as_ms()),
        Err(TimeError::Zero) => Ok(0),
        Err(error) => Err(error),
    }
}

pub(crate) fn run(args: &TierArgs, context: &mut Context) -> Result<Exit, Failure> {
    let What::Run(args) = &args.what;
    let cooling = args.hot_for.map_or(Cooling::ByRule, Cooling::After);
    if args.dry_run {
        let report = context.reading()?.demote(cooling, Run::Dry, &mut |_at| {})?;
        context.output.emit(&TierResponse::new(report, true))?;
        return Ok(Exit::Done);
    }
    let mut options = Options::default();
    if args.solid {
        options.packing = Packing::Solid;
    }
    context.writing_with(options, |vault, output| {
        let progress = Progress::of_things("tier run");
        let report = vault.demote(cooling, Run::Real, &mut |at| progress.update(at.done, at.total))?;
        drop(progress);
        output.emit(&TierResponse::new(report, false))?;
        Ok(Exit::Done)
    })
}

#[derive(Debug, Serialize)]
struct TierResponse {
    demoted: u64,
    bytes_before: u64,
    bytes_after: u64,
    bytes_freed: u64,
    dry_run: bool,
}

impl TierResponse {
    const fn new(report: TierReport, dry_run: bool) -> Self {
        let TierReport { demoted, bytes_before, bytes_after, bytes_freed } = report;
        Self { demoted, bytes_before, bytes_after, bytes_freed, dry_run }
    }
}

impl Response for TierResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let originals = counted(self.demoted, "original");
        if self.dry_run {
            let size = bytes(self.bytes_before);
            return page.line(format_args!("would demote {originals}, {size} (dry run: nothing was moved)"));
        }
        page.line(format_args!("demoted {originals}"))?;
        if self.demoted == 0 {
            return Ok(());
        }
        page.field("  hot", bytes(self.bytes_before))?;
        page.field("  cold", bytes(self.bytes_after))?;
        page.field("  freed", format_args!("{} on the disk", bytes(self.bytes_freed)))
    }
}
