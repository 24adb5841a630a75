//! `restore`: an ingested file again, byte for byte.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spanvault::Vault;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::files::{Put, fill};
use crate::output::{Page, Response, bytes};
use crate::sink::Stopped;

/// Give an ingested file again, byte for byte
///
/// Puts the file together from its spans and what lay between them, as it was when it was last ingested. Without
/// "-o" the bytes go to the standard output and nothing else does. Exits with 5 where a piece was reclaimed, and
/// names its tombstone; with "-o" nothing is written then.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault restore 4f1c.jsonl -o again.jsonl")]
pub(crate) struct RestoreArgs {
    /// The path of the ingested file, or the end of it
    #[arg(value_name = "SOURCE")]
    source: String,
    /// Write the file to FILE: all of it, or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &RestoreArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let Some(path) = &args.output else {
        restore(&vault, &args.source, &mut |bytes| context.output.bytes(bytes))?;
        return Ok(Exit::Done);
    };
    let written = fill(path, |put| restore(&vault, &args.source, put))?;
    context.output.emit(&RestoreResponse {
        source: args.source.clone(),
        bytes: written,
        file: path.display().to_string(),
    })?;
    Ok(Exit::Done)
}

fn restore(vault: &Vault, source: &str, put: &mut Put<'_>) -> Result<u64, Failure> {
    let mut stopped = Stopped::default();
    let restored = vault.restore(source, &mut |bytes| stopped.heed(put(bytes)));
    stopped.or(restored)
}

#[derive(Debug, Serialize)]
struct RestoreResponse {
    source: String,
    bytes: u64,
    file: String,
}

impl Response for RestoreResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(format_args!("restored {} to {}: {}", self.source, self.file, bytes(self.bytes)))
    }
}
