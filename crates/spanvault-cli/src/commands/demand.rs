//! `demand`: declared needs for evidence.

use std::io;

use clap::{Args, Subcommand};
use serde::Serialize;
use spanvault::{DemandId, DemandInfo, NeededUntil, ScopeName, Vault};
use spanvault_types::DemandDeclared;

use crate::actor::{ActorArgs, ReasonedArgs};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Column, Listed, Page, Response, counted, to_the_second};
use crate::values::{OperationValue, ScopeArgs, UntilArgs};
use crate::wire::{self, ScopeResponse};

/// Declare, list and withdraw needs for evidence
///
/// A demand says that somebody will audit, replay, check or look up the evidence in its scope, and until when. As
/// long as it stands, nothing that it needs is removed, and no summary replaces what would expire before it. Where
/// no demand was declared, the policy assumes an audit ("spanvault policy show").
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault demand add audit --session run-42 --for 180d --reason \"quarterly review\"\n  \
    spanvault demand add execute --tool write_file --unknown\n  \
    spanvault demand withdraw d31 --reason \"review is done\"")]
pub(crate) struct DemandArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Add(AddArgs),
    List(ListArgs),
    Withdraw(WithdrawArgs),
}

/// Declare a demand
///
/// It is taken on only if everything in its scope can be kept for it: where an original is gone already, the demand
/// is refused (exit 4) and names it. Without a scope it is about everything, now and later.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault demand add audit --path /etc --until 2027-01-31T00:00:00Z")]
struct AddArgs {
    /// What the evidence is needed for
    #[arg(value_name = "OPERATION")]
    operation: OperationValue,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    until: UntilArgs,
    #[command(flatten)]
    by: ActorArgs,
}

/// List the demands, oldest first
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault demand list --json")]
struct ListArgs {}

/// Withdraw a demand
///
/// Ends one reason to keep, and the leases that name only this demand. Removes nothing by itself.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault demand withdraw d31 --reason \"review is done\"")]
struct WithdrawArgs {
    /// The demand
    #[arg(value_name = "DEMAND")]
    demand: DemandId,
    #[command(flatten)]
    by: ReasonedArgs,
}

pub(crate) fn run(args: &DemandArgs, context: &mut Context) -> Result<Exit, Failure> {
    match &args.what {
        What::Add(args) => add(args, context),
        What::List(_args) => list(context),
        What::Withdraw(args) => withdraw(args, context),
    }
}

fn add(args: &AddArgs, context: &mut Context) -> Result<Exit, Failure> {
    let by = args.by.actor()?;
    context.writing(|vault, output| {
        let scope = ScopeName::from(&args.scope);
        let declared = vault.declare(args.operation.into(), &scope, NeededUntil::from(&args.until), by)?;
        for info in vault.demands()?.into_iter().filter(|info| info.demand == declared.demand) {
            output.emit(&AddResponse {
                demand: DemandResponse::new(vault, info),
                originals: declared.originals,
                rescued: declared.rescued,
            })?;
        }
        Ok(Exit::Done)
    })
}

fn list(context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let mut list = context.output.list();
    for info in vault.demands()? {
        list.push(&DemandResponse::new(&vault, info))?;
    }
    list.finish()?;
    Ok(Exit::Done)
}

fn withdraw(args: &WithdrawArgs, context: &mut Context) -> Result<Exit, Failure> {
    let by = args.by.actor()?;
    context.writing(|vault, output| {
        vault.withdraw(args.demand, by)?;
        output.emit(&WithdrawResponse { withdrawn: args.demand.to_string() })?;
        Ok(Exit::Done)
    })
}

#[derive(Debug, Serialize)]
struct AddResponse {
    #[serde(flatten)]
    demand: DemandResponse,
    originals: u64,
    rescued: u64,
}

impl Response for AddResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let demand = &self.demand;
        page.line(format_args!(
            "demand {}: {} of {} until {}",
            demand.demand,
            demand.kind,
            demand.scope.in_words(),
            to_the_second(&demand.until)
        ))?;
        page.line(format_args!("  needs {} as of now", counted(self.originals, "original")))?;
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
struct DemandResponse {
    demand: String,
    kind: &'static str,
    scope: ScopeResponse,
    until: String,
    actor: String,
    reason: String,
    withdrawn: Option<EndResponse>,
}

/// How a demand or hold ended.
#[derive(Debug, Serialize)]
pub(crate) struct EndResponse {
    pub(crate) actor: String,
    pub(crate) reason: String,
}

impl DemandResponse {
    fn new(vault: &Vault, info: DemandInfo) -> Self {
        let DemandDeclared { kind, scope, horizon, by, .. } = info.declared;
        Self {
            demand: info.demand.to_string(),
            kind: kind.as_str(),
            scope: ScopeResponse::new(vault, &scope),
            until: wire::horizon(horizon),
            actor: by.name,
            reason: by.reason,
            withdrawn: info.withdrawn.map(|end| EndResponse { actor: end.by.name, reason: end.by.reason }),
        }
    }
}

impl Listed for DemandResponse {
    const COLUMNS: &'static [Column] = &[
        Column::Text("demand"),
        Column::Text("kind"),
        Column::Text("scope"),
        Column::Text("until"),
        Column::Text("state"),
        Column::Text("actor"),
        Column::Text("reason"),
    ];
    const NONE: &'static str = "no demands: the policy assumes an audit (\"spanvault policy show\")";

    fn cells(&self) -> Vec<String> {
        let state = self.withdrawn.as_ref().map_or_else(
            || "in force".to_owned(),
            |end| format!("withdrawn by {}: {}", end.actor, end.reason),
        );
        vec![
            self.demand.clone(),
            self.kind.to_owned(),
            self.scope.in_words(),
            to_the_second(&self.until),
            state,
            self.actor.clone(),
            if self.reason.is_empty() { "-".to_owned() } else { self.reason.clone() },
        ]
    }
}

#[derive(Debug, Serialize)]
struct WithdrawResponse {
    withdrawn: String,
}

impl Response for WithdrawResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format_args!("demand {} withdrawn; nothing is removed by that", self.withdrawn))
    }
}
