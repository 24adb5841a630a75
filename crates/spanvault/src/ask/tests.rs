//! Behaviour of `ask`, over transcripts held in memory.

#![expect(clippy::needless_pass_by_value, reason = "queries are written where they are asked")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use spanvault_types::{
    ByteRange, Call, ContentHash, Encoding, Outcome, Part, PartBody, Position, Role, SpanContent, SpanKind,
};

use super::*;

mod calls;
mod certainty;
mod coverage;
mod gets;
mod order;
mod property;
mod query;
mod scope;
mod text;

/// Transcripts told span by span. What is set (session, time) holds for the spans that follow.
#[derive(Debug)]
struct Library {
    transcripts: Vec<Transcript>,
    kept: BTreeMap<Position, Kept>,
    session: Arc<str>,
    time: Option<i64>,
    reads: AtomicU64,
}

#[derive(Debug, Clone)]
struct Kept {
    content: SpanContent,
    bytes: Option<Vec<u8>>,
    unseen: Option<UnseenReason>,
}

impl Library {
    /// One source, `/home/me/run.jsonl`, of session `run-1`, still empty.
    fn new() -> Self {
        let mut library = Self {
            transcripts: Vec::new(),
            kept: BTreeMap::new(),
            session: "run-1".into(),
            time: None,
            reads: AtomicU64::new(0),
        };
        library.source("/home/me/run.jsonl", "");
        library
    }

    fn source(&mut self, source: &str, record: &str) -> &mut Self {
        self.transcripts.push(Transcript { source: source.into(), record: record.into(), spans: Vec::new() });
        self
    }

    fn in_session(&mut self, session: &str) -> &mut Self {
        self.session = session.into();
        self
    }

    fn time(&mut self, ms: Option<i64>) -> &mut Self {
        self.time = ms;
        self
    }

    fn user(&mut self, text: &str) -> &mut Self {
        self.text_span(Role::User, SpanKind::Message, text, PartBody::Text)
    }

    fn says(&mut self, text: &str) -> &mut Self {
        self.text_span(Role::Assistant, SpanKind::Message, text, PartBody::Text)
    }

    fn thinks(&mut self, text: &str) -> &mut Self {
        self.text_span(Role::Assistant, SpanKind::Thinking, text, PartBody::Thinking)
    }

    fn summary(&mut self, text: &str) -> &mut Self {
        self.text_span(Role::User, SpanKind::CompactSummary, text, PartBody::Summary)
    }

    /// A call in a span of its own.
    fn calls(&mut self, id: &str, tool: &str, args: Value) -> &mut Self {
        self.calls_all(&[(id, tool, args)])
    }

    /// Several calls in one span, in this order. An empty id is none.
    fn calls_all(&mut self, calls: &[(&str, &str, Value)]) -> &mut Self {
        let mut bytes = br#"{"calls":["#.to_vec();
        let mut parts = Vec::new();
        for (id, tool, args) in calls {
            let start = bytes.len();
            bytes.extend(json!({ "id": id, "tool": tool, "args": args }).to_string().into_bytes());
            parts.push(Part {
                range: range(start, bytes.len()),
                encoding: Encoding::JsonValue,
                body: PartBody::Call(Call {
                    id: (!id.is_empty()).then(|| (*id).to_owned()),
                    tool: (*tool).to_owned(),
                    args: args.clone(),
                }),
            });
            bytes.push(b',');
        }
        bytes.extend(self.tail());
        self.span(Role::Assistant, SpanKind::ToolCall, parts, bytes)
    }

    fn returns(&mut self, id: &str, text: &str) -> &mut Self {
        self.result(id, text, None)
    }

    fn fails(&mut self, id: &str, text: &str) -> &mut Self {
        self.result(id, text, Some(true))
    }

    fn result(&mut self, id: &str, text: &str, is_error: Option<bool>) -> &mut Self {
        let call_id = (!id.is_empty()).then(|| id.to_owned());
        self.text_span(Role::Tool, SpanKind::ToolResult, text, |text| {
            PartBody::Result(Outcome { call_id, tool: None, text, is_error, exit_code: None, executed: None })
        })
    }

    /// A record of the runtime.
    fn progress(&mut self, bytes: &str) -> &mut Self {
        self.span(Role::System, SpanKind::Meta, Vec::new(), bytes.as_bytes().to_vec())
    }

    /// Bytes that were never parsed.
    fn unparsed(&mut self, kind: SpanKind, bytes: &str) -> &mut Self {
        self.span(Role::System, kind, Vec::new(), bytes.as_bytes().to_vec());
        let too_large = kind == SpanKind::TooLarge;
        self.last().unseen = Some(if too_large { UnseenReason::TooLarge } else { UnseenReason::Quarantined });
        self
    }

    /// The bytes of the last span are gone.
    fn lost(&mut self, reason: UnseenReason) -> &mut Self {
        let last = self.last();
        (last.unseen, last.bytes) = (Some(reason), None);
        self
    }

    fn reclaimed(&mut self) -> &mut Self {
        self.lost(UnseenReason::Reclaimed)
    }

    fn last(&mut self) -> &mut Kept {
        self.kept.values_mut().next_back().expect("a span")
    }

    fn text_span(
        &mut self,
        role: Role,
        kind: SpanKind,
        text: &str,
        body: impl FnOnce(String) -> PartBody,
    ) -> &mut Self {
        let mut bytes = br#"{"text":"#.to_vec();
        let start = bytes.len();
        bytes.extend(json!(text).to_string().into_bytes());
        let part = Part {
            range: range(start, bytes.len()),
            encoding: Encoding::JsonString,
            body: body(text.to_owned()),
        };
        bytes.extend(self.tail());
        self.span(role, kind, vec![part], bytes)
    }

    /// Makes every original another.
    fn tail(&self) -> Vec<u8> {
        format!(r#","n":{}}}"#, self.kept.len()).into_bytes()
    }

    fn span(&mut self, role: Role, kind: SpanKind, parts: Vec<Part>, bytes: Vec<u8>) -> &mut Self {
        let span = Position::new(self.kept.len() as u64 + 1);
        let timestamp_ms = self.time;
        let transcript = self.transcripts.last_mut().expect("a transcript");
        transcript.spans.push(AskSpan {
            span,
            original: span,
            hash: ContentHash::of(&bytes),
            bytes: bytes.len() as u64,
            session: Arc::clone(&self.session),
            session_at: Position::new(self.session.bytes().map(u64::from).sum()),
            source: Arc::clone(&transcript.source),
            source_at: Position::ZERO,
            record: Arc::clone(&transcript.record),
            index: transcript.spans.len() as u64,
            role,
            kind,
            timestamp_ms,
        });
        let content = SpanContent { role, kind, timestamp_ms, event_key: None, parts };
        self.kept.insert(span, Kept { content, bytes: Some(bytes), unseen: None });
        self
    }

    fn ask(&self, query: Value) -> Answer {
        let query = Query::from_json(&query.to_string()).expect("a query");
        evaluate(&query, self).expect("an answer")
    }

    fn refuses(&self, query: Value) -> String {
        let query = match Query::from_json(&query.to_string()) {
            Ok(query) => query,
            Err(error) => return error.to_string(),
        };
        evaluate(&query, self).expect_err("no answer").to_string()
    }

    /// The bytes that a piece of evidence points at.
    fn shown(&self, evidence: &Evidence) -> String {
        let position = evidence.span.trim_start_matches('s').parse().map(Position::new).expect("a span id");
        let bytes = self.kept[&position].bytes.as_ref().expect("bytes");
        assert_eq!(evidence.hash, ContentHash::of(bytes).to_string());
        let [start, end] = evidence.range.map(|at| usize::try_from(at).expect("a small range"));
        String::from_utf8(bytes[start..end].to_vec()).expect("UTF-8")
    }
}

fn range(start: usize, end: usize) -> ByteRange {
    ByteRange { start: start as u64, end: end as u64 }
}

impl Originals for Library {
    type Error = String;

    fn session(&self, name: &str) -> Result<Arc<str>, String> {
        let spans = self.transcripts.iter().flat_map(|transcript| &transcript.spans);
        let mut found: Vec<&Arc<str>> =
            spans.map(|span| &span.session).filter(|s| s.starts_with(name)).collect();
        found.sort();
        found.dedup();
        match found.as_slice() {
            [one] => Ok(Arc::clone(one)),
            [first, ..] if ***first == *name => Ok(Arc::clone(first)),
            [] => Err(format!("no session {name}")),
            _several => Err(format!("several sessions {name}")),
        }
    }

    fn transcripts(&self, _within: &Within) -> Result<Transcripts<'_, String>, String> {
        Ok(Box::new(self.transcripts.iter().cloned().map(Ok)))
    }

    fn read(&self, span: &AskSpan) -> Result<Sight, String> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let kept = &self.kept[&span.span];
        Ok(match kept.unseen {
            None => Sight::Seen(kept.content.clone()),
            Some(reason) => {
                let tombstone = (reason == UnseenReason::Reclaimed).then(|| Position::new(900));
                Sight::Unseen { reason, tombstone }
            }
        })
    }

    fn bytes(&self, span: &AskSpan) -> Result<Option<Vec<u8>>, String> {
        Ok(self.kept[&span.span].bytes.clone())
    }
}

fn is(answer: &Answer, verdict: Verdict, value: impl Into<Value>) {
    let said = serde_json::to_string_pretty(answer).expect("JSON");
    assert_eq!(answer.answer, verdict, "{said}");
    assert!(json_equal(&answer.value, &value.into()), "{said}");
    assert!(
        answer.answer != Verdict::Absent || answer.coverage.complete,
        "absent over incomplete coverage: {said}"
    );
}

fn present(answer: &Answer, value: impl Into<Value>) {
    is(answer, Verdict::Present, value);
    assert!(!answer.partial);
}

fn absent(answer: &Answer, value: impl Into<Value>) {
    is(answer, Verdict::Absent, value);
}

/// Insufficient, with what was found nevertheless and the reasons.
fn insufficient(answer: &Answer, value: impl Into<Value>, reasons: &[MissingReason]) {
    is(answer, Verdict::Insufficient, value);
    let found: Vec<MissingReason> = answer.coverage.missing.iter().map(|missing| missing.reason).collect();
    assert_eq!(found, reasons);
    assert_eq!(answer.partial, !answer.value.is_null());
}

/// The source indexes of the evidence.
fn indexes(answer: &Answer) -> Vec<u64> {
    answer.evidence.iter().map(|evidence| evidence.index).collect()
}
