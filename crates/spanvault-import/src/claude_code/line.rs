//! Reads one object of a Claude Code transcript.

use spanvault_types::{Part, PartBody, Role, SpanContent, SpanKind};

use super::outcome;
use crate::blocks::{call, content_parts, kind_of, result_part, usable_id, value_part};
use crate::json::Raw;
use crate::reading::Reading;
use crate::time::timestamp_ms;

/// Reads a line, and the session that it names.
pub(super) fn read(line: Raw<'_>) -> Reading {
    let [kind, uuid, timestamp, session, agent, sidechain, message, details, meta, summary, api_error] = line
        .fields([
            "type",
            "uuid",
            "timestamp",
            "sessionId",
            "agentId",
            "isSidechain",
            "message",
            "toolUseResult",
            "isMeta",
            "isCompactSummary",
            "isApiErrorMessage",
        ]);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let spoken = match kind.as_ref() {
        "user" | "assistant" => {
            let is = |flag: Option<Raw<'_>>| flag.is_some_and(|flag| flag.is_true());
            let marks = Marks { is_meta: is(meta), is_summary: is(summary), is_api_error: is(api_error) };
            message.and_then(|message| spoken_message(message, details, kind == "assistant", marks))
        }
        "tool_use" | "tool_result" => bare_block(line, kind == "tool_use"),
        _ => None,
    };
    let (role, kind, parts) = spoken.unwrap_or((Role::System, SpanKind::Meta, Vec::new()));
    let content = SpanContent {
        role,
        kind,
        timestamp_ms: timestamp.and_then(timestamp_ms),
        event_key: usable_id(uuid),
        parts,
    };
    let session = usable_id(session);
    let session = match (session, usable_id(agent).filter(|_| sidechain.is_some_and(|flag| flag.is_true()))) {
        (Some(session), Some(agent)) => Some(format!("{session}/{agent}")),
        (session, _) => session,
    };
    Reading { content, session }
}

type Spoken = (Role, SpanKind, Vec<Part>);

/// What a line says of the API message that it wraps.
#[derive(Clone, Copy)]
struct Marks {
    is_meta: bool,
    is_summary: bool,
    is_api_error: bool,
}

/// A line that wraps an API message.
fn spoken_message(
    message: Raw<'_>,
    details: Option<Raw<'_>>,
    by_agent: bool,
    marks: Marks,
) -> Option<Spoken> {
    let content = message.field("content")?;
    let mut parts = Vec::new();
    content_parts(content, &mut parts);
    if marks.is_summary {
        for part in &mut parts {
            if let PartBody::Text(text) = &mut part.body {
                part.body = PartBody::Summary(std::mem::take(text));
            }
        }
    }
    outcome::complete(&mut parts, details);
    let answers = parts.iter().any(|part| matches!(part.body, PartBody::Result(_)));
    let role = match (by_agent, answers) {
        // What the runtime put into the agent's mouth.
        (true, _) if marks.is_api_error => Role::System,
        (true, _) => Role::Assistant,
        (false, true) => Role::Tool,
        // What the runtime put into the user's mouth.
        (false, false) if marks.is_meta || marks.is_summary => Role::System,
        (false, false) => Role::User,
    };
    Some((role, kind_of(&parts), parts))
}

/// A call or result that is a line of its own, as some versions wrote them.
fn bare_block(line: Raw<'_>, is_call: bool) -> Option<Spoken> {
    let [id, name, input, output, content, call_id] =
        line.fields(["id", "name", "input", "output", "content", "tool_use_id"]);
    let part = if is_call {
        value_part(line, call(id, Some(name?), input))
    } else {
        let mut outcome = crate::blocks::outcome(usable_id(call_id));
        outcome.tool = usable_id(name);
        result_part(line, Some(output.or(content)?), outcome)
    };
    let role = if is_call { Role::Assistant } else { Role::Tool };
    let mut parts = vec![part];
    outcome::complete(&mut parts, None);
    Some((role, kind_of(&parts), parts))
}
