//! `refusals`: what the gate said no to, and why.

use std::collections::BTreeSet;

use clap::Args;
use serde::Serialize;
use spanvault::{RefusalInfo, SpanId};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Column, Listed, bytes, count, to_the_second};
use crate::sink::stream;
use crate::wire::{self, ReasonResponse};

/// List what the gate refused, with every reason
///
/// One line for each refused span (or original, where removal was asked for), oldest first. A refusal that a later
/// verdict about the same span replaced is marked so; "spanvault capacity" adds up those that stand. Below the list
/// stands what can be done about those that stand.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault refusals --standing\n  \
    spanvault refusals --json | jq 'select(.reasons[].reason == \"ExpiresBeforeNeed\")'")]
pub(crate) struct RefusalsArgs {
    /// Leave out what a later verdict replaced
    #[arg(long)]
    standing: bool,
}

pub(crate) fn run(args: &RefusalsArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let mut ways_out = BTreeSet::new();
    let mut list = context.output.list();
    stream(
        |sink| vault.refusals(sink),
        |info: RefusalInfo| {
            if args.standing && info.is_superseded {
                return Ok(());
            }
            let response = RefusalResponse::from(info);
            if !response.superseded {
                ways_out.extend(response.ways_out.iter().cloned());
            }
            list.push(&response)
        },
    )?;
    list.finish()?;
    if !context.output.is_json() {
        let mut page = context.output.page();
        for way in &ways_out {
            page.field("way out", way).map_err(Failure::printing)?;
        }
    }
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct RefusalResponse {
    at: u64,
    decided_at: String,
    operation: &'static str,
    session: Option<String>,
    subject: String,
    bytes: u64,
    tokens: u64,
    reasons: Vec<ReasonResponse>,
    ways_out: Vec<String>,
    superseded: bool,
}

impl From<RefusalInfo> for RefusalResponse {
    fn from(info: RefusalInfo) -> Self {
        Self {
            at: info.at.get(),
            decided_at: wire::instant(info.decided_at),
            operation: wire::operation(info.operation),
            session: Some(info.session.clone()).filter(|session| !session.is_empty()),
            subject: SpanId(info.subject).to_string(),
            bytes: info.bytes,
            tokens: info.tokens,
            reasons: info.reasons.iter().map(ReasonResponse::from).collect(),
            ways_out: info.ways_out.iter().map(|way| wire::way_out_in_words(way, &info.session)).collect(),
            superseded: info.is_superseded,
        }
    }
}

impl Listed for RefusalResponse {
    const COLUMNS: &'static [Column] = &[
        Column::Text("decided"),
        Column::Text("operation"),
        Column::Text("subject"),
        Column::Number("bytes"),
        Column::Number("tokens"),
        Column::Text("reasons"),
    ];
    const NONE: &'static str = "no refusals";

    fn cells(&self) -> Vec<String> {
        let mut reasons = wire::reasons_in_words(&self.reasons);
        if self.superseded {
            reasons.push_str(" (replaced by a later verdict)");
        }
        vec![
            to_the_second(&self.decided_at),
            self.operation.to_owned(),
            self.subject.clone(),
            bytes(self.bytes),
            count(self.tokens),
            reasons,
        ]
    }
}
