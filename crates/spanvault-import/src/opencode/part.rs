//! Reads what one part says.

use spanvault_types::{Outcome, Part, PartBody, Role};

use crate::blocks::{call, is_words, literal_part, outcome, result_part, usable_id, value_part};
use crate::json::Raw;

/// How the error of a call begins that the user did not let run.
const NOT_ALLOWED: &str = "The user rejected permission to use this specific tool call";

/// What a part of this kind says; nothing where it is no part of the talk.
///
/// Who speaks stands in another file. Words that the program put there itself are marked; all others are taken
/// for the agent's, as most are.
pub(super) fn read(part: Raw<'_>, kind: &str) -> Option<(Role, Vec<Part>)> {
    let [text, synthetic, mime] = part.fields(["text", "synthetic", "mime"]);
    match kind {
        "text" => {
            let role =
                if synthetic.is_some_and(|flag| flag.is_true()) { Role::System } else { Role::Assistant };
            Some((role, words(text, PartBody::Text)))
        }
        "reasoning" => Some((Role::Assistant, words(text, PartBody::Thinking))),
        "file" => {
            let is_image = mime.and_then(|mime| mime.string()).is_some_and(|mime| mime.starts_with("image/"));
            let shown = if is_image { "[image]" } else { "[file]" };
            Some((Role::User, vec![value_part(part, PartBody::Text(shown.to_owned()))]))
        }
        "tool" => Some((Role::Assistant, tool(part))),
        _ => None,
    }
}

fn words(text: Option<Raw<'_>>, body: fn(String) -> PartBody) -> Vec<Part> {
    text.filter(is_words).map(|text| literal_part(text, body)).into_iter().collect()
}

fn tool(part: Raw<'_>) -> Vec<Part> {
    let [id, tool, state] = part.fields(["callID", "tool", "state"]);
    let [status, input, output, error, metadata] =
        state.map_or([None; 5], |state| state.fields(["status", "input", "output", "error", "metadata"]));
    let mut parts = vec![value_part(part, call(id, tool, input))];
    let status = status.and_then(|status| status.string()).unwrap_or_default();
    if matches!(status.as_ref(), "completed" | "success" | "error") {
        let words = error.filter(|_| status == "error").and_then(|error| error.string());
        let is_rejected = words.is_some_and(|words| words.starts_with(NOT_ALLOWED));
        let exit = metadata.and_then(|metadata| metadata.field("exit"));
        let answer = Outcome {
            tool: usable_id(tool),
            is_error: Some(status == "error"),
            exit_code: exit.and_then(|code| code.integer()),
            executed: is_rejected.then_some(false),
            ..outcome(usable_id(id))
        };
        parts.push(result_part(part, output.or(error), answer));
    }
    parts
}
