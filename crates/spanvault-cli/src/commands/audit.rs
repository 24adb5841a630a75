//! `audit`: every side effect, with its fate and its proof.

use std::io;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use spanvault::ask::{Coverage, Verdict};
use spanvault::{Audit, SideEffect};

use super::ask::coverage_in_words;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, Tone, counted, joined, one_line};
use crate::wire;

/// List every side effect with its fate and its proof
///
/// Reads the originals, never a summary: every call that changed something, or cannot be ruled out to have, what it
/// changed, whether it succeeded, and the hashes of call and result. Exits with 5 where something in scope could not
/// be seen; what was seen is listed all the same.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault audit --session run-42\n  \
    spanvault audit --json | jq '.effects[] | select(.fate != \"succeeded\")'")]
pub(crate) struct AuditArgs {
    /// Only this session, by its name or a unique start of it
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

pub(crate) fn run(args: &AuditArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let audit = vault.audit(args.session.as_deref())?;
    let is_whole = audit.proof.answer != Verdict::Insufficient;
    context.output.emit(&AuditResponse::from(audit))?;
    Ok(if is_whole { Exit::Done } else { Exit::Insufficient })
}

#[derive(Debug, Serialize)]
struct AuditResponse {
    answer: Verdict,
    effects: Vec<EffectResponse>,
    coverage: Coverage,
}

#[derive(Debug, Serialize)]
struct EffectResponse {
    session: String,
    span: String,
    hash: Option<String>,
    result: Option<String>,
    result_hash: Option<String>,
    tool: String,
    args: Value,
    effect: &'static str,
    paths: Vec<String>,
    writes: Vec<String>,
    fate: &'static str,
    executed: bool,
}

impl From<Audit> for AuditResponse {
    fn from(audit: Audit) -> Self {
        Self {
            answer: audit.proof.answer,
            effects: audit.effects.into_iter().map(EffectResponse::from).collect(),
            coverage: audit.proof.coverage,
        }
    }
}

impl From<SideEffect> for EffectResponse {
    fn from(side_effect: SideEffect) -> Self {
        Self {
            session: side_effect.session,
            span: side_effect.call.to_string(),
            hash: side_effect.call_hash.map(|hash| hash.to_string()),
            result: side_effect.result.map(|span| span.to_string()),
            result_hash: side_effect.result_hash.map(|hash| hash.to_string()),
            tool: side_effect.tool,
            args: side_effect.args,
            effect: side_effect.effect.effect.as_str(),
            paths: side_effect.effect.paths,
            writes: side_effect.effect.writes,
            fate: side_effect.fate.fate.as_str(),
            executed: side_effect.fate.executed,
        }
    }
}

/// How much of the arguments people are shown, in characters.
const ARGS_CHARS: usize = 60;

impl Response for AuditResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let whole = match self.answer {
            Verdict::Present | Verdict::Absent => "",
            Verdict::Insufficient => " are seen, and there may be more",
        };
        page.heading(&format!("{}{whole}", counted(self.effects.len() as u64, "side effect")))?;
        let mut session = "";
        for effect in &self.effects {
            if effect.session != session {
                session = &effect.session;
                let name = page.safe(session).into_owned();
                page.line(format_args!("session {name}"))?;
            }
            effect.human(page)?;
        }
        coverage_in_words(&self.coverage, page)
    }
}

impl EffectResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let fate = match (self.fate, self.executed) {
            (_, false) => "did not run",
            (fate, true) => fate,
        };
        let tone = if self.fate == "succeeded" { Tone::Good } else { Tone::Warning };
        let fate = page.paint(tone, &format!("{fate:<11}"));
        let what = if self.writes.is_empty() {
            one_line(&self.args.to_string(), ARGS_CHARS)
        } else {
            one_line(&joined(&self.writes, "nothing"), ARGS_CHARS)
        };
        let tool = one_line(&self.tool, ARGS_CHARS);
        page.line(format_args!(
            "  {:<6} {} {:<8} {fate} {tool} {what}",
            self.span,
            self.hash.as_deref().map_or_else(|| "unknown     ".to_owned(), wire::short_hash),
            self.effect,
        ))
    }
}
