//! `assess`: may a summary alone serve?

use std::collections::BTreeMap;
use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Assessment, SummaryId};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, counted};
use crate::values::OperationValue;
use crate::wire::{self, FidelityResponse};

/// Say whether a summary alone may serve
///
/// For an operation that demands evidence it never may (exit 4): the answer says whether the originals behind it can be
/// read instead. Without an operation the question is whether one may go on reading with it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault assess m40\n  \
    spanvault assess m40 audit")]
pub(crate) struct AssessArgs {
    /// The summary
    #[arg(value_name = "SUMMARY")]
    summary: SummaryId,
    /// What the evidence is needed for
    #[arg(value_name = "OPERATION")]
    operation: Option<OperationValue>,
}

pub(crate) fn run(args: &AssessArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let assessment = vault.assess(args.summary, args.operation.map(Into::into))?;
    let exit = if assessment.serves { Exit::Done } else { Exit::Refused };
    context.output.emit(&AssessResponse::from(assessment))?;
    Ok(exit)
}

#[derive(Debug, Serialize)]
struct AssessResponse {
    summary: String,
    operation: Option<&'static str>,
    serves: bool,
    originals: u64,
    retrievable: u64,
    reclaimed: u64,
    damaged: u64,
    omitted: u64,
    fidelity: Option<f64>,
    fidelity_by_kind: BTreeMap<&'static str, FidelityResponse>,
    ways_out: Vec<String>,
}

impl From<Assessment> for AssessResponse {
    fn from(assessment: Assessment) -> Self {
        let mut ways_out = Vec::new();
        if !assessment.serves && assessment.retrievable > 0 {
            ways_out.push(
                "ask the originals: \"spanvault ask\", \"audit\", \"replay\", \"check\" or \"executed\""
                    .to_owned(),
            );
        }
        if assessment.omitted > 0 {
            ways_out.push(format!(
                "see what it dropped, and where that stands: \"spanvault expand {}\"",
                assessment.summary
            ));
        }
        Self {
            summary: assessment.summary.to_string(),
            operation: assessment.operation.map(spanvault::types::DemandKind::as_str),
            serves: assessment.serves,
            originals: assessment.originals,
            retrievable: assessment.retrievable,
            reclaimed: assessment.reclaimed,
            damaged: assessment.damaged(),
            omitted: assessment.omitted,
            fidelity: wire::fidelity(&assessment.fidelity),
            fidelity_by_kind: wire::fidelity_by_kind(&assessment.fidelity),
            ways_out,
        }
    }
}

impl Response for AssessResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        match (self.serves, self.operation) {
            (true, _) => page.line(format_args!("summary {} may serve to go on reading", self.summary))?,
            (false, operation) => page.line(format_args!(
                "summary {} may not serve for {}: that rests on originals",
                self.summary,
                operation.unwrap_or("evidence")
            ))?,
        }
        let originals = counted(self.originals, "original");
        page.field("behind it", format!("{originals}, {} can be read", self.retrievable))?;
        if self.reclaimed > 0 {
            page.field("expired", format!("{} reclaimed: what they proved is gone", self.reclaimed))?;
        }
        if self.damaged > 0 {
            page.field("damaged", format!("{}: \"spanvault verify\" names them", self.damaged))?;
        }
        page.field("dropped", counted(self.omitted, "detail"))?;
        page.field("fidelity", self.fidelity.map_or_else(|| "nothing to keep".to_owned(), wire::percent))?;
        for way in &self.ways_out {
            page.line(format_args!("  {way}"))?;
        }
        Ok(())
    }
}
