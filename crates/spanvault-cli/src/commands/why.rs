//! `why`: from an original up to everything that keeps it.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Name, SpanId, Why};
use spanvault_types::DemandRef;

use super::spans::LiveResponse;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, joined, one_line, to_the_second};
use crate::wire;

/// Say what keeps an original, and until when
///
/// Lists every root: retention, demands, holds, leases with the summary whose permit gave them, and what is open in
/// the spans that have these bytes. Summaries that cite it are listed too: none keeps it, but each will say
/// "evidence expired" once it is gone.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault why 3f9a01c2")]
pub(crate) struct WhyArgs {
    /// A content hash or at least 8 digits of its start, or a span (s12)
    #[arg(value_name = "HASH|SPAN")]
    name: Name,
}

pub(crate) fn run(args: &WhyArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let why = vault.why(args.name.clone())?;
    context.output.emit(&WhyResponse::from(why))?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct WhyResponse {
    original: String,
    hash: Option<String>,
    tier: String,
    expires_at: Option<String>,
    kept_until: Option<String>,
    spans: Vec<OccurrenceResponse>,
    cited_by: Vec<String>,
    demands: Vec<DemandResponse>,
    holds: Vec<String>,
    leases: Vec<LeaseResponse>,
    live: Vec<LiveResponse>,
}

#[derive(Debug, Serialize)]
struct OccurrenceResponse {
    span: String,
    session: String,
}

#[derive(Debug, Serialize)]
struct DemandResponse {
    demand: String,
    until: String,
}

#[derive(Debug, Serialize)]
struct LeaseResponse {
    summary: String,
    until: String,
    demands: Vec<String>,
}

impl From<Why> for WhyResponse {
    fn from(why: Why) -> Self {
        let demand = |(demand, until): (Option<spanvault::DemandId>, _)| DemandResponse {
            demand: wire::demand(demand.map_or(DemandRef::Assumed, |id| DemandRef::Declared(id.0))),
            until: wire::horizon(until),
        };
        Self {
            original: SpanId(why.original).to_string(),
            hash: why.hash.map(|hash| hash.to_string()),
            tier: why.whereabouts.as_str().to_owned(),
            expires_at: wire::expiry(why.expires_at),
            kept_until: wire::expiry(why.kept_until),
            spans: why
                .spans
                .into_iter()
                .map(|(span, session)| OccurrenceResponse { span: span.to_string(), session })
                .collect(),
            cited_by: why.cited_by.iter().map(ToString::to_string).collect(),
            demands: why.demands.into_iter().map(demand).collect(),
            holds: why.holds.iter().map(ToString::to_string).collect(),
            leases: why
                .leases
                .into_iter()
                .map(|(summary, lease)| LeaseResponse {
                    summary: summary.to_string(),
                    until: wire::horizon(lease.until),
                    demands: lease.demands.into_iter().map(wire::demand).collect(),
                })
                .collect(),
            live: why.live.into_iter().map(LiveResponse::from).collect(),
        }
    }
}

/// How much of the words of an open promise people are shown, in characters.
const WORDS_CHARS: usize = 70;

impl Response for WhyResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.heading(&format!("original {}", self.hash.as_deref().unwrap_or(&self.original)))?;
        page.field("tier", &self.tier)?;
        page.field("expires", to_the_second(self.expires_at.as_deref().unwrap_or("never")))?;
        page.field(
            "kept until",
            to_the_second(self.kept_until.as_deref().unwrap_or("no rule makes it due")),
        )?;
        let spans = joined(self.spans.iter().map(|at| format!("{} in {}", at.span, at.session)), "no span");
        let spans = page.safe(&spans).into_owned();
        page.field("spans", spans)?;
        page.field("cited by", joined(&self.cited_by, "no summary"))?;
        page.gap()?;
        page.heading("what keeps it")?;
        let mut is_kept = false;
        for demand in &self.demands {
            is_kept = true;
            page.line(format_args!("  demand {} until {}", demand.demand, to_the_second(&demand.until)))?;
        }
        for hold in &self.holds {
            is_kept = true;
            page.line(format_args!("  hold {hold} until it is released"))?;
        }
        for lease in &self.leases {
            is_kept = true;
            page.line(format_args!(
                "  lease of {} until {}, for {}",
                lease.summary,
                to_the_second(&lease.until),
                joined(&lease.demands, "no demand")
            ))?;
        }
        for live in &self.live {
            is_kept = true;
            page.line(format_args!("  open {}: {}", live.kind, one_line(&live.words, WORDS_CHARS)))?;
        }
        if self.expires_at.is_none() {
            page.line("  no retention rule: it is never due")
        } else if is_kept {
            Ok(())
        } else {
            page.line("  its retention alone")
        }
    }
}
