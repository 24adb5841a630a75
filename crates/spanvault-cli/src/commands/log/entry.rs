//! An event of the log as lists show it.

use serde::Serialize;
use serde_json::{Map, Value, json};
use spanvault::{CheckpointId, DemandId, HoldId, LogEntry, SpanId, SummaryId};
use spanvault_types::{Actor, Event, EvidentialClass, OriginalRef, Position};

use crate::output::{Column, Listed};
use crate::wire;

/// One event.
#[derive(Debug, Serialize)]
pub(super) struct EntryResponse {
    at: u64,
    event: &'static str,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl From<LogEntry> for EntryResponse {
    fn from(entry: LogEntry) -> Self {
        let (event, fields) = described(entry.at, &entry.event);
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        Self { at: entry.at.get(), event, fields }
    }
}

impl Listed for EntryResponse {
    const COLUMNS: &'static [Column] = &[Column::Number("at"), Column::Text("event"), Column::Text("what")];
    const NONE: &'static str = "no events from there on";

    fn cells(&self) -> Vec<String> {
        let what: Vec<String> = self
            .fields
            .iter()
            .filter(|(_name, value)| !value.is_null())
            .map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name} {text}"),
                None => format!("{name} {value}"),
            })
            .collect();
        vec![self.at.to_string(), self.event.replace('_', " "), what.join(", ")]
    }
}

/// The name of an event, and what it says.
fn described(at: Position, event: &Event) -> (&'static str, Value) {
    match event {
        Event::Commit(commit) => (
            "commit",
            json!({
                "first": commit.first.get(),
                "store_time": wire::instant(commit.clock.store),
                "originals": commit.counts.originals,
                "summaries": commit.counts.summaries,
                "citations": commit.counts.citations,
            }),
        ),
        Event::SessionOpened(opened) => {
            ("session_opened", json!({"session": opened.name, "format": opened.format}))
        }
        Event::SpanRecorded(span) => (
            "span_recorded",
            json!({
                "span": SpanId(at).to_string(),
                "session": span.session.get(),
                "original": span_id(span.original),
                "index": span.index,
                "kind": span.kind.as_str(),
                "class": span.class.as_str(),
                "bytes": span.bytes,
                "recorded_at": wire::instant(span.recorded_at),
            }),
        ),
        Event::GapStored => ("gap_stored", json!({})),
        Event::SourceOpened(opened) => {
            ("source_opened", json!({"source": opened.path, "format": opened.format}))
        }
        Event::SourceExtended(piece) => (
            "source_extended",
            json!({
                "source": piece.source.get(),
                "from_byte": piece.from_byte,
                "to_byte": piece.to_byte,
                "complete": piece.complete,
            }),
        ),
        Event::Summarised(summary) => (
            "summarised",
            json!({
                "summary": SummaryId(at).to_string(),
                "session": summary.session.get(),
                "generation": summary.generation,
                "covers": summary.spans.len(),
                "citations": summary.citations.len(),
                "leases": summary.permit.leases.len(),
                "mode": summary.mode.as_str(),
                "summarizer": summary.summarizer,
                "revision": summary.permit.revision.get(),
                "decided_at": wire::instant(summary.permit.at),
            }),
        ),
        Event::Refused(refused) => (
            "refused",
            json!({
                "operation": wire::operation(refused.operation),
                "refused": refused.items.len(),
                "revision": refused.revision.get(),
                "decided_at": wire::instant(refused.at),
            }),
        ),
        Event::IndexClosed(closed) => ("index_closed", json!({"applied": closed.applied.get()})),
        Event::RetentionSet(rule) => (
            "retention_set",
            by(
                &rule.by,
                json!({
                    "class": rule.class.map(EvidentialClass::as_str),
                    "session": rule.session.map(Position::get),
                    "hot_for": rule.hot_for.map(crate::values::ttl_rule_in_words),
                    "keep_for": rule.keep_for.map(crate::values::ttl_rule_in_words),
                    "grace": rule.grace.map(|grace| grace.to_string()),
                    "set_at": wire::instant(rule.at),
                }),
            ),
        ),
        Event::AssumptionSet(set) => {
            let audit = set.audit_for.map_or_else(|| "none".to_owned(), |length| length.to_string());
            ("assumption_set", by(&set.by, json!({"audit": audit})))
        }
        Event::DemandDeclared(demand) => (
            "demand_declared",
            by(
                &demand.by,
                json!({
                    "demand": DemandId(at).to_string(),
                    "kind": demand.kind.as_str(),
                    "until": wire::horizon(demand.horizon),
                }),
            ),
        ),
        Event::DemandWithdrawn(end) => {
            ("demand_withdrawn", by(&end.by, json!({"demand": DemandId(end.demand).to_string()})))
        }
        Event::HoldPlaced(hold) => ("hold_placed", by(&hold.by, json!({"hold": HoldId(at).to_string()}))),
        Event::HoldReleased(end) => {
            ("hold_released", by(&end.by, json!({"hold": HoldId(end.hold).to_string()})))
        }
        Event::Condemned(condemned) => (
            "condemned",
            json!({"originals": span_ids(&condemned.originals), "from": wire::instant(condemned.at)}),
        ),
        Event::Rescued(rescued) => {
            ("rescued", json!({"originals": span_ids(&rescued.originals), "by": rescued.by.get()}))
        }
        Event::Reclaimed(tombstone) => (
            "reclaimed",
            json!({
                "original": original_id(&tombstone.original),
                "bytes": tombstone.bytes,
                "class": tombstone.class.as_str(),
                "reclaimed_at": wire::instant(tombstone.at),
                "expired_at": wire::expiry(tombstone.expired_at),
                "condemned_at": wire::instant(tombstone.condemned_at),
                "revision": tombstone.revision.get(),
            }),
        ),
        Event::Demoted(demoted) => {
            ("demoted", json!({"pack": demoted.pack, "originals": demoted.originals.len()}))
        }
        Event::ClockConfirmed(confirmed) => (
            "clock_confirmed",
            by(
                &confirmed.by,
                json!({
                    "before": wire::instant(confirmed.before),
                    "after": wire::instant(confirmed.after),
                }),
            ),
        ),
        Event::ClockSuspected(suspected) => ("clock_suspected", json!({"drift_ms": suspected.drift_ms})),
        Event::Checkpointed(checkpoint) => (
            "checkpointed",
            json!({
                "checkpoint": CheckpointId(at).to_string(),
                "session": checkpoint.session.get(),
                "after": span_id(checkpoint.after),
                "items": checkpoint.items.len(),
            }),
        ),
        Event::SummaryImported(summary) => (
            "summary_imported",
            json!({
                "summary": SummaryId(at).to_string(),
                "session": summary.session.get(),
                "span": span_id(summary.span),
                "generation": summary.generation,
                "covers": summary.spans.len(),
                "citations": summary.citations.len(),
            }),
        ),
        Event::SpanSuperseded(superseded) => {
            ("span_superseded", json!({"span": span_id(superseded.span), "by": span_id(superseded.by)}))
        }
    }
}

/// Adds who did it and why.
fn by(actor: &Actor, mut fields: Value) -> Value {
    if let Value::Object(fields) = &mut fields {
        fields.insert("actor".to_owned(), actor.name.clone().into());
        let reason = Some(&actor.reason).filter(|reason| !reason.is_empty());
        fields.insert("reason".to_owned(), reason.cloned().into());
    }
    fields
}

fn span_id(at: Position) -> String {
    SpanId(at).to_string()
}

fn original_id(original: &OriginalRef) -> String {
    span_id(original.at)
}

fn span_ids(originals: &[Position]) -> Vec<String> {
    originals.iter().map(|at| span_id(*at)).collect()
}
