//! Reaches a token budget with what the gate permits, or says what stands in the way.

use crate::compact::{
    BuiltIn, CompactionOptions, CompactionReport, Expiring, Keep, Over, Preserved, Summarizer,
};
use crate::error::Result;
use crate::ids::CheckpointId;
use crate::session::Session;

/// What [`Session::auto_compact`] came to.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoCompaction {
    /// Whether the context fits the budget now.
    pub fits: bool,
    /// Estimated tokens of the context before.
    pub tokens_before: u64,
    /// Estimated tokens of the context now.
    pub tokens_after: u64,
    /// Each compaction that was made on the way, in order.
    pub steps: Vec<CompactionReport>,
    /// The checkpoint that was written on the way, if one was needed.
    pub checkpoint: Option<CheckpointId>,
    /// Where it does not fit: the spans that stay verbatim before the kept end, with every reason.
    pub in_the_way: Vec<Preserved>,
}

/// The fewest conversation spans that stay verbatim, whatever the budget.
const KEEP_MIN: usize = 4;

impl Session<'_> {
    /// Compacts until the context takes at most `budget` tokens.
    ///
    /// Does no more than it must, in this order: spans before the last `keep`; a checkpoint, where live spans stand in
    /// the way, and again; summaries of summaries; fewer spans at the end, down to four. Nothing is given up on the way:
    /// every step asks the gate.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::{Keep, SpanDraft};
    ///
    /// for n in 0..30 {
    ///     session.record(SpanDraft::tool_call("read_log", serde_json::json!({"page": n})))?;
    ///     session.record(SpanDraft::tool_result("", format!("page {n}: {}", "all is well. ".repeat(40))))?;
    /// }
    /// let auto = session.auto_compact(2_000, Keep::last(10))?;
    /// assert!(auto.fits, "{:?}", auto.in_the_way);
    /// assert!(session.tokens_in_context()? <= 2_000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Session::compact_with`].
    pub fn auto_compact(&self, budget: u64, keep: Keep) -> Result<AutoCompaction> {
        self.auto_compact_with(budget, keep, Expiring::Check, &mut BuiltIn)
    }

    /// [`Session::auto_compact`] with texts by `summarizer`.
    ///
    /// # Errors
    /// As [`Session::compact_with`].
    pub fn auto_compact_with(
        &self,
        budget: u64,
        keep: Keep,
        expiry: Expiring,
        summarizer: &mut dyn Summarizer,
    ) -> Result<AutoCompaction> {
        let tokens_before = self.tokens_in_context()?;
        let mut auto = AutoCompaction {
            fits: tokens_before <= budget,
            tokens_before,
            tokens_after: tokens_before,
            steps: Vec::new(),
            checkpoint: None,
            in_the_way: Vec::new(),
        };
        let Keep::Last(mut last) = keep;
        let mut over = Over::Spans;
        while !auto.fits {
            let options = CompactionOptions { keep: Keep::Last(last), expiry, over };
            let report = self.compact_with(&options, summarizer)?;
            auto.in_the_way.clone_from(&report.preserved);
            let is_live = report.preserved.iter().any(|preserved| !preserved.live.is_empty());
            if !report.is_unchanged() {
                auto.steps.push(report);
            }
            auto.tokens_after = self.tokens_in_context()?;
            auto.fits = auto.tokens_after <= budget;
            if auto.fits {
                break;
            }
            if is_live && auto.checkpoint.is_none() {
                auto.checkpoint = self.checkpoint()?.checkpoint;
            } else if over == Over::Spans {
                over = Over::Summaries;
            } else if last > KEEP_MIN {
                last = (last / 2).max(KEEP_MIN);
            } else {
                break;
            }
        }
        if auto.fits {
            auto.in_the_way.clear();
        }
        Ok(auto)
    }

    /// Estimated tokens of the context as it stands.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged.
    pub fn tokens_in_context(&self) -> Result<u64> {
        Ok(self.vault.view(self.at)?.tokens_in_context())
    }
}
