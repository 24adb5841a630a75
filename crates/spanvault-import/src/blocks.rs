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

/// The parts of a message's `content`, where that says anything.
pub(crate) fn said(content: Option<Raw<'_>>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(content) = content.filter(|content| content.text() != r#""""#) {
        content_parts(content, &mut parts);
    }
    parts
}

/// A string that says something.
pub(crate) fn is_words(raw: &Raw<'_>) -> bool {
    raw.is_string() && raw.text() != r#""""#
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

/// The part that one typed block is.
pub(crate) fn block_part(block: Raw<'_>) -> Part {
    let [kind, content, thinking, reasoning] = block.fields(["type", "content", "thinking", "reasoning"]);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    match kind.as_ref() {
        "thinking" | "reasoning" => {
            match thinking.or(reasoning).filter(Raw::is_string).or_else(|| words_of(block)) {
                Some(words) => literal_part(words, PartBody::Thinking),
                None => value_part(block, PartBody::Thinking(shown(block))),
            }
        }
        // What the provider puts in the place of what came before.
        "compaction" => match content.filter(Raw::is_string) {
            Some(words) => literal_part(words, PartBody::Summary),
            None => value_part(block, PartBody::Summary("[compaction]".to_owned())),
        },
        "redacted_thinking" => value_part(block, PartBody::Thinking("[redacted_thinking]".to_owned())),
        kind if kind.ends_with("tool_use") => {
            let [id, name, input] = block.fields(["id", "name", "input"]);
            value_part(block, call(id, name, input))
        }
        kind if kind.ends_with("tool_result") => {
            let [id, is_error] = block.fields(["tool_use_id", "is_error"]);
            let failed = content
                .and_then(|content| content.text_field("type"))
                .is_some_and(|kind| kind.ends_with("tool_result_error"));
            let is_error = is_error.and_then(|flag| flag.boolean()).or(failed.then_some(true));
            result_part(block, content, Outcome { is_error, ..outcome(usable_id(id)) })
        }
        _ => match words_of(block) {
            Some(words) => literal_part(words, PartBody::Text),
            None => value_part(block, PartBody::Text(shown(block))),
        },
    }
}

/// A tool call from its id, name and arguments.
pub(crate) fn call(id: Option<Raw<'_>>, name: Option<Raw<'_>>, args: Option<Raw<'_>>) -> PartBody {
    let tool = name.and_then(|name| name.string()).unwrap_or_default().into_owned();
    PartBody::Call(Call { id: usable_id(id), tool, args: arguments(args) })
}

/// The text of a result, blocks joined by line feeds, and its literal if it is just one.
pub(crate) fn result_text(content: Raw<'_>) -> (String, Option<Raw<'_>>) {
    let blocks: Vec<_> = if content.is_array() { content.elements().collect() } else { vec![content] };
    if let [block] = blocks.as_slice()
        && let Some(words) = words_of(*block)
    {
        return (decode(words.text()).into_owned(), Some(words));
    }
    let text =
        |block| words_of(block).map_or_else(|| shown(block), |words| decode(words.text()).into_owned());
    (blocks.into_iter().map(text).collect::<Vec<_>>().join("\n"), None)
}

/// The literal that is the text of a block.
pub(crate) fn words_of(block: Raw<'_>) -> Option<Raw<'_>> {
    if block.is_string() {
        return Some(block);
    }
    let [kind, text, content] = block.fields(["type", "text", "content"]);
    // Some runtimes write the text of a text block as `content`.
    let content = content.filter(|_| kind.and_then(|kind| kind.string()).as_deref() == Some("text"));
    text.or(content).filter(Raw::is_string)
}

/// A block that has no text, as text: media by its type, anything else by its JSON.
pub(crate) fn shown(block: Raw<'_>) -> String {
    let [kind, source] = block.fields(["type", "source"]);
    let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
    let medium = kind.strip_prefix("input_").unwrap_or(&kind);
    let medium = medium.strip_suffix("_url").unwrap_or(medium);
    let media = ["image", "document", "file", "audio", "video"];
    if media.contains(&medium) || source.is_some_and(|source| source.is_object()) {
        format!("[{kind}]")
    } else {
        block.text().to_owned()
    }
}
