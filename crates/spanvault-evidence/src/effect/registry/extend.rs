//! Adding tools to the registry: what a file may say, and what it may not say silently.
//!
//! A file may describe any tool that is not known, and may say that a known one does more. That a known side effect is
//! less than it is takes a reason, and is listed. A hint of an MCP server is no reason: it never lowers anything.

use std::collections::HashMap;

use serde_json::Value;

use super::super::verbs;
use super::file::{Added, Annotations, line_of};
use super::{Deed, Registry, Tool, built_in};
use crate::Effect;

/// Why a file adds nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct RegistryError {
    /// The line of the file, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// A tool that reads as doing less than its name is known to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lowered {
    /// The tool.
    pub tool: String,
    /// What it is known to do.
    pub known: &'static str,
    /// What it reads as now.
    pub reads_as: &'static str,
    /// The reason that the file gives.
    pub reason: String,
}

impl Registry {
    /// The registry of the program with the tools of a file added. Of two entries for a name that of the file counts.
    ///
    /// # Errors
    /// Where the text is no such file, says something that is not known, or lowers a known side effect without a reason.
    pub fn extended(text: &str) -> Result<Self, RegistryError> {
        let added: Added = serde_json::from_str(text).map_err(|error| {
            let what = without_place(&error.to_string());
            // What is said of a value is told where the reader stands by then, which is behind it.
            let line = if what.starts_with("version ") { line_of(text, "version") } else { error.line() };
            RegistryError { line: line.max(1), what }
        })?;
        let mut registry = Self { text: Some(text.to_owned()), ..Self::default() };
        for (name, tool) in added.tools.0 {
            check(&name, &tool).map_err(|what| RegistryError { line: line_of(text, &name), what })?;
            if let (Some((known, reads_as)), Some(reason)) = (lowering(&name, &tool), &tool.lowers) {
                let reason = reason.clone();
                registry.lowered.push(Lowered { tool: name.clone(), known, reads_as, reason });
            }
            registry.added.insert(name, tool);
        }
        for (server, listed) in added.mcp.0 {
            for tool in listed.tools {
                let name = format!("mcp__{server}__{}", tool.name);
                let Some(hinted) = hinted(&tool.annotations) else { continue };
                if lowering(&name, &hinted).is_none() {
                    registry.added.entry(name).or_insert(hinted);
                }
            }
        }
        registry.lowered.sort();
        Ok(registry)
    }
}

/// The message of a JSON error without its place, which is told apart.
fn without_place(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(what, _place)| what).to_owned()
}

/// The entry that the hints of a server make; `None` where they say nothing.
///
/// A tool that is not read-only is external, whatever it destroys: where its effect is, no argument is known to say.
fn hinted(annotations: &Annotations) -> Option<Tool> {
    let effect = match (annotations.read_only_hint, annotations.destructive_hint) {
        (Some(true), _) => Deed::Reads,
        (Some(false), _) | (None, Some(_)) => Deed::External,
        (None, None) => return None,
    };
    let content = effect == Deed::Reads;
    Some(Tool {
        effect,
        paths: Vec::new(),
        writes: Vec::new(),
        command: None,
        content,
        when: HashMap::new(),
        lowers: None,
    })
}

/// What is wrong with an entry.
fn check(name: &str, tool: &Tool) -> Result<(), String> {
    let readings = || tool.when.values().flat_map(HashMap::values);
    if readings().any(|reading| !reading.when.is_empty() || reading.lowers.is_some()) {
        return Err(format!("`{name}`: an entry under `when` has neither `when` nor `lowers`"));
    }
    for reading in std::iter::once(tool).chain(readings()) {
        if reading.effect == Deed::Mutates && reading.writes.is_empty() {
            return Err(format!("`{name}`: what mutates names the arguments that it writes to in `writes`"));
        }
        let has_words =
            matches!(reading.effect, Deed::Shell | Deed::SweAgent | Deed::Python | Deed::Sql | Deed::Patch);
        if has_words != reading.command.is_some() {
            return Err(format!(
                "`{name}`: `command` stands beside shell, python, sql and patch, and only there"
            ));
        }
    }
    match (lowering(name, tool), &tool.lowers) {
        (Some((known, reads_as)), None) => Err(format!(
            "`{name}` is known as {known} and would read as {reads_as}; say why in `lowers` if that is right"
        )),
        (Some(_), Some(reason)) if reason.trim().is_empty() => {
            Err(format!("`{name}`: the reason in `lowers` is empty"))
        }
        (None, Some(_)) => Err(format!("`{name}`: `lowers` stands where nothing is lowered")),
        (Some(_), Some(_)) | (None, None) => Ok(()),
    }
}

/// What a tool is known to do and would read as, where that is less.
fn lowering(name: &str, tool: &Tool) -> Option<(&'static str, &'static str)> {
    let values = tool.when.iter().flat_map(|(arg, values)| {
        values.iter().map(move |(value, reading)| (Some((arg.as_str(), value.as_str())), reading))
    });
    std::iter::once((None, tool)).chain(values).find_map(|(at, reading)| {
        let (known, weight) = known(name, at)?;
        (weight_of(reading.effect) < weight).then(|| (known, reading.effect.as_str()))
    })
}

/// What the program knows of a tool, for a value of an argument or for none; `None` where it knows nothing.
fn known(name: &str, at: Option<(&str, &str)>) -> Option<(&'static str, u8)> {
    if let Some(tool) = built_in(name) {
        let at_value = at.and_then(|(arg, value)| tool.when.get(arg)?.get(value));
        let effect = at_value.unwrap_or(tool).effect;
        return Some((effect.as_str(), weight_of(effect)));
    }
    let effect = verbs::effect_of_unknown(name, &Value::Null).effect;
    match effect {
        Effect::Reads | Effect::Opaque => None,
        Effect::Mutates => Some((effect.as_str(), weight_of(Deed::Mutates))),
        // A verb that changes files is external as long as no argument is known to name one.
        Effect::External if verbs::changes_files(name) => Some(("mutates", weight_of(Deed::Mutates))),
        Effect::External => Some((effect.as_str(), weight_of(Deed::External))),
    }
}

/// How much a reading admits: one of less weight than another hides something.
const fn weight_of(deed: Deed) -> u8 {
    match deed {
        Deed::Reads | Deed::Internal => 0,
        Deed::Mutates | Deed::Patch => 1,
        Deed::External => 2,
        Deed::Opaque | Deed::Shell | Deed::SweAgent | Deed::Python | Deed::Sql => 3,
    }
}
