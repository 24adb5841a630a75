//! `verify`: is everything there as it was written?

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Damage, VerifyDepth, VerifyReport};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Progress, Response, Tone, bytes, count, counted};

/// Check that everything is there as it was written
///
/// Reads every frame of the log and checks the chain of hashes; with "--read-data" every original is hashed again
/// as well. Writes nothing, and works beside whoever writes. Exits with 6 where something is damaged or missing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault verify\n  \
    spanvault verify --read-data --json")]
pub(crate) struct VerifyArgs {
    /// Hash every original again
    #[arg(long)]
    read_data: bool,
}

pub(crate) fn run(args: &VerifyArgs, context: &mut Context) -> Result<Exit, Failure> {
    check(if args.read_data { VerifyDepth::Data } else { VerifyDepth::Structure }, context)
}

/// Checks to this depth and tells what was found.
pub(crate) fn check(depth: VerifyDepth, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let progress = Progress::of_bytes("verify");
    let report = vault.verify(depth, &mut |at| progress.update(at.done, at.total))?;
    drop(progress);
    let exit = if report.is_sound() { Exit::Done } else { Exit::Corrupt };
    context.output.emit(&VerifyResponse::new(report, depth))?;
    Ok(exit)
}

/// What a check found.
#[derive(Debug, Serialize)]
struct VerifyResponse {
    originals: u64,
    bytes: u64,
    frames: u64,
    corrupt: Vec<DamageResponse>,
    missing: Vec<DamageResponse>,
    chain_ok: bool,
    /// Segments whose sidecar has to be made anew; nothing is lost by that.
    sidecars: Vec<u64>,
    read_data: bool,
}

#[derive(Debug, Serialize)]
struct DamageResponse {
    from: u64,
    to: u64,
    segment: u64,
    /// Below the directory of the vault.
    file: String,
    offset: u64,
    fault: &'static str,
}

impl From<Damage> for DamageResponse {
    fn from(damage: Damage) -> Self {
        Self {
            from: damage.from.get(),
            to: damage.to.get(),
            segment: damage.segment,
            file: damage.file().to_string_lossy().into_owned(),
            offset: damage.offset,
            fault: damage.fault.as_str(),
        }
    }
}

impl VerifyResponse {
    fn new(report: VerifyReport, depth: VerifyDepth) -> Self {
        Self {
            originals: report.originals,
            bytes: report.bytes,
            frames: report.frames,
            corrupt: report.corrupt.into_iter().map(DamageResponse::from).collect(),
            missing: report.missing.into_iter().map(DamageResponse::from).collect(),
            chain_ok: report.chain_ok,
            sidecars: report.sidecars,
            read_data: depth == VerifyDepth::Data,
        }
    }
}

/// How many damaged places people are shown.
const DAMAGE_SHOWN: usize = 20;

impl Response for VerifyResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let is_sound = self.corrupt.is_empty() && self.missing.is_empty() && self.chain_ok;
        let checked =
            if self.read_data { "every byte was hashed again" } else { "--read-data also hashes every byte" };
        let word = if is_sound { page.paint(Tone::Good, "sound") } else { page.paint(Tone::Bad, "damaged") };
        page.line(format_args!("{word}: {checked}"))?;
        page.field("  originals", format_args!("{}, {}", count(self.originals), bytes(self.bytes)))?;
        page.field(
            "  log",
            format_args!(
                "{}, chain {}",
                counted(self.frames, "frame"),
                if self.chain_ok { "holds" } else { "broken" }
            ),
        )?;
        for (word, damaged) in [("  corrupt", &self.corrupt), ("  missing", &self.missing)] {
            for damage in damaged.iter().take(DAMAGE_SHOWN) {
                page.field(
                    word,
                    format_args!(
                        "positions {} to {}, {} at byte {}: {}",
                        damage.from, damage.to, damage.file, damage.offset, damage.fault
                    ),
                )?;
            }
            let more = damaged.len().saturating_sub(DAMAGE_SHOWN);
            if more > 0 {
                page.field(word, format_args!("and {more} more: \"--json\" lists them all"))?;
            }
        }
        if self.sidecars.is_empty() {
            return Ok(());
        }
        page.field(
            "  sidecars",
            format_args!("{} to be made anew: \"spanvault rebuild\"", count(self.sidecars.len() as u64)),
        )
    }
}
