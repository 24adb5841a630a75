//! `registry`: what the vault knows of tools beyond the program.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spanvault::{Lowered, Options, RegistryInfo, read_registry};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, Tone};

/// Show which tools a file describes, or check such a file
///
/// The file is registry.json in the vault's directory. It says what tools do that the program does not know. A tool
/// that reads as doing less than its name is known to do needs a reason there, and is listed here and by health.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  spanvault registry\n  spanvault registry --file our-tools.json")]
pub(crate) struct RegistryArgs {
    /// Check this file instead; the vault is not looked at.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &RegistryArgs, context: &mut Context) -> Result<Exit, Failure> {
    let info = match &args.file {
        Some(file) => read_registry(&Options::default(), file)?,
        None => context.reading()?.registry(),
    };
    context.output.emit(&RegistryResponse::from(info))?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct RegistryResponse {
    tools: Vec<ToolResponse>,
    lowered: Vec<LoweredResponse>,
}

#[derive(Debug, Serialize)]
struct ToolResponse {
    tool: String,
    effect: &'static str,
}

/// A tool that reads as doing less than its name is known to do.
#[derive(Debug, Serialize)]
pub(crate) struct LoweredResponse {
    tool: String,
    known: &'static str,
    reads_as: &'static str,
    reason: String,
}

impl From<Lowered> for LoweredResponse {
    fn from(lowered: Lowered) -> Self {
        let Lowered { tool, known, reads_as, reason } = lowered;
        Self { tool, known, reads_as, reason }
    }
}

impl LoweredResponse {
    /// For people.
    pub(crate) fn in_words(&self) -> String {
        let Self { tool, known, reads_as, reason } = self;
        format!("{tool}: known as {known}, reads as {reads_as} ({reason})")
    }
}

impl From<RegistryInfo> for RegistryResponse {
    fn from(info: RegistryInfo) -> Self {
        let tools = info.added.into_iter().map(|(tool, effect)| ToolResponse { tool, effect }).collect();
        Self { tools, lowered: info.lowered.into_iter().map(Into::into).collect() }
    }
}

impl Response for RegistryResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        if self.tools.is_empty() {
            page.line("no tools beyond those that the program knows")?;
        }
        for ToolResponse { tool, effect } in &self.tools {
            page.line(format_args!("{effect:<8}  {tool}"))?;
        }
        for lowered in &self.lowered {
            let text = page.paint(Tone::Bad, &lowered.in_words());
            page.field("lowered", text)?;
        }
        Ok(())
    }
}
