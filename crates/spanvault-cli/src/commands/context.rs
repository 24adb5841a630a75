//! `context`: the transcript as the agent now sees it.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::ContextItem;
use spanvault_types::Position;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Tone, count, counted};

/// Show the transcript as the agent now sees it
///
/// Kept spans stand verbatim; summaries stand where the spans they replace stood, each with a digest of what it
/// dropped and the command that leads back to the originals. What is gone is shown as its tombstone.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault context run-42")]
pub(crate) struct ContextArgs {
    /// The session, by its name or a unique start of it
    #[arg(value_name = "SESSION")]
    session: String,
}

pub(crate) fn run(args: &ContextArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let session = vault.find(&args.session)?;
    let items: Vec<ItemResponse> = session.context()?.into_iter().map(ItemResponse::from).collect();
    if context.output.is_json() {
        for item in &items {
            context.output.line(item)?;
        }
        return Ok(Exit::Done);
    }
    show(session.name(), &items, &mut context.output.page()).map_err(Failure::printing)?;
    Ok(Exit::Done)
}

fn show(session: &str, items: &[ItemResponse], page: &mut Page<'_>) -> io::Result<()> {
    let tokens = items.iter().map(|item| item.tokens).sum();
    let session = page.safe(session).into_owned();
    page.heading(&format!(
        "session {session}: {} in {}",
        counted(tokens, "token"),
        counted(items.len() as u64, "piece")
    ))?;
    for item in items {
        page.gap()?;
        let title = page.paint(Tone::Faint, &item.title());
        page.line(title)?;
        page.quote(&item.text)?;
    }
    Ok(())
}

/// One piece of the context.
#[derive(Debug, Default, Serialize)]
struct ItemResponse {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covers: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expired: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tombstone: Option<u64>,
    tokens: u64,
    text: String,
}

impl From<ContextItem> for ItemResponse {
    fn from(item: ContextItem) -> Self {
        let tokens = item.tokens();
        match item {
            ContextItem::Span { span, role, text, imported, .. } => Self {
                imported: imported.map(|summary| summary.to_string()),
                kind: "span",
                span: Some(span.to_string()),
                role: Some(role.as_str()),
                tokens,
                text,
                ..Self::default()
            },
            ContextItem::Summary { summary, generation, covers, text, expired, .. } => Self {
                kind: "summary",
                summary: Some(summary.to_string()),
                generation: Some(generation),
                covers: Some(covers),
                expired: Some(expired),
                tokens,
                text,
                ..Self::default()
            },
            ContextItem::Checkpoint { checkpoint, text, .. } => Self {
                kind: "checkpoint",
                checkpoint: Some(checkpoint.to_string()),
                tokens,
                text,
                ..Self::default()
            },
            ContextItem::Gone { span, tombstone, text } => Self {
                kind: "gone",
                span: Some(span.to_string()),
                tombstone: tombstone.map(Position::get),
                tokens,
                text,
                ..Self::default()
            },
        }
    }
}

impl ItemResponse {
    /// The line above its text.
    fn title(&self) -> String {
        let name =
            self.span.as_deref().or(self.summary.as_deref()).or(self.checkpoint.as_deref()).unwrap_or("");
        let what = match (self.generation, self.covers) {
            (Some(generation), Some(covers)) => {
                format!("summary of {}, generation {generation}", counted(covers as u64, "span"))
            }
            _ => self.role.unwrap_or(self.kind).to_owned(),
        };
        let what = match &self.imported {
            Some(summary) => format!("{what}, imported summary {summary}"),
            None => what,
        };
        format!("--- {name} {what} ({} tokens)", count(self.tokens))
    }
}
