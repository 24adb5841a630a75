//! `executed`: was this side effect already done?

use std::io;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use spanvault::Execution;
use spanvault::ask::Answer;

use super::ask::AnswerInWords;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, Tone, counted};

/// Say whether exactly this call was already made
///
/// The guard against repeating a side effect after compaction: "confirmed" with its proof, "absent" after everything
/// in scope was searched, or "unknown" (exit 5) where an attempt failed or was never answered, or something could
/// not be seen. The order of keys in the arguments does not matter.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    spanvault executed send_email '{\"to\":\"ops@example.com\",\"subject\":\"done\"}' --session run-42")]
pub(crate) struct ExecutedArgs {
    /// The tool
    #[arg(value_name = "TOOL")]
    tool: String,
    /// All its arguments, as a JSON object
    #[arg(value_name = "ARGS-JSON", value_parser = json)]
    args: Value,
    /// Only in this session, by its name or a unique start of it
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))
}

pub(crate) fn run(args: &ExecutedArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let executed = vault.executed(&args.tool, &args.args, args.session.as_deref())?;
    context.output.emit(&ExecutedResponse {
        executed: executed.execution.as_str(),
        attempts: executed.attempts,
        answer: &executed.proof,
    })?;
    Ok(match executed.execution {
        Execution::Confirmed | Execution::Absent => Exit::Done,
        Execution::Unknown => Exit::Insufficient,
    })
}

#[derive(Debug, Serialize)]
struct ExecutedResponse<'a> {
    executed: &'static str,
    attempts: u64,
    answer: &'a Answer,
}

impl Response for ExecutedResponse<'_> {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let (words, tone) = match self.executed {
            "confirmed" => ("confirmed: it was done, and it succeeded", Tone::Good),
            "absent" => ("absent: it was not done", Tone::Strong),
            _ => ("unknown: it may have been done", Tone::Warning),
        };
        let words = page.paint(tone, words);
        page.line(format_args!("{words} ({})", counted(self.attempts, "attempt")))?;
        AnswerInWords(self.answer).proof(page)
    }
}
