//! `recover`: the exact bytes of an original.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spanvault::Name;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::files::fill;
use crate::output::{Page, Response, bytes};
use crate::wire;

/// Give the exact bytes of an original, verified
///
/// What comes back hashes to its name, or is an error: never other bytes, never a part of them. Without "-o" the
/// bytes go to the standard output and nothing else does. Exits with 5 where the bytes were reclaimed, and names
/// the tombstone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault recover 3f9a01c2 | jq .\n  \
    spanvault recover s12 -o original.json")]
pub(crate) struct RecoverArgs {
    /// A content hash or at least 8 digits of its start, a span (s12) or a summary (m40)
    #[arg(value_name = "HASH|SPAN|SUMMARY")]
    name: Name,
    /// Write the bytes to FILE: all of them, or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &RecoverArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let original = vault.recover(args.name.clone())?;
    let Some(path) = &args.output else {
        context.output.bytes(&original)?;
        return Ok(Exit::Done);
    };
    let hash = vault.hash_of(args.name.clone())?.to_string();
    fill(path, |put| put(&original))?;
    context.output.emit(&RecoverResponse {
        name: args.name.to_string(),
        hash,
        bytes: original.len() as u64,
        file: path.display().to_string(),
    })?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct RecoverResponse {
    name: String,
    hash: String,
    bytes: u64,
    file: String,
}

impl Response for RecoverResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let hash = wire::short_hash(&self.hash);
        page.line(format_args!("recovered {} ({hash}) to {}: {}", self.name, self.file, bytes(self.bytes)))
    }
}
