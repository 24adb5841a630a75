//! The tools of known runtimes, as data, and what a file of one's own adds to them.

mod extend;
mod file;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

pub use extend::{Lowered, RegistryError};

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
    /// A command of SWE-agent's own shell.
    SweAgent,
    Python,
    Sql,
    Patch,
}

impl Deed {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Mutates => "mutates",
            Self::External => "external",
            Self::Opaque => "opaque",
            Self::Internal => "internal",
            Self::Shell => "shell",
            Self::SweAgent => "swe_agent",
            Self::Python => "python",
            Self::Sql => "sql",
            Self::Patch => "patch",
        }
    }
}

/// One entry of the registry.
#[derive(Debug, Clone, Deserialize)]
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
    /// Why it may be read as doing less than the name is known to do. In files of one's own only.
    lowers: Option<String>,
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

/// What the tools of runtimes do: those that are known, and those that a file adds.
///
/// Whatever it does not know is read by the verbs in its name, and is opaque where that says nothing.
#[derive(Debug, Default)]
pub struct Registry {
    added: HashMap<String, Tool>,
    lowered: Vec<Lowered>,
    text: Option<String>,
}

static BUILT_IN: LazyLock<Registry> = LazyLock::new(Registry::default);

impl Registry {
    /// The one that is part of the program.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The tools that read as doing less than their names are known to do, because a file says so.
    pub fn lowered(&self) -> &[Lowered] {
        &self.lowered
    }

    /// The names that a file added, sorted, each with what it does.
    pub fn added(&self) -> Vec<(&str, &'static str)> {
        let mut added: Vec<_> =
            self.added.iter().map(|(name, tool)| (name.as_str(), tool.effect.as_str())).collect();
        added.sort_unstable();
        added
    }

    /// What tells it from another one: the text of the file; empty where there is none.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The entry of a tool, by its name or, behind `mcp__server__`, by its name on its server.
    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        let own = own_name(name);
        self.added.get(name).or_else(|| self.added.get(own)).or_else(|| built_in(name))
    }
}

fn built_in(name: &str) -> Option<&'static Tool> {
    TOOLS.get(name).or_else(|| TOOLS.get(own_name(name)))
}

/// The name of a tool on its MCP server: `mcp__files__read_file` is `read_file`.
pub(super) fn own_name(name: &str) -> &str {
    name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, own)| own)
}

#[cfg(test)]
mod tests;
