//! Content as Google's APIs write it: a string, or parts that each hold one thing by its name.

use spanvault_types::{Outcome, Part, PartBody};

use crate::blocks::{call, literal_part, outcome, result_part, usable_id, value_part};
use crate::json::Raw;

/// Adds the parts of a message's content.
pub(crate) fn content_parts(content: Raw<'_>, parts: &mut Vec<Part>) {
    if content.is_string() {
        if content.text() != r#""""# {
            parts.push(literal_part(content, PartBody::Text));
        }
    } else if content.is_object() {
        parts.push(part(content));
    }
    for element in content.elements() {
        if element.is_string() {
            parts.push(literal_part(element, PartBody::Text));
        } else if element.is_object() {
            parts.push(part(element));
        }
    }
}

fn part(raw: Raw<'_>) -> Part {
    let [text, thought, function_call, response, inline, file] =
        raw.fields(["text", "thought", "functionCall", "functionResponse", "inlineData", "fileData"]);
    if let Some(function_call) = function_call.filter(Raw::is_object) {
        let [id, name, args] = function_call.fields(["id", "name", "args"]);
        return value_part(function_call, call(id, name, args));
    }
    if let Some(response) = response.filter(Raw::is_object) {
        return answer(response);
    }
    if let Some(text) = text.filter(Raw::is_string) {
        let thinks = thought.is_some_and(|thought| thought.is_true());
        return literal_part(text, if thinks { PartBody::Thinking } else { PartBody::Text });
    }
    let shown = match inline.or(file).and_then(|medium| medium.text_field("mimeType")) {
        Some(mime) if mime.starts_with("image/") => "[image]".to_owned(),
        Some(_) => "[file]".to_owned(),
        None => raw.text().to_owned(),
    };
    value_part(raw, PartBody::Text(shown))
}

/// A `functionResponse`: the tool's words are the `output` or the `error` of its response, or else all of it.
pub(super) fn answer(response: Raw<'_>) -> Part {
    let [id, name, content] = response.fields(["id", "name", "response"]);
    let [output, error] = content.map_or([None; 2], |content| content.fields(["output", "error"]));
    let is_error = (output.is_none() && error.is_some()).then_some(true);
    let outcome = Outcome { tool: usable_id(name), is_error, ..outcome(usable_id(id)) };
    result_part(response, output.or(error).or(content), outcome)
}
