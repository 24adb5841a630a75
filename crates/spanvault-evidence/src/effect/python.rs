//! What a snippet of Python does, as far as lists of names can tell.
//!
//! No interpreter. A snippet that imports only modules which cannot change anything, and uses no name through
//! which something else could be reached, *computes*. One that besides calls code that cannot be seen, but nothing
//! whose name changes anything, and shows what comes out, is a *trial* of that code: it runs it, as a test does.
//! Every other snippet is opaque. Files that are opened for reading are read.

mod bare;
mod session;

use bare::Bare;

use super::tally::Tally;
use super::verbs::{is_change, words_of};

/// Modules from which nothing that writes can be reached by a public name.
const MODULES: &[&str] = &[
    "__future__",
    "abc",
    "ast",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "colorsys",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "locale",
    "math",
    "numbers",
    "numpy",
    "operator",
    "pprint",
    "random",
    "re",
    "secrets",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "time",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "urllib.parse",
    "uuid",
    "zlib",
];

/// Names that reach beyond what stands in the snippet, in any code.
const REACHES: &[&str] = &[
    "open",
    "exec",
    "eval",
    "compile",
    "getattr",
    "setattr",
    "delattr",
    "globals",
    "locals",
    "vars",
    "breakpoint",
    "input",
    "os",
    "io",
    "codecs",
    "subprocess",
    "shutil",
    "pathlib",
    "Path",
    "tempfile",
    "ctypes",
    "builtins",
    "importlib",
    "socket",
    "requests",
    "urlopen",
    "http",
    "sqlite3",
    "pickle",
    "system",
    "popen",
    "threading",
    "multiprocessing",
    "asyncio",
    "stdin",
    "modules",
    "settrace",
    "setprofile",
    "addaudithook",
    "meta_path",
    "path_hooks",
];

/// Names of harmless modules that lead out of them or write.
const LEADS_OUT: &[&str] = &[
    "DataSource",
    "ctypeslib",
    "displayhook",
    "distutils",
    "dump",
    "excepthook",
    "f2py",
    "inspect",
    "lib",
    "linecache",
    "memmap",
    "open_memmap",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "test",
    "testing",
    "tofile",
    "warnings",
    "writer",
];

/// Names with an underscore in front that say nothing about a way out.
const PLAIN_HIDDEN: &[&str] = &[
    "_",
    "__name__",
    "__main__",
    "__future__",
    "__init__",
    "__version__",
    "__repr__",
    "__str__",
    "__eq__",
    "__len__",
    "__file__",
    "__doc__",
];

/// Calls that change only values in memory, though their names sound like more.
const IN_MEMORY: &[&str] = &[
    "append",
    "insert",
    "add",
    "replace",
    "copy",
    "set",
    "type",
    "sort_order",
    "order",
    "import",
    "return",
    "put",
    "open",
];

/// What a snippet does.
pub(super) fn tally(code: &str) -> Tally {
    let Some(bare) = Bare::of(code) else { return Tally::opaque() };
    let mut tally = if only_computes(&bare.code) {
        Tally::default()
    } else if is_trial(&bare.code) {
        let mut tally = Tally::default();
        tally.test();
        tally
    } else {
        return Tally::opaque();
    };
    bare.reads.iter().for_each(|path| tally.touch(path));
    tally
}

/// What code does in a session of an interpreter, where names may stand for what came before it.
pub(super) fn tally_in_session(code: &str) -> Tally {
    let Some(bare) = Bare::of(code) else { return Tally::opaque() };
    if !session::binds_its_names(&bare.code) {
        return if is_trial(&bare.code) { tally(code) } else { Tally::opaque() };
    }
    let mut tally = tally(code);
    session::add_writes(code, &bare, &mut tally);
    tally
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The modules that a snippet imports; `None` where an import is not understood.
fn imports(code: &str) -> Option<Vec<&str>> {
    let mut modules = Vec::new();
    let mut seen = 0_usize;
    for line in code.split(['\n', ';', ':']) {
        let statement = line.trim();
        if let Some(list) = statement.strip_prefix("import ") {
            modules
                .extend(list.split(',').map(|module| module.split_whitespace().next().unwrap_or_default()));
            seen += 1;
        } else if let Some((module, _)) =
            statement.strip_prefix("from ").and_then(|from| from.split_once(" import "))
        {
            modules.push(module.trim());
            seen += 1;
        }
    }
    (words(code).filter(|word| *word == "import").count() == seen).then_some(modules)
}

fn only_computes(code: &str) -> bool {
    let hidden = |word: &str| word.starts_with('_') && !PLAIN_HIDDEN.contains(&word);
    imports(code).is_some_and(|modules| modules.iter().all(|module| MODULES.contains(module)))
        && !code.contains("import *")
        && !words(code).any(|word| hidden(word) || REACHES.contains(&word) || LEADS_OUT.contains(&word))
}

/// Whether a snippet only tries out code that it imports: it shows something, reaches for nothing, and calls
/// nothing whose name says that it changes something.
fn is_trial(code: &str) -> bool {
    let shows = words(code).any(|word| matches!(word, "print" | "assert" | "pprint"));
    let reaches = words(code).any(|word| {
        REACHES.contains(&word) || (word.starts_with("__") && !PLAIN_HIDDEN.contains(&word)) || word == "main"
    });
    let known = imports(code).is_some_and(|modules| !modules.iter().any(|module| REACHES.contains(module)));
    let changes = code.match_indices('(').any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        !IN_MEMORY.contains(&name) && words_of(name).iter().any(|word| is_change(word) || is_command(word))
    });
    shows && known && !reaches && !changes
}

/// Words that start something, beside those that change something.
fn is_command(word: &str) -> bool {
    matches!(
        word,
        "run"
            | "execute"
            | "migrate"
            | "call"
            | "main"
            | "invoke"
            | "spawn"
            | "launch"
            | "build"
            | "dump"
            | "serve"
            | "fix"
    )
}

#[cfg(test)]
mod tests;
