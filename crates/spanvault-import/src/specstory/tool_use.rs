//! Reads one tool use of an export: a call and, where the export shows it, its result.

use serde_json::{Map, Value};
use spanvault_types::{ByteRange, Call, Encoding, Outcome, Part, PartBody};

use crate::blocks::outcome;
use crate::claude_code::was_not_executed;

/// How a tool use begins.
pub(super) const OPEN: &str = "<tool-use ";
const CLOSE: &str = "</tool-use>";
const FENCE: &str = "```";
const TEXT_FENCE: &str = "```text";

/// Adds the tool use that `text` begins with; how many bytes it takes.
pub(super) fn read(text: &str, at: usize, parts: &mut Vec<Part>) -> usize {
    let end = text.find(CLOSE).map_or(text.len(), |found| found + CLOSE.len());
    let block = text.get(..end).unwrap_or_default();
    let tag = block.split_once('>').map_or(block, |(tag, _)| tag);
    let kind = attribute(tag, "data-tool-type");
    let tool = attribute(tag, "data-tool-name").to_owned();
    let (summary, body) = block.split_once("</summary>").unwrap_or((block, ""));
    let body_at = block.len() - body.len();
    let body = body.split_once("</details>").map_or(body, |(inside, _)| inside);
    let shown = output(body);
    let before = shown.map_or(body, |shown| body.get(..shown.fence).unwrap_or_default());
    let args = arguments(kind, summary, before, shown.map_or("", |shown| shown.text));
    let range = ByteRange { start: at as u64, end: (at + end) as u64 };
    let call = PartBody::Call(Call { id: None, tool: tool.clone(), args });
    parts.push(Part { range, encoding: Encoding::JsonValue, body: call });
    if let Some(Shown { start, text, .. }) = shown {
        let start = at + body_at + start;
        let range = ByteRange { start: start as u64, end: (start + text.len()) as u64 };
        parts.push(Part { range, encoding: Encoding::Raw, body: PartBody::Result(told(tool, text)) });
    }
    end
}

/// The output that a tool use shows.
#[derive(Clone, Copy)]
struct Shown<'a> {
    /// Where its fence begins.
    fence: usize,
    /// Where its text begins.
    start: usize,
    text: &'a str,
}

fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let value = tag.split_once(name).and_then(|(_, rest)| rest.strip_prefix("=\""));
    value.and_then(|value| value.split_once('"')).map_or("", |(value, _)| value)
}

/// The output: what stands in the first fence of `text`.
fn output(body: &str) -> Option<Shown<'_>> {
    let opens = |at: usize| at == 0 || body.get(..at).is_some_and(|before| before.ends_with('\n'));
    let (fence, start) = body.match_indices(TEXT_FENCE).find_map(|(at, _)| {
        let after = at + TEXT_FENCE.len();
        Some((at, after + line_end(body.get(after..)?)?)).filter(|_| opens(at))
    })?;
    let inside = body.get(start..)?;
    // The output may hold fences of its own; the last one is the one that closes it.
    let text = inside.get(..inside.rfind(FENCE).unwrap_or(inside.len()))?;
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    Some(Shown { fence, start, text })
}

/// How long the line end is that `text` begins with.
fn line_end(text: &str) -> Option<usize> {
    ["\n", "\r\n"].into_iter().find(|end| text.starts_with(end)).map(str::len)
}

fn told(tool: String, text: &str) -> Outcome {
    let rejected = was_not_executed(text);
    let exit_code = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("Exit code "))
        .and_then(|code| code.trim().parse().ok());
    let failed = rejected || text.starts_with("<tool_use_error>");
    Outcome {
        tool: Some(tool),
        text: text.to_owned(),
        is_error: failed.then_some(true),
        exit_code,
        executed: rejected.then_some(false),
        ..outcome(None)
    }
}

/// What the export shows of the arguments, under the names that tools of that type give them.
fn arguments(kind: &str, summary: &str, before: &str, result: &str) -> Value {
    let mut args = Map::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            args.entry(name.to_owned()).or_insert_with(|| Value::from(value));
        }
    };
    let target = match kind {
        "shell" => "command",
        "read" | "write" => "file_path",
        "search" => "pattern",
        _ => "input",
    };
    if let Some((_, path)) = summary.split_once(" file: ") {
        add("file_path", path.trim());
    }
    for fence in ["```bash", "```sh"] {
        let rest = before.split_once(fence).map(|(_, rest)| rest);
        let inside = rest.and_then(|rest| rest.get(line_end(rest)?..));
        if let Some((command, _)) =
            inside.and_then(|rest| rest.split_once("\n```")).filter(|_| kind == "shell")
        {
            add("command", command.trim_end_matches('\r'));
        }
    }
    let mut words = Vec::new();
    for line in before.lines().take_while(|line| !line.starts_with(FENCE)) {
        let values: Vec<&str> = line.split('`').collect();
        match values.as_slice() {
            [lead, value, ..] if lead.trim().is_empty() && values.len() == 3 => add(target, value),
            // `path `a` pattern `b``: names and values take turns.
            [_, _, ..] if kind == "search" && values.len() % 2 == 1 => {
                for pair in values.chunks_exact(2) {
                    if let [name, value] = pair {
                        add(name.trim(), value);
                    }
                }
            }
            _ => words.push(line.trim()),
        }
    }
    let words = words.join("\n");
    add(if kind == "shell" { "description" } else { "input" }, words.trim());
    // Editors show no path of their own, and their answer names it.
    if kind == "write" {
        let edited = result
            .strip_prefix("The file ")
            .and_then(|rest| rest.split_once(" has been "))
            .map(|(path, _)| path);
        let created =
            result.strip_prefix("File created successfully at: ").and_then(|rest| rest.lines().next());
        add("file_path", edited.or(created).unwrap_or_default().trim());
    }
    Value::Object(args)
}
