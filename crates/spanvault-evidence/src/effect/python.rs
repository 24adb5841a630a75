//! Whether a snippet of Python only computes and prints.
//!
//! No interpreter: a list of what is harmless. A snippet that imports only modules which cannot change anything
//! and uses no name through which something else could be reached reads; every other snippet is opaque.

use super::tally::Tally;

/// Modules from which nothing that writes can be reached by a public name.
const MODULES: &[&str] = &[
    "math",
    "cmath",
    "re",
    "json",
    "string",
    "itertools",
    "functools",
    "collections",
    "datetime",
    "decimal",
    "fractions",
    "statistics",
    "textwrap",
    "unicodedata",
    "difflib",
    "operator",
    "numpy",
    "typing",
    "enum",
    "dataclasses",
    "base64",
    "hashlib",
    "copy",
    "time",
    "random",
    "struct",
    "pprint",
    "bisect",
    "heapq",
    "abc",
    "numbers",
    "calendar",
    "uuid",
    "html",
    "zlib",
    "binascii",
    "sys",
    "__future__",
    "contextlib",
    "types",
    "secrets",
    "hmac",
    "keyword",
    "colorsys",
    "ipaddress",
    "urllib.parse",
    "locale",
];

/// Names that reach beyond computing, wherever they stand in the code.
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
    "modules",
    "ctypes",
    "builtins",
    "importlib",
    "socket",
    "pickle",
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "tofile",
    "memmap",
    "fromfile",
    "load",
    "loadtxt",
    "genfromtxt",
    "dump",
    "DataSource",
    "f2py",
    "ctypeslib",
    "testing",
    "test",
    "distutils",
    "lib",
    "setprofile",
    "settrace",
    "addaudithook",
    "path_hooks",
    "meta_path",
    "displayhook",
    "excepthook",
    "unraisablehook",
    "breakpointhook",
    "stdin",
    "import_module",
    "find_loader",
    "warnings",
    "linecache",
    "inspect",
    "tempfile",
    "threading",
    "multiprocessing",
    "asyncio",
    "http",
    "urlopen",
    "system",
    "popen",
    "open_memmap",
];

/// What a snippet does.
pub(super) fn tally(code: &str) -> Tally {
    if only_computes(code) { Tally::default() } else { Tally::opaque() }
}

fn only_computes(code: &str) -> bool {
    let Some(bare) = without_text(code) else { return false };
    for line in bare.split(['\n', ';']) {
        let line = line.trim();
        // After a colon: `if x: import os`.
        let statement = line.rsplit(':').next().unwrap_or(line).trim();
        for statement in [line, statement] {
            if let Some(modules) = statement.strip_prefix("import ") {
                let known = |module: &str| {
                    let name = module.split_whitespace().next().unwrap_or_default();
                    MODULES.contains(&name)
                };
                if !modules.split(',').all(known) {
                    return false;
                }
            } else if let Some(from) = statement.strip_prefix("from ") {
                let module = from.split_whitespace().next().unwrap_or_default();
                if !MODULES.contains(&module) || from.contains('*') {
                    return false;
                }
            }
        }
    }
    let words = bare.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut imports = 0_usize;
    for word in words {
        let hidden = word.starts_with('_')
            && !matches!(
                word,
                "_" | "__name__"
                    | "__main__"
                    | "__future__"
                    | "__init__"
                    | "__version__"
                    | "__repr__"
                    | "__str__"
                    | "__eq__"
                    | "__len__"
            );
        if hidden || REACHES.contains(&word) {
            return false;
        }
        imports += usize::from(word == "import");
    }
    // Every import must have been seen at the start of a statement.
    let seen = bare
        .split(['\n', ';', ':'])
        .map(str::trim)
        .filter(|statement| {
            statement.starts_with("import ")
                || (statement.starts_with("from ") && statement.contains(" import "))
        })
        .count();
    imports == seen
}

/// The code without comments and the insides of strings; the expressions of f-strings stay. `None` where a
/// string does not end.
fn without_text(code: &str) -> Option<String> {
    let mut bare = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        match c {
            '#' => rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default(),
            '"' | '\'' => {
                let triple: String = std::iter::repeat_n(c, 3).collect();
                let quote = if rest.starts_with(&triple) { triple } else { c.to_string() };
                let inside = rest.get(quote.len()..)?;
                let end = end_of_string(inside, &quote)?;
                let prefix = bare.chars().rev().take(2).collect::<String>().to_ascii_lowercase();
                if prefix.contains('f') {
                    // Whatever the braces hold is code.
                    bare.push(' ');
                    bare.push_str(&expressions(inside.get(..end)?));
                }
                bare.push(' ');
                rest = inside.get(end + quote.len()..)?;
            }
            _ => {
                bare.push(c);
                rest = rest.get(c.len_utf8()..)?;
            }
        }
    }
    Some(bare)
}

fn end_of_string(text: &str, quote: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(quote) {
            return Some(at);
        }
        let c = rest.chars().next()?;
        if c == '\n' && quote.len() == 1 {
            return None;
        }
        at += c.len_utf8();
        if c == '\\' {
            at += text.get(at..)?.chars().next()?.len_utf8();
        }
    }
    None
}

/// The expressions between the braces of an f-string.
fn expressions(text: &str) -> String {
    let mut code = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                code.push(' ');
            }
            _ if depth > 0 => code.push(c),
            _ => {}
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_snippet_without_a_way_out_reads() {
        for reads in [
            "print(1 + 1)",
            "import numpy as np\nprint(np.zeros((2, 2)))",
            "import math, json; print(json.dumps({'a': math.pi}))",
            "# open the file\nprint('open(x)')",
            "x = 'import os'\nprint(f'{x:>10}')",
        ] {
            assert!(only_computes(reads), "{reads}");
        }
        for opaque in [
            "open('x', 'w')",
            "import os",
            "if 1: import os",
            "import math, os",
            "from os import *",
            "__import__('os')",
            "print(f'{open(1)}')",
            "import json; json.codecs.open('x', 'w')",
            "().__class__.__bases__",
            "import numpy as np; np.save('x', 1)",
            "print('unended",
            "x = 1 if 1 else import_it; import re; (lambda: exec)('x')",
        ] {
            assert!(!only_computes(opaque), "{opaque}");
        }
    }
}
