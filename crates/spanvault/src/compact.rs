//! Replaces spans in the context by summaries, as far as the gate permits.
//!
//! A plan reads the session, asks the gate about each candidate and changes nothing. Committing takes the writer
//! lock, looks again at everything that could have changed, and writes permits, leases, verdicts and summaries as
//! one batch: whatever fails before that leaves all as it was.

mod commit;
mod draft;
mod insight;
mod plan;

use std::collections::BTreeMap;

use spanvault_gate::ExpiryMode;
use spanvault_types::{Fidelity, Mode, Reason, ReasonKind, TtlRule, WayOut};

use crate::error::{Error, Result};
use crate::ids::{SpanId, SummaryId};
use crate::liveness::LiveReason;
use crate::session::Session;
use draft::SummaryDraft;
use insight::Insight;
pub use plan::{CompactionPlan, PlannedRange, RefusedSpan};

/// How much of the end of a session stays verbatim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The last so many conversation spans.
    Last(usize),
}

impl Keep {
    /// Keeps the last `n` conversation spans; the cut moves back so that no call is parted from its result.
    pub const fn last(n: usize) -> Self {
        Self::Last(n)
    }
}

impl Default for Keep {
    fn default() -> Self {
        Self::Last(20)
    }
}

/// What a compaction may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactionOptions {
    /// How much stays verbatim.
    pub keep: Keep,
    /// What to do about originals that could expire before a demand stops needing them.
    pub expiry: Expiring,
    /// Whether summaries that stand before the cut are summarised again.
    pub over: Over,
}

/// What to do about an original that could expire before a demand stops needing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expiring {
    /// Refuse.
    #[default]
    Check,
    /// Write the lease that closes the gap, within the budget of the options of the vault.
    Extend,
}

/// What a compaction goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Over {
    /// Spans only; summaries stay as they are.
    #[default]
    Spans,
    /// Spans and summaries: a summary of summaries is a generation deeper.
    Summaries,
}

/// Writes summary texts.
pub trait Summarizer {
    /// The word under which the log keeps who wrote a text.
    fn name(&self) -> &'static str;

    /// Writes the text that is to stand for `range`.
    ///
    /// # Errors
    /// Whatever keeps it from writing one: then nothing is committed.
    fn summarize(&mut self, range: &SummaryRequest<'_>) -> Result<String>;
}

/// What a summarizer is asked to write about.
#[derive(Debug)]
pub struct SummaryRequest<'a> {
    insight: &'a Insight,
    rows: &'a [usize],
    summaries: &'a [usize],
}

impl SummaryRequest<'_> {
    /// What the range says, span by span, as plain text for a model.
    pub fn text(&self) -> String {
        self.insight.text_of(self.rows, self.summaries)
    }
}

/// The summarizer that needs no model: short, deterministic, and honest through its digest and manifest.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn;

impl Summarizer for BuiltIn {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn summarize(&mut self, range: &SummaryRequest<'_>) -> Result<String> {
        let texts = range.insight.texts();
        let summaries: Vec<&str> =
            range.insight.summaries_of(range.summaries).map(|row| row.text.as_str()).collect();
        Ok(spanvault_evidence::summarize(&range.insight.reading, &texts, range.rows, &summaries))
    }
}

/// A text that the caller has already.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) text: Option<String>,
}

impl Summarizer for Given {
    fn name(&self) -> &'static str {
        "caller"
    }

    fn summarize(&mut self, _range: &SummaryRequest<'_>) -> Result<String> {
        self.text.take().ok_or_else(|| {
            Error::invalid("summarise with one text: the range has to be split, because what its digest must carry does not fit")
                .with_hint("compact a shorter range")
        })
    }
}

/// A summary that was committed, or would be.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryMade {
    /// Its id; `None` in a dry run.
    pub summary: Option<SummaryId>,
    /// How many summaries deep it is.
    pub generation: u32,
    /// How many spans it stands for.
    pub covers: usize,
    /// What the permit allows.
    pub mode: Mode,
    /// Estimated tokens, digest included.
    pub tokens: u64,
    /// Whether its text is a mere prefix of its sources.
    pub degraded: bool,
    /// Fidelity by kind of detail.
    pub fidelity: Vec<Fidelity>,
}

/// A candidate that stays verbatim.
#[derive(Debug, Clone, PartialEq)]
pub struct Preserved {
    /// The span.
    pub span: SpanId,
    /// Why the gate refused it; empty where it stays for company only: its call or result was refused, or the
    /// summary would have been no shorter.
    pub reasons: Vec<Reason>,
    /// What would take reasons away.
    pub ways_out: Vec<WayOut>,
    /// The words that make it live, where that is a reason.
    pub live: Vec<LiveReason>,
}

/// What a compaction of one session did.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionReport {
    /// The name of the session.
    pub session: String,
    /// Conversation spans before the cut that stood verbatim.
    pub candidates: usize,
    /// Candidates that a summary stands for now.
    pub permitted: usize,
    /// Candidates that the gate refused.
    pub refused: usize,
    /// How many candidates were refused for each reason.
    pub reasons: BTreeMap<ReasonKind, u64>,
    /// The summaries.
    pub summaries: Vec<SummaryMade>,
    /// Candidates that stay verbatim.
    pub preserved: Vec<Preserved>,
    /// Estimated tokens of the context before.
    pub tokens_before: u64,
    /// Estimated tokens of the context after.
    pub tokens_after: u64,
    /// Bytes of the originals that stood verbatim before.
    pub bytes_before: u64,
}

impl CompactionReport {
    /// Whether the context is as it was.
    pub fn is_unchanged(&self) -> bool {
        self.summaries.is_empty()
    }
}

impl Session<'_> {
    /// Asks the gate what could be replaced. Changes nothing, logs nothing.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged; a damaged original is refused, not an error.
    pub fn plan_compaction(&self, keep: Keep) -> Result<CompactionPlan> {
        self.plan_with(&CompactionOptions { keep, ..CompactionOptions::default() })
    }

    /// Asks the gate what could be replaced, with options. Changes nothing, logs nothing.
    ///
    /// # Errors
    /// As [`Session::plan_compaction`].
    pub fn plan_with(&self, options: &CompactionOptions) -> Result<CompactionPlan> {
        CompactionPlan::make(self.vault, self.at, *options)
    }

    /// Replaces one planned range by `text`, if the gate still permits it.
    ///
    /// # Errors
    /// `Refused` with the first reason where it does not: the refusal is in the log, and nothing changed. `Invalid`
    /// where one text cannot stand for the whole range.
    pub fn compact(
        &self,
        plan: &CompactionPlan,
        range: &PlannedRange,
        text: impl Into<String>,
    ) -> Result<SummaryMade> {
        let mut given = Given { text: Some(text.into()) };
        let drafts = SummaryDraft::write_all(&plan.insight, std::slice::from_ref(range), &mut given)?;
        let mut outcome = self.commit(plan, &drafts, commit::Refusals::OfDrafts)?;
        outcome.summaries.pop().ok_or_else(|| {
            let reasons = outcome.preserved.first().map_or(&[][..], |preserved| &preserved.reasons);
            let kinds: Vec<&str> = reasons.iter().map(|reason| reason.kind().as_str()).collect();
            Error::new(crate::ErrorKind::Refused, format!("compact a range: {}", kinds.join(", ")))
                .with_hint("\"spanvault refusals\" shows every reason and the ways out")
        })
    }

    /// Replaces everything that the gate permits, with texts by `summarizer`, in one commit.
    ///
    /// Every refusal is in the log before this returns. A second call on an unchanged session makes no summary.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::{BuiltIn, CompactionOptions, Keep, SpanDraft};
    ///
    /// for n in 0..30 {
    ///     session.record(SpanDraft::tool_call("read_log", serde_json::json!({"page": n})))?;
    ///     session.record(SpanDraft::tool_result("", format!("page {n}: {}", "all is well. ".repeat(40))))?;
    /// }
    /// let options = CompactionOptions { keep: Keep::last(10), ..CompactionOptions::default() };
    /// let report = session.compact_with(&options, &mut BuiltIn)?;
    /// assert_eq!(report.candidates, 50);
    /// assert!(report.tokens_after < report.tokens_before);
    /// assert!(session.compact_with(&options, &mut BuiltIn)?.is_unchanged());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the summarizer or the disk says: then nothing changed.
    pub fn compact_with(
        &self,
        options: &CompactionOptions,
        summarizer: &mut dyn Summarizer,
    ) -> Result<CompactionReport> {
        let plan = self.plan_with(options)?;
        let drafts = SummaryDraft::write_all(&plan.insight, &plan.ranges, summarizer)?;
        let outcome = self.commit(&plan, &drafts, commit::Refusals::All)?;
        Ok(self.report(&plan, outcome))
    }

    /// What [`Session::compact_with`] would do. Changes nothing, logs nothing.
    ///
    /// # Errors
    /// What the summarizer says.
    pub fn compact_dry(
        &self,
        options: &CompactionOptions,
        summarizer: &mut dyn Summarizer,
    ) -> Result<CompactionReport> {
        let plan = self.plan_with(options)?;
        let drafts = SummaryDraft::write_all(&plan.insight, &plan.ranges, summarizer)?;
        Ok(self.report(&plan, commit::Outcome::foreseen(&plan, &drafts)))
    }

    fn report(&self, plan: &CompactionPlan, outcome: commit::Outcome) -> CompactionReport {
        let mut reasons = BTreeMap::new();
        for preserved in &outcome.preserved {
            let kinds: std::collections::BTreeSet<_> = preserved.reasons.iter().map(Reason::kind).collect();
            for kind in kinds {
                *reasons.entry(kind).or_default() += 1;
            }
        }
        let tokens_before = plan.insight.view.tokens_in_context();
        let freed: u64 = outcome.replaced_tokens;
        let added: u64 = outcome.summaries.iter().map(|summary| summary.tokens).sum();
        CompactionReport {
            session: self.name().to_owned(),
            candidates: plan.candidates(),
            permitted: outcome.replaced_spans,
            refused: outcome.preserved.iter().filter(|preserved| !preserved.reasons.is_empty()).count(),
            reasons,
            summaries: outcome.summaries,
            preserved: outcome.preserved,
            tokens_before,
            tokens_after: tokens_before.saturating_sub(freed).saturating_add(added),
            bytes_before: plan.insight.bytes_in_context(),
        }
    }
}

impl Expiring {
    fn mode(self, budget: TtlRule) -> ExpiryMode {
        match self {
            Self::Check => ExpiryMode::Check,
            Self::Extend => ExpiryMode::Extend { budget },
        }
    }
}
