//! A summary on its way: text, digest and manifest, before the gate has permitted anything.

use std::borrow::Cow;
use std::sync::Arc;

use spanvault_evidence::{
    Atom, Digest, DigestInput, LiveMark, Manifest, SourceDetails, SpanText, SummarySources, admit, digest,
};
use spanvault_gate::SummaryView;
use spanvault_types::{CarriedKind, Mode, Position};

use super::insight::Insight;
use super::plan::{PlannedRange, split_rows};
use super::{Summarizer, SummaryRequest};
use crate::error::{Error, ErrorKind, Result};

/// The share of the tokens that it replaces which the cuttable lines of a digest may take: one in so many.
const DIGEST_SHARE: u64 = 20;
/// The least and the most of them, in estimated tokens.
const DIGEST_TOKENS: (u64, u64) = (40, 300);

/// A summary that has everything but a permit and a position.
#[derive(Debug)]
pub(super) struct SummaryDraft {
    /// Rows of the view that it covers directly, ascending.
    pub(super) rows: Vec<usize>,
    /// Summaries that it covers, as rows of the view's summaries.
    pub(super) summaries: Vec<usize>,
    pub(super) mode: Mode,
    pub(super) summarizer: &'static str,
    pub(super) text: String,
    pub(super) digest: Digest,
    pub(super) manifest: Manifest,
    /// What the gate is told about it.
    pub(super) view: SummaryView,
    pub(super) is_degraded: bool,
    /// Estimated tokens of what it replaces.
    pub(super) replaced_tokens: u64,
}

/// All drafts of a plan, and what could not be drafted.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    pub(super) written: Vec<SummaryDraft>,
    /// Rows whose negatives and references do not fit in any digest: they stay verbatim, refused as live.
    pub(super) too_open: Vec<usize>,
    /// Rows whose summary would have been no shorter: they stay verbatim.
    pub(super) no_shorter: Vec<usize>,
}

impl SummaryDraft {
    /// Writes the texts of all ranges. A range whose digest cannot carry what it must is split.
    pub(super) fn write_all(
        insight: &Arc<Insight>,
        ranges: &[PlannedRange],
        summarizer: &mut dyn Summarizer,
    ) -> Result<Drafts> {
        let mut found = Drafts::default();
        let session = Session::new(insight);
        let mut queue: Vec<PlannedRange> = ranges.iter().rev().cloned().collect();
        while let Some(range) = queue.pop() {
            match Self::write(insight, &session, &range, summarizer)? {
                Some(draft) if draft.tokens() < draft.replaced_tokens => found.written.push(draft),
                Some(draft) if draft.view.admission.is_err() => found.written.push(draft),
                Some(draft) => found.no_shorter.extend(draft.rows),
                None if range.rows.len() > 1 => queue.extend(halves(insight, &range).into_iter().rev()),
                None => found.too_open.extend(range.rows),
            }
        }
        found.too_open.sort_unstable();
        Ok(found)
    }

    /// Estimated tokens of the text and its digest in the context.
    pub(super) fn tokens(&self) -> u64 {
        spanvault_evidence::tokens_of_bytes(self.text.len() as u64 + 1) + self.digest.tokens()
    }

    /// Writes one; `None` where what its digest must carry does not fit.
    fn write(
        insight: &Insight,
        session: &Session<'_>,
        range: &PlannedRange,
        summarizer: &mut dyn Summarizer,
    ) -> Result<Option<Self>> {
        let texts = &session.texts;
        let closure = insight.closure(&range.rows, &range.summaries);
        let request = SummaryRequest { insight, rows: &range.rows, summaries: &range.summaries };
        let text = summarizer.summarize(&request)?;
        let read: Vec<Cow<'_, [Atom]>> = closure
            .iter()
            .map(|n| texts.get(*n).map_or(Cow::Borrowed(&[][..]), |text| insight.atoms.of(*n, text)))
            .collect();
        let atoms: Vec<&[Atom]> = read.iter().map(|atoms| &**atoms).collect();
        let originals = insight.rows_of(&closure).map(|row| row.span.original);
        let sources = SourceDetails::of(originals.zip(atoms.iter().copied()));
        let covered = insight
            .summaries_of(&range.summaries)
            .map(|row| {
                Manifest::decode(&row.summary.manifest).map_err(|source| {
                    let id = crate::ids::SummaryId(row.at);
                    Error::new(ErrorKind::Corrupt, format!("read the manifest of {id}")).with_source(source)
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let manifest = Manifest::of(&text, &covered, &sources);
        let Some(digest) = write_digest(insight, session, range, (&closure, &atoms), &manifest) else {
            return Ok(None);
        };
        let spans: Vec<SpanText<'_>> = range.rows.iter().filter_map(|n| texts.get(*n).copied()).collect();
        let summaries: Vec<&str> =
            insight.summaries_of(&range.summaries).map(|row| row.text.as_str()).collect();
        let own = |n: &usize| Some(*atoms.get(closure.binary_search(n).ok()?)?);
        let own: Vec<&[Atom]> = range.rows.iter().filter_map(own).collect();
        let admitted = admit(&text, &SummarySources { spans: &spans, atoms: &own, summaries: &summaries });
        let unnamed = Ok(manifest.unnamed(&text, &sources));
        Ok(Some(Self {
            rows: range.rows.clone(),
            summaries: range.summaries.clone(),
            mode: range.mode,
            summarizer: summarizer.name(),
            view: SummaryView { admission: admitted.map(|_admission| ()), unnamed },
            is_degraded: admitted.is_ok_and(|admission| admission.degraded),
            replaced_tokens: range.tokens(),
            text,
            digest,
            manifest,
        }))
    }
}

/// What the drafts of one session look at, made once for all of them.
struct Session<'i> {
    texts: Vec<SpanText<'i>>,
    positions: Vec<Position>,
    /// What a digest carries of each row: whatever is open in it but its obligations.
    marks: Vec<Vec<LiveMark>>,
}

impl<'i> Session<'i> {
    fn new(insight: &'i Insight) -> Self {
        let is_carried = |mark: &&LiveMark| mark.kind != CarriedKind::Obligation;
        let marks =
            insight.marks.iter().map(|marks| marks.iter().filter(is_carried).cloned().collect()).collect();
        let positions = insight.view.rows.iter().map(|row| row.at).collect();
        Self { texts: insight.texts(), positions, marks }
    }
}

fn write_digest(
    insight: &Insight,
    session: &Session<'_>,
    range: &PlannedRange,
    (closure, atoms): (&[usize], &[&[Atom]]),
    manifest: &Manifest,
) -> Option<Digest> {
    let budget = (range.tokens() / DIGEST_SHARE).clamp(DIGEST_TOKENS.0, DIGEST_TOKENS.1);
    let input = DigestInput {
        reading: &insight.reading,
        spans: &session.texts,
        positions: &session.positions,
        covered: closure,
        atoms,
        marks: &session.marks,
        manifest,
        budget,
    };
    digest(&input).ok()
}

/// Two ranges in place of one; where the rows are one call and its results, one range for each row. Summaries stay
/// as they are.
fn halves(insight: &Arc<Insight>, range: &PlannedRange) -> Vec<PlannedRange> {
    let half = range.rows.len().div_ceil(2);
    let mut parts = split_rows(insight, &range.rows, half);
    if parts.len() == 1 {
        parts = range.rows.iter().map(|n| vec![*n]).collect();
    }
    parts.into_iter().map(|rows| PlannedRange::new(insight, rows, Vec::new(), range.mode)).collect()
}
