//! Puts the events of a streamed answer together: the response that the same call without streaming would give.

use serde_json::{Map, Value, json};

/// More blocks than this no answer has.
const BLOCKS_MAX: usize = 4096;

/// The response, as JSON, that a text is: one JSON document, or server-sent events.
pub(super) fn assemble(text: &str) -> Option<String> {
    if text.trim_start().starts_with(['{', '[']) {
        return serde_json::from_str::<Value>(text).ok().map(|value| value.to_string());
    }
    let events = text.lines().filter_map(|line| line.trim_start().strip_prefix("data:"));
    let events = events.filter_map(|event| serde_json::from_str(event).ok());
    of_events(events).map(|response| response.to_string())
}

/// The same for bytes that are written as base64: frames of AWS's event stream, or text.
pub(super) fn assemble_bytes(base64: &str) -> Option<String> {
    let bytes = decode_base64(base64)?;
    if let Ok(text) = std::str::from_utf8(&bytes)
        && let Some(response) = assemble(text)
    {
        return Some(response);
    }
    let events = frames(&bytes).into_iter().filter_map(|payload| serde_json::from_slice(payload).ok());
    of_events(events).map(|response| response.to_string())
}

fn of_events(events: impl Iterator<Item = Value>) -> Option<Value> {
    let mut answer = Answer::default();
    for event in events {
        answer.add(&event);
    }
    answer.finish()
}

/// What the events said so far.
#[derive(Default)]
struct Answer {
    /// A whole response that an event brought.
    whole: Option<Value>,
    /// Whole items of a response that events brought.
    items: Vec<Value>,
    /// The blocks of an answer in the manner of Anthropic and Bedrock.
    blocks: Vec<Block>,
    /// The parts of an answer in the manner of Google.
    parts: Vec<Value>,
    /// The words and calls of an answer in the manner of OpenAI.
    said: String,
    thought: String,
    calls: Vec<ToolCall>,
    /// Whether it is one in the manner of OpenAI.
    is_chat: bool,
}

#[derive(Default)]
struct Block {
    start: Map<String, Value>,
    text: String,
    thinking: String,
    input: String,
    results: Vec<Value>,
    bedrock: bool,
}

#[derive(Default, Clone)]
struct ToolCall {
    id: String,
    name: String,
    arguments: String,
}

impl Answer {
    fn add(&mut self, event: &Value) {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if let Some(response) = event
            .get("response")
            .filter(|_| matches!(kind, "response.completed" | "response.incomplete" | "response.failed"))
        {
            self.whole = Some(response.clone());
        } else if kind == "response.output_item.done" {
            self.items.extend(event.get("item").cloned());
        } else if let Some(choices) = event.get("choices").and_then(Value::as_array) {
            self.is_chat = true;
            choices.iter().filter_map(|choice| choice.get("delta")).for_each(|delta| self.chat(delta));
        } else if let Some(candidates) = event.get("candidates").and_then(Value::as_array) {
            let parts = candidates.iter().filter_map(|it| it.get("content")?.get("parts")?.as_array());
            parts.flatten().for_each(|part| self.part(part));
        } else if let Some(index) = event.get("contentBlockIndex") {
            self.block(index, |block| block.bedrock(event));
        } else if kind.starts_with("content_block_")
            && let Some(index) = event.get("index")
        {
            self.block(index, |block| block.anthropic(event));
        }
    }

    fn block(&mut self, index: &Value, change: impl FnOnce(&mut Block)) {
        let index =
            index.as_u64().and_then(|index| usize::try_from(index).ok()).filter(|it| *it < BLOCKS_MAX);
        let Some(index) = index else { return };
        while self.blocks.len() <= index {
            self.blocks.push(Block::default());
        }
        if let Some(block) = self.blocks.get_mut(index) {
            change(block);
        }
    }

    fn chat(&mut self, delta: &Value) {
        self.said.push_str(text_of(delta, "content"));
        self.thought.push_str(text_of(delta, "reasoning_content"));
        for entry in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let index = entry.get("index").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
            let index = index.unwrap_or(self.calls.len()).min(BLOCKS_MAX);
            while self.calls.len() <= index {
                self.calls.push(ToolCall::default());
            }
            let Some(call) = self.calls.get_mut(index) else { continue };
            call.id.push_str(text_of(entry, "id"));
            if let Some(function) = entry.get("function") {
                call.name.push_str(text_of(function, "name"));
                call.arguments.push_str(text_of(function, "arguments"));
            }
        }
    }

    /// Adds a part; words that go on are one part with those before.
    fn part(&mut self, part: &Value) {
        let is_thought = |part: &Value| part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        if let Some(words) = part.get("text").and_then(Value::as_str)
            && let Some(last) = self.parts.last_mut()
            && is_thought(last) == is_thought(part)
            && let Some(Value::String(text)) = last.get_mut("text")
        {
            text.push_str(words);
        } else {
            self.parts.push(part.clone());
        }
    }

    fn finish(self) -> Option<Value> {
        if let Some(whole) = self.whole {
            return Some(whole);
        }
        if !self.items.is_empty() {
            return Some(json!({ "output": self.items }));
        }
        if !self.parts.is_empty() {
            return Some(json!({ "candidates": [{ "content": { "parts": self.parts } }] }));
        }
        if !self.blocks.is_empty() {
            let blocks: Vec<Value> = self.blocks.into_iter().filter_map(Block::finish).collect();
            return Some(json!({ "role": "assistant", "content": blocks }));
        }
        let calls = self.calls.into_iter().map(|ToolCall { id, name, arguments }| {
            json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
        });
        let message = json!({
            "role": "assistant", "content": self.said, "reasoning_content": self.thought,
            "tool_calls": calls.collect::<Vec<_>>(),
        });
        self.is_chat.then(|| json!({ "choices": [{ "message": message }] }))
    }
}

impl Block {
    fn anthropic(&mut self, event: &Value) {
        if let Some(Value::Object(start)) = event.get("content_block") {
            self.start.clone_from(start);
        }
        let Some(delta) = event.get("delta") else { return };
        self.text.push_str(text_of(delta, "text"));
        self.text.push_str(text_of(delta, "content"));
        self.thinking.push_str(text_of(delta, "thinking"));
        self.input.push_str(text_of(delta, "partial_json"));
    }

    fn bedrock(&mut self, event: &Value) {
        self.bedrock = true;
        if let Some(Value::Object(start)) = event.get("start") {
            self.start.clone_from(start);
        }
        let Some(delta) = event.get("delta") else { return };
        self.text.push_str(text_of(delta, "text"));
        if let Some(reasoning) = delta.get("reasoningContent") {
            self.thinking.push_str(text_of(reasoning, "text"));
        }
        if let Some(used) = delta.get("toolUse") {
            self.input.push_str(text_of(used, "input"));
        }
        self.results.extend(delta.get("toolResult").and_then(Value::as_array).into_iter().flatten().cloned());
    }

    fn finish(mut self) -> Option<Value> {
        let input = serde_json::from_str(&self.input).unwrap_or(Value::String(self.input));
        if !self.bedrock {
            let kind = self.start.get("type").and_then(Value::as_str).unwrap_or("text").to_owned();
            let mut add = |name: &str, text: String| {
                if !text.is_empty() {
                    self.start.insert(name.to_owned(), Value::String(text));
                }
            };
            add(if kind == "compaction" { "content" } else { "text" }, self.text);
            add("thinking", self.thinking);
            if input != Value::String(String::new()) {
                self.start.insert("input".to_owned(), input);
            }
            return (!self.start.is_empty()).then_some(Value::Object(self.start));
        }
        if let Some(Value::Object(used)) = self.start.get_mut("toolUse") {
            used.insert("input".to_owned(), input);
        } else if let Some(Value::Object(result)) = self.start.get_mut("toolResult") {
            result.insert("content".to_owned(), Value::Array(self.results));
        } else if self.thinking.is_empty() {
            self.start.insert("text".to_owned(), Value::String(self.text));
        } else {
            let words = json!({ "reasoningText": { "text": self.thinking } });
            self.start.insert("reasoningContent".to_owned(), words);
        }
        Some(Value::Object(self.start))
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The payloads of the frames of AWS's event stream, as far as these are whole.
///
/// A frame is its length, the length of its headers, a checksum, the headers, the payload and a checksum.
fn frames(mut bytes: &[u8]) -> Vec<&[u8]> {
    const PRELUDE: usize = 12;
    const CHECKSUM: usize = 4;
    let number = |bytes: &[u8], at: usize| {
        let digits = bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(digits)).ok()
    };
    let mut payloads = Vec::new();
    while let (Some(length), Some(headers)) = (number(bytes, 0), number(bytes, 4)) {
        let payload = PRELUDE.checked_add(headers).zip(length.checked_sub(CHECKSUM));
        let Some(payload) = payload.and_then(|(start, end)| bytes.get(start..end)) else { break };
        payloads.push(payload);
        let Some(rest) = bytes.get(length..) else { break };
        bytes = rest;
    }
    payloads
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for symbol in text.bytes().filter(|byte| *byte != b'=') {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}
