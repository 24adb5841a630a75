//! The class of spans as they stream in, a batch at a time.

use std::collections::HashMap;

use spanvault_evidence::{Registry, class_of_call, classes, effect_of, pair};
use spanvault_types::{Call, EvidentialClass, PartBody, SpanContent};

/// Remembers the calls whose result has not come yet, by session and id.
#[derive(Debug, Default)]
pub(crate) struct ClassStreams {
    unanswered: HashMap<(String, String), Unanswered>,
}

/// What gives the result of a call its class.
#[derive(Debug)]
enum Unanswered {
    Class(EvidentialClass),
    /// The class was not needed so far.
    Call(Box<Call>),
}

impl ClassStreams {
    /// Takes note of an item that has its class already: what comes after it may answer its calls.
    pub(crate) fn pass(&mut self, session: &str, content: &SpanContent) {
        for part in &content.parts {
            match &part.body {
                PartBody::Call(call) => {
                    if let Some(id) = &call.id {
                        let call = Unanswered::Call(Box::new(call.clone()));
                        self.unanswered.insert((session.to_owned(), id.clone()), call);
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
                    *slot = match call {
                        Unanswered::Class(class) => class,
                        Unanswered::Call(call) => class_of_call(&effect_of(&call, registry)),
                    };
                }
            }
        }
        for call in calls.iter().filter(|call| call.result.is_none()) {
            let body = contents.get(call.call.span).and_then(|content| content.parts.get(call.call.part));
            if let Some(PartBody::Call(Call { id: Some(id), .. })) = body.map(|part| &part.body) {
                let class = Unanswered::Class(class_of_call(&call.effect));
                self.unanswered.insert((session.to_owned(), id.clone()), class);
            }
        }
        found
    }
}
