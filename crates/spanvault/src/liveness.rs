//! What is open in a session: promises, negatives and references, and what carries them already.

use spanvault_evidence::{CarriedMark, LiveMark, Negative, Obligation, SessionReading, open_marks};
use spanvault_types::{ByteRange, CarriedKind, Position, SpanRecorded};

use crate::error::Result;
use crate::ids::SpanId;
use crate::vault::Vault;
use crate::view::{SessionView, SpanRow};

/// One thing that is open in a span, with the words that open it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveReason {
    /// A promise, a negative result, or a reference from what stays.
    pub kind: CarriedKind,
    /// Where the words stand in the original.
    pub range: ByteRange,
    /// The words; for a reference the detail.
    pub words: String,
    /// For a reference, the span that uses it.
    pub used_by: Option<SpanId>,
}

/// A mark as the gate knows it; `used_by` is the span that uses a reference.
pub(crate) fn gate_mark(
    kind: CarriedKind,
    range: ByteRange,
    used_by: Option<Position>,
) -> spanvault_gate::LiveMark {
    use spanvault_gate::LiveMark;
    match kind {
        CarriedKind::Obligation => LiveMark::Obligation { range },
        CarriedKind::Negative => LiveMark::Negative { range },
        CarriedKind::Reference => LiveMark::Reference { range, used_by: used_by.unwrap_or(Position::ZERO) },
    }
}

/// What is open in each row of the view as the context stands: nothing is about to be replaced.
pub(crate) fn live_reasons(view: &SessionView, reading: &SessionReading) -> Vec<Vec<LiveReason>> {
    reasons_of(view, reading.spans.iter().map(|span| (&*span.opens, &*span.negatives)))
}

/// As [`live_reasons`], of the rows from number `from` on; the others are passed by.
pub(crate) fn live_reasons_since(view: &SessionView, from: usize) -> Vec<Vec<LiveReason>> {
    let debts = view.debts_since(from);
    reasons_of(view, debts.iter().map(|debts| (&*debts.opens, &*debts.negatives)))
}

fn reasons_of<'r>(
    view: &SessionView,
    debts: impl Iterator<Item = (&'r [Obligation], &'r [Negative])>,
) -> Vec<Vec<LiveReason>> {
    let candidates: Vec<bool> = view.rows.iter().map(SpanRow::is_conversation).collect();
    let kept: Vec<bool> =
        view.rows.iter().map(|row| row.is_conversation() && row.stands_in.is_none()).collect();
    // No reference is live: what stays states its details itself, and a digest carries those of what it stands for.
    let mut marks = open_marks(debts, &candidates, &kept, &carried(view));
    for (row, marks) in view.rows.iter().zip(&mut marks) {
        if row.stands_in.is_some() {
            // The digest of the summary that stands for it carries its negatives.
            marks.retain(|mark| mark.kind == CarriedKind::Obligation);
        }
    }
    marks.into_iter().map(|marks| marks.into_iter().map(|mark| reason(view, mark)).collect()).collect()
}

/// What the newest checkpoint carries, by row.
pub(crate) fn carried(view: &SessionView) -> Vec<CarriedMark> {
    let Some((_at, checkpoint)) = view.checkpoints.last() else { return Vec::new() };
    checkpoint
        .items
        .iter()
        .filter_map(|item| {
            let span = view.row_of(item.span)?;
            Some(CarriedMark { span, kind: item.kind, range: item.range })
        })
        .collect()
}

pub(crate) fn reason(view: &SessionView, mark: LiveMark) -> LiveReason {
    let used_by = mark.used_by.and_then(|n| view.rows.get(n)).map(|row| SpanId(row.at));
    LiveReason { kind: mark.kind, range: mark.range, words: mark.words, used_by }
}

impl Vault {
    /// What is open in any of these spans.
    pub(crate) fn live_in(&self, occurrences: &[(Position, SpanRecorded)]) -> Result<Vec<LiveReason>> {
        let mut found = Vec::new();
        let mut sessions: Vec<Position> = occurrences.iter().map(|(_at, span)| span.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            let view = self.view(session)?;
            let live = live_reasons(&view, &view.read());
            for (row, reasons) in view.rows.iter().zip(live) {
                if occurrences.iter().any(|(at, _span)| *at == row.at) {
                    found.extend(reasons);
                }
            }
        }
        Ok(found)
    }
}
