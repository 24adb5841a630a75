//! `ingest`: records the spans of transcripts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use spanvault::{ErrorKind, ImportedSummary, IngestOptions, IngestReport, SpanId, Vault};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::files::{Found, walk};
use crate::output::{Output, Page, Progress, Response, Tone, bytes, count, counted, joined};
use crate::wire;

/// Record the spans of transcripts, byte for byte
///
/// Each record of a transcript becomes a span; what lies between them is kept too, so that "restore" gives the file
/// again. Ingesting a file once more adds nothing, a grown file adds its tail. Records that cannot be read are kept
/// and counted as quarantined. Directories are walked in the order of names, without following links, and files of
/// no known format in them are listed and skipped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault ingest ~/.claude/projects/app/4f1c.jsonl\n  \
    spanvault ingest runs/ --json")]
pub(crate) struct IngestArgs {
    /// Transcript files, or directories of them
    #[arg(value_name = "FILE|DIR", required = true)]
    paths: Vec<PathBuf>,
    /// The format of the files; found out from their content where it is not said
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The session that all spans go to; as the transcripts say where it is not said
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
}

/// Records every FILE and DIR, and goes on after a file that cannot be read.
pub(crate) fn run(args: &IngestArgs, context: &mut Context) -> Result<Exit, Failure> {
    let dir = context.dir().to_owned();
    context.writing(|vault, output| {
        let mut options = IngestOptions::default();
        options.format.clone_from(&args.format);
        options.session.clone_from(&args.session);
        let mut ingest = Ingest::new(vault, dir, options);
        for path in &args.paths {
            ingest.take(path, &mut |response| output.emit(&response))?;
        }
        ingest.tell_total(output)?;
        Ok(ingest.end(output.is_json()))
    })
}

/// Files on their way into a vault.
pub(crate) struct Ingest<'v> {
    vault: &'v Vault,
    /// Where the vault is, so that it is not read as a transcript.
    dir: PathBuf,
    options: IngestOptions,
    /// The files that are in the vault now.
    pub(crate) sources: Vec<String>,
    spans_new: u64,
    skipped: u64,
    failures: Vec<Failure>,
}

impl<'v> Ingest<'v> {
    pub(crate) const fn new(vault: &'v Vault, dir: PathBuf, options: IngestOptions) -> Self {
        Self { vault, dir, options, sources: Vec::new(), spans_new: 0, skipped: 0, failures: Vec::new() }
    }

    /// Records a file, or every file under a directory.
    ///
    /// A file that cannot be read is told at the end; what stops the vault stops the run.
    pub(crate) fn take(
        &mut self,
        path: &Path,
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !path.is_dir() {
            return self.record(path, tell);
        }
        for found in walk(path, self.dir.clone()) {
            match found {
                Ok(Found::File(file)) if self.has_known_format(&file)? => self.record(&file, tell)?,
                Ok(Found::File(file)) => self.skip(&file, "its content is of no known format", tell)?,
                Ok(Found::Other(file, why)) => self.skip(&file, why, tell)?,
                Err(failure) => self.failures.push(failure),
            }
        }
        Ok(())
    }

    fn has_known_format(&mut self, file: &Path) -> Result<bool, Failure> {
        if self.options.format.is_some() {
            return Ok(true);
        }
        match self.vault.format_of(file) {
            // What somebody names is kept whatever it is; what only lies in a directory may be no transcript at all.
            Ok(format) => Ok(format.is_some_and(|format| !spanvault::is_generic(format))),
            // The attempt to record it says what is wrong with it.
            Err(error) if is_about_the_file(error.kind()) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn record(
        &mut self,
        file: &Path,
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let progress = Progress::of_bytes(format!("ingest {}", file.display()));
        let done = self.vault.ingest(file, &self.options, &mut |read, total| progress.update(read, total));
        drop(progress);
        match done {
            Ok(report) => {
                self.spans_new += report.spans_new;
                self.sources.push(report.source.clone());
                let mut response = IngestResponse::recorded(report);
                if response.sessions.is_empty() {
                    response.sessions = self.sessions_of(&response.source)?;
                }
                tell(response)
            }
            Err(error) if is_about_the_file(error.kind()) => {
                self.failures.push(error.into());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The sessions of a file of which nothing was new.
    fn sessions_of(&self, source: &str) -> Result<Vec<String>, Failure> {
        let sessions = self.vault.sessions_of_source(source)?;
        Ok(sessions.iter().map(|session| session.name().to_owned()).collect())
    }

    fn skip(
        &mut self,
        file: &Path,
        why: &'static str,
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.skipped += 1;
        tell(IngestResponse::skipped(file, why))
    }

    /// Adds up, for people, where there were several files.
    fn tell_total(&self, output: &mut Output) -> Result<(), Failure> {
        let files = self.sources.len() as u64 + self.skipped;
        if output.is_json() || files < 2 {
            return Ok(());
        }
        let skipped = count(self.skipped);
        let total =
            format!("{}: {}, {skipped} skipped", counted(files, "file"), counted(self.spans_new, "new span"));
        output.page().heading(&total).map_err(Failure::printing)
    }

    /// Tells what failed; the first failure gives the exit code.
    pub(crate) fn end(self, is_json: bool) -> Exit {
        for failure in &self.failures {
            failure.tell(is_json);
        }
        self.failures.first().map_or(Exit::Done, Failure::exit)
    }
}

/// Whether an error is about one file, so that the others can still be recorded.
fn is_about_the_file(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::NotFound)
}

/// What happened to one file.
#[derive(Debug, Serialize)]
pub(crate) struct IngestResponse {
    source: String,
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    sessions: Vec<String>,
    spans_new: u64,
    spans_known: u64,
    conflicts: u64,
    conflicting: Vec<String>,
    quarantined: Vec<QuarantinedResponse>,
    compactions: Vec<CompactionResponse>,
    bytes: u64,
    bytes_new: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'static str>,
}

/// A compaction that the transcript's own runtime had made.
#[derive(Debug, Serialize)]
struct CompactionResponse {
    summary: String,
    span: String,
    imported: bool,
    generation: u32,
    covers: usize,
    fidelity: Option<f64>,
    omitted: BTreeMap<&'static str, u64>,
}

impl From<ImportedSummary> for CompactionResponse {
    fn from(imported: ImportedSummary) -> Self {
        Self {
            summary: imported.summary.to_string(),
            span: imported.span.to_string(),
            imported: true,
            generation: imported.generation,
            covers: imported.covers,
            fidelity: wire::fidelity(&imported.fidelity),
            omitted: wire::omitted(&imported.fidelity),
        }
    }
}

#[derive(Debug, Serialize)]
struct QuarantinedResponse {
    index: u64,
    offset: u64,
    bytes: u64,
    reason: String,
}

impl IngestResponse {
    fn recorded(report: IngestReport) -> Self {
        let quarantined = report.quarantined.into_iter().map(|record| QuarantinedResponse {
            index: record.index,
            offset: record.offset,
            bytes: record.bytes,
            reason: record.reason,
        });
        Self {
            source: report.source,
            format: Some(report.format),
            container: report.container,
            note: report.note,
            sessions: report.sessions,
            spans_new: report.spans_new,
            spans_known: report.spans_known,
            conflicts: report.conflicts.len() as u64,
            conflicting: report.conflicts.into_iter().map(|at| SpanId(at).to_string()).collect(),
            quarantined: quarantined.collect(),
            compactions: report.imported.into_iter().map(CompactionResponse::from).collect(),
            bytes: report.bytes,
            bytes_new: report.bytes_new,
            skipped: None,
        }
    }

    fn skipped(file: &Path, why: &'static str) -> Self {
        Self {
            source: file.display().to_string(),
            format: None,
            container: None,
            note: None,
            sessions: Vec::new(),
            spans_new: 0,
            spans_known: 0,
            conflicts: 0,
            conflicting: Vec::new(),
            quarantined: Vec::new(),
            compactions: Vec::new(),
            bytes: 0,
            bytes_new: 0,
            skipped: Some(why),
        }
    }
}

/// How many quarantined records of one file people are shown.
const QUARANTINED_SHOWN: usize = 5;

impl Response for IngestResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let source = page.safe(&self.source).into_owned();
        if let Some(why) = self.skipped {
            let label = page.paint(Tone::Faint, "skipped");
            return page.line(format_args!("{label}   {source}: {why}"));
        }
        let label = page.paint(Tone::Good, "ingested");
        page.line(format_args!("{label}  {source}"))?;
        let format = self.format.as_deref().unwrap_or("unknown");
        match self.container {
            Some(container) => page.field("  format", format_args!("{format}, in {container}"))?,
            None => page.field("  format", format)?,
        }
        if let Some(note) = &self.note {
            let note = page.paint(Tone::Warning, note);
            page.field("  note", note)?;
        }
        page.field(
            "  spans",
            format_args!("{} new, {} known", count(self.spans_new), count(self.spans_known)),
        )?;
        page.field("  bytes", format_args!("{}, {} new", bytes(self.bytes), bytes(self.bytes_new)))?;
        if !self.sessions.is_empty() {
            let sessions = joined(&self.sessions, "none");
            let sessions = page.safe(&sessions).into_owned();
            page.field("  sessions", sessions)?;
        }
        if self.conflicts > 0 {
            let text = format!(
                "{} recorded before with other bytes; both are kept ({})",
                counted(self.conflicts, "record"),
                joined(self.conflicting.iter().take(QUARANTINED_SHOWN), "none")
            );
            let text = page.paint(Tone::Warning, &text);
            page.field("  conflicts", text)?;
        }
        self.show_compactions(page)?;
        if self.quarantined.is_empty() {
            return Ok(());
        }
        let text = format!("{} kept, but not readable", counted(self.quarantined.len() as u64, "record"));
        let text = page.paint(Tone::Warning, &text);
        page.field("  quarantined", text)?;
        for record in self.quarantined.iter().take(QUARANTINED_SHOWN) {
            let reason = page.safe(&record.reason).into_owned();
            page.line(format_args!(
                "    index {} at byte {}, {}: {reason}",
                record.index,
                record.offset,
                bytes(record.bytes)
            ))?;
        }
        let more = self.quarantined.len().saturating_sub(QUARANTINED_SHOWN);
        if more > 0 { page.line(format_args!("    and {more} more")) } else { Ok(()) }
    }
}

impl IngestResponse {
    /// What the compactions of the transcript's own runtime lost.
    fn show_compactions(&self, page: &mut Page<'_>) -> io::Result<()> {
        let Some(last) = self.compactions.last() else { return Ok(()) };
        let lost: u64 = self.compactions.iter().flat_map(|one| one.omitted.values()).sum();
        page.field(
            "  compactions",
            format_args!(
                "{} imported, which dropped {}; \"spanvault expand {}\" names those of the last",
                count(self.compactions.len() as u64),
                counted(lost, "detail"),
                last.summary
            ),
        )
    }
}
