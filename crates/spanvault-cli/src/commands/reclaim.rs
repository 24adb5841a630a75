//! `reclaim`: frees the bytes of originals that nothing rests on any more.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Act, ReclaimReport, ReclaimStep, Run, SpanId, SummaryId};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Output, Page, Response, Tone, bytes, count, joined, to_the_second};
use crate::wire::{self, ReasonCounts, ReasonResponse};

/// Free the bytes of originals that nothing rests on any more
///
/// Removal takes two runs. What is due by its retention is condemned; what has been condemned for a full grace is
/// asked about again and removed, its tombstone written first. What a demand, a hold, a lease or an open promise
/// needs stays, with every reason. Citing summaries say "evidence expired" from then on. A run does what a dry run
/// before it printed, or less. Exits with 4 only where something was refused and nothing permitted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault reclaim --dry-run\n  \
    spanvault reclaim --steps --json")]
pub(crate) struct ReclaimArgs {
    /// Show what would be done; change nothing
    #[arg(long)]
    dry_run: bool,
    /// With --json: also print an object for each original, before the one that adds them up
    #[arg(long)]
    steps: bool,
}

pub(crate) fn run(args: &ReclaimArgs, context: &mut Context) -> Result<Exit, Failure> {
    if args.dry_run {
        let vault = context.reading()?;
        let mut teller = Teller::new(&mut context.output, args);
        let report = vault.reclaim(Run::Dry, &mut |step| teller.tell(step))?;
        return teller.end(report, true);
    }
    context.writing(|vault, output| {
        let mut teller = Teller::new(output, args);
        let report = vault.reclaim(Run::Real, &mut |step| teller.tell(step))?;
        teller.end(report, false)
    })
}

/// Prints the steps of a run. Where printing fails, the run goes on: what is done must not depend on who watches.
struct Teller<'o> {
    output: &'o mut Output,
    tells_steps: bool,
    failure: Option<Failure>,
}

impl<'o> Teller<'o> {
    const fn new(output: &'o mut Output, args: &ReclaimArgs) -> Self {
        let tells_steps = args.steps || !output.is_json();
        Self { output, tells_steps, failure: None }
    }

    fn tell(&mut self, step: &ReclaimStep) {
        if self.tells_steps && self.failure.is_none() {
            self.failure = self.output.emit(&StepResponse::from(step)).err();
        }
    }

    fn end(self, report: ReclaimReport, is_dry: bool) -> Result<Exit, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let refused = report.refused + report.rescued;
        let permitted = report.condemned + report.reclaimed;
        self.output.emit(&ReclaimResponse::new(report, is_dry))?;
        Ok(if refused > 0 && permitted == 0 { Exit::Refused } else { Exit::Done })
    }
}

/// What is done to one original.
#[derive(Debug, Serialize)]
struct StepResponse {
    act: &'static str,
    original: String,
    bytes: u64,
    reasons: Vec<ReasonResponse>,
    cited_by: Vec<String>,
    /// Whether a context still shows it verbatim.
    shown: bool,
}

impl From<&ReclaimStep> for StepResponse {
    fn from(step: &ReclaimStep) -> Self {
        let (act, reasons) = match &step.act {
            Act::Condemn => ("condemn", &[][..]),
            Act::Reclaim => ("reclaim", &[][..]),
            Act::Rescue { reasons } => ("rescue", reasons.as_slice()),
            Act::Refuse { reasons } => ("refuse", reasons.as_slice()),
        };
        Self {
            act,
            original: SpanId(step.original).to_string(),
            bytes: step.bytes,
            reasons: reasons.iter().map(ReasonResponse::from).collect(),
            cited_by: step.cited_by.iter().map(|at| SummaryId(*at).to_string()).collect(),
            shown: step.is_shown,
        }
    }
}

impl Response for StepResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let tone = match self.act {
            "condemn" | "reclaim" => Tone::Good,
            _ => Tone::Warning,
        };
        let act = page.paint(tone, &format!("{:<8}", self.act));
        let mut notes = Vec::new();
        if !self.reasons.is_empty() {
            notes.push(wire::reasons_in_words(&self.reasons));
        }
        if self.act == "reclaim" && !self.cited_by.is_empty() {
            notes.push(format!("told: {}", joined(&self.cited_by, "nobody")));
        }
        if self.shown && self.reasons.is_empty() {
            notes.push("a context shows it: its tombstone will stand there".to_owned());
        }
        let line = format!("{act} {:<7} {:>10}  {}", self.original, bytes(self.bytes), notes.join("; "));
        page.line(line.trim_end())
    }
}

/// What a run came to.
#[derive(Debug, Serialize)]
struct ReclaimResponse {
    due: u64,
    condemned: u64,
    rescued: u64,
    reclaimed: u64,
    refused: u64,
    reasons: ReasonCounts,
    bytes_freed: u64,
    next_at: Option<String>,
    dry_run: bool,
}

impl ReclaimResponse {
    fn new(report: ReclaimReport, dry_run: bool) -> Self {
        let mut reasons = ReasonCounts::default();
        for (kind, n) in report.reasons {
            reasons.add(kind, n);
        }
        Self {
            due: report.due,
            condemned: report.condemned,
            rescued: report.rescued,
            reclaimed: report.reclaimed,
            refused: report.refused,
            reasons,
            bytes_freed: report.bytes_freed,
            next_at: report.next_at.map(wire::instant),
            dry_run,
        }
    }
}

impl Response for ReclaimResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let dry = if self.dry_run { " (dry run: nothing was changed)" } else { "" };
        page.heading(&format!("{} due{dry}", count(self.due)))?;
        page.field("  condemned", count(self.condemned))?;
        page.field("  reclaimed", count(self.reclaimed))?;
        page.field("  rescued", count(self.rescued))?;
        let mut refused = count(self.refused);
        if !self.reasons.is_empty() {
            refused.push_str(": ");
            refused.push_str(&self.reasons.in_words());
        }
        page.field("  refused", refused)?;
        page.field("  freed", format_args!("{} on the disk", bytes(self.bytes_freed)))?;
        page.field(
            "  next",
            self.next_at
                .as_deref()
                .map_or_else(|| "waiting alone brings nothing more".to_owned(), to_the_second),
        )
    }
}
