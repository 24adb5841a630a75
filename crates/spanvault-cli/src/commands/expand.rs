//! `expand`: from a summary down to its originals.

use std::collections::BTreeMap;
use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::types::Mode;
use spanvault::{CitedOriginal, Expansion, SummaryId};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, bytes, count, counted, joined, one_line};
use crate::wire::{self, FidelityResponse};

/// Take a summary apart, down to its originals
///
/// Shows the summary's text, every original behind it through any number of generations, and by name each detail
/// that the text dropped, with an original that has it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault expand m40\n  \
    spanvault expand m40 --json | jq '.omitted.path'")]
pub(crate) struct ExpandArgs {
    /// The summary
    #[arg(value_name = "SUMMARY")]
    summary: SummaryId,
}

pub(crate) fn run(args: &ExpandArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let expansion = vault.expand(args.summary)?;
    context.output.emit(&ExpandResponse::from(expansion))?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
pub(crate) struct ExpandResponse {
    summary: String,
    session: String,
    generation: u32,
    summarizer: String,
    imported: bool,
    mode: Option<&'static str>,
    degraded: bool,
    text: String,
    digest: String,
    summaries: Vec<String>,
    originals: Vec<OriginalResponse>,
    fidelity: Option<f64>,
    fidelity_by_kind: BTreeMap<&'static str, FidelityResponse>,
    omitted: BTreeMap<&'static str, Vec<OmittedResponse>>,
}

#[derive(Debug, Serialize)]
struct OriginalResponse {
    span: Option<String>,
    hash: Option<String>,
    bytes: u64,
    tier: String,
}

#[derive(Debug, Serialize)]
struct OmittedResponse {
    text: String,
    original: String,
}

impl From<Expansion> for ExpandResponse {
    fn from(expansion: Expansion) -> Self {
        let mut omitted: BTreeMap<&'static str, Vec<OmittedResponse>> = BTreeMap::new();
        for omission in expansion.omitted {
            omitted.entry(omission.kind.as_str()).or_default().push(OmittedResponse {
                text: omission.text,
                original: spanvault::SpanId(omission.original).to_string(),
            });
        }
        Self {
            summary: expansion.summary.to_string(),
            session: expansion.session,
            generation: expansion.generation,
            summarizer: expansion.summarizer,
            imported: expansion.imported,
            mode: expansion.mode.map(Mode::as_str),
            degraded: expansion.degraded,
            text: expansion.text,
            digest: expansion.digest,
            summaries: expansion.summaries.iter().map(ToString::to_string).collect(),
            originals: expansion.originals.into_iter().map(OriginalResponse::from).collect(),
            fidelity: wire::fidelity(&expansion.fidelity),
            fidelity_by_kind: wire::fidelity_by_kind(&expansion.fidelity),
            omitted,
        }
    }
}

impl From<CitedOriginal> for OriginalResponse {
    fn from(cited: CitedOriginal) -> Self {
        Self {
            span: cited.span.map(|span| span.to_string()),
            hash: cited.hash.map(|hash| hash.to_string()),
            bytes: cited.bytes,
            tier: cited.whereabouts.as_str().to_owned(),
        }
    }
}

/// How many details of one kind people are shown.
const OMITTED_SHOWN: usize = 20;
/// How much of one detail people are shown, in characters.
const OMITTED_CHARS: usize = 70;

impl Response for ExpandResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let session = page.safe(&self.session).into_owned();
        page.heading(&format!("summary {} of session {session}", self.summary))?;
        page.field("generation", self.generation)?;
        page.field("written by", &self.summarizer)?;
        match self.mode {
            Some(mode) => page.field("mode", mode.replace('_', " "))?,
            None => page.field("imported", "the transcript's own runtime replaced the originals by it")?,
        }
        if self.degraded {
            page.field("degraded", "the text is a mere prefix of its sources")?;
        }
        page.field("covers", joined(&self.summaries, "no summaries"))?;
        page.field("fidelity", self.fidelity.map_or_else(|| "nothing to keep".to_owned(), wire::percent))?;
        page.gap()?;
        page.heading("text")?;
        page.quote(&self.text)?;
        if !self.digest.is_empty() {
            page.quote(&self.digest)?;
        }
        page.gap()?;
        page.heading(&format!("originals: {}", count(self.originals.len() as u64)))?;
        for original in &self.originals {
            page.line(format_args!(
                "  {:<8} {:<12} {:<10} {}",
                original.span.as_deref().unwrap_or("-"),
                original.hash.as_deref().map_or_else(|| "unknown".to_owned(), wire::short_hash),
                original.tier,
                bytes(original.bytes)
            ))?;
        }
        page.gap()?;
        page.heading("dropped by the text")?;
        for (kind, omitted) in &self.omitted {
            let kept = self.fidelity_by_kind.get(kind).map(FidelityResponse::in_words).unwrap_or_default();
            page.line(format_args!("  {}{kept}", counted(omitted.len() as u64, &kind.replace('_', " "))))?;
            for detail in omitted.iter().take(OMITTED_SHOWN) {
                page.line(format_args!(
                    "    {:<8} {}",
                    detail.original,
                    one_line(&detail.text, OMITTED_CHARS)
                ))?;
            }
            let more = omitted.len().saturating_sub(OMITTED_SHOWN);
            if more > 0 {
                page.line(format_args!("    and {more} more: \"--json\" lists them all"))?;
            }
        }
        if self.omitted.is_empty() { page.line("  nothing") } else { Ok(()) }
    }
}
