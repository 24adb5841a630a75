//! May a summary alone serve?

use spanvault_store::Whereabouts;
use spanvault_types::{DemandKind, Fidelity};

use crate::error::Result;
use crate::ids::SummaryId;
use crate::vault::Vault;

/// The answer to [`Vault::assess`].
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The summary.
    pub summary: SummaryId,
    /// What it is wanted for; `None`: to go on reading.
    pub operation: Option<DemandKind>,
    /// Whether the summary alone may serve.
    pub serves: bool,
    /// How many originals are behind it.
    pub originals: u64,
    /// How many of them can be read.
    pub retrievable: u64,
    /// How many of them were removed: their evidence has expired.
    pub reclaimed: u64,
    /// How many details its text dropped.
    pub omitted: u64,
    /// What its text kept, by kind of detail.
    pub fidelity: Vec<Fidelity>,
}

impl Assessment {
    /// How many originals are neither readable nor lawfully gone.
    pub const fn damaged(&self) -> u64 {
        self.originals.saturating_sub(self.retrievable).saturating_sub(self.reclaimed)
    }
}

impl Vault {
    /// Whether a summary alone may serve for `operation`, and what is behind it.
    ///
    /// For an audit, a replay, a check or a look whether something was executed it never may, however much its text
    /// kept: those rest on originals. To go on reading (`None`) it may: it names what it dropped and leads to it.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// # use spanvault::{BuiltIn, CompactionOptions, SpanDraft};
    /// # for n in 0..30 {
    /// #     session.record(SpanDraft::tool_call("read_log", serde_json::json!({"page": n})))?;
    /// #     session.record(SpanDraft::tool_result("", format!("page {n}: {}", "all is well. ".repeat(40))))?;
    /// # }
    /// # let report = session.compact_with(&CompactionOptions::default(), &mut BuiltIn)?;
    /// # let summary = report.summaries[0].summary.expect("it was committed");
    /// use spanvault::types::DemandKind;
    ///
    /// assert!(vault.assess(summary, None)?.serves);
    /// let audit = vault.assess(summary, Some(DemandKind::Audit))?;
    /// assert!(!audit.serves);
    /// assert_eq!(audit.retrievable, audit.originals, "the originals can serve instead");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` for an unknown summary; `Corrupt` where its record is damaged.
    pub fn assess(&self, summary: SummaryId, operation: Option<DemandKind>) -> Result<Assessment> {
        let expansion = self.expand(summary)?;
        let count = |wanted: fn(Whereabouts) -> bool| {
            expansion.originals.iter().filter(|cited| wanted(cited.whereabouts)).count() as u64
        };
        Ok(Assessment {
            summary,
            operation,
            serves: operation.is_none(),
            originals: expansion.originals.len() as u64,
            retrievable: count(Whereabouts::is_retrievable),
            reclaimed: count(|at| matches!(at, Whereabouts::Reclaimed { .. })),
            omitted: expansion.omitted.len() as u64,
            fidelity: expansion.fidelity,
        })
    }
}
