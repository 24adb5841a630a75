//! What `ingest` adds up for people where there were several files: a line for each format.

use std::collections::BTreeMap;

use serde::Serialize;

use super::response::IngestResponse;
use crate::output::{Column, Listed, bytes, count};

/// The files of each format.
#[derive(Debug, Default)]
pub(super) struct Totals(BTreeMap<String, Total>);

/// What the files of one format came to.
#[derive(Debug, Default, Serialize)]
pub(super) struct Total {
    format: String,
    files: u64,
    sessions: u64,
    spans_new: u64,
    spans_known: u64,
    compactions: u64,
    quarantined: u64,
    bytes: u64,
    bytes_new: u64,
}

impl Totals {
    pub(super) fn add(&mut self, file: &IngestResponse) {
        let Some(format) = &file.format else { return };
        let total = self.0.entry(format.clone()).or_default();
        total.format.clone_from(format);
        total.files += 1;
        total.sessions += file.sessions.len() as u64;
        total.spans_new += file.spans_new;
        total.spans_known += file.spans_known;
        total.compactions += file.compactions.len() as u64;
        total.quarantined += file.quarantined.len() as u64;
        total.bytes += file.bytes;
        total.bytes_new += file.bytes_new;
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Total> {
        self.0.values()
    }
}

impl Listed for Total {
    const COLUMNS: &'static [Column] = &[
        Column::Text("format"),
        Column::Number("files"),
        Column::Number("sessions"),
        Column::Number("new"),
        Column::Number("known"),
        Column::Number("compactions"),
        Column::Number("quarantined"),
        Column::Number("bytes"),
        Column::Number("bytes new"),
    ];
    const NONE: &'static str = "no transcripts";

    fn cells(&self) -> Vec<String> {
        vec![
            self.format.clone(),
            count(self.files),
            count(self.sessions),
            count(self.spans_new),
            count(self.spans_known),
            count(self.compactions),
            count(self.quarantined),
            bytes(self.bytes),
            bytes(self.bytes_new),
        ]
    }
}
