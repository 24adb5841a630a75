//! tau-bench few-shot examples: one whole conversation a line, as text for a prompt.
//!
//! The text (`user: …`, `assistant: None`, `tool: …`) cannot be read back without guessing, so a line is one
//! span that says what it says.

use spanvault_types::{PartBody, Role, SpanContent, SpanKind};

use crate::blocks::literal_part;
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// The text of a conversation in each line.
pub(crate) struct TauFewShot;

const TEXT: &str = "messages_display";

impl ObjectFormat for TauFewShot {
    const NAME: &'static str = "tau_few_shot";
    const LAYOUT: Layout = Layout::Lines;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        if head.first_value().and_then(|line| line.get(TEXT)).is_some_and(serde_json::Value::is_string) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(line: Raw<'_>) -> Reading {
        let text = line.field(TEXT).filter(Raw::is_string);
        let kind = if text.is_some() { SpanKind::Message } else { SpanKind::Meta };
        let parts = text.into_iter().map(|text| literal_part(text, PartBody::Text)).collect();
        let content = SpanContent { role: Role::System, kind, timestamp_ms: None, event_key: None, parts };
        Reading { content, session: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{joined, only_claimed_by, pieces, spans};

    #[test]
    fn a_conversation_that_is_only_text_is_one_span_a_line() {
        let file = "{\"messages_display\": \"user: hi\\nassistant: None\\ntool: 7\"}\n{\"messages_display\": \"user: bye\"}\n{\"note\": 1}\n";
        only_claimed_by("tau_few_shot", file);
        let pieces = pieces(&TauFewShot, file.as_bytes());
        assert_eq!(joined(&pieces), file.as_bytes());
        let kinds: Vec<_> = spans(&pieces).iter().map(|record| (record.index, record.content.kind)).collect();
        assert_eq!(kinds, [(0, SpanKind::Message), (1, SpanKind::Message), (2, SpanKind::Meta)]);
        let PartBody::Text(text) = &spans(&pieces)[0].content.parts[0].body else { panic!() };
        assert_eq!(text, "user: hi\nassistant: None\ntool: 7");
    }
}
