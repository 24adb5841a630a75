//! The story that the tests tell: a system file written, a search that found nothing, a promise kept, one still open.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli_harness::Sandbox;

/// The name of the session in the story.
pub(crate) const SESSION: &str = "story";

/// A transcript in the making, line by line.
pub(crate) struct Transcript {
    session: &'static str,
    text: String,
    lines: usize,
}

impl Transcript {
    pub(crate) fn new(session: &'static str) -> Self {
        Self { session, text: String::new(), lines: 0 }
    }

    fn line(mut self, kind: &str, content: &Value) -> Self {
        let line = json!({
            "type": kind,
            "uuid": format!("{}-{:04}", self.session, self.lines),
            "sessionId": self.session,
            "timestamp": format!("2025-11-03T09:{:02}:{:02}.000Z", self.lines / 60, self.lines % 60),
            "message": {"role": kind, "content": content},
        });
        writeln!(self.text, "{line}").unwrap();
        self.lines += 1;
        self
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.line("user", &json!(text))
    }

    pub(crate) fn says(self, text: &str) -> Self {
        self.line("assistant", &json!([{"type": "text", "text": text}]))
    }

    pub(crate) fn calls(self, tool: &str, input: &Value) -> Self {
        let id = format!("toolu_{:04}", self.lines);
        self.line("assistant", &json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]))
    }

    /// Answers the call in the line before.
    pub(crate) fn gets(self, text: &str) -> Self {
        let id = format!("toolu_{:04}", self.lines - 1);
        self.line("user", &json!([{"type": "tool_result", "tool_use_id": id, "content": text}]))
    }

    pub(crate) fn text(self) -> String {
        self.text
    }
}

/// The story. What matters happens before the last twenty conversation spans.
pub(crate) fn story() -> String {
    let mut story = Transcript::new(SESSION)
        .user("Please set the invoice service up on this machine. The ticket is INV-2025-08-44719.")
        .says("I will write the configuration first.")
        .calls("Write", &json!({"file_path": "/etc/app/conf.yaml", "content": "port: 8443\nworkers: 4\n"}))
        .gets("File created successfully at: /etc/app/conf.yaml")
        .says("The YAML of the application is configured. Is there an older setting?")
        .calls("Grep", &json!({"pattern": "legacy_port", "path": "/srv/app"}))
        .gets("No matches found")
        .says("There is no legacy_port anywhere under /srv/app.")
        .says("I will update the changelog in docs/CHANGELOG.md later.");
    for n in 0..12 {
        let path = format!("/srv/app/src/part_{n:02}.rs");
        let words =
            "fn part() -> u32 { 7 } // nothing of interest stands in this file, it is only long enough";
        story = story.calls("Read", &json!({"file_path": path})).gets(&words.repeat(3));
    }
    story.says("All parts are read.").user("Thanks. What is next?").text()
}

/// A vault that has the story.
pub(crate) fn told() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("story.jsonl", story());
    sandbox.ok(&["ingest", "story.jsonl"]);
    sandbox
}

/// A vault that has the story, compacted.
pub(crate) fn compacted() -> Sandbox {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    sandbox
}

/// What a command says, with what differs from run to run made equal.
pub(crate) fn shown<A: AsRef<str>>(sandbox: &Sandbox, args: &[A]) -> String {
    sandbox.steady(&sandbox.ok(args).out)
}

/// Lines as text.
pub(crate) fn lines_of<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    lines.fold(String::new(), |text, line| text + line + "\n")
}
