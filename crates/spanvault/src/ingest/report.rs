//! What an ingest did.

use std::path::PathBuf;

use spanvault_import::{Container, Record};
use spanvault_types::{Position, SpanKind};

use super::ImportedSummary;
use super::source_file::Head;

/// A record that could not be read, or was too large to be: kept, not parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedRecord {
    /// Its index in the source.
    pub index: u64,
    /// Where it starts in the file, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Why.
    pub reason: String,
}

/// A file that holds the whole of a result of which the transcript has a stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideFile {
    /// The index of the record that has the stub.
    pub index: u64,
    /// The name of the file.
    pub name: String,
    /// Where it stands in the folder of the transcript; `None` where it is missing there.
    pub path: Option<PathBuf>,
}

/// What one ingest of one file did.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestReport {
    /// The file, as an absolute path.
    pub source: String,
    /// The format that it was read as.
    pub format: String,
    /// The container that it came in.
    pub container: Option<&'static str>,
    /// What is to be said of how it was read, if anything is.
    pub note: Option<String>,
    /// The names of the sessions that it has spans of and that something was recorded in.
    pub sessions: Vec<String>,
    /// Spans that were recorded.
    pub spans_new: u64,
    /// Spans that the vault had already.
    pub spans_known: u64,
    /// Spans whose identity was known with other bytes: both are kept, these are the older ones.
    pub conflicts: Vec<Position>,
    /// Records that could not be parsed.
    pub quarantined: Vec<QuarantinedRecord>,
    /// Summaries of compactions that the transcript's own runtime had made, as far as they were not known.
    pub imported: Vec<ImportedSummary>,
    /// The files that its stubs name, missing ones too.
    pub side_files: Vec<SideFile>,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes that were not in the vault before.
    pub bytes_new: u64,
}

impl IngestReport {
    pub(super) fn new(source: &str, file: &Head) -> Self {
        Self {
            source: source.to_owned(),
            format: file.importer.format().to_owned(),
            container: file.container.map(Container::as_str),
            note: file.note.clone(),
            sessions: Vec::new(),
            spans_new: 0,
            spans_known: 0,
            conflicts: Vec::new(),
            quarantined: Vec::new(),
            imported: Vec::new(),
            side_files: Vec::new(),
            bytes: 0,
            bytes_new: 0,
        }
    }

    pub(super) fn trace(&self) {
        tracing::info!(
            format = self.format,
            spans_new = self.spans_new,
            spans_known = self.spans_known,
            bytes_new = self.bytes_new,
            quarantined = self.quarantined.len(),
            "ingested a source"
        );
    }

    pub(super) fn note(&mut self, record: &Record, offset: u64) {
        let reason = match &record.quarantine {
            Some(quarantine) => quarantine.reason.to_string(),
            None if record.content.kind == SpanKind::TooLarge => "too large to be parsed".to_owned(),
            None => return,
        };
        let bytes = record.bytes.len() as u64;
        self.quarantined.push(QuarantinedRecord { index: record.index, offset, bytes, reason });
    }
}
