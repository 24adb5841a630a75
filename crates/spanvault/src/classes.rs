//! The class of spans as they stream in, a batch at a time.

use std::collections::HashMap;

use spanvault_evidence::{Registry, class_of_call, classes, effect_of, pair};
use spanvault_types::{Call, EvidentialClass, PartBody, SpanContent};

/// How many calls without a result are remembered. Beyond it all are forgotten: a result of theirs is read as one whose
/// call is not in the record, by the tool that it names, and as side-effecting where it names none.
const WAITING_MAX: usize = 1 << 16;
/// After how many calls that were kept whole those that still wait are kept by their class alone.
const WHOLE_MAX: usize = 1 << 12;

/// Remembers the calls whose result has not come yet, by session and id.
#[derive(Debug, Default)]
pub(crate) struct ClassStreams {
    unanswered: HashMap<(String, String), Unanswered>,
    /// How many were kept whole since all of them were read.
    whole: usize,
}

/// What gives the result of a call its class.
#[derive(Debug)]
enum Unanswered {
    Class(EvidentialClass),
    /// The class was not needed so far.
    Call(Box<Call>),
}

impl Unanswered {
    fn class(&self, registry: &Registry) -> EvidentialClass {
        match self {
            Self::Class(class) => *class,
            Self::Call(call) => class_of_call(&effect_of(call, registry)),
        }
    }
}

impl ClassStreams {
    /// Takes note of an item that has its class already: what comes after it may answer its calls.
    pub(crate) fn pass(&mut self, session: &str, content: &SpanContent, registry: &Registry) {
        for part in &content.parts {
            match &part.body {
                PartBody::Call(call) => {
                    if let Some(id) = &call.id {
                        self.read_waiting(registry);
                        self.wait(session, id, Unanswered::Call(Box::new(call.clone())));
                    }
                }
                PartBody::Result(outcome) => {
                    if let Some(id) = &outcome.call_id {
                        self.unanswered.remove(&(session.to_owned(), id.clone()));
                    }
                }
                PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) => {}
            }
        }
    }

    /// The class of each item, in order; items without a session have none of their own and get the strictest.
    ///
    /// A result has the class of its call, also where the call came in an earlier batch.
    pub(crate) fn classify<'a>(
        &mut self,
        items: impl Iterator<Item = Option<(&'a str, &'a SpanContent)>>,
        registry: &Registry,
    ) -> Vec<EvidentialClass> {
        let items: Vec<_> = items.collect();
        let mut by_session: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            if let Some((session, _content)) = item {
                by_session.entry(session).or_default().push(at);
            }
        }
        let mut found = vec![EvidentialClass::SideEffecting; items.len()];
        let mut sessions: Vec<_> = by_session.into_iter().collect();
        sessions.sort_unstable();
        for (session, members) in sessions {
            let contents: Vec<&SpanContent> = members
                .iter()
                .filter_map(|at| items.get(*at).copied().flatten())
                .map(|(_name, c)| c)
                .collect();
            for (at, class) in members.iter().zip(self.of_session(session, &contents, registry)) {
                if let Some(slot) = found.get_mut(*at) {
                    *slot = class;
                }
            }
        }
        found
    }

    fn of_session(
        &mut self,
        session: &str,
        contents: &[&SpanContent],
        registry: &Registry,
    ) -> Vec<EvidentialClass> {
        let calls = pair(contents, registry);
        let mut found = classes(contents, &calls, registry);
        let answered: std::collections::HashSet<_> = calls.iter().filter_map(|call| call.result).collect();
        for (span, content) in contents.iter().enumerate() {
            for (part, body) in content.parts.iter().map(|part| &part.body).enumerate() {
                let at = spanvault_evidence::At { span, part };
                let PartBody::Result(outcome) = body else { continue };
                let Some(id) = outcome.call_id.clone().filter(|_id| !answered.contains(&at)) else {
                    continue;
                };
                if let (Some(call), Some(slot)) =
                    (self.unanswered.remove(&(session.to_owned(), id)), found.get_mut(span))
                {
                    *slot = call.class(registry);
                }
            }
        }
        for call in calls.iter().filter(|call| call.result.is_none()) {
            let body = contents.get(call.call.span).and_then(|content| content.parts.get(call.call.part));
            if let Some(PartBody::Call(Call { id: Some(id), .. })) = body.map(|part| &part.body) {
                self.wait(session, id, Unanswered::Class(class_of_call(&call.effect)));
            }
        }
        found
    }

    fn wait(&mut self, session: &str, id: &str, call: Unanswered) {
        if self.unanswered.len() >= WAITING_MAX {
            self.unanswered.clear();
        }
        self.unanswered.insert((session.to_owned(), id.to_owned()), call);
    }

    /// Lets the arguments of calls go that were kept whole and still wait, once there may be many.
    fn read_waiting(&mut self, registry: &Registry) {
        self.whole += 1;
        if self.whole > WHOLE_MAX {
            let read = |call: &mut Unanswered| *call = Unanswered::Class(call.class(registry));
            self.unanswered.values_mut().for_each(read);
            self.whole = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use spanvault_types::{ByteRange, Encoding, Outcome, Part, Role, SpanKind};

    fn span(role: Role, kind: SpanKind, body: PartBody) -> SpanContent {
        let range = ByteRange { start: 0, end: 0 };
        let parts = vec![Part { range, encoding: Encoding::JsonValue, body }];
        SpanContent { role, kind, timestamp_ms: None, event_key: None, parts }
    }

    fn read(id: usize) -> SpanContent {
        let args = json!({"file_path": "/srv/a.rs"});
        let call = Call { id: Some(format!("c{id}")), tool: "Read".to_owned(), args };
        span(Role::Assistant, SpanKind::ToolCall, PartBody::Call(call))
    }

    /// The class of the result of the call with this id, which does not say which tool gave it.
    fn class_of_result(streams: &mut ClassStreams, id: usize) -> EvidentialClass {
        let text = "fn main() {}".to_owned();
        let call_id = Some(format!("c{id}"));
        let outcome = Outcome { call_id, tool: None, text, is_error: None, exit_code: None, executed: None };
        let result = span(Role::Tool, SpanKind::ToolResult, PartBody::Result(outcome));
        streams.classify(std::iter::once(Some(("s", &result))), Registry::built_in())[0]
    }

    #[test]
    fn a_result_has_the_class_of_its_call_however_many_calls_were_passed_since() {
        let mut streams = ClassStreams::default();
        for id in 0..3 * WHOLE_MAX {
            streams.pass("s", &read(id), Registry::built_in());
        }
        let whole = streams.unanswered.values().filter(|call| matches!(call, Unanswered::Call(_))).count();
        assert!(whole <= WHOLE_MAX, "the arguments of {whole} calls are in memory");
        for id in [0, 1, WHOLE_MAX, 3 * WHOLE_MAX - 1] {
            assert_eq!(class_of_result(&mut streams, id), EvidentialClass::Structured);
        }
    }

    #[test]
    fn calls_that_nothing_answers_do_not_fill_the_memory_and_a_late_result_is_read_strictly() {
        let mut streams = ClassStreams::default();
        for id in 0..WAITING_MAX + 2 {
            streams.pass("s", &read(id), Registry::built_in());
            assert!(streams.unanswered.len() <= WAITING_MAX);
        }
        assert_eq!(class_of_result(&mut streams, 0), EvidentialClass::SideEffecting);
        assert_eq!(class_of_result(&mut streams, WAITING_MAX + 1), EvidentialClass::Structured);
    }
}
