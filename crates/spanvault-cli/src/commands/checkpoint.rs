//! `checkpoint`: what is open in a session, carried into its context.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{CheckpointMade, LiveReason, SpanId};

use super::spans::LiveResponse;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, counted};

/// Carry what is open in a session into its context
///
/// Writes a record of every open promise, failed or empty result and reference that the kept context rests on, each
/// with its pointer. What a checkpoint carries makes no span live any more, so "compact" can take those spans too.
/// The text is for the agent; the newest checkpoint takes the place of the one before.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault checkpoint run-42")]
pub(crate) struct CheckpointArgs {
    /// The session, by its name or a unique start of it
    #[arg(value_name = "SESSION")]
    session: String,
}

pub(crate) fn run(args: &CheckpointArgs, context: &mut Context) -> Result<Exit, Failure> {
    context.writing(|vault, output| {
        let session = vault.find(&args.session)?;
        let made = session.checkpoint()?;
        output.emit(&CheckpointResponse::new(session.name(), made))?;
        Ok(Exit::Done)
    })
}

#[derive(Debug, Serialize)]
struct CheckpointResponse {
    session: String,
    /// `null` where nothing is open.
    checkpoint: Option<String>,
    items: Vec<ItemResponse>,
    tokens: u64,
    unchanged: bool,
    text: String,
}

#[derive(Debug, Serialize)]
struct ItemResponse {
    span: String,
    #[serde(flatten)]
    open: LiveResponse,
}

impl CheckpointResponse {
    fn new(session: &str, made: CheckpointMade) -> Self {
        let item =
            |(span, open): (SpanId, LiveReason)| ItemResponse { span: span.to_string(), open: open.into() };
        Self {
            session: session.to_owned(),
            checkpoint: made.checkpoint.map(|checkpoint| checkpoint.to_string()),
            items: made.carries.into_iter().map(item).collect(),
            tokens: made.tokens,
            unchanged: made.is_known,
            text: made.text,
        }
    }
}

impl Response for CheckpointResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let session = page.safe(&self.session).into_owned();
        let Some(checkpoint) = &self.checkpoint else {
            return page
                .line(format_args!("session {session}: nothing is open, so there is nothing to carry"));
        };
        let unchanged = if self.unchanged { ", as it was before" } else { "" };
        page.heading(&format!(
            "checkpoint {checkpoint} of session {session}: {}, {}{unchanged}",
            counted(self.items.len() as u64, "open item"),
            counted(self.tokens, "token"),
        ))?;
        page.gap()?;
        page.quote(&self.text)
    }
}
