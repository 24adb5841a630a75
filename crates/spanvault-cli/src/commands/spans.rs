//! `spans`: lists spans with what was read in them.

use clap::Args;
use serde::Serialize;
use spanvault::{LiveReason, OpenedObligation, SpanFilter, SpanInfo};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Column, Listed, bytes, count, joined, to_the_second};
use crate::sink::stream;
use crate::wire;

/// List spans with what was read in them
///
/// Shows each span's class (what it can prove), whether it is negative, the promises that it opens and keeps, why
/// it is live, where its bytes are, when its retention ends, and the summary that stands for it in the context.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault spans --session run-42\n  \
    spanvault spans --source 4f1c.jsonl --json | jq 'select(.class == \"side_effecting\")'")]
pub(crate) struct SpansArgs {
    /// Only this session, by its name or a unique start of it
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Only what this file holds now, by its path or the end of it
    #[arg(long, value_name = "FILE")]
    source: Option<String>,
}

pub(crate) fn run(args: &SpansArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let mut filter = SpanFilter::default();
    filter.session.clone_from(&args.session);
    filter.source.clone_from(&args.source);
    let mut list = context.output.list();
    stream(|sink| vault.spans(&filter, sink), |info| list.push(&SpanResponse::from(info)))?;
    list.finish()?;
    Ok(Exit::Done)
}

/// A span as JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct SpanResponse {
    pub(crate) span: String,
    pub(crate) hash: Option<String>,
    pub(crate) session: String,
    pub(crate) source: String,
    pub(crate) record: String,
    pub(crate) index: u64,
    pub(crate) role: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
    pub(crate) timestamp: Option<String>,
    pub(crate) class: &'static str,
    pub(crate) negative: bool,
    pub(crate) opens: Vec<OpensResponse>,
    pub(crate) discharges: Vec<String>,
    pub(crate) live: Vec<LiveResponse>,
    pub(crate) tier: String,
    pub(crate) expires_at: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) imported: Option<String>,
}

/// A promise that a span makes.
#[derive(Debug, Serialize)]
pub(crate) struct OpensResponse {
    pub(crate) words: String,
    range: [u64; 2],
    pub(crate) discharged_by: Option<String>,
}

/// One thing that is open in a span.
#[derive(Debug, Serialize)]
pub(crate) struct LiveResponse {
    pub(crate) kind: &'static str,
    pub(crate) words: String,
    range: [u64; 2],
    pub(crate) used_by: Option<String>,
}

impl From<SpanInfo> for SpanResponse {
    fn from(info: SpanInfo) -> Self {
        Self {
            span: info.span.to_string(),
            hash: info.hash.map(|hash| hash.to_string()),
            session: info.session,
            source: info.source,
            record: info.record,
            index: info.index,
            role: info.role.as_str(),
            kind: info.kind.as_str(),
            bytes: info.bytes,
            tokens: info.tokens,
            timestamp: wire::timestamp(info.timestamp_ms),
            class: info.class.as_str(),
            negative: info.negative,
            opens: info.opens.into_iter().map(OpensResponse::from).collect(),
            discharges: info.discharges.iter().map(ToString::to_string).collect(),
            live: info.live.into_iter().map(LiveResponse::from).collect(),
            tier: info.tier.as_str().to_owned(),
            expires_at: wire::expiry(info.expires_at),
            summary: info.summary.map(|summary| summary.to_string()),
            imported: info.imported.map(|summary| summary.to_string()),
        }
    }
}

impl From<OpenedObligation> for OpensResponse {
    fn from(opened: OpenedObligation) -> Self {
        Self {
            words: opened.words,
            range: wire::range(opened.range),
            discharged_by: opened.discharged_by.map(|span| span.to_string()),
        }
    }
}

impl From<LiveReason> for LiveResponse {
    fn from(live: LiveReason) -> Self {
        Self {
            kind: wire::carried(live.kind),
            words: live.words,
            range: wire::range(live.range),
            used_by: live.used_by.map(|span| span.to_string()),
        }
    }
}

impl Listed for SpanResponse {
    const COLUMNS: &'static [Column] = &[
        Column::Text("span"),
        Column::Text("hash"),
        Column::Number("index"),
        Column::Text("role"),
        Column::Text("kind"),
        Column::Text("class"),
        Column::Number("bytes"),
        Column::Number("tokens"),
        Column::Text("notes"),
        Column::Text("tier"),
        Column::Text("expires"),
        Column::Text("summary"),
    ];
    const NONE: &'static str = "no spans yet: \"spanvault ingest FILE\" records some";

    fn cells(&self) -> Vec<String> {
        vec![
            self.span.clone(),
            self.hash.as_deref().map_or_else(|| "unknown".to_owned(), wire::short_hash),
            self.place(),
            self.role.to_owned(),
            self.kind.to_owned(),
            self.class.to_owned(),
            bytes(self.bytes),
            count(self.tokens),
            self.notes(),
            self.tier.clone(),
            to_the_second(self.expires_at.as_deref().unwrap_or("never")),
            self.summary.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    }
}

impl SpanResponse {
    /// Where it stands in its source.
    fn place(&self) -> String {
        if self.record.is_empty() {
            self.index.to_string()
        } else {
            format!("{} {}", self.record, self.index)
        }
    }

    /// What else there is to say about it, in a few words.
    fn notes(&self) -> String {
        let mut notes = Vec::new();
        if self.negative {
            notes.push("negative".to_owned());
        }
        let kept = self.opens.iter().filter(|opened| opened.discharged_by.is_some()).count();
        match (self.opens.len() - kept, kept) {
            (0, 0) => {}
            (0, _) => notes.push("promise kept".to_owned()),
            _ => notes.push("promise open".to_owned()),
        }
        if !self.live.is_empty() {
            notes.push("live".to_owned());
        }
        joined(notes, "-")
    }
}
