//! Compactions that the transcript's own runtime had made: which spans its summaries replaced, and what they lost.
//!
//! What is written is a fact that was read, not a permission: the spans stay as they are in the context of this
//! vault, and nothing is leased. What a summary replaced follows from the order of the file alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use spanvault_evidence::{Atom, Manifest, SourceDetails, atoms};
use spanvault_import::{Importer, Kept, Record};
use spanvault_types::key::{self, Table};
use spanvault_types::{
    Event, Fidelity, OriginalRef, PartBody, Position, SpanContent, SpanRecorded, SummaryImported,
};

use super::stretches::Stretches;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{SpanId, SummaryId};
use crate::recorder::Recorder;
use crate::vault::Vault;
use crate::view::{Formats, Sight};

/// The most spans, and the most bytes of originals, that one imported summary speaks of; what a compaction replaced
/// beyond that stands in further ones of the same text.
const PART_SPANS: usize = 1 << 16;
const PART_BYTES: u64 = 32 << 20;
/// How much is made ready before it is committed, in bytes of manifests and citations.
const BATCH_BYTES: usize = 1 << 20;

/// A summary that the transcript's own runtime wrote, as it was imported.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSummary {
    /// Its id.
    pub summary: SummaryId,
    /// The span that holds its text.
    pub span: SpanId,
    /// How many summaries deep it is.
    pub generation: u32,
    /// How many spans it replaced in the transcript.
    pub covers: usize,
    /// Fidelity by kind of detail: what the text kept of them.
    pub fidelity: Vec<Fidelity>,
}

/// What matters of a record for compactions, read while its bytes are at hand.
pub(super) struct Mark {
    index: u64,
    pub(super) event: Option<[u8; 16]>,
    is_conversation: bool,
    /// What is kept, where the record is the summary of a compaction.
    kept: Option<Kept>,
    /// The file that has the whole of what the record has a stub of.
    pub(super) side_file: Option<String>,
}

impl Mark {
    pub(super) fn of(importer: &dyn Importer, record: &Record) -> Self {
        let is_summary = holds_summary(&record.content);
        Self {
            index: record.index,
            event: record.content.event_key.as_deref().map(key::event_key_of),
            is_conversation: record.content.kind.is_conversation(),
            kept: is_summary.then(|| importer.kept_by_compaction(&record.bytes)),
            side_file: spanvault_import::side_file(&record.content).map(str::to_owned),
        }
    }
}

/// Watches the spans of one file go by. What was replaced is worked out when all of them are in the log.
#[derive(Default)]
pub(super) struct Compactions {
    /// What came by of each session, in order.
    sessions: BTreeMap<String, Vec<Passed>>,
}

enum Passed {
    /// Spans, and their indexes in the source.
    Spans(Spans),
    /// The summary of a compaction, which is the next span as well.
    Summary { span: Position, kept: Kept },
}

/// Spans that follow each other in the log and in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spans {
    first: u64,
    index: u64,
    count: u64,
}

impl Spans {
    const fn is_followed_by(self, span: Position, index: u64) -> bool {
        self.first + self.count == span.get() && self.index + self.count == index
    }

    fn positions(self) -> impl Iterator<Item = Position> {
        (self.first..self.first.saturating_add(self.count)).map(Position::new)
    }

    /// The first `count` of them, and the others.
    fn split(self, count: u64) -> [Self; 2] {
        let count = count.min(self.count);
        let (first, index) = (self.first + count, self.index + count);
        [Self { count, ..self }, Self { first, index, count: self.count - count }]
    }
}

/// The summary of a compaction and what it replaced, in order.
struct Found {
    summary: Position,
    replaced: Vec<Spans>,
}

impl Compactions {
    /// Takes note of the next span of `session`.
    pub(super) fn pass(&mut self, session: &str, mark: Mark, span: Position) {
        if !mark.is_conversation {
            return;
        }
        if !self.sessions.contains_key(session) {
            self.sessions.insert(session.to_owned(), Vec::new());
        }
        let Some(passed) = self.sessions.get_mut(session) else { return };
        if let Some(kept) = mark.kept {
            passed.push(Passed::Summary { span, kept });
        }
        match passed.last_mut() {
            Some(Passed::Spans(spans)) if spans.is_followed_by(span, mark.index) => spans.count += 1,
            _ => passed.push(Passed::Spans(Spans { first: span.get(), index: mark.index, count: 1 })),
        }
    }

    /// Records each compaction that the log does not know yet.
    ///
    /// They are durable when the position that this gives is, zero where nothing was written.
    pub(super) fn import(self, vault: &Vault) -> Result<(Vec<ImportedSummary>, Position)> {
        let mut found = Vec::new();
        for (session, passed) in self.sessions {
            if passed.iter().any(|it| matches!(it, Passed::Summary { .. })) {
                found.append(&mut found_in(vault, &session, passed)?);
            }
        }
        found.sort_by_key(|found| found.summary);
        let mut import = Import {
            vault,
            formats: Formats::default(),
            ready: Vec::new(),
            ready_bytes: 0,
            done: Vec::new(),
            commit: Position::ZERO,
        };
        for found in &found {
            import.take(found)?;
        }
        import.commit()?;
        Ok((import.done, import.commit))
    }
}

/// The compactions among what came by of a session.
fn found_in(vault: &Vault, session: &str, passed: Vec<Passed>) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    // What no compaction has replaced yet.
    let mut standing: Vec<Spans> = Vec::new();
    // What came by at all, where compactions name what they replaced.
    let names_them = passed.iter().any(|it| matches!(it, Passed::Summary { kept: Kept::AllBut(_), .. }));
    let mut before = Stretches::default();
    for it in passed {
        let (summary, kept) = match it {
            Passed::Spans(spans) => {
                if names_them {
                    spans.positions().for_each(|at| before.insert(at));
                }
                standing.push(spans);
                continue;
            }
            Passed::Summary { span, kept } => (span, kept),
        };
        let first_kept = match kept {
            Kept::Nothing => None,
            Kept::FromIndex(index) => {
                let whole = standing.partition_point(|spans| spans.index + spans.count <= index);
                standing.get(whole).map(|spans| (whole, index.saturating_sub(spans.index)))
            }
            Kept::FromEvent(event) => first_of(&standing, &event_spans(vault, session, &event)?),
            Kept::AllBut(events) => {
                // A format that names what was replaced does so each time, so what stands is not asked for.
                let replaced = if vault.is_imported(summary)? {
                    Vec::new()
                } else {
                    named_among(&before, &event_spans_of(vault, session, &events)?)
                };
                if !replaced.is_empty() {
                    found.push(Found { summary, replaced });
                }
                continue;
            }
        };
        let (whole, part) = first_kept.unwrap_or((standing.len(), 0));
        let rest = standing.split_off(whole);
        let mut replaced = std::mem::replace(&mut standing, rest);
        if let Some(cut) = standing.first_mut().filter(|_cut| part > 0) {
            let [before, after] = cut.split(part);
            replaced.push(before);
            *cut = after;
        }
        if !replaced.is_empty() {
            found.push(Found { summary, replaced });
        }
    }
    Ok(found)
}

/// The spans of a session with an identity of their own.
fn event_spans(vault: &Vault, session: &str, event: &str) -> Result<Vec<Position>> {
    match vault.session_named(session)? {
        Some(session) => vault.positions(&key::event_key(session, &key::event_key_of(event))),
        None => Ok(Vec::new()),
    }
}

/// Those of several identities.
fn event_spans_of(vault: &Vault, session: &str, events: &[String]) -> Result<Vec<Vec<Position>>> {
    events.iter().map(|event| event_spans(vault, session, event)).collect()
}

/// Of the spans of each identity the newest one that came by before.
fn named_among(before: &Stretches, named: &[Vec<Position>]) -> Vec<Spans> {
    let newest = named.iter().filter_map(|spans| spans.iter().rev().find(|at| before.contains(**at)));
    let mut replaced: Vec<u64> = newest.map(|at| at.get()).collect();
    replaced.sort_unstable();
    replaced.dedup();
    replaced.into_iter().map(|first| Spans { first, index: 0, count: 1 }).collect()
}

/// Where the first of some spans stands: in which element, and how many of that come before it.
fn first_of(standing: &[Spans], wanted: &[Position]) -> Option<(usize, u64)> {
    standing.iter().enumerate().find_map(|(number, spans)| {
        let before = |at: &Position| at.get().checked_sub(spans.first).filter(|before| *before < spans.count);
        Some((number, wanted.iter().filter_map(before).min()?))
    })
}

/// What a span says, and its bytes.
type Readable = (Arc<SpanContent>, Arc<Vec<u8>>);

struct Import<'v> {
    vault: &'v Vault,
    formats: Formats,
    ready: Vec<Ready>,
    ready_bytes: usize,
    done: Vec<ImportedSummary>,
    commit: Position,
}

/// An imported summary that waits for its place in the log.
struct Ready {
    event: SummaryImported,
    /// Which of its spans hold the text of an earlier compaction.
    texts: Vec<Position>,
}

impl Import<'_> {
    /// What a span says, with its bytes; `None` where that was never read or cannot be had.
    fn readable(&self, span: &SpanRecorded) -> Result<Option<Readable>> {
        if !span.kind.was_parsed() {
            return Ok(None);
        }
        Ok(match self.vault.sight(span, &self.formats)? {
            Sight::Seen(content, bytes) => Some((content, bytes)),
            Sight::Meta | Sight::Unseen(_) => None,
        })
    }

    fn take(&mut self, found: &Found) -> Result<()> {
        if self.vault.is_imported(found.summary)? {
            return Ok(());
        }
        let span = self.vault.span_at(found.summary)?;
        let text = match self.readable(&span)? {
            Some((content, _bytes)) => summary_text(&content),
            // It is there, and what it says cannot be seen.
            None => String::new(),
        };
        let replaced: Vec<Position> = found.replaced.iter().copied().flat_map(Spans::positions).collect();
        let mut rest = replaced.as_slice();
        while !rest.is_empty() {
            let (part, used) = self.part(&text, found.summary, span.session, rest)?;
            rest = rest.get(used..).unwrap_or_default();
            self.ready_bytes += part.event.manifest.len() + 48 * part.event.citations.len();
            self.ready.push(part);
        }
        if self.ready_bytes >= BATCH_BYTES { self.commit() } else { Ok(()) }
    }

    /// Reads as many of the replaced spans as one record speaks of.
    fn part(
        &self,
        text: &str,
        summary: Position,
        session: Position,
        replaced: &[Position],
    ) -> Result<(Ready, usize)> {
        let mut sources: Vec<(Position, Vec<Atom>)> = Vec::new();
        let mut originals = Vec::new();
        let mut spans = Vec::new();
        let mut texts = Vec::new();
        let mut bytes = 0;
        for at in replaced.iter().take(PART_SPANS) {
            let span = self.vault.span_at(*at)?;
            if bytes > 0 && bytes + span.bytes > PART_BYTES {
                break;
            }
            bytes += span.bytes;
            originals.push(span.original);
            spans.push(*at);
            if let Some((content, bytes)) = self.readable(&span)? {
                if holds_summary(&content) {
                    texts.push(*at);
                }
                sources.push((span.original, atoms(&content, &bytes)));
            }
        }
        let used = spans.len();
        let details = SourceDetails::of(sources.iter().map(|(at, atoms)| (*at, atoms.as_slice())));
        let manifest = Manifest::of(text, [], &details);
        originals.sort_unstable();
        originals.dedup();
        let event = SummaryImported {
            session,
            span: summary,
            generation: 1,
            spans,
            summaries: Vec::new(),
            citations: originals.into_iter().map(|at| self.vault.citation_of(at)).collect::<Result<_>>()?,
            fidelity: manifest.fidelity(),
            manifest: manifest
                .encode()
                .map_err(|source| Error::internal("write a manifest").with_source(source))?,
        };
        Ok((Ready { event, texts }, used))
    }

    fn commit(&mut self) -> Result<()> {
        if self.ready.is_empty() {
            return Ok(());
        }
        let mut recorder = Recorder::start(self.vault)?;
        // What this batch has imported from each span.
        let mut placed: HashMap<Position, Vec<(Position, u32)>> = HashMap::new();
        for Ready { mut event, texts } in std::mem::take(&mut self.ready) {
            let mut before = Vec::new();
            for text in texts {
                before.extend(placed.get(&text).into_iter().flatten().copied());
                for at in self.vault.positions(&key::key(Table::ImportedFrom, &[text]))? {
                    before.push((at, self.vault.imported_at(at)?.generation));
                }
            }
            before.sort_unstable();
            event.generation = before.iter().map(|(_at, generation)| *generation).max().unwrap_or(0) + 1;
            event.summaries = before.into_iter().map(|(at, _generation)| at).collect();
            let (span, generation, covers) = (event.span, event.generation, event.spans.len());
            let fidelity = event.fidelity.clone();
            let at = recorder.push(Event::SummaryImported(Box::new(event)), None);
            placed.entry(span).or_default().push((at, generation));
            let summary = SummaryId(at);
            self.done.push(ImportedSummary { summary, span: SpanId(span), generation, covers, fidelity });
        }
        self.ready_bytes = 0;
        self.commit = recorder.append()?;
        Ok(())
    }
}

/// Whether a record is the summary of a compaction.
fn holds_summary(content: &SpanContent) -> bool {
    content.parts.iter().any(|part| matches!(part.body, PartBody::Summary(_)))
}

/// What a span says as the summary of a compaction.
pub(crate) fn summary_text(content: &SpanContent) -> String {
    let texts = content.parts.iter().filter_map(|part| match &part.body {
        PartBody::Summary(text) => Some(text.as_str()),
        PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Call(_) | PartBody::Result(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

impl Vault {
    /// Whether the compaction whose text a span holds is in the log.
    fn is_imported(&self, span: Position) -> Result<bool> {
        Ok(!self.positions(&key::key(Table::ImportedFrom, &[span]))?.is_empty())
    }

    /// A citation of the original at `at`.
    pub(crate) fn citation_of(&self, at: Position) -> Result<OriginalRef> {
        let commitment = self.frame(at)?.commitment.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, format!("cite the original at {at}: its frame has no commitment"))
        })?;
        Ok(OriginalRef { at, commitment })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spans_of(standing: &[Spans]) -> Vec<u64> {
        standing.iter().flat_map(|spans| spans.positions()).map(Position::get).collect()
    }

    #[test]
    fn what_a_compaction_replaced_is_what_stood_before_the_first_span_that_it_kept() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(dir.path().join("vault")).unwrap();
        proptest!(|(steps in prop::collection::vec((1_u64..3, 1_u64..3, prop::option::of(prop::option::of(0_u64..60))), 0..40))| {
            let (mut compactions, mut standing, mut expected) = (Compactions::default(), Vec::new(), Vec::new());
            let (mut at, mut index) = (0, 0);
            for (gap, step, summary) in steps {
                (at, index) = (at + gap, index + step);
                let kept = summary.map(|first| first.map_or(Kept::Nothing, Kept::FromIndex));
                if let Some(first) = summary {
                    let is_replaced = |(_at, index): &(u64, u64)| first.is_none_or(|first| *index < first);
                    let replaced: Vec<u64> = standing.iter().filter(|it| is_replaced(it)).map(|it| it.0).collect();
                    standing.retain(|it| !is_replaced(it));
                    if !replaced.is_empty() {
                        expected.push((at, replaced));
                    }
                }
                standing.push((at, index));
                let mark = Mark { index, event: None, is_conversation: true, kept, side_file: None };
                compactions.pass("run", mark, Position::new(at));
            }
            let passed = compactions.sessions.remove("run").unwrap_or_default();
            let found = found_in(&vault, "run", passed).unwrap();
            let found: Vec<_> =
                found.iter().map(|found| (found.summary.get(), spans_of(&found.replaced))).collect();
            prop_assert_eq!(found, expected);
        });
    }

    #[test]
    fn the_first_span_of_an_identity_is_found_in_the_middle_of_others() {
        let standing = [Spans { first: 10, index: 0, count: 3 }, Spans { first: 20, index: 3, count: 4 }];
        let first = |wanted: &[u64]| {
            first_of(&standing, &wanted.iter().copied().map(Position::new).collect::<Vec<_>>())
        };
        assert_eq!(first(&[22]), Some((1, 2)));
        assert_eq!(first(&[23, 21, 11]), Some((0, 1)));
        assert_eq!(first(&[9, 13, 24]), None);
    }
}
