//! Claude Code sessions in the shape and proportions of real ones, of any length.

use std::path::Path;

use serde_json::{Value, json};

use crate::Outcome;
use crate::noise::Noise;
use crate::raw::RawFile;
use crate::spans::listing;

/// Writes a session of at least `bytes` bytes to `path`; gives the bytes and the lines.
///
/// # Errors
/// What the file system says.
pub fn write(path: &Path, seed: u64, bytes: u64) -> Outcome<(u64, u64)> {
    let mut file = RawFile::create(path)?;
    let mut lines =
        Lines { noise: Noise::new(seed), session: format!("bench-{seed}"), count: 0, parent: Value::Null };
    let (mut written, mut turn) = (0, 0);
    while written < bytes {
        for line in lines.turn(turn) {
            let mut line = serde_json::to_vec(&line)?;
            line.push(b'\n');
            file.append(&line)?;
            written += line.len() as u64;
        }
        turn += 1;
    }
    Ok((written, lines.count))
}

/// Makes the lines of one session, chained as theirs are.
struct Lines {
    noise: Noise,
    session: String,
    count: u64,
    parent: Value,
}

impl Lines {
    /// What the user asks now and then, what the agent thinks and says, a call, its progress and its result.
    fn turn(&mut self, turn: u64) -> Vec<Value> {
        let mut lines = Vec::new();
        if turn.is_multiple_of(10) {
            let words = listing(&mut self.noise, 200);
            lines.push(self.line("user", json!({"role": "user", "content": words})));
        }
        if turn.is_multiple_of(2) {
            let (thinking, signature) = (listing(&mut self.noise, 700), listing(&mut self.noise, 600));
            lines.push(self.said(&json!({"type": "thinking", "thinking": thinking, "signature": signature})));
        }
        if turn.is_multiple_of(3) {
            let text = format!("The handler of module {} is read next.", self.noise.below(400));
            lines.push(self.said(&json!({"type": "text", "text": text})));
        }
        let id = format!("toolu_{turn:08}");
        let (tool, input, result, size) = self.call(turn);
        lines.push(self.said(&json!({"type": "tool_use", "id": id, "name": tool, "input": input})));
        for _step in 0..2 {
            let mut progress = self.line("progress", Value::Null);
            progress["toolUseID"] = json!(id);
            progress["data"] = json!({"type": "bash_progress", "fullOutput": listing(&mut self.noise, 800)});
            lines.push(progress);
        }
        let text = result.unwrap_or_else(|| listing(&mut self.noise, size));
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        let mut answer = self.line("user", json!({"role": "user", "content": [block]}));
        answer["toolUseResult"] = json!({"type": "text", "content": text});
        lines.push(answer);
        lines
    }

    /// A tool, its arguments, and its result or the length of one.
    fn call(&mut self, turn: u64) -> (&'static str, Value, Option<String>, usize) {
        let path = format!("/srv/app/module_{}/handler.rs", self.noise.below(400));
        match turn % 4 {
            0 => ("Read", json!({"file_path": path}), None, 6_000),
            1 => (
                "Bash",
                json!({"command": format!("grep -rn handler_{turn} src"), "description": "Search"}),
                None,
                1_500,
            ),
            2 => {
                let (old, new) = (listing(&mut self.noise, 300), listing(&mut self.noise, 400));
                let done = format!("The file {path} has been updated successfully.");
                ("Edit", json!({"file_path": path, "old_string": old, "new_string": new}), Some(done), 0)
            }
            _ => ("Grep", json!({"pattern": format!("value_{turn}"), "path": "/srv/app"}), None, 3_000),
        }
    }

    fn said(&mut self, block: &Value) -> Value {
        let message = json!({
            "role": "assistant", "type": "message", "model": "model", "content": [block], "stop_reason": null,
            "id": format!("msg_{:08}", self.count), "usage": {"input_tokens": 3, "output_tokens": 2},
        });
        self.line("assistant", message)
    }

    fn line(&mut self, kind: &str, message: Value) -> Value {
        let uuid = format!("{:08x}-0000-4000-8000-{:012x}", self.count, self.noise.next() >> 16);
        let (second, milli) = (self.count / 10, self.count % 10);
        let (hour, minute, second) = (second / 3_600 % 24, second / 60 % 60, second % 60);
        let mut line = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": "/srv/app",
            "sessionId": self.session, "version": "2.1.42", "gitBranch": "main", "type": kind, "uuid": uuid,
            "timestamp": format!("2026-02-03T{hour:02}:{minute:02}:{second:02}.{milli}00Z"),
        });
        if !message.is_null() {
            line["message"] = message;
        }
        self.count += 1;
        self.parent = json!(uuid);
        line
    }
}
