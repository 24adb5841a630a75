//! What a tool call does to the world, as far as its words show.
//!
//! Known tools are described by data (`effect/registry/tools.json`), unknown ones are read by the verb in their
//! name, command lines by a shell reader. Whatever none of these sees through is *opaque*. Deliberately absent:
//! guesses from descriptions or from results.

mod python;
mod registry;
mod shell;
mod sql;
mod swe_agent;
mod tally;
mod verbs;

use serde_json::Value;
use spanvault_types::Call;

use registry::{Deed, Tool};
pub use registry::{Lowered, Registry, RegistryError};
use tally::Tally;

/// What a call does, as far as its words show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It changes files, and names every one that it changes.
    Mutates,
    /// It changes something other than files: a booking, a message, a push, a process.
    External,
    /// It cannot be seen through; never read as harmless.
    Opaque,
}

impl Effect {
    /// The word that JSON, queries and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Mutates => "mutates",
            Self::External => "external",
            Self::Opaque => "opaque",
        }
    }
}

/// What one call does and to what.
///
/// A relative path is relative to the working directory of the call. A written directory stands for everything
/// under it, a pattern for everything that it matches; `.git` stands for a repository's own state. Unless the
/// effect is [`Effect::Opaque`], no file outside of `writes` is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEffect {
    /// The strongest effect of the call.
    pub effect: Effect,
    /// Every path that it names or touches, in order of first mention, without repeats.
    pub paths: Vec<String>,
    /// Those of `paths` that it writes, moves or deletes.
    pub writes: Vec<String>,
    /// Whether it is a known check (test, lint, build) and nothing else: a call that reports on the world. A
    /// test runs code, so its effect is still opaque.
    pub is_check: bool,
}

/// What `call` does to the world, as `registry` knows its tool.
pub fn effect_of(call: &Call, registry: &Registry) -> CallEffect {
    match registry.tool(&call.tool) {
        Some(tool) => effect_of_tool(call, tool.reading(&call.args)),
        None => verbs::effect_of_unknown(&call.tool, &call.args),
    }
}

/// Whether the result of a call is content of the world, so that the words in it are no verdict on the call.
pub(crate) fn returns_content(call: &Call, registry: &Registry) -> bool {
    registry.tool(&call.tool).is_some_and(|tool| tool.reading(&call.args).content)
}

fn effect_of_tool(call: &Call, tool: &Tool) -> CallEffect {
    let mut tally = match tool.effect {
        Deed::Shell => return shell_effect(call, tool),
        Deed::SweAgent => {
            let script = command_of(call, tool);
            return match script.as_deref().and_then(swe_agent::tally) {
                Some(tally) => tally.into_effect(),
                None => shell_effect(call, tool),
            };
        }
        Deed::Python => {
            command_of(call, tool).map_or_else(Tally::opaque, |code| python::tally_in_session(&code))
        }
        Deed::Sql => command_of(call, tool).map_or_else(Tally::opaque, |statement| {
            let mut tally = Tally::default();
            if !sql::only_reads(&statement) {
                tally.act_outside();
            }
            tally
        }),
        Deed::Patch => command_of(call, tool).map_or_else(Tally::opaque, |patch| patch_tally(&patch)),
        Deed::Reads | Deed::Internal | Deed::Mutates => Tally::default(),
        Deed::External => {
            let mut tally = Tally::default();
            tally.act_outside();
            tally
        }
        Deed::Opaque => Tally::opaque(),
    };
    let named = |names: &[String], each: &mut dyn FnMut(&str)| {
        for name in names {
            strings_of(call.args.get(name), each);
        }
    };
    named(&tool.paths, &mut |path| tally.touch(path));
    let mut written = 0_usize;
    named(&tool.writes, &mut |path| {
        tally.write(path);
        written += 1;
    });
    // A writer that does not say where it writes cannot be seen through.
    if tool.effect == Deed::Mutates && written == 0 {
        tally.hide();
    }
    tally.into_effect()
}

/// The strings of an argument that holds one or a list of them.
fn strings_of(value: Option<&Value>, each: &mut dyn FnMut(&str)) {
    let Some(value) = value else { return };
    let one = value.as_str().into_iter();
    let several = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    one.chain(several).filter(|text| !text.is_empty()).for_each(each);
}

/// The argument that holds the code of a call; a call that is nothing but text is that code.
fn command_of(call: &Call, tool: &Tool) -> Option<String> {
    let command = if call.args.is_string() { &call.args } else { call.args.get(tool.command.as_deref()?)? };
    command.as_str().map(str::to_owned)
}

/// The arguments that runtimes use for the directory that a command runs in.
const DIRECTORY_ARGS: &[&str] = &["workdir", "cwd", "directory", "dir_path", "working_directory"];

fn shell_effect(call: &Call, tool: &Tool) -> CallEffect {
    let directory =
        DIRECTORY_ARGS.iter().find_map(|name| call.args.get(*name)?.as_str()).filter(|dir| !dir.is_empty());
    let named =
        || tool.command.as_deref().into_iter().chain(["command", "cmd"]).find_map(|name| call.args.get(name));
    let command = if call.args.is_string() {
        Some(&call.args)
    } else {
        named().or_else(|| call.args.get("action")?.get("command"))
    };
    let Some(command) = command else { return Tally::opaque().into_effect() };
    if let Some(script) = command.as_str() {
        return shell::read_script(script, directory).into_effect();
    }
    let words: Option<Vec<&str>> =
        command.as_array().and_then(|words| words.iter().map(Value::as_str).collect());
    words.map_or_else(Tally::opaque, |words| shell::read_words(&words, directory)).into_effect()
}

/// What a patch changes: the files that its headers name. One that names none cannot be seen through.
fn patch_tally(patch: &str) -> Tally {
    const HEADERS: &[&str] =
        &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "--- a/"];
    let mut tally = Tally::default();
    let mut named = false;
    for line in patch.lines() {
        if let Some(path) = HEADERS.iter().find_map(|header| line.strip_prefix(header)) {
            tally.write(path.trim());
            named = true;
        }
    }
    if !named {
        tally.hide();
    }
    tally
}

#[cfg(test)]
mod tests;
