//! Tools that no registry knows, read by the verbs in their names. Fails closed.

use serde_json::Value;

use super::registry::own_name;
use super::strings_of;
use super::tally::Tally;
use crate::CallEffect;

/// Verbs that only look.
const LOOKS: &[&str] = &[
    "get",
    "list",
    "read",
    "find",
    "search",
    "view",
    "show",
    "describe",
    "count",
    "lookup",
    "fetch",
    "check",
    "calculate",
    "compute",
    "is",
    "has",
    "can",
    "validate",
    "verify",
    "inspect",
    "look",
    "browse",
    "retrieve",
    "preview",
    "summarize",
    "analyze",
    "compare",
    "explain",
    "ls",
    "cat",
    "grep",
    "glob",
    "head",
    "tail",
    "stat",
    "status",
    "info",
    "help",
    "think",
    "query",
    "lint",
    "diff",
    "translate",
    "estimate",
    "predict",
    "parse",
    "classify",
    "recommend",
    "suggest",
    "detect",
    "identify",
    "determine",
    "decode",
    "encode",
];

/// What `generate_…` makes out of nothing and hands back.
const MADE_UP: &[&str] = &["random", "password", "uuid", "number", "numbers"];

/// Verbs that change something, wherever they stand in a name.
const CHANGES: &[&str] = &[
    "create",
    "update",
    "delete",
    "remove",
    "send",
    "post",
    "put",
    "patch",
    "write",
    "edit",
    "modify",
    "set",
    "add",
    "insert",
    "append",
    "replace",
    "rename",
    "move",
    "copy",
    "upload",
    "publish",
    "deploy",
    "install",
    "uninstall",
    "book",
    "reserve",
    "cancel",
    "return",
    "exchange",
    "buy",
    "purchase",
    "order",
    "pay",
    "transfer",
    "refund",
    "invite",
    "share",
    "grant",
    "revoke",
    "enable",
    "disable",
    "toggle",
    "reset",
    "restart",
    "reboot",
    "start",
    "stop",
    "kill",
    "merge",
    "push",
    "commit",
    "approve",
    "reject",
    "assign",
    "close",
    "reopen",
    "open",
    "schedule",
    "submit",
    "register",
    "subscribe",
    "unsubscribe",
    "save",
    "store",
    "sync",
    "import",
    "archive",
    "restore",
    "lock",
    "unlock",
    "mark",
    "reply",
    "forward",
    "suspend",
    "resume",
    "disconnect",
    "connect",
    "click",
    "type",
    "fill",
    "press",
    "drag",
    "make",
    "change",
    "clear",
    "apply",
    "trigger",
];

/// Changes whose name is a verb and nothing else: after a verb that looks they say what is done with what was found.
const NEVER_NOUNS: &[&str] =
    &["delete", "remove", "write", "create", "insert", "append", "modify", "send", "destroy"];

/// Verbs that look and ask whether something may be done: what they go on with is not done.
const ASKS: &[&str] = &["is", "has", "can", "check", "validate", "verify"];

/// Changes whose path argument is a file.
const FILE_CHANGES: &[&str] = &[
    "write", "edit", "create", "append", "insert", "replace", "delete", "remove", "patch", "save", "update",
    "modify",
];

/// Whether a word of a name says that something is changed.
pub(super) fn is_change(word: &str) -> bool {
    CHANGES.contains(&word)
}

/// Whether the name of a tool says that it changes files.
pub(super) fn changes_files(tool: &str) -> bool {
    let words = words_of(own_name(tool));
    words.iter().find(|word| is_change(word)).is_some_and(|verb| FILE_CHANGES.contains(&verb.as_str()))
}

/// What `run_…` runs when it only checks.
const CHECKS: &[&str] = &["test", "tests", "lint", "linter", "build", "checks"];

/// Arguments that name a file.
const PATH_ARGS: &[&str] = &[
    "path",
    "file_path",
    "filepath",
    "filePath",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "notebook_path",
];

/// What a tool with this name does. Its name must begin with a verb that looks, and must not go on with
/// `and` or `or`, or with a verb that changes, to be read as reading; a name without a known verb is opaque.
pub(super) fn effect_of_unknown(tool: &str, args: &Value) -> CallEffect {
    let words = words_of(own_name(tool));
    let mut tally = Tally::default();
    let looks = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // To check in is to do something.
        [] | ["check", "in" | "out", ..] => false,
        ["generate", made, ..] => MADE_UP.contains(made),
        [first, ..] => LOOKS.contains(first),
    };
    let asks = words.first().is_some_and(|first| ASKS.contains(&first.as_str()));
    let goes_on = words
        .iter()
        .skip(1)
        .map(String::as_str)
        .any(|word| ["and", "or", "then"].contains(&word) || (!asks && NEVER_NOUNS.contains(&word)));
    if looks && !goes_on && !has_method_that_changes(args) {
        for name in PATH_ARGS {
            strings_of(args.get(*name), &mut |path| tally.touch(path));
        }
        return tally.into_effect();
    }
    if let Some(verb) = words.iter().find(|word| is_change(word)) {
        let mut written = false;
        if FILE_CHANGES.contains(&verb.as_str()) {
            for name in PATH_ARGS {
                strings_of(args.get(*name), &mut |path| {
                    tally.write(path);
                    written = true;
                });
            }
        }
        if !written {
            tally.act_outside();
        }
        return tally.into_effect();
    }
    if matches!(words.as_slice(), [run, .., last] if run == "run" && CHECKS.contains(&last.as_str())) {
        tally.test();
        return tally.into_effect();
    }
    for name in PATH_ARGS {
        strings_of(args.get(*name), &mut |path| tally.touch(path));
    }
    tally.hide();
    tally.into_effect()
}

/// Whether an argument says that a request is to change something.
fn has_method_that_changes(args: &Value) -> bool {
    let method = args.get("method").and_then(Value::as_str).unwrap_or("GET");
    !["GET", "HEAD", "OPTIONS"].iter().any(|reads| reads.eq_ignore_ascii_case(method))
}

/// The words of a name in snake, kebab, dotted or camel case, in lower case.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous_lower = false;
    let mut fresh = true;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || (previous_lower && c.is_uppercase()) {
            words.push(String::new());
            fresh = false;
        }
        previous_lower = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}
