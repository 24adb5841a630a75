//! What a record carries beside its words: when it was written, and who it is.

use spanvault_types::{Part, Role, SpanContent, SpanKind};

use crate::blocks::{kind_of, usable_id};
use crate::json::Raw;
use crate::time::timestamp_ms;

/// The time and the identity of a record.
#[derive(Debug, Default)]
pub(crate) struct Stamp {
    pub(crate) timestamp_ms: Option<i64>,
    pub(crate) event_key: Option<String>,
}

impl Stamp {
    /// From the members that hold them.
    pub(crate) fn new(timestamp: Option<Raw<'_>>, key: Option<Raw<'_>>) -> Self {
        Self { timestamp_ms: timestamp.and_then(timestamp_ms), event_key: usable_id(key) }
    }

    /// A record of the talk.
    pub(crate) fn says(self, role: Role, parts: Vec<Part>) -> SpanContent {
        let Self { timestamp_ms, event_key } = self;
        SpanContent { role, kind: kind_of(&parts), timestamp_ms, event_key, parts }
    }

    /// A record that is no part of the talk.
    pub(crate) fn meta(self) -> SpanContent {
        let Self { timestamp_ms, event_key } = self;
        SpanContent { role: Role::System, kind: SpanKind::Meta, timestamp_ms, event_key, parts: Vec::new() }
    }
}
