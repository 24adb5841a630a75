//! Reads one tick of a simulation by voice.

use spanvault_types::{Part, Role, SpanContent, SpanKind};

use super::message::answered;
use crate::blocks::{call, kind_of, value_part};
use crate::chat::read_message;
use crate::json::Raw;
use crate::time::timestamp_ms;

/// Reads a tick: what both sides said, called and were answered in it. One in which nothing was written down
/// is no conversation.
pub(super) fn read(tick: Raw<'_>) -> SpanContent {
    let [agent, user, agent_calls, user_calls, agent_answers, user_answers, timestamp] = tick.fields([
        "agent_chunk",
        "user_chunk",
        "agent_tool_calls",
        "user_tool_calls",
        "agent_tool_results",
        "user_tool_results",
        "timestamp",
    ]);
    let side = |chunk: Option<Raw<'_>>, calls: Option<Raw<'_>>, answers: Option<Raw<'_>>| -> Vec<Part> {
        let said = chunk.into_iter().flat_map(|chunk| read_message(chunk).parts);
        let called = calls.into_iter().flat_map(|calls| {
            calls.elements().filter(Raw::is_object).map(|entry| {
                let [id, name, args] = entry.fields(["id", "name", "arguments"]);
                value_part(entry, call(id, name, args))
            })
        });
        let told = answers.into_iter().flat_map(|answers| answers.elements().flat_map(answered));
        said.chain(called).chain(told).collect()
    };
    let by_agent = side(agent, agent_calls, agent_answers);
    let by_user = side(user, user_calls, user_answers);
    let role = match (by_agent.is_empty(), by_user.is_empty()) {
        (false, _) => Role::Assistant,
        (true, false) => Role::User,
        (true, true) => Role::System,
    };
    let parts = [by_user, by_agent].concat();
    let kind = if parts.is_empty() { SpanKind::Meta } else { kind_of(&parts) };
    let timestamp_ms = timestamp.and_then(timestamp_ms);
    SpanContent { role, kind, timestamp_ms, event_key: None, parts }
}
