//! Reads one message of a mini-swe-agent trajectory.

use serde_json::{Map, Value};
use spanvault_types::{Call, Outcome, Part, PartBody, Role};

use crate::blocks::{kind_of, literal_part, outcome, usable_id, value_part};
use crate::chat::read_message;
use crate::json::Raw;
use crate::reading::Reading;
use crate::time::timestamp_ms;

/// The one tool of this agent.
const TOOL: &str = "bash";
/// How a command is fenced in the words of the agent, by version.
const FENCES: [&str; 2] = ["```mswea_bash_command", "```bash"];
/// How an observation begins, by what happened.
const OBSERVATIONS: [&str; 3] = ["<returncode>", "<exception>", "The last command <command>"];

pub(super) fn read(message: Raw<'_>) -> Reading {
    let mut span = read_message(message);
    let [content, extra] = message.fields(["content", "extra"]);
    let content = content.filter(Raw::is_string);
    if let Some(extra) = extra {
        span.timestamp_ms = span.timestamp_ms.or(extra.field("timestamp").and_then(timestamp_ms));
    }
    let answers = |part: &Part| matches!(part.body, PartBody::Result(_));
    let calls = |part: &Part| matches!(part.body, PartBody::Call(_));
    match span.role {
        Role::User => {
            // Versions without tool calls show the observation to the model as a user message.
            let ran = extra.is_some_and(|extra| extra.field("returncode").is_some());
            if let Some(content) = content
                && (ran || content.string().is_some_and(|text| is_observation(&text)))
            {
                let observed = |text| PartBody::Result(Outcome { text, ..outcome(None) });
                span.parts = vec![literal_part(content, observed)];
                span.role = Role::Tool;
            }
        }
        Role::Assistant if !span.parts.iter().any(calls) => {
            match extra.and_then(|extra| extra.field("actions")) {
                Some(actions) => span.parts.extend(actions.elements().filter_map(action)),
                None => span.parts.extend(content.and_then(fenced)),
            }
        }
        Role::Assistant | Role::Tool | Role::System => {}
    }
    for part in span.parts.iter_mut().filter(|part| answers(part)) {
        if let PartBody::Result(outcome) = &mut part.body {
            complete(outcome, extra);
        }
    }
    span.kind = kind_of(&span.parts);
    Reading { content: span, session: None }
}

/// Whether a message shows what a command did.
pub(super) fn is_observation(content: &str) -> bool {
    OBSERVATIONS.iter().any(|start| content.starts_with(start))
}

/// An entry of `extra.actions`: a command that the agent took from the answer.
fn action(entry: Raw<'_>) -> Option<Part> {
    let [command, id] = entry.fields(["command", "tool_call_id"]);
    let command = command?.string()?.into_owned();
    Some(value_part(entry, bash(usable_id(id), command)))
}

/// The command in the one fence of an answer; with several fences, or none, the agent ran nothing.
fn fenced(content: Raw<'_>) -> Option<Part> {
    let text = content.string()?;
    let fence = FENCES.iter().find(|fence| text.contains(**fence))?;
    let mut blocks = text.split(fence).skip(1).filter_map(|block| {
        let (first_line, body) = block.split_once('\n')?;
        let (command, _) = body.split_once("\n```")?;
        first_line.trim().is_empty().then_some(command)
    });
    let command = blocks.next()?.trim().to_owned();
    if blocks.next().is_some() {
        return None;
    }
    Some(value_part(content, bash(None, command)))
}

fn bash(id: Option<String>, command: String) -> PartBody {
    let args = Value::Object(Map::from_iter([("command".to_owned(), Value::String(command))]));
    PartBody::Call(Call { id, tool: TOOL.to_owned(), args })
}

/// Completes an observation with its exit status: from `extra`, or else as its text shows it.
fn complete(outcome: &mut Outcome, extra: Option<Raw<'_>>) {
    let [code, exception] = extra.map_or([None; 2], |extra| extra.fields(["returncode", "exception_info"]));
    outcome.exit_code = code.and_then(|code| code.integer()).or_else(|| shown_code(&outcome.text));
    let failed_to_run = exception.is_some_and(|words| words.is_string() && words.text() != r#""""#)
        || OBSERVATIONS.iter().skip(1).any(|start| outcome.text.starts_with(start));
    if failed_to_run {
        outcome.is_error = Some(true);
    }
}

/// The number in `<returncode>N</returncode>`, where the observation begins with it or with an exception.
fn shown_code(text: &str) -> Option<i64> {
    let text = match text.strip_prefix("<exception>") {
        Some(exception) => exception.split_once("</exception>")?.1.trim_start(),
        None => text,
    };
    let (code, _) = text.strip_prefix("<returncode>")?.split_once("</returncode>")?;
    code.trim().parse().ok()
}
