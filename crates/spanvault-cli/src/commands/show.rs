//! `show`: one span, summary, checkpoint or gap, whole.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Name, Shown};

use super::expand::ExpandResponse;
use super::spans::SpanResponse;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, bytes, count, joined, one_line, to_the_second};
use crate::wire;

/// Show one span, summary or original whole
///
/// A span is shown with everything that was read in it and what it says; "recover" gives its exact bytes. Exits
/// with 5 where the bytes were reclaimed, and names the tombstone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault show s12\n  \
    spanvault show 3f9a01c2 --json")]
pub(crate) struct ShowArgs {
    /// A content hash or at least 8 digits of its start, a span (s12) or a summary (m40)
    #[arg(value_name = "HASH|SPAN|SUMMARY")]
    name: Name,
}

pub(crate) fn run(args: &ShowArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    match vault.show(args.name.clone())? {
        Shown::Span { info, text } => {
            context.output.emit(&ShownSpan { kind_of: "span", span: SpanResponse::from(*info), text })
        }
        Shown::Summary(expansion) => context.output.emit(&ExpandResponse::from(*expansion)),
        Shown::Checkpoint { checkpoint, text } => context.output.emit(&ShownText {
            kind_of: "checkpoint",
            checkpoint: Some(checkpoint.to_string()),
            hash: None,
            bytes: text.len() as u64,
            text,
        }),
        Shown::Gap { hash, bytes } => context.output.emit(&ShownText {
            kind_of: "gap",
            checkpoint: None,
            hash: Some(hash.to_string()),
            bytes: bytes.len() as u64,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }),
    }?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct ShownSpan {
    #[serde(rename = "is")]
    kind_of: &'static str,
    #[serde(flatten)]
    span: SpanResponse,
    text: String,
}

/// How much of the words of a promise people are shown, in characters.
const WORDS_CHARS: usize = 70;

impl Response for ShownSpan {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let span = &self.span;
        page.heading(&format!("span {}", span.span))?;
        page.field("hash", span.hash.as_deref().unwrap_or("unknown"))?;
        let session = page.safe(&span.session).into_owned();
        page.field("session", session)?;
        if !span.source.is_empty() {
            let source = page.safe(&span.source).into_owned();
            page.field("source", format_args!("{source}{} index {}", span.record, span.index))?;
        }
        page.field("kind", format_args!("{} by {}", span.kind.replace('_', " "), span.role))?;
        page.field("class", span.class.replace('_', "-"))?;
        page.field("size", format_args!("{}, {} tokens", bytes(span.bytes), count(span.tokens)))?;
        page.field("time", to_the_second(span.timestamp.as_deref().unwrap_or("not said")))?;
        page.field("negative", if span.negative { "yes" } else { "no" })?;
        for opened in &span.opens {
            let state =
                opened.discharged_by.as_ref().map_or_else(|| "open".to_owned(), |by| format!("kept by {by}"));
            page.field("promise", format_args!("\"{}\", {state}", one_line(&opened.words, WORDS_CHARS)))?;
        }
        if !span.discharges.is_empty() {
            page.field("keeps", format_args!("the promise of {}", joined(&span.discharges, "none")))?;
        }
        for live in &span.live {
            page.field("live", format_args!("{}: \"{}\"", live.kind, one_line(&live.words, WORDS_CHARS)))?;
        }
        page.field("tier", &span.tier)?;
        page.field("expires", to_the_second(span.expires_at.as_deref().unwrap_or("never")))?;
        if let Some(summary) = &span.summary {
            page.field("summary", format_args!("{summary} stands for it in the context"))?;
        }
        page.gap()?;
        page.quote(&self.text)
    }
}

#[derive(Debug, Serialize)]
struct ShownText {
    #[serde(rename = "is")]
    kind_of: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    bytes: u64,
    text: String,
}

impl Response for ShownText {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let name = self.checkpoint.clone().or(self.hash.as_deref().map(wire::short_hash)).unwrap_or_default();
        page.heading(&format!("{} {name}: {}", self.kind_of, bytes(self.bytes)))?;
        page.gap()?;
        page.quote(&self.text)
    }
}
