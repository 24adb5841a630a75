//! What was read of spans when they were recorded, kept until they are posted, so that nothing is read twice.
//!
//! An original is read as its record was, so what is posted is the same either way. Whatever is not here, because it is
//! too much, was recorded otherwise or by another process, is read from the log.

use std::collections::HashMap;
use std::sync::PoisonError;

use spanvault_env::sync::{Mutex, MutexGuard};
use spanvault_evidence::{Registry, effect_of};
use spanvault_index::postings::Term;
use spanvault_types::{ContentHash, PartBody, Position, SpanContent};

use crate::ask::terms;

/// No more is kept than this, in bytes.
const BYTES_MAX: usize = 8 << 20;
/// What a span takes beside its terms.
const SPAN_BYTES: usize = 96;

/// All that is posted of one span.
#[derive(Debug, Clone)]
pub(crate) struct SpanTerms {
    pub(super) hash: ContentHash,
    pub(super) terms: Box<[Term]>,
    /// Whether a call or result of it has no id.
    pub(super) is_nameless: bool,
}

impl SpanTerms {
    /// Of a span of `session` that says `content`.
    pub(crate) fn of(
        session: Position,
        content: &SpanContent,
        hash: ContentHash,
        registry: &Registry,
    ) -> Self {
        let (mut found, mut is_nameless) = (Vec::new(), false);
        for part in &content.parts {
            let id = match &part.body {
                PartBody::Call(call) => {
                    terms::post_call(call, &effect_of(call, registry), &mut |term| found.push(term));
                    &call.id
                }
                PartBody::Result(outcome) => &outcome.call_id,
                PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) => continue,
            };
            match id {
                Some(id) => found.push(terms::call_id(session, id)),
                None => is_nameless = true,
            }
        }
        Self { hash, terms: found.into_boxed_slice(), is_nameless }
    }

    const fn bytes(&self) -> usize {
        SPAN_BYTES + size_of::<Term>() * self.terms.len()
    }
}

/// The spans that were read and are not posted yet.
#[derive(Debug, Default)]
pub(crate) struct Ahead(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    spans: HashMap<Position, SpanTerms>,
    bytes: usize,
}

impl Ahead {
    /// Adds spans that are in the log, as far as there is room.
    pub(crate) fn add(&self, spans: Vec<(Position, SpanTerms)>) {
        let mut kept = self.kept();
        for (at, span) in spans {
            if kept.bytes + span.bytes() > BYTES_MAX {
                return;
            }
            kept.bytes += span.bytes();
            kept.spans.insert(at, span);
        }
    }

    /// Takes what there is of a span.
    pub(super) fn take(&self, at: Position) -> Option<SpanTerms> {
        let mut kept = self.kept();
        let span = kept.spans.remove(&at)?;
        kept.bytes -= span.bytes();
        if kept.spans.is_empty() {
            kept.spans = HashMap::new();
        }
        Some(span)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a transcript of somebody else's")]

    use super::super::{GO_ON, Poster, build};
    use super::*;
    use crate::{IngestOptions, SpanDraft, Vault};

    const LINES: &str = concat!(
        r#"{"type":"user","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Write it."}}"#,
        "\n",
        r#"{"type":"assistant","sessionId":"s","uuid":"u2","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/etc/app/a.conf","content":"x"}}]}}"#,
        "\n",
        r#"{"type":"progress","sessionId":"s","uuid":"u3","parentUuid":"u2","data":{"type":"hook_progress"}}"#,
        "\n",
        "{\"type\":\"user\", and then nothing\n",
        r#"{"type":"user","sessionId":"s","uuid":"u4","parentUuid":"u2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"written"}]}}"#,
        "\n",
        r#"{"type":"assistant","sessionId":"s","uuid":"u5","parentUuid":"u4","message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{"command":"bash deploy.sh"}}]}}"#,
        "\n",
    );

    #[test]
    fn the_same_is_posted_of_what_was_read_when_it_was_recorded_and_of_what_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("session.jsonl");
        std::fs::write(&file, LINES).unwrap();
        let vault = Vault::open(dir.path().join("vault")).unwrap();
        vault.ingest(&file, &IngestOptions::default(), &mut |_read, _len| {}).unwrap();
        assert_eq!(vault.ahead.kept().spans.len(), 4, "all but the progress and the line that is damaged");
        let poster = Poster::of(&vault);
        let post = || {
            let stretch = build::read(&poster, Position::new(1), 1, &GO_ON).unwrap();
            format!("{:?}", stretch.draft)
        };
        let read_before = post();
        assert_eq!(vault.ahead.kept().spans.len(), 0, "all of it was taken");
        assert_eq!(vault.ahead.kept().bytes, 0, "and its room is free");
        assert_eq!(read_before, post());
    }

    #[test]
    fn the_same_is_posted_of_what_an_agent_recorded_and_of_what_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(dir.path().join("vault")).unwrap();
        let session = vault.session("run").unwrap();
        let call = |n: usize| {
            let args =
                serde_json::json!({"path": format!("/etc/app/{n}.conf"), "n": n, "all": [1, null, "x/y"]});
            SpanDraft::tool_call_with_id(format!("c{n}"), "write_file", args)
        };
        // As many as are read on several threads, and one alone.
        let many = (0..40).flat_map(|n| [call(n), SpanDraft::tool_result(format!("c{n}"), "written")]);
        session.record_all(many.collect()).unwrap();
        session
            .record(SpanDraft::tool_call("bash", serde_json::json!({"command": "bash deploy.sh"})))
            .unwrap();
        session.record(call(0)).unwrap();
        let other = vault.session("other").unwrap();
        other.record(SpanDraft::tool_result("c0", "written")).unwrap();
        assert_eq!(vault.ahead.kept().spans.len(), 83);
        let poster = Poster::of(&vault);
        let post = || format!("{:?}", build::read(&poster, Position::new(1), 1, &GO_ON).unwrap().draft);
        let recorded = post();
        assert_eq!(vault.ahead.kept().spans.len(), 0, "all of it was taken");
        assert_eq!(recorded, post());
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let ahead = Ahead::default();
        let span = |n: usize| {
            let terms = vec![Term::new(1, &[]); 100_000].into_boxed_slice();
            let hash = ContentHash::of(&n.to_le_bytes());
            (Position::new(n as u64 + 1), SpanTerms { hash, terms, is_nameless: false })
        };
        ahead.add((0..20).map(span).collect());
        assert!(ahead.kept().bytes <= BYTES_MAX && ahead.kept().spans.len() == 10);
        assert!(ahead.take(Position::new(1)).is_some() && ahead.take(Position::new(20)).is_none());
    }
}
