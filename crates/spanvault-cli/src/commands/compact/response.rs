//! What a compaction did, as JSON and as words.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::Serialize;
use spanvault::{AutoCompaction, CompactionReport, Preserved, SummaryMade};
use spanvault_types::{Reason, ReasonKind};

use crate::output::{Page, Response, Tone, count, counted, one_line};
use crate::wire::{self, FidelityResponse, ReasonCounts, ReasonResponse};

/// One compacted session.
#[derive(Debug, Serialize)]
pub(super) struct CompactResponse {
    session: String,
    candidates: usize,
    pub(super) permitted: usize,
    pub(super) refused: usize,
    reasons: ReasonCounts,
    summaries: Vec<SummaryResponse>,
    preserved: Vec<PreservedResponse>,
    tokens_before: u64,
    tokens_after: u64,
    bytes_before: u64,
    unchanged: bool,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    budget: Option<BudgetResponse>,
}

/// How a compaction to a budget came out.
#[derive(Debug, Serialize)]
struct BudgetResponse {
    budget: u64,
    fits: bool,
    /// The checkpoint that was written on the way, if one was needed.
    checkpoint: Option<String>,
}

#[derive(Debug, Serialize)]
struct SummaryResponse {
    /// `null` in a dry run.
    summary: Option<String>,
    generation: u32,
    covers: usize,
    mode: &'static str,
    tokens: u64,
    fidelity: Option<f64>,
    fidelity_by_kind: BTreeMap<&'static str, FidelityResponse>,
    omitted: BTreeMap<&'static str, u64>,
    degraded: bool,
}

#[derive(Debug, Serialize)]
struct PreservedResponse {
    span: String,
    /// Empty where it stays for company: its call or result was refused.
    reasons: Vec<ReasonResponse>,
    ways_out: Vec<String>,
    live: Vec<crate::commands::spans::LiveResponse>,
}

impl CompactResponse {
    pub(super) fn new(report: CompactionReport, is_dry: bool) -> Self {
        let unchanged = report.is_unchanged();
        let named = |span| PreservedResponse::new(span, &report.session);
        let preserved = report.preserved.into_iter().map(named).collect();
        let mut reasons = ReasonCounts::default();
        for (kind, n) in report.reasons {
            reasons.add(kind, n);
        }
        Self {
            session: report.session,
            candidates: report.candidates,
            permitted: report.permitted,
            refused: report.refused,
            reasons,
            summaries: report.summaries.into_iter().map(SummaryResponse::from).collect(),
            preserved,
            tokens_before: report.tokens_before,
            tokens_after: report.tokens_after,
            bytes_before: report.bytes_before,
            unchanged,
            dry_run: is_dry,
            budget: None,
        }
    }

    /// A compaction to a budget, its steps taken together.
    pub(super) fn within(budget: u64, session: &str, auto: AutoCompaction) -> Self {
        let mut reasons = ReasonCounts::default();
        let mut refused = 0;
        for preserved in auto.in_the_way.iter().filter(|preserved| !preserved.reasons.is_empty()) {
            refused += 1;
            let kinds: BTreeSet<ReasonKind> = preserved.reasons.iter().map(Reason::kind).collect();
            for kind in kinds {
                reasons.add(kind, 1);
            }
        }
        let permitted = auto.steps.iter().map(|step| step.permitted).sum();
        let bytes_before = auto.steps.first().map_or(0, |step| step.bytes_before);
        Self {
            session: session.to_owned(),
            candidates: permitted + auto.in_the_way.len(),
            permitted,
            refused,
            reasons,
            unchanged: auto.steps.is_empty(),
            summaries: auto
                .steps
                .into_iter()
                .flat_map(|step| step.summaries)
                .map(SummaryResponse::from)
                .collect(),
            preserved: auto
                .in_the_way
                .into_iter()
                .map(|preserved| PreservedResponse::new(preserved, session))
                .collect(),
            tokens_before: auto.tokens_before,
            tokens_after: auto.tokens_after,
            bytes_before,
            dry_run: false,
            budget: Some(BudgetResponse {
                budget,
                fits: auto.fits,
                checkpoint: auto.checkpoint.map(|checkpoint| checkpoint.to_string()),
            }),
        }
    }
}

impl From<SummaryMade> for SummaryResponse {
    fn from(made: SummaryMade) -> Self {
        Self {
            summary: made.summary.map(|summary| summary.to_string()),
            generation: made.generation,
            covers: made.covers,
            mode: made.mode.as_str(),
            tokens: made.tokens,
            fidelity: wire::fidelity(&made.fidelity),
            omitted: wire::omitted(&made.fidelity),
            fidelity_by_kind: wire::fidelity_by_kind(&made.fidelity),
            degraded: made.degraded,
        }
    }
}

impl PreservedResponse {
    fn new(preserved: Preserved, session: &str) -> Self {
        Self {
            span: preserved.span.to_string(),
            reasons: preserved.reasons.iter().map(ReasonResponse::from).collect(),
            ways_out: preserved.ways_out.iter().map(|way| wire::way_out_in_words(way, session)).collect(),
            live: preserved.live.into_iter().map(Into::into).collect(),
        }
    }
}

/// How many preserved spans people are shown.
const PRESERVED_SHOWN: usize = 12;
/// How much of the words that keep a span people are shown, in characters.
const WORDS_CHARS: usize = 60;

impl Response for CompactResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let session = page.safe(&self.session).into_owned();
        let would = if self.dry_run { " (dry run: nothing was changed or logged)" } else { "" };
        page.heading(&format!("session {session}{would}"))?;
        page.field("  candidates", count(self.candidates as u64))?;
        page.field("  permitted", count(self.permitted as u64))?;
        let mut refused = count(self.refused as u64);
        if !self.reasons.is_empty() {
            refused.push_str(": ");
            refused.push_str(&self.reasons.in_words());
        }
        page.field("  refused", refused)?;
        page.field(
            "  tokens",
            format_args!("{} before, {} after", count(self.tokens_before), count(self.tokens_after)),
        )?;
        if let Some(budget) = &self.budget {
            budget.human(page)?;
        }
        if self.unchanged {
            page.field("  summaries", "none: the context stays as it is")?;
        }
        for summary in &self.summaries {
            summary.human(page)?;
        }
        self.preserved_in_words(page)
    }
}

impl CompactResponse {
    fn preserved_in_words(&self, page: &mut Page<'_>) -> io::Result<()> {
        let refused = || self.preserved.iter().filter(|preserved| !preserved.reasons.is_empty());
        for preserved in refused().take(PRESERVED_SHOWN) {
            let label = page.paint(Tone::Warning, "verbatim");
            let reasons = wire::reasons_in_words(&preserved.reasons);
            page.line(format_args!("  {label}     {} {reasons}", preserved.span))?;
            for live in &preserved.live {
                page.line(format_args!("               \"{}\"", one_line(&live.words, WORDS_CHARS)))?;
            }
        }
        let more = refused().count().saturating_sub(PRESERVED_SHOWN);
        if more > 0 {
            page.line(format_args!("               and {more} more: \"spanvault refusals\" lists them all"))?;
        }
        let ways_out: BTreeSet<&String> = refused().flat_map(|preserved| &preserved.ways_out).collect();
        for way in ways_out {
            page.field("  way out", way)?;
        }
        Ok(())
    }
}

impl BudgetResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let fits = if self.fits {
            page.paint(Tone::Good, "it fits")
        } else {
            page.paint(Tone::Warning, "it does not fit, and nothing more may be summarised")
        };
        page.field("  budget", format_args!("{}, {fits}", counted(self.budget, "token")))?;
        match &self.checkpoint {
            Some(checkpoint) => page.field("  checkpoint", format_args!("{checkpoint} carries what is open")),
            None => Ok(()),
        }
    }
}

impl SummaryResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let name = self.summary.as_deref().unwrap_or("a summary");
        let omitted: u64 = self.omitted.values().sum();
        let fidelity =
            self.fidelity.map_or_else(String::new, |share| format!(", fidelity {}", wire::percent(share)));
        let degraded = if self.degraded { ", degraded: a mere prefix" } else { "" };
        page.field(
            "  summary",
            format_args!(
                "{name} for {} ({}), generation {}, {}{fidelity}, {} named in its manifest{degraded}",
                counted(self.covers as u64, "span"),
                self.mode.replace('_', " "),
                self.generation,
                counted(self.tokens, "token"),
                counted(omitted, "dropped detail"),
            ),
        )
    }
}
