//! The transcript as the agent now sees it.

use std::collections::HashSet;

use spanvault_types::{PartBody, Position, Role, SpanContent};

use crate::error::{Error, ErrorKind, Result};
use crate::ids::{CheckpointId, SpanId, SummaryId};
use crate::session::Session;
use crate::view::{SessionView, Sight, SpanRow};

/// One piece of the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextItem {
    /// A span as it stands.
    Span {
        /// The span.
        span: SpanId,
        /// Who speaks.
        role: Role,
        /// What it says.
        text: String,
        /// Estimated tokens.
        tokens: u64,
        /// The imported summary that it is the text of: what the source's own runtime had put in place of spans that
        /// stand before it here.
        imported: Option<SummaryId>,
    },
    /// A summary that stands for spans.
    Summary {
        /// The summary.
        summary: SummaryId,
        /// How many summaries deep it is.
        generation: u32,
        /// How many spans it stands for.
        covers: usize,
        /// Its text, and under it the digest with what it dropped and the pointers.
        text: String,
        /// Estimated tokens, digest included.
        tokens: u64,
        /// Originals of its closure that are gone: questions about them can no longer be answered from evidence.
        expired: usize,
    },
    /// What was open when the session was last checkpointed.
    Checkpoint {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// Its text.
        text: String,
        /// Estimated tokens.
        tokens: u64,
    },
    /// A span whose bytes cannot be shown.
    Gone {
        /// The span.
        span: SpanId,
        /// Its tombstone, where it was reclaimed; otherwise it is damaged.
        tombstone: Option<Position>,
        /// What stands in its place.
        text: String,
    },
}

impl ContextItem {
    /// Estimated tokens of this piece.
    pub const fn tokens(&self) -> u64 {
        match self {
            Self::Span { tokens, .. } | Self::Summary { tokens, .. } | Self::Checkpoint { tokens, .. } => {
                *tokens
            }
            Self::Gone { text, .. } => spanvault_evidence::tokens_of_bytes(text.len() as u64),
        }
    }
}

impl Session<'_> {
    /// The transcript as the agent now sees it: kept spans verbatim, summaries with what they dropped and where it
    /// is, the newest checkpoint. Records that are no conversation are left out.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged; a damaged span is shown as gone.
    pub fn context(&self) -> Result<Vec<ContextItem>> {
        let view = self.vault.view(self.at)?;
        let mut shown = HashSet::new();
        let mut items = Vec::new();
        let checkpoint = view.checkpoints.last();
        for row in view.rows.iter().filter(|row| row.is_conversation()) {
            match row.stands_in {
                Some(summary) if shown.insert(summary) => items.push(self.summary_item(&view, summary)?),
                Some(_shown) => {}
                None => items.push(span_item(row, self.vault.imported_from(row.at)?)),
            }
            if let Some((at, carried)) = checkpoint.filter(|(_at, carried)| carried.after == row.at) {
                let text = String::from_utf8_lossy(&self.vault.bytes_at(*at)?).into_owned();
                let checkpoint = CheckpointId(*at);
                items.push(ContextItem::Checkpoint { checkpoint, text, tokens: carried.tokens });
            }
        }
        Ok(items)
    }

    fn summary_item(&self, view: &SessionView, at: Position) -> Result<ContextItem> {
        let row = view
            .summaries
            .iter()
            .find(|row| row.at == at)
            .ok_or_else(|| Error::internal(format!("find summary {} in its session", SummaryId(at))))?;
        let summary = &row.summary;
        let gone = |original: &Position| !self.vault.store.whereabouts(*original).is_retrievable();
        let expired = summary.citations.iter().filter(|citation| gone(&citation.at)).count();
        let mut text = row.text.clone();
        if !summary.digest.is_empty() {
            text.push('\n');
            text.push_str(&summary.digest);
        }
        if expired > 0 {
            let total = summary.citations.len();
            let note = format!("\nevidence expired: {expired} of {total} originals are gone; ");
            text.push_str(&note);
            text.push_str("what this text does not say cannot be checked");
        }
        Ok(ContextItem::Summary {
            summary: SummaryId(at),
            generation: summary.generation,
            covers: summary.spans.len(),
            text,
            tokens: summary.tokens,
            expired,
        })
    }
}

fn span_item(row: &SpanRow, imported: Option<SummaryId>) -> ContextItem {
    let span = SpanId(row.at);
    match &row.sight {
        Sight::Seen(content, original) => {
            let text = if content.parts.is_empty() { lossy_head(original) } else { words_of(content) };
            ContextItem::Span { span, role: row.span.role, text, tokens: row.span.tokens, imported }
        }
        Sight::Meta => {
            ContextItem::Span { span, role: row.span.role, text: String::new(), tokens: 0, imported }
        }
        Sight::Unseen(error) => {
            let tombstone = error.tombstone();
            let text = match (error.kind(), tombstone) {
                (ErrorKind::Insufficient, Some(at)) => {
                    format!("[{span}: evidence expired; tombstone at {at}]")
                }
                _ => format!("[{span}: {error}]"),
            };
            ContextItem::Gone { span, tombstone, text }
        }
    }
}

/// How much of an unparsed record the context shows, in bytes.
const UNPARSED_BYTES_MAX: usize = 4 << 10;

fn lossy_head(original: &[u8]) -> String {
    let head = original.get(..UNPARSED_BYTES_MAX).unwrap_or(original);
    let mut text = String::from_utf8_lossy(head).into_owned();
    if head.len() < original.len() {
        text.push('…');
    }
    text
}

/// What a span says, as plain text.
pub(crate) fn words_of(content: &SpanContent) -> String {
    let mut text = String::new();
    for part in &content.parts {
        if !text.is_empty() {
            text.push('\n');
        }
        match &part.body {
            PartBody::Text(words) | PartBody::Summary(words) | PartBody::Thinking(words) => {
                text.push_str(words);
            }
            PartBody::Call(call) => {
                text.push_str(&call.tool);
                text.push(' ');
                text.push_str(&call.args.to_string());
            }
            PartBody::Result(outcome) => text.push_str(&outcome.text),
        }
    }
    text
}
