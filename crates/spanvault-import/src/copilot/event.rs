//! Reads one event of a Copilot session.

use spanvault_types::{Outcome, Part, PartBody, Role};

use crate::blocks::{call, is_words, literal_part, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::stamp::Stamp;

/// What the shell tool puts under the output of a command.
const EXITED: &str = "<exited with exit code ";
/// What an error says whose call was not let run.
const NOT_ALLOWED: [&str; 3] = ["denied", "rejected", "user_denied"];

pub(super) fn read(event: Raw<'_>) -> Reading {
    let [kind, data, id, timestamp] = event.fields(["type", "data", "id", "timestamp"]);
    let stamp = Stamp::new(timestamp, id);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let Some(data) = data else { return Reading { content: stamp.meta(), session: None } };
    let [content, session, summary] = data.fields(["content", "sessionId", "summaryContent"]);
    let said = match kind.as_ref() {
        "user.message" => Some((Role::User, said(content))),
        "system.message" => Some((Role::System, said(content))),
        "assistant.message" => Some((Role::Assistant, said_by_agent(data))),
        "assistant.reasoning" => Some((Role::Assistant, thinking(content))),
        "tool.execution_complete" => Some((Role::Tool, vec![answer(data)])),
        "session.compaction_complete" => summary
            .filter(is_words)
            .map(|summary| (Role::System, vec![literal_part(summary, PartBody::Summary)])),
        _ => None,
    };
    let content = match said {
        Some((role, parts)) => stamp.says(role, parts),
        None => stamp.meta(),
    };
    Reading { content, session: if kind == "session.start" { usable_id(session) } else { None } }
}

fn thinking(words: Option<Raw<'_>>) -> Vec<Part> {
    words.filter(is_words).map(|words| literal_part(words, PartBody::Thinking)).into_iter().collect()
}

fn said_by_agent(data: Raw<'_>) -> Vec<Part> {
    let [content, reasoning, requests] = data.fields(["content", "reasoningText", "toolRequests"]);
    let mut parts = thinking(reasoning);
    parts.extend(said(content));
    for request in requests.into_iter().flat_map(Raw::elements).filter(Raw::is_object) {
        let [id, name, arguments] = request.fields(["toolCallId", "name", "arguments"]);
        parts.push(value_part(request, call(id, name, arguments)));
    }
    parts
}

fn answer(data: Raw<'_>) -> Part {
    let [id, name, success, result, error] =
        data.fields(["toolCallId", "toolName", "success", "result", "error"]);
    let [content] = result.map_or([None], |result| result.fields(["content"]));
    let [message, code] = error.map_or([None; 2], |error| error.fields(["message", "code"]));
    let code = code.and_then(|code| code.string()).unwrap_or_default();
    let is_error = success.and_then(|success| success.boolean()).map(|success| !success);
    let outcome = Outcome {
        tool: usable_id(name),
        is_error,
        executed: NOT_ALLOWED.contains(&code.as_ref()).then_some(false),
        ..outcome(usable_id(id))
    };
    let words = content.or(message).or(error.filter(Raw::is_string));
    let mut part = result_part(data, words, outcome);
    if let PartBody::Result(outcome) = &mut part.body {
        outcome.exit_code = exit_code(&outcome.text);
    }
    part
}

fn exit_code(text: &str) -> Option<i64> {
    let last = text.trim_end().rsplit('\n').next()?;
    last.strip_prefix(EXITED)?.strip_suffix('>')?.parse().ok()
}
