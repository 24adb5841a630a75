//! What of a conversation was recorded already.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use spanvault_types::{PartBody, Role, SpanContent};

/// Of as many conversations it is tried which one a request goes on with.
const STARTS_MAX: usize = 256;

/// The parts of the conversations so far, as far as they must be known again.
#[derive(Default)]
pub(super) struct History {
    parts: Vec<Mark>,
    /// How far the current request has repeated them.
    at: usize,
    /// Where in them conversations began.
    starts: Vec<usize>,
    /// A hash of everything that was said beforehand, which stands in no order.
    beforehand: HashSet<u64>,
}

/// By what a part is known again: hashes of its id, if it has one, and of what it says.
///
/// Either is enough. Programs write the same arguments and results in other ways, and give ids to calls that
/// had none.
#[derive(Debug, Clone, Copy)]
struct Mark {
    id: Option<u64>,
    said: u64,
}

impl Mark {
    fn of(role: Role, body: &PartBody) -> Self {
        let (id, said) = match body {
            PartBody::Text(text) => (None, hash_of(&(0, role, text.trim()))),
            PartBody::Thinking(text) => (None, hash_of(&(1, text.trim()))),
            PartBody::Summary(text) => (None, hash_of(&(2, text.trim()))),
            PartBody::Call(call) => (call.id.as_deref(), hash_of(&(3, &call.tool, call.args.to_string()))),
            PartBody::Result(outcome) => (outcome.call_id.as_deref(), hash_of(&(4, outcome.text.trim()))),
        };
        let is_call = matches!(body, PartBody::Call(_));
        Self { id: id.map(|id| hash_of(&(is_call, id))), said }
    }

    fn is_same(self, other: Self) -> bool {
        self.said == other.said || (self.id.is_some() && self.id == other.id)
    }
}

impl History {
    /// A request begins: a conversation with this first message, or one that goes on.
    pub(super) fn begin(&mut self, first: Option<&SpanContent>, goes_on: bool) {
        if !goes_on {
            self.at = self.parts.len();
            self.starts.push(self.at);
            return;
        }
        let first = first.and_then(|content| Some(Mark::of(content.role, &content.parts.first()?.body)));
        let begins_so = |start: &&usize| {
            let known = self.parts.get(**start);
            first.zip(known).is_some_and(|(first, known)| first.is_same(*known))
        };
        self.at = self.starts.iter().rev().take(STARTS_MAX).find(begins_so).copied().unwrap_or_default();
    }

    /// Adds what is new whatever it says.
    pub(super) fn add(&mut self, content: &SpanContent) {
        self.parts.extend(content.parts.iter().map(|part| Mark::of(content.role, &part.body)));
        self.at = self.parts.len();
    }

    /// Whether something that is said beforehand was said so before.
    pub(super) fn repeats_beforehand(&mut self, content: &SpanContent) -> bool {
        let mut known = !content.parts.is_empty();
        for part in &content.parts {
            known &= !self.beforehand.insert(Mark::of(content.role, &part.body).said);
        }
        known
    }

    /// Whether `content` only repeats what comes next in the conversation; if not, it is added at its end.
    ///
    /// Thinking may be left out when a conversation is repeated, so it is looked for only where there is
    /// nothing else.
    pub(super) fn repeats(&mut self, content: &SpanContent) -> bool {
        let bodies = || content.parts.iter().map(|part| &part.body);
        let is_thinking = |body: &&PartBody| matches!(body, PartBody::Thinking(_));
        let only_thinking = bodies().all(|body| is_thinking(&body));
        let mut at = self.at;
        let found = bodies().filter(|body| only_thinking || !is_thinking(body)).all(|body| {
            let mark = Mark::of(content.role, body);
            let next = self.parts.get(at..).unwrap_or_default().iter().position(|known| known.is_same(mark));
            at += next.map_or(0, |next| next + 1);
            next.is_some()
        });
        if found && !content.parts.is_empty() {
            self.at = at;
            return true;
        }
        self.add(content);
        false
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
