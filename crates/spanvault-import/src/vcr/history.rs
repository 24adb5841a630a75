//! What of a conversation was recorded already.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use spanvault_types::{PartBody, Role, SpanContent};

/// The parts of the conversation so far, as far as they must be known again.
#[derive(Default)]
pub(super) struct History {
    /// A hash of each part, in order.
    parts: Vec<u64>,
    /// How far the current request has repeated them.
    at: usize,
    /// A hash of everything that was said beforehand, which stands in no order.
    beforehand: HashSet<u64>,
}

impl History {
    /// A request begins, which repeats the conversation from its start, or goes on after its end.
    pub(super) fn begin(&mut self, repeats: bool) {
        self.at = if repeats { 0 } else { self.parts.len() };
    }

    /// Whether something that is said beforehand was said so before.
    pub(super) fn repeats_beforehand(&mut self, content: &SpanContent) -> bool {
        let mut known = !content.parts.is_empty();
        for part in &content.parts {
            known &= !self.beforehand.insert(hash_of(content.role, &part.body));
        }
        known
    }

    /// Whether `content` only repeats what comes next in the conversation; if not, it is added at its end.
    ///
    /// Thinking may be left out when a conversation is repeated, so it is looked for only where there is
    /// nothing else.
    pub(super) fn repeats(&mut self, content: &SpanContent) -> bool {
        let hashes = |with_thinking: bool| -> Vec<u64> {
            let parts = content.parts.iter().map(|part| &part.body);
            parts
                .filter(|body| with_thinking || !matches!(body, PartBody::Thinking(_)))
                .map(|body| hash_of(content.role, body))
                .collect()
        };
        let said = hashes(false);
        let wanted = if said.is_empty() { hashes(true) } else { said };
        let mut at = self.at;
        let found = wanted.iter().all(|hash| {
            let next = self.parts.get(at..).unwrap_or_default().iter().position(|part| part == hash);
            at += next.map_or(0, |next| next + 1);
            next.is_some()
        });
        if found && !wanted.is_empty() {
            self.at = at;
            return true;
        }
        self.parts.extend(hashes(true));
        self.at = self.parts.len();
        false
    }
}

/// What is the same in a part however often it is sent: not its id.
fn hash_of(role: Role, body: &PartBody) -> u64 {
    let mut hasher = DefaultHasher::new();
    match body {
        PartBody::Text(text) => (0, role, text.trim()).hash(&mut hasher),
        PartBody::Thinking(text) => (1, text.trim()).hash(&mut hasher),
        PartBody::Summary(text) => (2, text.trim()).hash(&mut hasher),
        PartBody::Call(call) => (3, &call.tool, call.args.to_string()).hash(&mut hasher),
        PartBody::Result(outcome) => (4, outcome.text.trim()).hash(&mut hasher),
    }
    hasher.finish()
}
