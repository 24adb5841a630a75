//! A session, read once for one compaction: who is a candidate, what stays, and what is open.

use std::collections::HashSet;

use spanvault_evidence::{CarriedMark, LiveMark, SessionAtoms, SessionReading, SpanText, live};
use spanvault_gate::{OriginalView, Presence, Reading, SpanView, Unknown};
use spanvault_store::Whereabouts;
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{CarriedKind, EvidentialClass, Position};

use super::{Keep, Over};
use crate::error::{ErrorKind, Result};
use crate::ids::{SpanId, SummaryId};
use crate::keepers::Keepers;
use crate::liveness::carried;
use crate::scoped::ScopeMembers;
use crate::vault::Vault;
use crate::view::{OwnedText, SessionView, Sight, SpanRow, SummaryRow};

/// What a compaction knows of its session.
pub(crate) struct Insight {
    pub(super) view: SessionView,
    owned: Vec<OwnedText>,
    /// What was read of the details of its spans so far.
    pub(super) atoms: SessionAtoms,
    pub(super) reading: SessionReading,
    /// The first row that stays, whatever the gate says.
    pub(super) cut: usize,
    /// Rows that a summary may come to stand for.
    pub(super) candidates: Vec<bool>,
    /// What is open in each row that a summary may come to stand for, and carried by no checkpoint.
    pub(super) marks: Vec<Vec<LiveMark>>,
    /// The other end of a call or result, by row: they stay or go together.
    pub(super) partners: Vec<Vec<usize>>,
    /// Summaries before the cut that go into a deeper one, as rows of `view.summaries`.
    pub(super) summaries: Vec<usize>,
}

impl std::fmt::Debug for Insight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Insight")
            .field("session", &self.view.session)
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

impl Insight {
    pub(super) fn read(vault: &Vault, session: Position, keep: Keep, over: Over) -> Result<Self> {
        let view = vault.view(session)?;
        let owned = view.texts();
        let reading = view.read();
        let partners = partners(&view, &reading);
        let cut = cut(&view, keep, &partners);
        let candidates: Vec<bool> = view
            .rows
            .iter()
            .enumerate()
            .map(|(n, row)| n < cut && row.is_conversation() && row.stands_in.is_none())
            .collect();
        let kept: Vec<bool> =
            view.rows.iter().enumerate().map(|(n, row)| n >= cut && row.is_conversation()).collect();
        // A deeper summary takes the place of those that carry what is open in their spans: it has to carry it again.
        let looked_at: Vec<bool> = view
            .rows
            .iter()
            .zip(&candidates)
            .enumerate()
            .map(|(n, (row, is_candidate))| {
                *is_candidate || (over == Over::Summaries && n < cut && row.stands_in.is_some())
            })
            .collect();
        let texts: Vec<SpanText<'_>> = owned.iter().map(OwnedText::as_text).collect();
        let carried: Vec<CarriedMark> = carried(&view);
        let atoms = SessionAtoms::new(texts.len());
        let marks = live(&reading, &texts, &atoms, &looked_at, &kept, &carried);
        let summaries = match over {
            Over::Spans => Vec::new(),
            Over::Summaries => summaries_before(&view, cut),
        };
        Ok(Self { view, owned, atoms, reading, cut, candidates, marks, partners, summaries })
    }

    pub(super) fn texts(&self) -> Vec<SpanText<'_>> {
        self.owned.iter().map(OwnedText::as_text).collect()
    }

    pub(super) fn row(&self, n: usize) -> Option<&SpanRow> {
        self.view.rows.get(n)
    }

    pub(super) fn rows_of(&self, rows: &[usize]) -> impl Iterator<Item = &SpanRow> {
        rows.iter().filter_map(|n| self.view.rows.get(*n))
    }

    pub(super) fn summaries_of(&self, summaries: &[usize]) -> impl Iterator<Item = &SummaryRow> {
        summaries.iter().filter_map(|n| self.view.summaries.get(*n))
    }

    /// Every row that a summary over `rows` and `summaries` stands for, ascending.
    pub(super) fn closure(&self, rows: &[usize], summaries: &[usize]) -> Vec<usize> {
        let through: HashSet<Position> =
            self.summaries_of(summaries).flat_map(|row| row.summary.spans.iter().copied()).collect();
        let mut closure = rows.to_vec();
        closure.extend(
            self.view
                .rows
                .iter()
                .enumerate()
                .filter(|(_n, row)| through.contains(&row.at))
                .map(|(n, _row)| n),
        );
        closure.sort_unstable();
        closure.dedup();
        closure
    }

    /// What spans and summaries say, as plain text for a model.
    pub(super) fn text_of(&self, rows: &[usize], summaries: &[usize]) -> String {
        let mut text = String::new();
        for row in self.summaries_of(summaries) {
            let line = format!("[{} summary] {}\n", SummaryId(row.at), row.text);
            text.push_str(&line);
        }
        for row in self.rows_of(rows) {
            let Some(content) = row.content() else { continue };
            let words = crate::context::words_of(content);
            let line = format!("[{} {}] {words}\n", SpanId(row.at), row.span.role.as_str());
            text.push_str(&line);
        }
        text
    }

    /// What is open in row `n` and no digest can carry away: a promise keeps its span verbatim.
    pub(super) fn obligations(&self, n: usize) -> impl Iterator<Item = &LiveMark> {
        self.marks.get(n).into_iter().flatten().filter(|mark| mark.kind == CarriedKind::Obligation)
    }

    /// Bytes of the originals that stand verbatim in the context.
    pub(super) fn bytes_in_context(&self) -> u64 {
        let spans = self.view.rows.iter().filter(|row| row.is_conversation() && row.stands_in.is_none());
        spans.map(|row| row.span.bytes).sum()
    }

    /// What the gate is shown of row `n`. `live` is what it should count as open in it.
    pub(super) fn gate_view(
        &self,
        vault: &Vault,
        keepers: &Keepers,
        members: &mut ScopeMembers,
        n: usize,
        live: &[spanvault_gate::LiveMark],
    ) -> SpanView {
        let Some(row) = self.view.rows.get(n) else {
            return SpanView { span: Position::ZERO, live: Err(Unknown), originals: Err(Unknown) };
        };
        let is_seen = matches!(row.sight, Sight::Seen(..));
        SpanView {
            span: row.at,
            // What is open in words that nobody can read is unknown.
            live: if is_seen { Ok(live.to_vec()) } else { Err(Unknown) },
            originals: Ok(vec![self.original_view(vault, keepers, members, n, row)]),
        }
    }

    fn original_view(
        &self,
        vault: &Vault,
        keepers: &Keepers,
        members: &mut ScopeMembers,
        n: usize,
        row: &SpanRow,
    ) -> OriginalView {
        let original = row.span.original;
        // What the original's own frame says of its span was read with the session.
        let own = (row.at == original).then(|| row.span.clone());
        let kept = match own {
            Some(own) => vault.occurrences_of_own(original, own),
            None => vault.occurrences(original),
        };
        let kept = kept
            .and_then(|occurrences| keepers.of(vault, original, &occurrences, members))
            .map_err(|_unreadable| Unknown);
        OriginalView {
            original,
            reading: self.gate_reading(n, row),
            // Every summary that this crate writes cites every original of its spans.
            cited: true,
            presence: presence(vault, row),
            reach: vault.options.reach,
            retention: kept.as_ref().map(|kept| kept.retention).map_err(|unknown| *unknown),
            leases: kept.as_ref().map(|kept| kept.leases.clone()).map_err(|unknown| *unknown),
            demands: kept.as_ref().map(|kept| kept.demands.clone()).map_err(|unknown| *unknown),
            holds: kept.map(|kept| kept.holds),
        }
    }

    fn gate_reading(&self, n: usize, row: &SpanRow) -> Result<Reading, Unknown> {
        let read =
            self.reading.spans.get(n).filter(|_read| matches!(row.sight, Sight::Seen(..))).ok_or(Unknown)?;
        if is_planted(Bug::WordsOnly) {
            return Ok(Reading {
                class: EvidentialClass::Narrative,
                atom: false,
                denial: false,
                promise: false,
            });
        }
        Ok(Reading {
            class: read.class,
            atom: read.class == EvidentialClass::Narrative && read.read_as > read.class,
            denial: read.negative,
            promise: !read.opens.is_empty(),
        })
    }
}

/// Where the bytes of a row are. They were read and hashed when the view was loaded.
fn presence(vault: &Vault, row: &SpanRow) -> Result<Presence, Unknown> {
    let whereabouts = vault.store.whereabouts(row.span.original);
    match (&row.sight, whereabouts) {
        (Sight::Seen(..), _) if is_planted(Bug::PlanForVerdict) => Ok(Presence::HotVerified),
        (_, Whereabouts::Condemned { .. }) => Ok(Presence::Condemned),
        (_, Whereabouts::Reclaimed { .. }) => Ok(Presence::Reclaimed),
        (_, Whereabouts::Missing) => Ok(Presence::Missing),
        (Sight::Unseen(error), _) if error.kind() == ErrorKind::Corrupt => Ok(Presence::Corrupt),
        (_, Whereabouts::Corrupt) => Ok(Presence::Corrupt),
        (Sight::Seen(..), Whereabouts::Hot) => Ok(Presence::HotVerified),
        (Sight::Seen(..), Whereabouts::Cold { .. }) => Ok(Presence::ColdVerified),
        (Sight::Seen(..) | Sight::Meta | Sight::Unseen(_), _) => Err(Unknown),
    }
}

/// For each row, the rows that hold the other end of one of its calls or results.
fn partners(view: &SessionView, reading: &SessionReading) -> Vec<Vec<usize>> {
    let mut partners = vec![Vec::new(); view.rows.len()];
    for paired in &reading.calls {
        let Some(result) = paired.result else { continue };
        let (call, result) = (paired.call.span, result.span);
        if call == result {
            continue;
        }
        for (from, to) in [(call, result), (result, call)] {
            if let Some(of_row) = partners.get_mut(from) {
                of_row.push(to);
            }
        }
    }
    partners
}

/// The first row that stays: the last conversation spans, and no call before it whose result stands after it.
fn cut(view: &SessionView, keep: Keep, partners: &[Vec<usize>]) -> usize {
    let Keep::Last(last) = keep;
    let conversation = || view.rows.iter().enumerate().rev().filter(|(_n, row)| row.is_conversation());
    let mut cut = match last.checked_sub(1) {
        Some(before) => conversation().nth(before).map_or(0, |(n, _row)| n),
        None => view.rows.len(),
    };
    // One pass from the cut on is enough: rows are taken in, and their own partners are looked at in turn.
    let mut n = view.rows.len();
    while n > cut {
        n -= 1;
        let earliest = partners.get(n).into_iter().flatten().min();
        if let Some(earliest) = earliest.filter(|earliest| **earliest < cut) {
            cut = *earliest;
        }
    }
    cut
}

/// The outermost summaries that stand wholly before the cut.
fn summaries_before(view: &SessionView, cut: usize) -> Vec<usize> {
    let before: HashSet<Position> = view.rows.iter().take(cut).map(|row| row.at).collect();
    view.summaries
        .iter()
        .enumerate()
        .filter(|(_n, row)| row.covered_by.is_none())
        .filter(|(_n, row)| row.summary.spans.iter().all(|span| before.contains(span)))
        .map(|(n, _row)| n)
        .collect()
}
