//! `stats`: what the vault holds.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Amount, Stats};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, bytes, count, counted};

/// Count what the vault holds
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault stats --json")]
pub(crate) struct StatsArgs {}

pub(crate) fn run(_args: &StatsArgs, context: &mut Context) -> Result<Exit, Failure> {
    let stats = context.reading()?.stats()?;
    context.output.emit(&StatsResponse::from(stats))?;
    Ok(Exit::Done)
}

/// How much of something there is.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct AmountResponse {
    count: u64,
    pub(crate) bytes: u64,
    tokens: u64,
}

impl From<Amount> for AmountResponse {
    fn from(amount: Amount) -> Self {
        Self { count: amount.count, bytes: amount.bytes, tokens: amount.tokens }
    }
}

impl AmountResponse {
    /// For people; `thing` is what is counted.
    pub(crate) fn in_words(&self, thing: &str) -> String {
        let tokens = count(self.tokens);
        format!("{}, {}, {tokens} tokens", counted(self.count, thing), bytes(self.bytes))
    }

    /// Whether there is none.
    pub(crate) const fn is_none(&self) -> bool {
        self.count == 0
    }
}

#[derive(Debug, Serialize)]
struct StatsResponse {
    sessions: u64,
    spans: u64,
    hot: AmountResponse,
    cold: AmountResponse,
    reclaimed: AmountResponse,
    damaged: AmountResponse,
    summaries: u64,
    citations: u64,
    disk_bytes: u64,
}

impl From<Stats> for StatsResponse {
    fn from(stats: Stats) -> Self {
        Self {
            sessions: stats.sessions,
            spans: stats.spans,
            hot: stats.hot.into(),
            cold: stats.cold.into(),
            reclaimed: stats.reclaimed.into(),
            damaged: stats.damaged.into(),
            summaries: stats.summaries,
            citations: stats.citations,
            disk_bytes: stats.disk_bytes,
        }
    }
}

impl Response for StatsResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.field("sessions", count(self.sessions))?;
        page.field("spans", count(self.spans))?;
        page.field("hot", self.hot.in_words("original"))?;
        page.field("cold", self.cold.in_words("original"))?;
        page.field("reclaimed", self.reclaimed.in_words("original"))?;
        if !self.damaged.is_none() {
            page.field("damaged", self.damaged.in_words("original"))?;
        }
        let citations = counted(self.citations, "citation");
        page.field("summaries", format_args!("{}, {citations}", count(self.summaries)))?;
        page.field("on the disk", bytes(self.disk_bytes))
    }
}
