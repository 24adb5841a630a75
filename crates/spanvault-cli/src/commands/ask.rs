//! `ask`: questions to the originals.

mod answer;
mod question;

use std::path::PathBuf;

use clap::Args;
use spanvault::ask::{Answer, Query, Verdict};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::files::read_text;
use crate::output::Output;
pub(crate) use answer::{AnswerInWords, coverage_in_words};
use question::QuestionArgs;

/// Ask the originals: exact answers with their evidence
///
/// An answer is "present" with its evidence, "absent" after everything in scope was searched, or "insufficient"
/// (exit 5) where something could not be seen, naming what. Summaries are never searched: what a summary does not
/// say proves nothing. Every hash in the evidence can be given to "spanvault recover".
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault ask --path '/etc/**' --effect mutates        did anything change system configuration?\n  \
    spanvault ask --tool Bash --nth -1 --get result.exit_code --session run-42\n  \
    spanvault ask --text 'INV-2025-08-44719'\n  \
    spanvault ask --query '{\"calls\":{\"tool\":\"write_file\",\"path\":{\"glob\":\"/etc/**\"}},\"get\":\"paths\"}'")]
pub(crate) struct AskArgs {
    #[command(flatten)]
    question: QuestionArgs,
    /// The question as JSON, in the query contract
    #[arg(long, value_name = "JSON", help_heading = "Whole questions")]
    query: Option<String>,
    /// Questions in FILE, one JSON object a line; "-" is the standard input. Answers come in their order
    #[arg(long, value_name = "FILE", help_heading = "Whole questions", conflicts_with = "query")]
    queries: Option<PathBuf>,
}

pub(crate) fn run(args: &AskArgs, context: &mut Context) -> Result<Exit, Failure> {
    if let Some(path) = &args.queries {
        args.question.must_be_empty("--queries")?;
        return ask_all(&read_text(path)?, context);
    }
    let query = match &args.query {
        Some(json) => {
            args.question.must_be_empty("--query")?;
            Query::from_json(json).map_err(spanvault::Error::from)?
        }
        None => args.question.query()?,
    };
    let vault = context.reading()?;
    let answer = vault.ask(&query)?;
    tell(&answer, &mut context.output)?;
    Ok(exit_of(&answer))
}

/// Answers every line in its place; a bad line says what is wrong with it, and the run goes on.
fn ask_all(text: &str, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| Query::from_json(line).map_err(spanvault::Error::from))
        .collect();
    let queries: Vec<Query> = lines.iter().flatten().cloned().collect();
    let mut answers = vault.ask_all(&queries)?.into_iter();
    let mut exit = Exit::Done;
    for line in lines {
        let answer = match line {
            Ok(_query) => answers.next(),
            Err(error) => Some(Err(error)),
        };
        let Some(answer) = answer else { break };
        match answer {
            Ok(answer) => {
                tell(&answer, &mut context.output)?;
                if exit == Exit::Done {
                    exit = exit_of(&answer);
                }
            }
            Err(error) => {
                context.output.emit(&answer::BadLine::from(&error))?;
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

fn tell(answer: &Answer, output: &mut Output) -> Result<(), Failure> {
    // The shape of an answer is a contract of its own, the same for every edge.
    output.emit(&AnswerInWords(answer))
}

const fn exit_of(answer: &Answer) -> Exit {
    match answer.answer {
        Verdict::Present | Verdict::Absent => Exit::Done,
        Verdict::Insufficient => Exit::Insufficient,
    }
}
