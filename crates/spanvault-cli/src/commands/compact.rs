//! `compact`: summaries take the place of spans, as far as the gate permits.

mod response;
mod summarizer;

use std::path::PathBuf;

use clap::Args;
use spanvault::{
    BuiltIn, CompactionOptions, Expiring, IngestOptions, Keep, Over, Session, Summarizer, Vault,
};
use spanvault_types::Ttl;

use super::ingest::Ingest;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::files::read_text;
use crate::output::{Output, Progress};
use response::CompactResponse;
use summarizer::{Command, GivenText};

/// Replace spans in the context by summaries, as far as the gate permits
///
/// Every span but the last N is a candidate, and the gate decides about each: what is still live, or could not be
/// recovered for as long as somebody needs it, stays verbatim. Summaries carry pointers to every original and a
/// digest of what they dropped; nothing is removed. What was refused is in "spanvault refusals" with every reason.
/// Exits with 4 only where something was refused and nothing permitted.
///
/// The built-in summarizer needs no model. "--summarizer" runs a command for each range of spans instead: it gets
/// the text on its standard input and gives the summary on its standard output. Where it fails, hangs, or writes
/// something that is not admitted, all stays as it was.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault compact 4f1c.jsonl\n  \
    spanvault compact --session run-42 --keep-last 40 --dry-run\n  \
    spanvault compact --session run-42 --summarizer 'llm -s \"Summarise for the agent\"'")]
pub(crate) struct CompactArgs {
    /// Ingest these files first and compact their sessions; without FILE and --session, every session
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only this session, by its name or a unique start of it; with FILE, the session that the spans go to
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// How many conversation spans at the end stay verbatim
    #[arg(long, value_name = "N", default_value_t = 20)]
    keep_last: usize,
    /// Compact until the context takes at most this many tokens, with checkpoints and deeper summaries where needed
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["dry_run", "deeper"])]
    budget: Option<u64>,
    /// Also summarise the summaries before the cut: one generation deeper
    #[arg(long)]
    deeper: bool,
    /// The text of the summary, from FILE or, where it is "-", from the standard input
    #[arg(long, value_name = "FILE", conflicts_with = "summarizer")]
    summary: Option<PathBuf>,
    /// A command that writes summaries: text on its standard input, the summary on its standard output
    #[arg(long, value_name = "CMD")]
    summarizer: Option<String>,
    /// How long the command may take for one summary
    #[arg(long, value_name = "D", default_value = "2m", value_parser = Ttl::parse)]
    summarizer_timeout: Ttl,
    /// Where an original expires before it is needed no more, write the lease that keeps it
    #[arg(long)]
    extend: bool,
    /// Show what would be done; change and log nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &CompactArgs, context: &mut Context) -> Result<Exit, Failure> {
    let mut summarizer = summarizer(args)?;
    if args.dry_run {
        let vault = context.reading()?;
        let names = session_names(&vault, args, &args.files.iter().map(path_text).collect::<Vec<_>>())?;
        return compact(&vault, &names, args, &mut *summarizer, &mut context.output);
    }
    let dir = context.dir().to_owned();
    context.writing(|vault, output| {
        let mut options = IngestOptions::default();
        options.session.clone_from(&args.session);
        let mut ingest = Ingest::new(vault, dir, options);
        // With --json the lines are those of the sessions.
        ingest.take(&args.files, &mut |response| {
            if output.is_json() { Ok(()) } else { output.emit(&response) }
        })?;
        let names = session_names(vault, args, &ingest.sources)?;
        let ingested = ingest.end(output.is_json());
        let compacted = compact(vault, &names, args, &mut *summarizer, output)?;
        Ok(if ingested == Exit::Done { compacted } else { ingested })
    })
}

fn summarizer(args: &CompactArgs) -> Result<Box<dyn Summarizer>, Failure> {
    Ok(match (&args.summary, &args.summarizer) {
        (Some(path), _) => Box::new(GivenText::new(read_text(path)?)),
        (None, Some(command)) => Box::new(Command::new(command.clone(), args.summarizer_timeout)),
        (None, None) => Box::new(BuiltIn),
    })
}

/// The sessions that are meant, each once.
fn session_names(vault: &Vault, args: &CompactArgs, sources: &[String]) -> Result<Vec<String>, Failure> {
    if args.files.is_empty() {
        return Ok(match &args.session {
            Some(name) => vec![vault.find(name)?.name().to_owned()],
            None => vault.sessions()?.iter().map(|session| session.name().to_owned()).collect(),
        });
    }
    let mut names: Vec<String> = Vec::new();
    for source in sources {
        for session in vault.sessions_of_source(source)? {
            if !names.iter().any(|name| name == session.name()) {
                names.push(session.name().to_owned());
            }
        }
    }
    Ok(names)
}

fn path_text(path: &PathBuf) -> String {
    path.canonicalize().as_ref().unwrap_or(path).display().to_string()
}

fn compact(
    vault: &Vault,
    names: &[String],
    args: &CompactArgs,
    summarizer: &mut dyn Summarizer,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let options = CompactionOptions {
        keep: Keep::last(args.keep_last),
        expiry: if args.extend { Expiring::Extend } else { Expiring::Check },
        over: if args.deeper { Over::Summaries } else { Over::Spans },
    };
    let (mut permitted, mut refused) = (0, 0);
    for (done, name) in names.iter().enumerate() {
        let progress = Progress::of_things(format!("compact {name}"));
        progress.update(done as u64, names.len() as u64);
        let session = vault.find(name)?;
        let response = compact_one(&session, &options, args, summarizer)?;
        drop(progress);
        permitted += response.permitted;
        refused += response.refused;
        output.emit(&response)?;
    }
    Ok(if refused > 0 && permitted == 0 { Exit::Refused } else { Exit::Done })
}

fn compact_one(
    session: &Session<'_>,
    options: &CompactionOptions,
    args: &CompactArgs,
    summarizer: &mut dyn Summarizer,
) -> Result<CompactResponse, Failure> {
    if let Some(budget) = args.budget {
        let auto = session.auto_compact_with(budget, options.keep, options.expiry, summarizer)?;
        return Ok(CompactResponse::within(budget, session.name(), auto));
    }
    let report = if args.dry_run {
        session.compact_dry(options, summarizer)?
    } else {
        session.compact_with(options, summarizer)?
    };
    Ok(CompactResponse::new(report, args.dry_run))
}
