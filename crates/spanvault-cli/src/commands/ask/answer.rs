//! Answers for people, and lines that are no question.

use std::io;

use serde::{Serialize, Serializer};
use serde_json::Value;
use spanvault::ask::{Answer, Coverage, Verdict};

use crate::output::{Page, Response, Tone, bytes, counted, one_line};
use crate::wire;

/// An answer. Its JSON is the answer contract, which is the facade's own.
pub(crate) struct AnswerInWords<'a>(pub(crate) &'a Answer);

impl Serialize for AnswerInWords<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// How much of a value stands on the first line, in characters.
const VALUE_CHARS: usize = 100;
/// How many pieces of evidence, and how many unseen spans, people are shown.
const SHOWN: usize = 10;

impl Response for AnswerInWords<'_> {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let answer = self.0;
        let (word, tone) = match answer.answer {
            Verdict::Present => ("present", Tone::Good),
            Verdict::Absent => ("absent", Tone::Strong),
            Verdict::Insufficient => ("insufficient evidence", Tone::Warning),
        };
        let word = page.paint(tone, word);
        let partial = if answer.partial { " (partial)" } else { "" };
        match &answer.value {
            Value::Bool(_) | Value::Null => page.line(format_args!("{word}{partial}"))?,
            Value::String(text) if text.contains('\n') || text.chars().count() > VALUE_CHARS => {
                page.line(format_args!("{word}{partial}:"))?;
                page.quote(text)?;
            }
            Value::String(text) => {
                let text = page.safe(text).into_owned();
                page.line(format_args!("{word}{partial}: {text}"))?;
            }
            other @ (Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                let other = other.to_string();
                let other = page.safe(&other).into_owned();
                page.line(format_args!("{word}{partial}: {other}"))?;
            }
        }
        self.proof(page)
    }
}

impl AnswerInWords<'_> {
    /// What the answer rests on.
    pub(crate) fn proof(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.evidence(page)?;
        coverage_in_words(&self.0.coverage, page)
    }

    fn evidence(&self, page: &mut Page<'_>) -> io::Result<()> {
        for evidence in self.0.evidence.iter().take(SHOWN) {
            let place = place(&evidence.source, &evidence.record, evidence.index);
            let place = page.safe(&place).into_owned();
            let [start, end] = evidence.range;
            page.line(format_args!(
                "  evidence  {} {} bytes {start}..{end} of {place}",
                evidence.span,
                wire::short_hash(&evidence.hash)
            ))?;
        }
        let more = self.0.evidence.len().saturating_sub(SHOWN) as u64 + self.0.evidence_left_off;
        if more > 0 { page.line(format_args!("            and {more} more")) } else { Ok(()) }
    }
}

/// What was searched, and what could not be seen.
pub(crate) fn coverage_in_words(coverage: &Coverage, page: &mut Page<'_>) -> io::Result<()> {
    let complete = if coverage.complete { "complete" } else { "incomplete" };
    page.line(format_args!(
        "  searched  {} of {}, {}, in {}: {complete}",
        coverage.searched,
        counted(coverage.originals, "original"),
        bytes(coverage.bytes),
        counted(coverage.sessions, "session"),
    ))?;
    for missing in coverage.missing.iter().take(SHOWN) {
        let reason = serde_json::to_value(missing.reason).ok();
        let reason = reason.as_ref().and_then(Value::as_str).unwrap_or("unseen").replace('_', " ");
        let tombstone = missing.tombstone.map_or_else(String::new, |at| format!(", tombstone at {at}"));
        let place = place(&missing.source, &missing.record, missing.index);
        let place = page.safe(&place).into_owned();
        page.line(format_args!(
            "  {reason}  {} {}{tombstone}, {place}",
            missing.span,
            wire::short_hash(&missing.hash)
        ))?;
    }
    let more = coverage.missing.len().saturating_sub(SHOWN) as u64 + coverage.missing_left_off;
    if more > 0 {
        page.line(format_args!("            and {more} more"))?;
    }
    for opaque in coverage.opaque.iter().take(SHOWN) {
        let place = place(&opaque.source, &opaque.record, opaque.index);
        let place = page.safe(&place).into_owned();
        let tool = one_line(&opaque.tool, VALUE_CHARS);
        page.line(format_args!(
            "  opaque    {} a call of {tool} that cannot be seen through, {place}",
            opaque.span
        ))?;
    }
    let more = coverage.opaque.len().saturating_sub(SHOWN);
    if more > 0 { page.line(format_args!("            and {more} more")) } else { Ok(()) }
}

/// Where a span stands in its source.
fn place(source: &str, record: &str, index: u64) -> String {
    let source = if source.is_empty() { "its session" } else { source };
    format!("{source}{record} index {index}")
}

/// A line that is no question, in the place of its answer.
#[derive(Debug, Serialize)]
pub(super) struct BadLine {
    error: String,
    kind: &'static str,
}

impl From<&spanvault::Error> for BadLine {
    fn from(error: &spanvault::Error) -> Self {
        Self { error: error.to_string(), kind: error.kind().as_str() }
    }
}

impl Response for BadLine {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let label = page.paint(Tone::Bad, "error");
        let error = page.safe(&self.error).into_owned();
        page.line(format_args!("{label}: {error}"))
    }
}
