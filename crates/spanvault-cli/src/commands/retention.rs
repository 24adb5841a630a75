//! `retention`: how long originals stay in the hot tier, and how long at all.

use std::io;

use clap::{Args, Subcommand};
use serde::Serialize;
use spanvault::{NewRetention, Vault};
use spanvault_types::{EvidentialClass, Position, RetentionSet, Ttl, TtlRule};

use crate::actor::ActorArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Column, Listed, Page, Response, to_the_second};
use crate::values::{ClassValue, ttl_rule, ttl_rule_in_words};
use crate::wire;

/// Show and set how long originals are kept
///
/// Without a rule an original is never due. A rule acts on existing originals from the instant at which it is set
/// and never shortens what was given before; the more specific rule counts for what is recorded later.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault retention set --hot-for 7d --keep-for 90d\n  \
    spanvault retention set --class side_effecting --keep-for forever\n  \
    spanvault retention show")]
pub(crate) struct RetentionArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Show(ShowArgs),
    Set(SetArgs),
}

/// Show every rule, oldest first
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault retention show --json")]
struct ShowArgs {}

/// Set a rule
///
/// Each length is a number with a unit (ms, s, m, h, d, w, y) or "forever". What is not given stays as it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  spanvault retention set --session run-42 --keep-for 2y --reason \"audit of run 42\""
)]
struct SetArgs {
    /// Only for spans of this class
    #[arg(long, value_name = "C")]
    class: Option<ClassValue>,
    /// Only for spans of this session
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// How long in the hot tier
    #[arg(long, value_name = "D", value_parser = ttl_rule)]
    hot_for: Option<TtlRule>,
    /// How long kept at all
    #[arg(long, value_name = "D", value_parser = ttl_rule)]
    keep_for: Option<TtlRule>,
    /// How long condemned before removal
    #[arg(long, value_name = "D", value_parser = Ttl::parse)]
    grace: Option<Ttl>,
    #[command(flatten)]
    by: ActorArgs,
}

pub(crate) fn run(args: &RetentionArgs, context: &mut Context) -> Result<Exit, Failure> {
    match &args.what {
        What::Show(_args) => show(context),
        What::Set(args) => set(args, context),
    }
}

fn show(context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let mut list = context.output.list();
    for (at, rule) in vault.policy()?.rules {
        list.push(&RuleResponse::new(&vault, at, rule))?;
    }
    list.finish()?;
    Ok(Exit::Done)
}

fn set(args: &SetArgs, context: &mut Context) -> Result<Exit, Failure> {
    let by = args.by.actor()?;
    context.writing(|vault, output| {
        let rule = NewRetention {
            class: args.class.map(Into::into),
            session: args.session.clone(),
            hot_for: args.hot_for,
            keep_for: args.keep_for,
            grace: args.grace,
        };
        let at = vault.set_retention(&rule, by)?;
        for (at, rule) in vault.policy()?.rules.into_iter().filter(|(set, _rule)| *set == at) {
            output.emit(&RuleResponse::new(vault, at, rule))?;
        }
        Ok(Exit::Done)
    })
}

#[derive(Debug, Serialize)]
struct RuleResponse {
    rule: u64,
    class: Option<&'static str>,
    session: Option<String>,
    hot_for: Option<String>,
    keep_for: Option<String>,
    grace: Option<String>,
    set_at: String,
    actor: String,
    reason: String,
}

impl RuleResponse {
    fn new(vault: &Vault, at: Position, rule: RetentionSet) -> Self {
        Self {
            rule: at.get(),
            class: rule.class.map(EvidentialClass::as_str),
            session: rule.session.map(|session| wire::session_name(vault, session)),
            hot_for: rule.hot_for.map(ttl_rule_in_words),
            keep_for: rule.keep_for.map(ttl_rule_in_words),
            grace: rule.grace.map(|grace| grace.to_string()),
            set_at: wire::instant(rule.at),
            actor: rule.by.name,
            reason: rule.by.reason,
        }
    }

    fn scope_in_words(&self) -> String {
        match (self.class, &self.session) {
            (None, None) => "everything".to_owned(),
            (Some(class), None) => class.to_owned(),
            (None, Some(session)) => format!("session {session}"),
            (Some(class), Some(session)) => format!("{class} in session {session}"),
        }
    }
}

impl Listed for RuleResponse {
    const COLUMNS: &'static [Column] = &[
        Column::Text("rule"),
        Column::Text("scope"),
        Column::Text("hot for"),
        Column::Text("keep for"),
        Column::Text("grace"),
        Column::Text("set at"),
        Column::Text("actor"),
        Column::Text("reason"),
    ];
    const NONE: &'static str = "no rules: nothing is ever due (\"spanvault retention set --keep-for D\")";

    fn cells(&self) -> Vec<String> {
        let or_dash = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            self.rule.to_string(),
            self.scope_in_words(),
            or_dash(&self.hot_for),
            or_dash(&self.keep_for),
            or_dash(&self.grace),
            to_the_second(&self.set_at),
            self.actor.clone(),
            if self.reason.is_empty() { "-".to_owned() } else { self.reason.clone() },
        ]
    }
}

impl Response for RuleResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let scope = self.scope_in_words();
        let scope = page.safe(&scope).into_owned();
        page.line(format_args!("rule {} for {scope}", self.rule))?;
        let as_before = "as before";
        page.field("  hot for", self.hot_for.as_deref().unwrap_or(as_before))?;
        page.field("  keep for", self.keep_for.as_deref().unwrap_or(as_before))?;
        page.field("  grace", self.grace.as_deref().unwrap_or(as_before))
    }
}
