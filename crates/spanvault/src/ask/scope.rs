//! Which spans a question is about.

use std::sync::Arc;

use jiff::Timestamp;
use spanvault_types::Role;

use super::error::QueryError;
use super::originals::{AskSpan, Transcript};
use super::query::Scope;

/// A [`Scope`] ready to run. The session is resolved apart, because that takes a look-up.
#[derive(Debug)]
pub(super) struct ScopeFilter {
    pub(super) source: Option<String>,
    pub(super) record: Option<String>,
    before_index: Option<i64>,
    after_index: Option<i64>,
    before_time: Option<Timestamp>,
    after_time: Option<Timestamp>,
    role: Option<Role>,
}

/// How a span stands to a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is in scope.
    In,
    /// It is not.
    Out,
    /// The scope is a stretch of time, and the span has no time.
    Untimed,
}

impl ScopeFilter {
    pub(super) fn new(scope: &Scope) -> Result<Self, QueryError> {
        for (field, value) in [("in.session", &scope.session), ("in.source", &scope.source)] {
            if value.as_deref() == Some("") {
                return Err(QueryError::field(field, "is empty"));
            }
        }
        Ok(Self {
            source: scope.source.clone(),
            record: scope.record.clone(),
            before_index: scope.before_index,
            after_index: scope.after_index,
            before_time: instant("in.before_time", scope.before_time.as_deref())?,
            after_time: instant("in.after_time", scope.after_time.as_deref())?,
            role: scope.role,
        })
    }

    /// Whether spans of `transcript` can be in scope.
    pub(super) fn takes(&self, transcript: &Transcript, session: Option<&Arc<str>>) -> bool {
        self.source.as_deref().is_none_or(|wanted| is_path_suffix(&transcript.source, wanted))
            && self.record.as_deref().is_none_or(|wanted| *wanted == *transcript.record)
            && session.is_none_or(|wanted| transcript.spans.iter().any(|span| span.session == *wanted))
    }

    /// How a span of a transcript that is taken stands to the scope.
    ///
    /// Of bytes that were never parsed nobody knows who speaks in them, so a wanted role does not exclude them.
    pub(super) fn standing(&self, span: &AskSpan, session: Option<&Arc<str>>) -> Standing {
        let parsed = span.kind.was_parsed();
        let index = i64::try_from(span.index).unwrap_or(i64::MAX);
        let in_place = session.is_none_or(|wanted| span.session == *wanted)
            && self.before_index.is_none_or(|before| index < before)
            && self.after_index.is_none_or(|after| index > after)
            && self.role.is_none_or(|role| role == span.role || !parsed);
        if !in_place {
            return Standing::Out;
        }
        if self.before_time.is_none() && self.after_time.is_none() {
            return Standing::In;
        }
        let Some(nanoseconds) = span.timestamp_ms.map(|ms| i128::from(ms) * 1_000_000) else {
            return Standing::Untimed;
        };
        let in_time = self.before_time.is_none_or(|before| nanoseconds < before.as_nanosecond())
            && self.after_time.is_none_or(|after| nanoseconds > after.as_nanosecond());
        if in_time { Standing::In } else { Standing::Out }
    }
}

fn instant(field: &str, text: Option<&str>) -> Result<Option<Timestamp>, QueryError> {
    text.map(|text| text.parse().map_err(|error: jiff::Error| QueryError::field(field, error.to_string())))
        .transpose()
}

/// Whether `wanted` is `path` or the end of it in whole components.
pub(super) fn is_path_suffix(path: &str, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches("./");
    path == wanted
        || path.strip_suffix(wanted).is_some_and(|head| !wanted.is_empty() && head.ends_with(['/', '\\']))
}
