//! `hold`: what keeps originals until a named person lets them go.

use std::io;

use clap::{Args, Subcommand};
use serde::Serialize;
use spanvault::{HoldId, HoldInfo, Name, ScopeName, Vault};

use super::demand::EndResponse;
use crate::actor::{ActorArgs, ReasonedArgs};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Column, Listed, Page, Response, counted};
use crate::wire::ScopeResponse;

/// Place, list and release holds
///
/// A hold keeps originals until it is released, whatever their retention says, and forbids summaries to take their
/// place. Placing one needs no reason and works on a full disk; releasing one needs a reason.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault hold add s12 --reason \"customer dispute\"\n  \
    spanvault hold add --session run-42\n  \
    spanvault hold release h77 --reason \"settled\"")]
pub(crate) struct HoldArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Add(AddArgs),
    List(ListArgs),
    Release(ReleaseArgs),
}

/// Place a hold on an original, a span, everything behind a summary, or a session
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault hold add m40 --reason \"customer dispute\"")]
struct AddArgs {
    #[command(flatten)]
    on: OnArgs,
    #[command(flatten)]
    by: ActorArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct OnArgs {
    /// A content hash or at least 8 digits of its start, a span (s12) or a summary (m40)
    #[arg(value_name = "HASH|SPAN|SUMMARY")]
    name: Option<Name>,
    /// A session, now and later
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

/// List the holds, oldest first
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault hold list --json")]
struct ListArgs {}

/// Release a hold
///
/// Ends one reason to keep. Removes nothing by itself.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault hold release h77 --reason \"settled\"")]
struct ReleaseArgs {
    /// The hold
    #[arg(value_name = "HOLD")]
    hold: HoldId,
    #[command(flatten)]
    by: ReasonedArgs,
}

pub(crate) fn run(args: &HoldArgs, context: &mut Context) -> Result<Exit, Failure> {
    match &args.what {
        What::Add(args) => add(args, context),
        What::List(_args) => list(context),
        What::Release(args) => release(args, context),
    }
}

fn add(args: &AddArgs, context: &mut Context) -> Result<Exit, Failure> {
    let by = args.by.actor()?;
    let scope = match (&args.on.name, &args.on.session) {
        (Some(name), _) => ScopeName::Named(name.clone()),
        (None, Some(session)) => ScopeName::Session(session.clone()),
        (None, None) => return Err(Failure::usage("place a hold on nothing", "name what it keeps")),
    };
    context.writing(|vault, output| {
        let held = vault.hold(&scope, by)?;
        for info in vault.holds()?.into_iter().filter(|info| info.hold == held.hold) {
            output.emit(&AddResponse {
                hold: HoldResponse::new(vault, info),
                originals: held.originals,
                rescued: held.rescued,
            })?;
        }
        Ok(Exit::Done)
    })
}

fn list(context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let mut list = context.output.list();
    for info in vault.holds()? {
        list.push(&HoldResponse::new(&vault, info))?;
    }
    list.finish()?;
    Ok(Exit::Done)
}

fn release(args: &ReleaseArgs, context: &mut Context) -> Result<Exit, Failure> {
    let by = args.by.actor()?;
    context.writing(|vault, output| {
        vault.release(args.hold, by)?;
        output.emit(&ReleaseResponse { released: args.hold.to_string() })?;
        Ok(Exit::Done)
    })
}

#[derive(Debug, Serialize)]
struct AddResponse {
    #[serde(flatten)]
    hold: HoldResponse,
    originals: u64,
    rescued: u64,
}

impl Response for AddResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let originals = counted(self.originals, "original");
        page.line(format_args!(
            "hold {} on {}: keeps {originals}",
            self.hold.hold,
            self.hold.scope.in_words()
        ))?;
        if self.rescued > 0 {
            page.line(format_args!(
                "  rescued {} that had been condemned",
                counted(self.rescued, "original")
            ))?;
        }
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct HoldResponse {
    hold: String,
    scope: ScopeResponse,
    actor: String,
    reason: String,
    released: Option<EndResponse>,
}

impl HoldResponse {
    fn new(vault: &Vault, info: HoldInfo) -> Self {
        Self {
            hold: info.hold.to_string(),
            scope: ScopeResponse::new(vault, &info.placed.scope),
            actor: info.placed.by.name,
            reason: info.placed.by.reason,
            released: info.released.map(|end| EndResponse { actor: end.by.name, reason: end.by.reason }),
        }
    }
}

impl Listed for HoldResponse {
    const COLUMNS: &'static [Column] = &[
        Column::Text("hold"),
        Column::Text("scope"),
        Column::Text("state"),
        Column::Text("actor"),
        Column::Text("reason"),
    ];
    const NONE: &'static str = "no holds";

    fn cells(&self) -> Vec<String> {
        let state = self.released.as_ref().map_or_else(
            || "in force".to_owned(),
            |end| format!("released by {}: {}", end.actor, end.reason),
        );
        vec![
            self.hold.clone(),
            self.scope.in_words(),
            state,
            self.actor.clone(),
            if self.reason.is_empty() { "-".to_owned() } else { self.reason.clone() },
        ]
    }
}

#[derive(Debug, Serialize)]
struct ReleaseResponse {
    released: String,
}

impl Response for ReleaseResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format_args!("hold {} released; nothing is removed by that", self.released))
    }
}
