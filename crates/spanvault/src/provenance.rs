//! Down from a summary to its originals, and up from an original to everything that keeps it.

use spanvault_evidence::{AtomKind, Manifest};
use spanvault_store::Whereabouts;
use spanvault_types::key::{self, Table};
use spanvault_types::{ContentHash, Expiry, Fidelity, Horizon, Lease, Mode, OriginalRef, Position};

use crate::catalog::Subject;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{DemandId, HoldId, Name, SpanId, SummaryId};
use crate::ingest::{record_format, summary_text};
use crate::keepers::Keepers;
use crate::scoped::ScopeMembers;
use crate::vault::Vault;
use crate::view::Formats;

/// A summary taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    /// The summary.
    pub summary: SummaryId,
    /// The name of its session.
    pub session: String,
    /// How many summaries deep it is.
    pub generation: u32,
    /// Who wrote the text; of an imported one the format of its transcript.
    pub summarizer: String,
    /// Whether the source's own runtime wrote and used it: it stands for nothing in the context of this vault, and
    /// `originals` are those of the spans that it replaced directly. What it took over from an earlier compaction
    /// it took from the text of that one's summary, which is among `summaries`.
    pub imported: bool,
    /// What the permit allowed; an imported one has none.
    pub mode: Option<Mode>,
    /// Whether the text is a mere prefix of its sources.
    pub degraded: bool,
    /// Its text.
    pub text: String,
    /// What stands under the text in the context.
    pub digest: String,
    /// The summaries that it covers.
    pub summaries: Vec<SummaryId>,
    /// Every original of its closure.
    pub originals: Vec<CitedOriginal>,
    /// Fidelity by kind of detail.
    pub fidelity: Vec<Fidelity>,
    /// What the text dropped, by kind.
    pub omitted: Vec<Omission>,
}

/// One citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedOriginal {
    /// The original.
    pub original: Position,
    /// The span of this session that has it, where one does.
    pub span: Option<SpanId>,
    /// Its content hash; a tombstone repeats it.
    pub hash: Option<ContentHash>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where its bytes are.
    pub whereabouts: Whereabouts,
}

/// One detail that a summary dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    /// What kind of detail.
    pub kind: AtomKind,
    /// The detail.
    pub text: String,
    /// An original that has it.
    pub original: Position,
}

/// Everything that keeps an original.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// The original.
    pub original: Position,
    /// Its content hash.
    pub hash: Option<ContentHash>,
    /// Where its bytes are.
    pub whereabouts: Whereabouts,
    /// When its retention ends, leases included.
    pub expires_at: Expiry,
    /// The instant that removal looks at.
    pub kept_until: Expiry,
    /// The spans that have it, with the names of their sessions.
    pub spans: Vec<(SpanId, String)>,
    /// The summaries that cite it: each will say *evidence expired* once it is gone; none keeps it.
    pub cited_by: Vec<SummaryId>,
    /// The demands in force, the assumed audit as `None`.
    pub demands: Vec<(Option<DemandId>, Horizon)>,
    /// The holds in force.
    pub holds: Vec<HoldId>,
    /// The leases in force, with the summary whose permit gave each.
    pub leases: Vec<(SummaryId, Lease)>,
    /// What is open in its spans.
    pub live: Vec<crate::liveness::LiveReason>,
}

impl Vault {
    /// Takes a summary apart: its text, every original behind it, and what it dropped.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::{BuiltIn, CompactionOptions, Keep, SpanDraft};
    ///
    /// let first = session.record(SpanDraft::tool_call("read_log", serde_json::json!({"page": 0})))?;
    /// for n in 1..30 {
    ///     session.record(SpanDraft::tool_result("", format!("page {n}: {}", "all is well. ".repeat(40))))?;
    ///     session.record(SpanDraft::tool_call("read_log", serde_json::json!({"page": n})))?;
    /// }
    /// let report = session.compact_with(&CompactionOptions::default(), &mut BuiltIn)?;
    /// let summary = report.summaries[0].summary.expect("it was committed");
    /// let expansion = vault.expand(summary)?;
    /// assert_eq!(expansion.originals[0].hash, Some(first.hash));
    /// assert!(!expansion.omitted.is_empty(), "what the text dropped is named");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` for an unknown summary; `Corrupt` where its record is damaged.
    pub fn expand(&self, summary: SummaryId) -> Result<Expansion> {
        let Subject::Imported { original, .. } = self.resolve(&Name::Summary(summary))? else {
            return self.expand_made(summary);
        };
        let record = *self.imported_at(summary.0)?;
        let span = self.span_at(record.span)?;
        let content = self.content_of(&span, &self.bytes_at(original)?, &Formats::default())?;
        let format = match span.source {
            Position::ZERO => self.session_at(span.session)?.format,
            source => record_format(&self.source_at(source)?.format).to_owned(),
        };
        Ok(Expansion {
            summary,
            session: self.session_at(record.session)?.name,
            generation: record.generation,
            summarizer: format,
            imported: true,
            mode: None,
            degraded: false,
            text: summary_text(&content),
            digest: String::new(),
            summaries: record.summaries.into_iter().map(SummaryId).collect(),
            originals: self.all_cited(record.session, &record.citations)?,
            fidelity: record.fidelity,
            omitted: omissions(summary, &record.manifest)?,
        })
    }

    fn expand_made(&self, summary: SummaryId) -> Result<Expansion> {
        let record = self.summary_at(summary.0)?;
        let text = String::from_utf8_lossy(&self.bytes_at(summary.0)?).into_owned();
        Ok(Expansion {
            summary,
            session: self.session_at(record.session)?.name,
            generation: record.generation,
            summarizer: record.summarizer,
            imported: false,
            mode: Some(record.mode),
            degraded: record.degraded,
            text,
            digest: record.digest,
            summaries: record.summaries.into_iter().map(SummaryId).collect(),
            originals: self.all_cited(record.session, &record.citations)?,
            fidelity: record.fidelity,
            omitted: omissions(summary, &record.manifest)?,
        })
    }

    fn all_cited(&self, session: Position, citations: &[OriginalRef]) -> Result<Vec<CitedOriginal>> {
        citations.iter().map(|citation| self.cited(session, citation.at)).collect()
    }

    fn cited(&self, session: Position, original: Position) -> Result<CitedOriginal> {
        let occurrences = self.occurrences(original)?;
        let here = occurrences.iter().find(|(_at, span)| span.session == session);
        Ok(CitedOriginal {
            original,
            span: here.map(|(at, _span)| SpanId(*at)),
            hash: self.hash_at(original)?,
            bytes: occurrences.first().map_or(0, |(_at, span)| span.bytes),
            whereabouts: self.store.whereabouts(original),
        })
    }

    /// Everything that keeps an original, and everything that would be told of its end.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::SpanDraft;
    /// use spanvault::types::Expiry;
    ///
    /// let receipt = session.record(SpanDraft::user("Please pay the invoice INV-2025-08-44719."))?;
    /// let why = vault.why(receipt.hash)?;
    /// assert_eq!(why.expires_at, Expiry::Never, "no rule ever made it due");
    /// assert_eq!(why.demands.len(), 1, "an audit is assumed");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` or `Invalid` for the name; `Corrupt` where the log is damaged.
    pub fn why(&self, name: impl Into<Name>) -> Result<Why> {
        let subject = self.resolve(&name.into())?;
        let original = match subject {
            Subject::Span { original, .. } | Subject::Gap(original) => original,
            Subject::Summary(_) | Subject::Imported { .. } | Subject::Checkpoint(_) => {
                return Err(Error::invalid(format!(
                    "explain a {}: it is derived and never removed",
                    subject.word()
                ))
                .with_hint("\"spanvault expand\" shows the originals behind a summary"));
            }
        };
        let occurrences = self.occurrences(original)?;
        let kept = Keepers::load(self)?.of(self, original, &occurrences, &mut ScopeMembers::default())?;
        let mut cited_by = self.positions(&key::key(Table::CitedBy, &[original]))?;
        cited_by.dedup();
        let live = self.live_in(&occurrences)?;
        let spans = occurrences
            .iter()
            .map(|(at, span)| Ok((SpanId(*at), self.session_at(span.session)?.name)))
            .collect::<Result<_>>()?;
        Ok(Why {
            original,
            hash: self.hash_at(original)?,
            whereabouts: self.store.whereabouts(original),
            expires_at: kept.expires_at(),
            kept_until: spanvault_gate::kept_until(kept.retention, &kept.leases, &kept.demands, &kept.holds),
            spans,
            cited_by: cited_by.into_iter().map(SummaryId).collect(),
            demands: kept
                .demands
                .iter()
                .map(|demand| match demand.demand {
                    spanvault_types::DemandRef::Assumed => (None, demand.horizon),
                    spanvault_types::DemandRef::Declared(at) => (Some(DemandId(at)), demand.horizon),
                })
                .collect(),
            holds: kept.holds.into_iter().map(HoldId).collect(),
            leases: kept
                .leases
                .into_iter()
                .map(|lease| {
                    let given = Lease { original, until: lease.until, demands: lease.demands };
                    (SummaryId(lease.given_by), given)
                })
                .collect(),
            live,
        })
    }
}

/// What the manifest of a summary says that its text dropped.
fn omissions(summary: SummaryId, manifest: &[u8]) -> Result<Vec<Omission>> {
    let manifest = Manifest::decode(manifest).map_err(|source| {
        Error::new(ErrorKind::Corrupt, format!("read the manifest of {summary}")).with_source(source)
    })?;
    let omitted = manifest.omissions().map(|detail| Omission {
        kind: detail.kind,
        text: detail.words().to_owned(),
        original: detail.at,
    });
    Ok(omitted.collect())
}
