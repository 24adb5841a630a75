//! Reads one line of a Cursor transcript.

use spanvault_types::{Outcome, Part, PartBody, Role, SpanContent};

use crate::blocks::{block_part, call, outcome, result_part, said, usable_id, value_part};
use crate::json::Raw;
use crate::stamp::Stamp;

pub(super) fn read(line: Raw<'_>) -> SpanContent {
    let [role, message, metadata, timestamp] = line.fields(["role", "message", "metadata", "timestamp"]);
    let stamp = Stamp::new(timestamp, None);
    let (Some(role), Some(message)) = (role.and_then(|role| role.string()), message) else {
        return stamp.meta();
    };
    let content = message.field("content");
    let mut parts = said(content.filter(Raw::is_string));
    parts.extend(content.into_iter().flat_map(Raw::elements).filter(Raw::is_object).map(part));
    let status = metadata.and_then(|metadata| metadata.text_field("toolResultStatus"));
    let mut answers = false;
    for part in &mut parts {
        if let PartBody::Result(outcome) = &mut part.body {
            answers = true;
            if status.as_deref().is_some_and(|status| status != "success") {
                outcome.is_error = Some(true);
            }
        }
    }
    let role = match role.as_ref() {
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "user" if answers => Role::Tool,
        "user" => Role::User,
        _ => Role::System,
    };
    stamp.says(role, parts)
}

fn part(block: Raw<'_>) -> Part {
    let kind = block.text_field("type").unwrap_or_default().replace('-', "_");
    match kind.as_str() {
        "tool_use" | "tool_call" => {
            let [id, call_id, name, tool, input, args] =
                block.fields(["id", "toolCallId", "name", "toolName", "input", "args"]);
            value_part(block, call(id.or(call_id), name.or(tool), input.or(args)))
        }
        "tool_result" => {
            let [id, call_id, name, tool, content, result, is_error] = block.fields([
                "tool_use_id",
                "toolCallId",
                "name",
                "toolName",
                "content",
                "result",
                "is_error",
            ]);
            let answer = Outcome {
                tool: usable_id(name.or(tool)),
                is_error: is_error.and_then(|flag| flag.boolean()),
                ..outcome(usable_id(id.or(call_id)))
            };
            result_part(block, content.or(result), answer)
        }
        _ => block_part(block),
    }
}
