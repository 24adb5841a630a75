//! Codex CLI: rollout files, old ones without a wrapper, and what `codex exec --json` prints.
//!
//! A rollout says everything twice: as the items that the model sees, and as events for the screen. The items are
//! read, the events are kept without parts. What an output says of its own fate (exit code, a patch that did
//! not apply, a rejection) is read from the output itself; the event that repeats it is another record.

mod exec;
mod item;
mod output;
#[cfg(test)]
mod tests;

use serde_json::Value;
use spanvault_types::{PartBody, Role, SpanContent};

use crate::blocks::{literal_part, usable_id, value_part};
use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, Named, ObjectFormat};
use crate::reading::Reading;
use crate::stamp::Stamp;
use crate::{Confidence, Head};

/// A rollout (`~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`) or the output of `codex exec --json`.
pub(crate) struct Codex;

/// Lines that only wrappers of this program are.
const WRAPPERS: [&str; 6] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];

impl ObjectFormat for Codex {
    const NAME: &'static str = "codex_rollout";
    const LAYOUT: Layout = Layout::Lines;
    // A fork begins with its own data, and goes on with a copy of what it was forked from.
    const NAMED: Named = Named::First;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(of_line)
    }

    fn read(line: Raw<'_>) -> Reading {
        read(line)
    }
}

fn of_line(line: &Value) -> Confidence {
    match text(line, "type") {
        kind if WRAPPERS.contains(&kind) && has_all(line, &["payload"]) => Confidence::Certain,
        "thread.started" if has_all(line, &["thread_id"]) => Confidence::Certain,
        "item.started" | "item.completed" if has_all(line, &["item"]) => Confidence::Likely,
        "function_call_output" | "reasoning"
            if has_all(line, &["call_id"]) || has_all(line, &["encrypted_content", "summary"]) =>
        {
            Confidence::Possible
        }
        "" if text(line, "record_type") == "state" => Confidence::Likely,
        "" if is_bare_meta(line) => Confidence::Likely,
        _ => Confidence::No,
    }
}

/// The first line of an old file.
fn is_bare_meta(line: &Value) -> bool {
    has_all(line, &["id", "timestamp", "instructions"]) || has_all(line, &["id", "timestamp", "git"])
}

fn read(line: Raw<'_>) -> Reading {
    let [kind, timestamp, created, payload, id] =
        line.fields(["type", "timestamp", "created_at", "payload", "id"]);
    let stamp = Stamp::new(timestamp.or(created), None);
    let kind = kind.and_then(|kind| kind.string());
    let alone = |content| Reading { content, session: None };
    match (kind.as_deref(), payload) {
        (Some("session_meta"), Some(meta)) => {
            Reading { content: stamp.meta(), session: usable_id(meta.field("id")) }
        }
        (Some("response_item"), Some(payload)) => alone(item::read(payload, stamp)),
        (Some("compacted"), Some(payload)) => alone(compacted(payload, stamp)),
        (Some(_), Some(_)) => alone(stamp.meta()),
        (Some("thread.started"), None) => {
            Reading { content: stamp.meta(), session: usable_id(line.field("thread_id")) }
        }
        (Some("item.started" | "item.completed"), None) => {
            let has_ended = kind.as_deref() == Some("item.completed");
            alone(line.field("item").map_or(Stamp::default().meta(), |item| exec::read(item, has_ended)))
        }
        (Some(_), None) => alone(item::read(line, stamp)),
        (None, _) if line.field("role").is_some() => alone(item::read(line, stamp)),
        (None, _) => Reading { content: stamp.meta(), session: usable_id(id) },
    }
}

/// What the program put in the place of all that came before. Where the summary itself is encrypted, the words
/// that were left in the clear are all that can be read.
fn compacted(payload: Raw<'_>, stamp: Stamp) -> SpanContent {
    let [message, history] = payload.fields(["message", "replacement_history"]);
    let message = message.filter(|message| message.is_string() && message.text() != r#""""#);
    let part = if let Some(message) = message {
        literal_part(message, PartBody::Summary)
    } else {
        let contents = history.into_iter().flat_map(Raw::elements).filter_map(|item| item.field("content"));
        let texts = contents.flat_map(Raw::elements).filter_map(|block| block.field("text")?.string());
        value_part(payload, PartBody::Summary(texts.collect::<Vec<_>>().join("\n")))
    };
    stamp.says(Role::System, vec![part])
}
