//! Who&When: logs of several agents that talk to each other (`AutoGen`, Magentic-One), judged for who went wrong.
//!
//! There are no calls, ids or times. Who speaks is a name. What a program printed is the turn of a terminal: words
//! of a tool, and no result, because nothing says which words it answers.

#[cfg(test)]
mod tests;

use serde_json::Value;
use spanvault_types::{Part, PartBody, Role, SpanContent, SpanKind};

use crate::blocks::{kind_of, literal_part};
use crate::document::Step;
use crate::json::Raw;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// One log and its judgement.
pub(crate) struct WhoWhen;

/// How the turn of a terminal begins that ran something.
const RAN: &str = "exitcode: ";
/// How the task begins that the agents are given.
const TASK: &str = "You are given: (1) a task";

impl ObjectFormat for WhoWhen {
    const NAME: &'static str = "who_when";
    const LAYOUT: Layout = Layout::Document(&[&[Step::Member("history"), Step::Each]]);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(log) = head.document() else { return Confidence::No };
        let Some(Value::Array(history)) = log.get("history") else {
            // The judgement may come first.
            let judged =
                ["is_correct", "question_ID", "ground_truth"].iter().all(|mark| log.get(mark).is_some());
            return if judged { Confidence::Likely } else { Confidence::No };
        };
        let marks = ["mistake_agent", "mistake_step", "is_corrected", "ground_truth"];
        let by_name = |turn: &Value| {
            let role = turn.get("role").and_then(Value::as_str).unwrap_or_default();
            role.starts_with("Orchestrator (") && turn.get("content").is_some()
        };
        let turns = history.iter().any(|turn| turn.get("content").is_some() && turn.get("role").is_some());
        if turns && marks.iter().any(|mark| log.get(mark).is_some()) {
            Confidence::Certain
        } else if history.iter().any(by_name) {
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(turn: Raw<'_>) -> Reading {
        Reading { content: read_turn(turn), session: None }
    }
}

fn read_turn(turn: Raw<'_>) -> SpanContent {
    let [content, role, name] = turn.fields(["content", "role", "name"]);
    let content = content.filter(Raw::is_string);
    let speaker = name.or(role).and_then(|speaker| speaker.string()).unwrap_or_default();
    let text = content.and_then(|content| content.string()).unwrap_or_default();
    let (role, part): (Role, fn(String) -> PartBody) = match speaker.as_ref() {
        "Computer_terminal" | "ComputerTerminal" if text.starts_with(RAN) => (Role::Tool, PartBody::Text),
        // It says that there was nothing to run.
        "Computer_terminal" | "ComputerTerminal" => (Role::System, PartBody::Text),
        "human" | "user" | "user_proxy" => (Role::User, PartBody::Text),
        _ if text.starts_with(TASK) => (Role::User, PartBody::Text),
        speaker if speaker.ends_with("(thought)") => (Role::Assistant, PartBody::Thinking),
        speaker if speaker.ends_with("(termination condition)") => (Role::System, PartBody::Text),
        _ => (Role::Assistant, PartBody::Text),
    };
    let parts: Vec<Part> = content.into_iter().map(|content| literal_part(content, part)).collect();
    let kind = if content.is_none() { SpanKind::Meta } else { kind_of(&parts) };
    SpanContent { role, kind, timestamp_ms: None, event_key: None, parts }
}
