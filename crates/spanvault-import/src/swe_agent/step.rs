//! Reads one step of a trajectory, or one message of a history.

use serde_json::{Map, Value};
use spanvault_types::{Call, Part, PartBody, Role, SpanContent};

use crate::blocks::{literal_part, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;

/// What carries the commands out: the one tool of this agent, which takes a line of its own shell.
const TOOL: &str = "action";

pub(super) fn read(element: Raw<'_>) -> Reading {
    let content = match element.text_field("role") {
        Some(role) => message(element, &role),
        None => step(element),
    };
    Reading { content, session: None }
}

fn step(step: Raw<'_>) -> SpanContent {
    let [action, observation, thought, response] =
        step.fields(["action", "observation", "thought", "response"]);
    let Some(action) = action.filter(Raw::is_string) else { return Stamp::default().meta() };
    let mut parts: Vec<Part> = spoken(thought).or_else(|| spoken(response)).into_iter().collect();
    // An answer in which no command was found leaves an empty one: nothing was run, what came is a complaint.
    if says_something(action) {
        parts.push(call(action, None));
    }
    if let Some(observation) = observation.filter(Raw::is_string) {
        parts.push(if says_something(action) {
            result_part(step, Some(observation), outcome(None))
        } else {
            literal_part(observation, PartBody::Text)
        });
    }
    Stamp::default().says(Role::Assistant, parts)
}

/// A message of the prompt. Demonstrations show how others worked: what they ran was not run here.
fn message(message: Raw<'_>, role: &str) -> SpanContent {
    let [content, kind, is_demo, thought, action, ids, calls] = message.fields([
        "content",
        "message_type",
        "is_demo",
        "thought",
        "action",
        "tool_call_ids",
        "tool_calls",
    ]);
    let stamp = Stamp::default();
    if is_demo.is_some_and(|flag| flag.is_true()) {
        return stamp.says(Role::System, said(content));
    }
    let is_observation = kind.and_then(|kind| kind.string()).as_deref() == Some("observation");
    match role {
        "assistant" => {
            let mut parts = match spoken(thought) {
                Some(part) => vec![part],
                None => said(content),
            };
            let call_id = first(calls).and_then(|call| call.field("id"));
            parts.extend(
                action
                    .filter(|action| action.is_string() && says_something(*action))
                    .map(|action| call(action, usable_id(call_id))),
            );
            stamp.says(Role::Assistant, parts)
        }
        "tool" | "user" if is_observation || role == "tool" => {
            let answer = outcome(usable_id(first(ids)));
            stamp.says(Role::Tool, vec![result_part(message, content, answer)])
        }
        "user" => stamp.says(Role::User, said(content)),
        _ => stamp.says(Role::System, said(content)),
    }
}

fn first(list: Option<Raw<'_>>) -> Option<Raw<'_>> {
    list?.elements().next()
}

fn says_something(literal: Raw<'_>) -> bool {
    literal.string().is_some_and(|text| !text.trim().is_empty())
}

fn spoken(words: Option<Raw<'_>>) -> Option<Part> {
    let words = words.filter(|words| words.is_string() && says_something(*words))?;
    Some(literal_part(words, PartBody::Text))
}

fn call(action: Raw<'_>, id: Option<String>) -> Part {
    let command = action.string().unwrap_or_default().into_owned();
    let args = Value::Object(Map::from_iter([("action".to_owned(), Value::String(command))]));
    value_part(action, PartBody::Call(Call { id, tool: TOOL.to_owned(), args }))
}
