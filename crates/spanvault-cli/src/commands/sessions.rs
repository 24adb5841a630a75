//! `sessions`: lists the sessions of a vault.

use clap::Args;
use serde::Serialize;
use spanvault::SessionInfo;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Column, Listed, bytes, count, joined};
use crate::wire;

/// List the sessions of the vault
///
/// One line for each session, oldest first: how much it holds, how much of it summaries stand for, and the files
/// that it came from.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault sessions --json")]
pub(crate) struct SessionsArgs {}

pub(crate) fn run(_args: &SessionsArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let mut list = context.output.list();
    for session in vault.session_infos()? {
        list.push(&SessionResponse::from(session))?;
    }
    list.finish()?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct SessionResponse {
    session: String,
    format: String,
    sources: Vec<String>,
    spans: u64,
    bytes: u64,
    tokens: u64,
    summaries: u64,
    summarised: u64,
    checkpoints: u64,
    first_recorded: Option<String>,
    last_recorded: Option<String>,
}

impl From<SessionInfo> for SessionResponse {
    fn from(info: SessionInfo) -> Self {
        Self {
            session: info.session,
            format: info.format,
            sources: info.sources,
            spans: info.spans,
            bytes: info.bytes,
            tokens: info.tokens,
            summaries: info.summaries,
            summarised: info.summarised,
            checkpoints: info.checkpoints,
            first_recorded: info.first_recorded.map(wire::instant),
            last_recorded: info.last_recorded.map(wire::instant),
        }
    }
}

impl Listed for SessionResponse {
    const COLUMNS: &'static [Column] = &[
        Column::Text("session"),
        Column::Number("spans"),
        Column::Number("tokens"),
        Column::Number("bytes"),
        Column::Number("summaries"),
        Column::Number("summarised"),
        Column::Text("sources"),
    ];
    const NONE: &'static str = "no sessions yet: \"spanvault ingest FILE\" records one";

    fn cells(&self) -> Vec<String> {
        vec![
            self.session.clone(),
            count(self.spans),
            count(self.tokens),
            bytes(self.bytes),
            count(self.summaries),
            count(self.summarised),
            joined(&self.sources, "recorded directly"),
        ]
    }
}
