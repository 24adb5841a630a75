//! `check`: does the evidence agree with a claim?

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::ask::{Answer, Query};
use spanvault::{Checked, Claim};

use super::ask::AnswerInWords;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, Tone};

/// Compare a claim with what the originals say
///
/// Answers that the evidence agrees or that it contradicts the claim, with the proof, or that it is insufficient
/// (exit 5). A contradiction is an answer, not a failure.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    spanvault check --query '{\"calls\":{\"effect\":\"mutates\",\"path\":{\"glob\":\"/etc/**\"}}}' --claim no")]
pub(crate) struct CheckArgs {
    /// The question, in the query contract
    #[arg(long, value_name = "JSON")]
    query: String,
    /// What is claimed: that it is so, that it is not, or the value
    #[arg(long, value_name = "yes|no|VALUE", allow_hyphen_values = true)]
    claim: String,
}

pub(crate) fn run(args: &CheckArgs, context: &mut Context) -> Result<Exit, Failure> {
    let query = Query::from_json(&args.query).map_err(spanvault::Error::from)?;
    let claim = match args.claim.as_str() {
        "yes" => Claim::Yes,
        "no" => Claim::No,
        value => Claim::Value(value.into()),
    };
    let vault = context.reading()?;
    let (checked, answer) = vault.check(&query, &claim)?;
    context.output.emit(&CheckResponse { verdict: checked.as_str(), claim: &args.claim, answer: &answer })?;
    Ok(match checked {
        Checked::Agrees | Checked::Contradicts => Exit::Done,
        Checked::Insufficient => Exit::Insufficient,
    })
}

#[derive(Debug, Serialize)]
struct CheckResponse<'a> {
    verdict: &'static str,
    claim: &'a str,
    answer: &'a Answer,
}

impl Response for CheckResponse<'_> {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let (words, tone) = match self.verdict {
            "agrees" => ("the evidence agrees", Tone::Good),
            "contradicts" => ("the evidence contradicts it", Tone::Bad),
            _ => ("the evidence does not decide it", Tone::Warning),
        };
        let words = page.paint(tone, words);
        page.line(format_args!("claim {:?}: {words}", self.claim))?;
        AnswerInWords(self.answer).human(page)
    }
}
