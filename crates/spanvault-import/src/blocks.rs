//! Content as chat APIs write it: a string, or a list of typed blocks. Shared by all formats that embed it.

use serde_json::Value;
use spanvault_types::{Call, Encoding, Outcome, Part, PartBody, SpanKind};

use crate::json::{Raw, decode};

/// Adds the parts of a message's `content`.
///
/// A block of an unknown type is shown by its type or its JSON text rather than left out, so that a question
/// about the message meets it.
pub(crate) fn content_parts(content: Raw<'_>, parts: &mut Vec<Part>) {
    if content.is_string() {
        parts.push(literal_part(content, PartBody::Text));
    }
    for block in content.elements() {
        if block.is_string() {
            parts.push(literal_part(block, PartBody::Text));
        } else if block.is_object() {
            parts.push(block_part(block));
        }
    }
}

/// A part whose text is one string literal.
pub(crate) fn literal_part(literal: Raw<'_>, body: fn(String) -> PartBody) -> Part {
    Part {
        range: literal.range(),
        encoding: Encoding::JsonString,
        body: body(decode(literal.text()).into_owned()),
    }
}

/// A part that was gathered from a larger value.
pub(crate) fn value_part(raw: Raw<'_>, body: PartBody) -> Part {
    Part { range: raw.range(), encoding: Encoding::JsonValue, body }
}

/// A part that is a tool's answer; its range is the text's own literal where there is one.
pub(crate) fn result_part(block: Raw<'_>, content: Option<Raw<'_>>, outcome: Outcome) -> Part {
    let (text, literal) = content.map_or_else(Default::default, result_text);
    let outcome = Outcome { text, ..outcome };
    match (literal, content) {
        (Some(literal), _) => {
            Part { range: literal.range(), encoding: Encoding::JsonString, body: PartBody::Result(outcome) }
        }
        (None, content) => value_part(content.unwrap_or(block), PartBody::Result(outcome)),
    }
}

/// The strongest of some parts; `Message` where there is none.
pub(crate) fn kind_of(parts: &[Part]) -> SpanKind {
    let kinds = parts.iter().map(|part| match part.body {
        PartBody::Text(_) => SpanKind::Message,
        PartBody::Thinking(_) => SpanKind::Thinking,
        PartBody::Summary(_) => SpanKind::CompactSummary,
        PartBody::Call(_) => SpanKind::ToolCall,
        PartBody::Result(_) => SpanKind::ToolResult,
    });
    kinds.max().unwrap_or(SpanKind::Message)
}

/// The arguments of a call, which some APIs write as JSON text: the object that it is, or else the text.
pub(crate) fn arguments(raw: Option<Raw<'_>>) -> Value {
    let Some(raw) = raw else { return Value::Object(serde_json::Map::new()) };
    let Some(text) = raw.string() else { return raw.value() };
    match Raw::whole(&text) {
        Ok(inner) if inner.is_object() => inner.value(),
        Ok(_) | Err(_) => Value::String(text.into_owned()),
    }
}

/// An id that can pair a call with its result.
pub(crate) fn usable_id(raw: Option<Raw<'_>>) -> Option<String> {
    raw?.string().filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned)
}

/// A tool's answer of which nothing is known yet.
pub(crate) const fn outcome(call_id: Option<String>) -> Outcome {
    Outcome { call_id, tool: None, text: String::new(), is_error: None, exit_code: None, executed: None }
}

fn block_part(block: Raw<'_>) -> Part {
    let [kind, text, content, thinking] = block.fields(["type", "text", "content", "thinking"]);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    // Some runtimes write the text of a text block as `content`.
    let text = text.or(content.filter(|_| kind == "text"));
    match (kind.as_ref(), text.filter(Raw::is_string), thinking.filter(Raw::is_string)) {
        ("thinking" | "reasoning", _, Some(words)) | ("thinking" | "reasoning", Some(words), None) => {
            literal_part(words, PartBody::Thinking)
        }
        ("redacted_thinking", ..) => value_part(block, PartBody::Thinking("[redacted_thinking]".to_owned())),
        (kind, ..) if kind.ends_with("tool_use") => {
            let [id, name, input] = block.fields(["id", "name", "input"]);
            value_part(block, call(id, name, input))
        }
        (kind, ..) if kind.ends_with("tool_result") => {
            let [id, is_error] = block.fields(["tool_use_id", "is_error"]);
            let failed = content.is_some_and(|content| {
                content.text_field("type").is_some_and(|kind| kind.ends_with("tool_result_error"))
            });
            let is_error = is_error.and_then(|flag| flag.boolean()).or(failed.then_some(true));
            result_part(block, content, Outcome { is_error, ..outcome(usable_id(id)) })
        }
        (_, Some(words), _) => literal_part(words, PartBody::Text),
        (kind, None, _) => value_part(block, PartBody::Text(shown(kind, block))),
    }
}

/// A tool call from its id, name and arguments.
pub(crate) fn call(id: Option<Raw<'_>>, name: Option<Raw<'_>>, args: Option<Raw<'_>>) -> PartBody {
    let tool = name.and_then(|name| name.string()).unwrap_or_default().into_owned();
    PartBody::Call(Call { id: usable_id(id), tool, args: arguments(args) })
}

/// The text of a result, blocks joined by line feeds, and its literal if it is just one.
fn result_text(content: Raw<'_>) -> (String, Option<Raw<'_>>) {
    if content.is_string() {
        return (decode(content.text()).into_owned(), Some(content));
    }
    if !content.is_array() {
        return (content.text().to_owned(), None);
    }
    let blocks: Vec<_> = content.elements().collect();
    let literal = |block: &Raw<'_>| {
        if block.is_string() {
            return true;
        }
        block.field("text").is_some_and(|text| text.is_string())
    };
    if let [block] = blocks.as_slice()
        && literal(block)
    {
        let words = if block.is_string() { *block } else { block.field("text").unwrap_or(*block) };
        return (decode(words.text()).into_owned(), Some(words));
    }
    let texts: Vec<_> = blocks.into_iter().map(block_text).collect();
    (texts.join("\n"), None)
}

fn block_text(block: Raw<'_>) -> String {
    if let Some(text) = block.string() {
        return text.into_owned();
    }
    let [kind, text, content] = block.fields(["type", "text", "content"]);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let words = text.and_then(|text| text.string()).or_else(|| {
        // Some runtimes write the text of a text block as `content`.
        content.filter(|_| kind == "text").and_then(|content| content.string())
    });
    words.map_or_else(|| shown(&kind, block), std::borrow::Cow::into_owned)
}

/// A block that is no text, as text: media by its type, anything else by its JSON.
fn shown(kind: &str, block: Raw<'_>) -> String {
    const MEDIA: [&str; 9] = [
        "image",
        "image_url",
        "input_image",
        "document",
        "file",
        "input_file",
        "audio",
        "input_audio",
        "video",
    ];
    if MEDIA.contains(&kind) || block.field("source").is_some_and(|source| source.is_object()) {
        format!("[{kind}]")
    } else {
        block.text().to_owned()
    }
}
