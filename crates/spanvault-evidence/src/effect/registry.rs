//! The tools of known runtimes, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

/// What a tool does, or which reader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Deed {
    Reads,
    Mutates,
    External,
    Opaque,
    /// Changes nothing but the agent's own state.
    Internal,
    Shell,
    Python,
    Sql,
    Patch,
}

/// One entry of the registry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    pub(super) effect: Deed,
    /// Arguments that name paths which it touches.
    #[serde(default)]
    pub(super) paths: Vec<String>,
    /// Arguments that name paths which it writes.
    #[serde(default)]
    pub(super) writes: Vec<String>,
    /// The argument that holds the command line, code, statement or patch.
    pub(super) command: Option<String>,
    /// Whether the result is content of the world.
    #[serde(default)]
    pub(super) content: bool,
    /// By argument and value: the entry to read instead.
    #[serde(default)]
    when: HashMap<String, HashMap<String, Tool>>,
}

impl Tool {
    /// The entry that holds for these arguments.
    pub(super) fn reading(&self, args: &Value) -> &Self {
        let chosen = self.when.iter().find_map(|(name, values)| values.get(args.get(name)?.as_str()?));
        chosen.unwrap_or(self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    runtimes: Vec<Runtime>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Runtime {
    #[serde(rename = "runtime")]
    _runtime: String,
    tools: HashMap<String, Tool>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program and a test reads it")]
static TOOLS: LazyLock<HashMap<String, Tool>> = LazyLock::new(|| {
    let file: File =
        serde_json::from_str(include_str!("registry/tools.json")).expect("tools.json is well-formed");
    file.runtimes.into_iter().flat_map(|runtime| runtime.tools).collect()
});

/// The entry of a tool, by its name or, behind `mcp__server__`, by its name on its server.
pub(super) fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.get(name).or_else(|| TOOLS.get(own_name(name)))
}

/// The name of a tool on its MCP server: `mcp__files__read_file` is `read_file`.
pub(super) fn own_name(name: &str) -> &str {
    name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, own)| own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_reads_and_names_every_tool_once() {
        let file: File = serde_json::from_str(include_str!("registry/tools.json")).unwrap();
        let names: usize = file.runtimes.iter().map(|runtime| runtime.tools.len()).sum();
        assert_eq!(names, TOOLS.len());
        assert!(TOOLS.values().all(|tool| tool.effect != Deed::Mutates || !tool.writes.is_empty()));
    }
}
