//! What `ingest` says of one file.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;
use spanvault::{ImportedSummary, IngestReport, SideFile, SpanId};

use crate::output::{Page, Response, Tone, bytes, count, counted, joined};
use crate::wire;

/// What happened to one file.
#[derive(Debug, Serialize)]
pub(crate) struct IngestResponse {
    pub(super) source: String,
    pub(super) format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    pub(super) sessions: Vec<String>,
    pub(super) spans_new: u64,
    pub(super) spans_known: u64,
    conflicts: u64,
    conflicting: Vec<String>,
    pub(super) quarantined: Vec<QuarantinedResponse>,
    pub(super) compactions: Vec<CompactionResponse>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    side_files: Vec<SideFileResponse>,
    pub(super) bytes: u64,
    pub(super) bytes_new: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'static str>,
}

/// A file that holds the whole of what the transcript has a stub of.
#[derive(Debug, Serialize)]
pub(super) struct SideFileResponse {
    index: u64,
    name: String,
    path: Option<String>,
}

impl From<SideFile> for SideFileResponse {
    fn from(file: SideFile) -> Self {
        Self { index: file.index, name: file.name, path: file.path.map(|path| path.display().to_string()) }
    }
}

/// A compaction that the transcript's own runtime had made.
#[derive(Debug, Serialize)]
pub(super) struct CompactionResponse {
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
pub(super) struct QuarantinedResponse {
    index: u64,
    offset: u64,
    bytes: u64,
    reason: String,
}

impl IngestResponse {
    pub(super) fn recorded(report: IngestReport) -> Self {
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
            side_files: report.side_files.into_iter().map(SideFileResponse::from).collect(),
            bytes: report.bytes,
            bytes_new: report.bytes_new,
            skipped: None,
        }
    }

    pub(super) fn skipped(file: &Path, why: &'static str) -> Self {
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
            side_files: Vec::new(),
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
        let missing = self.side_files.iter().filter(|file| file.path.is_none()).count() as u64;
        if missing > 0 {
            let text = format!(
                "{} named by it is not beside it: of these results only the start is here",
                counted(missing, "file")
            );
            let text = page.paint(Tone::Warning, &text);
            page.field("  missing", text)?;
        }
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
