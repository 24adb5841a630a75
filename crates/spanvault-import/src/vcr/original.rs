//! Reads one original of a cassette: a message as YAML or as JSON inside a scalar, a response, or a whole call.

use spanvault_types::{ByteRange, Encoding, Role, SpanContent};

use super::{message, scalar, stream, yaml};
use crate::Unparsed;
use crate::json::Raw;
use crate::reading::utf8;

/// Reads what an original says; it depends on nothing but its bytes.
pub(super) fn read(original: &[u8]) -> Result<SpanContent, Unparsed> {
    let text = utf8(original)?;
    if text.trim().is_empty() {
        return Err(Unparsed::Truncated);
    }
    let mut content = if text.trim_start().starts_with('{') {
        let json = scalar::json_of(text)?;
        message::read(Raw::whole(&json)?)
    } else {
        let json = yaml::to_json(text)?;
        of_yaml(Raw::whole(&json)?)
    };
    // What was read stands somewhere in the original, in another notation.
    let start = text.len() - text.trim_start().len();
    for part in &mut content.parts {
        part.range = ByteRange { start: start as u64, end: text.len() as u64 };
        part.encoding = Encoding::JsonValue;
    }
    Ok(content)
}

fn of_yaml(value: Raw<'_>) -> SpanContent {
    // An item of a list stands there with its dash.
    if let Some(item) = value.elements().next() {
        // A call that adds nothing to a conversation.
        return if item.field("request").is_some() { message::meta() } else { message::read(item) };
    }
    let Some((name, value)) = value.members().next() else { return message::meta() };
    match name.as_ref() {
        "parsed_body" | "body" => response(value),
        "messages" | "input" | "contents" => message::words(value, Role::User),
        "request" => message::meta(),
        _ => message::words(value, Role::System),
    }
}

/// The answer of a model, whole or as a stream of events.
fn response(body: Raw<'_>) -> SpanContent {
    let Some(text) = body.field("string") else { return message::response(body) };
    let assembled = match (text.string(), text.text_field(yaml::BINARY)) {
        (Some(text), _) => stream::assemble(&text),
        (None, Some(base64)) => stream::assemble_bytes(&base64),
        (None, None) => None,
    };
    let content = assembled.and_then(|json| Some(message::response(Raw::whole(&json).ok()?)));
    content.unwrap_or_else(|| match text.string().filter(|text| !text.trim().is_empty()) {
        // An answer of no known shape is shown as it is.
        Some(_) => message::words(text, Role::System),
        None => message::meta(),
    })
}
