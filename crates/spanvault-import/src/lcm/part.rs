//! Reads the parts of a message, as lossless-claw keeps them: the blocks of the runtime's message, each a row. What a
//! column does not hold stands in the block itself, which is JSON text in `metadata`.

use std::borrow::Cow;

use serde_json::Value;
use spanvault_types::{ByteRange, Call, Encoding, Outcome, Part, PartBody};

use crate::blocks::{
    arguments, is_words, literal_part, outcome, result_part, result_text, usable_id, value_part,
};
use crate::json::Raw;
use crate::pi::exit_code;

/// What the blocks that are results are called.
const RESULTS: [&str; 4] = ["function_call_output", "tool_result", "toolResult", "tool_use_result"];

/// The text of a column, which may be JSON text itself; JSON of any other kind as it is written.
pub(super) fn content_of(column: Raw<'_>) -> Cow<'_, str> {
    column.string().unwrap_or_else(|| column.text().into())
}

/// What the parts of a message say that is none of a tool.
pub(super) fn said_by_parts(parts: &[Raw<'_>]) -> Vec<Part> {
    let mut said = Vec::new();
    for part in parts {
        let [kind, text, prompt] = part.fields(["part_type", "text_content", "subtask_prompt"]);
        let words = text.or(prompt).filter(is_words);
        let told = Told::of(*part);
        match kind.and_then(|kind| kind.string()).as_deref() {
            Some("reasoning") => said.extend(match words {
                Some(words) => Some(literal_part(words, PartBody::Thinking)),
                None => told.reasoning.map(|words| value_part(*part, PartBody::Thinking(words))),
            }),
            Some("tool") if RESULTS.contains(&told.kind.as_str()) => {
                said.extend(answers(*part, &[*part], None));
            }
            Some("tool") => {
                let is_over = told.has_ended;
                let call = Call { id: told.id, tool: told.tool.unwrap_or_default(), args: told.args };
                said.push(value_part(*part, PartBody::Call(call)));
                if is_over {
                    said.extend(answers(*part, &[*part], None));
                }
            }
            _ => said.extend(match words {
                Some(words) => Some(literal_part(words, PartBody::Text)),
                None => told.shown.map(|shown| value_part(*part, PartBody::Text(shown))),
            }),
        }
    }
    said
}

/// The answers in the parts of a message of a tool: one for each call that they name. Without parts the content is one.
pub(super) fn answers(message: Raw<'_>, parts: &[Raw<'_>], content: Option<Raw<'_>>) -> Vec<Part> {
    let mut answers: Vec<Answer> = Vec::new();
    for part in parts {
        let next = Answer::of(*part);
        match answers.last_mut() {
            Some(last) if last.goes_on_with(&next) => last.add(&next, message),
            _ => answers.push(next),
        }
    }
    if let Some(content) = content.filter(|_| answers.iter().all(|answer| answer.outcome.text.is_empty())) {
        let known = answers.into_iter().next().map_or_else(|| outcome(None), |answer| answer.outcome);
        return vec![result_part(message, Some(content), known)];
    }
    if answers.is_empty() {
        return vec![value_part(message, PartBody::Result(outcome(None)))];
    }
    answers.into_iter().map(Answer::into_part).collect()
}

/// An answer, and where its words stand.
struct Answer {
    range: ByteRange,
    encoding: Encoding,
    outcome: Outcome,
}

impl Answer {
    fn of(part: Raw<'_>) -> Self {
        let told = Told::of(part);
        let [output, error, text] = part.fields(["tool_output", "tool_error", "text_content"]);
        let column = output.filter(is_words).or(error.filter(is_words));
        let (literal, words) = match (column, text.filter(is_words)) {
            (Some(column), _) => (Some(column), words_in(&content_of(column))),
            (None, Some(text)) => (Some(text), content_of(text).into_owned()),
            (None, None) => (None, told.output.unwrap_or_default()),
        };
        // A literal that says the words and nothing around them.
        let plain = literal.filter(|literal| content_of(*literal) == words);
        let (range, encoding) = match plain {
            Some(literal) => (literal.range(), Encoding::JsonString),
            None => (part.range(), Encoding::JsonValue),
        };
        let outcome = Outcome { tool: told.tool, text: words, is_error: told.is_error, ..outcome(told.id) };
        Self { range, encoding, outcome }
    }

    /// Whether `next` is more of the same answer.
    fn goes_on_with(&self, next: &Self) -> bool {
        next.outcome.call_id.is_none() || next.outcome.call_id == self.outcome.call_id
    }

    fn add(&mut self, next: &Self, message: Raw<'_>) {
        let Outcome { text, is_error, .. } = &mut self.outcome;
        if !text.is_empty() && !next.outcome.text.is_empty() {
            text.push('\n');
        }
        text.push_str(&next.outcome.text);
        *is_error = (*is_error).max(next.outcome.is_error);
        (self.range, self.encoding) = (message.range(), Encoding::JsonValue);
    }

    fn into_part(mut self) -> Part {
        if self.outcome.is_error == Some(true) {
            self.outcome.exit_code = exit_code(&self.outcome.text);
        }
        Part { range: self.range, encoding: self.encoding, body: PartBody::Result(self.outcome) }
    }
}

/// What is said in a column that holds JSON text, or plain text.
fn words_in(column: &str) -> String {
    match Raw::whole(column) {
        Ok(value) if value.is_string() || value.is_array() || value.is_object() => result_text(value).0,
        Ok(_) | Err(_) => column.to_owned(),
    }
}

/// What a part says beside its words, by its columns or by the block in its metadata.
struct Told {
    /// What the runtime calls the block.
    kind: String,
    id: Option<String>,
    tool: Option<String>,
    args: Value,
    has_ended: bool,
    is_error: Option<bool>,
    output: Option<String>,
    reasoning: Option<String>,
    /// A block without words.
    shown: Option<String>,
}

impl Told {
    fn of(part: Raw<'_>) -> Self {
        let [id, name, status, input, output, error, metadata, mime] = part.fields([
            "tool_call_id",
            "tool_name",
            "tool_status",
            "tool_input",
            "tool_output",
            "tool_error",
            "metadata",
            "file_mime",
        ]);
        let metadata = metadata.map(content_of).unwrap_or_default();
        let metadata = Raw::whole(&metadata).ok();
        let of_metadata = |name: &str| metadata?.field(name);
        let block = of_metadata("raw");
        let of_block = |names: [&str; 4]| block?.fields(names).into_iter().flatten().next();
        let kind = of_metadata("rawType").or_else(|| block?.field("type")).and_then(|kind| kind.string());
        let status = status.and_then(|status| status.string()).unwrap_or_default();
        let failed = error.is_some_and(|error| is_words(&error)) || status == "error";
        let flag = of_metadata("isError").or_else(|| of_block(["is_error", "isError", "", ""]));
        let is_file = mime.is_some() || matches!(kind.as_deref(), Some("file" | "image"));
        let is_image = kind.as_deref() == Some("image")
            || mime.and_then(|mime| mime.string()).is_some_and(|mime| mime.starts_with("image/"));
        let medium = if is_image { "[image]" } else { "[file]" };
        Self {
            id: usable_id(id)
                .or_else(|| usable_id(of_metadata("toolCallId")))
                .or_else(|| usable_id(of_block(["tool_use_id", "toolCallId", "call_id", "id"]))),
            tool: usable_id(name)
                .or_else(|| usable_id(of_metadata("toolName")))
                .or_else(|| usable_id(of_block(["name", "toolName", "tool_name", ""]))),
            args: match input {
                Some(input) => arguments_in(&content_of(input)),
                None => arguments(of_block(["input", "arguments", "toolInput", "args"])),
            },
            has_ended: output.is_some() || failed || status == "completed",
            is_error: if failed { Some(true) } else { flag.and_then(|flag| flag.boolean()) },
            output: of_block(["output", "content", "result", "toolOutput"])
                .map(|output| result_text(output).0),
            reasoning: of_metadata("topLevelReasoningContent")
                .or_else(|| of_block(["thinking", "reasoning", "text", "summary"]))
                .map(|words| result_text(words).0),
            shown: if is_file { Some(medium.to_owned()) } else { block.map(|block| block.text().to_owned()) },
            kind: kind.unwrap_or_default().into_owned(),
        }
    }
}

/// The arguments that a column holds as JSON text.
fn arguments_in(column: &str) -> Value {
    match Raw::whole(column) {
        Ok(value) => arguments(Some(value)),
        Err(_no_json) => Value::String(column.to_owned()),
    }
}
