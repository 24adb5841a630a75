//! Reads one event of OpenHands.

use serde_json::Value;
use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use crate::Kept;
use crate::blocks::{is_words, literal_part, outcome, result_part, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;
use crate::time::local_timestamp_ms;

/// Actions and observations of the runtime, which are no part of the talk.
const OF_THE_RUNTIME: [&str; 6] =
    ["null", "change_agent_state", "agent_state_changed", "recall", "pause", "resume"];
/// What an old action says beside the arguments of its tool.
const NO_ARGUMENTS: [&str; 6] =
    ["action", "thought", "is_confirmed", "confirmation_state", "action_risk", "keep_prompt"];

pub(super) fn read(event: Raw<'_>) -> Reading {
    let content = if event.is_array() { pair(event) } else { one(event) };
    Reading { content, session: None }
}

/// An action and what came of it, in one list: one span of both.
fn pair(events: Raw<'_>) -> SpanContent {
    let mut stamp = Stamp::default();
    let mut role = None;
    let mut parts = Vec::new();
    for content in events.elements().filter(Raw::is_object).map(one) {
        stamp.timestamp_ms = stamp.timestamp_ms.or(content.timestamp_ms);
        stamp.event_key = stamp.event_key.or(content.event_key);
        role = role.or((content.kind != SpanKind::Meta).then_some(content.role));
        parts.extend(content.parts);
    }
    match role {
        Some(role) => stamp.says(role, parts),
        None => stamp.meta(),
    }
}

fn one(event: Raw<'_>) -> SpanContent {
    let [id, timestamp, action, observation] = event.fields(["id", "timestamp", "action", "observation"]);
    let stamp =
        Stamp { timestamp_ms: timestamp.and_then(local_timestamp_ms), event_key: id.and_then(number_id) };
    let named = |kind: Option<Raw<'_>>| kind.and_then(|kind| kind.string()).map(std::borrow::Cow::into_owned);
    match (named(action), named(observation)) {
        (Some(kind), _) => act(event, &kind, stamp),
        (None, Some(kind)) => observe(event, &kind, stamp),
        (None, None) => stamp.meta(),
    }
}

/// The number that names an event, as text.
fn number_id(id: Raw<'_>) -> Option<String> {
    id.integer().map(|id| id.to_string())
}

fn words(words: Option<Raw<'_>>) -> Option<Part> {
    let words = words.filter(is_words)?;
    Some(literal_part(words, PartBody::Text))
}

fn act(event: Raw<'_>, kind: &str, stamp: Stamp) -> SpanContent {
    if OF_THE_RUNTIME.contains(&kind) {
        return stamp.meta();
    }
    let [args, source, message] = event.fields(["args", "source", "message"]);
    let fields = args.filter(Raw::is_object).unwrap_or(event);
    let [content, thought, final_thought, waits] =
        fields.fields(["content", "thought", "final_thought", "wait_for_response"]);
    let source = source.and_then(|source| source.string());
    match kind {
        "message" => {
            let role = match source.as_deref() {
                Some("user") => Role::User,
                Some("agent") => Role::Assistant,
                Some(_) => Role::System,
                // Old events do not say who speaks; the agent waits for what the user says to it.
                None if waits.is_some_and(|flag| flag.is_true()) => Role::Assistant,
                None => Role::User,
            };
            stamp.says(role, words(content).or_else(|| words(message)).into_iter().collect())
        }
        // What the runtime puts in the place of events that it takes out of the context; without words it only takes out.
        "condensation" | "condensation_request" => match fields.field("summary").filter(is_words) {
            Some(summary) => stamp.says(Role::System, vec![literal_part(summary, PartBody::Summary)]),
            None => stamp.meta(),
        },
        "system" => stamp.says(Role::System, words(content).into_iter().collect()),
        _ => {
            // Beside the last call, which ends the work, stand the agent's last words.
            let is_last = matches!(kind, "finish" | "reject");
            let body = if is_last { PartBody::Text } else { PartBody::Thinking };
            let thought = thought.filter(is_words).map(|thought| literal_part(thought, body));
            let mut parts: Vec<Part> = thought.into_iter().chain(words(final_thought)).collect();
            let arguments = if args.is_some() { fields.value() } else { inline_arguments(event) };
            let call = Call { id: stamp.event_key.clone(), tool: kind.to_owned(), args: arguments };
            parts.push(value_part(fields, PartBody::Call(call)));
            let role = if source.as_deref() == Some("user") { Role::User } else { Role::Assistant };
            stamp.says(role, parts)
        }
    }
}

/// Which events a condensation kept: those after the last one that it took out.
pub(super) fn kept(event: Raw<'_>) -> Kept {
    let Some(args) = event.field("args") else { return Kept::Nothing };
    let [last, all] = args.fields(["forgotten_events_end_id", "forgotten_event_ids"]);
    let listed = all.into_iter().flat_map(Raw::elements).filter_map(|id| id.integer()).max();
    let next = last.and_then(|last| last.integer()).or(listed).and_then(|last| last.checked_add(1));
    next.map_or(Kept::Nothing, |next| Kept::FromEvent(next.to_string()))
}

fn inline_arguments(event: Raw<'_>) -> Value {
    let arguments = event.members().filter(|(name, _)| !NO_ARGUMENTS.contains(&name.as_ref()));
    Value::Object(arguments.map(|(name, value)| (name.into_owned(), value.value())).collect())
}

fn observe(event: Raw<'_>, kind: &str, stamp: Stamp) -> SpanContent {
    if OF_THE_RUNTIME.contains(&kind) {
        return stamp.meta();
    }
    let [id, cause, content, success, extras, inline_code] =
        event.fields(["id", "cause", "content", "success", "extras", "exit_code"]);
    let cause = cause.and_then(number_id);
    if id.is_some() && cause.is_none() {
        // Nothing was called: the runtime speaks, for example of an error of its own.
        return stamp.says(Role::System, words(content).into_iter().collect());
    }
    let [extra_code, metadata] = extras.map_or([None; 2], |extras| extras.fields(["exit_code", "metadata"]));
    let code = metadata.and_then(|metadata| metadata.field("exit_code")).or(extra_code).or(inline_code);
    let exit_code = code.and_then(|code| code.integer());
    let rejected = kind == "user_rejected";
    let failed = rejected
        || kind == "error"
        || (exit_code.is_none() && success.and_then(|success| success.boolean()) == Some(false));
    let answer = Outcome {
        is_error: failed.then_some(true),
        exit_code,
        executed: rejected.then_some(false),
        ..outcome(cause)
    };
    stamp.says(Role::Tool, vec![result_part(event, content, answer)])
}
