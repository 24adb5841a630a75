//! Reads one line of a Kimi wire log.

use spanvault_types::{Outcome, Part, PartBody, Role, SpanContent};

use crate::blocks::{call, literal_part, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::stamp::Stamp;

/// How the last line begins of what a command said that failed.
const EXITED: &str = "Command failed with exit code: ";

pub(super) fn read(line: Raw<'_>) -> SpanContent {
    let [kind, time, created, message, event, summary] =
        line.fields(["type", "time", "created_at", "message", "event", "summary"]);
    let stamp = Stamp::new(time.or(created), None);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    match (kind.as_ref(), message, event, summary.filter(Raw::is_string)) {
        ("context.append_message", Some(message), _, _) => {
            let (role, parts) = spoken(message);
            stamp.says(role, parts)
        }
        ("context.append_loop_event", _, Some(event), _) => of_loop(event, stamp),
        ("context.apply_compaction", _, _, Some(summary)) => {
            stamp.says(Role::System, vec![literal_part(summary, PartBody::Summary)])
        }
        _ => stamp.meta(),
    }
}

fn spoken(message: Raw<'_>) -> (Role, Vec<Part>) {
    let [role, content, calls, origin, call_id] =
        message.fields(["role", "content", "toolCalls", "origin", "toolCallId"]);
    let role = role.and_then(|role| role.string()).unwrap_or_default();
    // What the program puts into the user's mouth has an origin of another kind.
    let typed = origin.and_then(|origin| origin.text_field("kind")).is_none_or(|kind| kind == "user");
    match role.as_ref() {
        "tool" => (Role::Tool, vec![result_part(message, content, outcome(usable_id(call_id)))]),
        "assistant" => {
            let mut parts = said(content);
            for entry in calls.into_iter().flat_map(Raw::elements).filter(Raw::is_object) {
                let [id, name, args, arguments] = entry.fields(["id", "name", "args", "arguments"]);
                parts.push(value_part(entry, call(id, name, args.or(arguments))));
            }
            (Role::Assistant, parts)
        }
        "user" if typed => (Role::User, said(content)),
        _ => (Role::System, said(content)),
    }
}

/// What the agent did in one step of its loop.
fn of_loop(event: Raw<'_>, mut stamp: Stamp) -> SpanContent {
    let [kind, uuid, part, id, name, args, result] =
        event.fields(["type", "uuid", "part", "toolCallId", "name", "args", "result"]);
    match (kind.and_then(|kind| kind.string()).as_deref(), part, result) {
        (Some("content.part"), Some(part), _) => {
            stamp.event_key = usable_id(uuid);
            let thought = part.field("think").filter(Raw::is_string);
            let parts = match thought {
                Some(thought) => vec![literal_part(thought, PartBody::Thinking)],
                None => vec![crate::blocks::block_part(part)],
            };
            stamp.says(Role::Assistant, parts)
        }
        (Some("tool.call"), _, _) => {
            stamp.event_key = usable_id(uuid);
            stamp.says(Role::Assistant, vec![value_part(event, call(id.or(uuid), name, args))])
        }
        (Some("tool.result"), _, Some(result)) => {
            let [output, is_error] = result.fields(["output", "isError"]);
            // The flag is left out where there was no error.
            let is_error = is_error.is_some_and(|flag| flag.is_true());
            let answer = Outcome { is_error: Some(is_error), ..outcome(usable_id(id)) };
            let mut part = result_part(result, output, answer);
            if let PartBody::Result(outcome) = &mut part.body
                && is_error
            {
                outcome.exit_code = exit_code(&outcome.text);
            }
            stamp.says(Role::Tool, vec![part])
        }
        _ => stamp.meta(),
    }
}

fn exit_code(text: &str) -> Option<i64> {
    text.trim_end().rsplit('\n').next()?.strip_prefix(EXITED)?.trim_end_matches('.').parse().ok()
}
