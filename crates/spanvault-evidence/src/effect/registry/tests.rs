use serde_json::{Value, json};
use spanvault_types::Call;

use super::*;
use crate::{CallEffect, Effect, effect_of};

fn extended(file: &Value) -> Registry {
    Registry::extended(&file.to_string()).expect("a file that adds tools")
}

fn refused(text: &str) -> RegistryError {
    Registry::extended(text).expect_err("a file that adds nothing")
}

fn read(registry: &Registry, tool: &str, args: Value) -> CallEffect {
    effect_of(&Call { id: None, tool: tool.to_owned(), args }, registry)
}

#[test]
fn the_registry_reads_and_names_every_tool_once() {
    let file: File = serde_json::from_str(include_str!("tools.json")).unwrap();
    let names: usize = file.runtimes.iter().map(|runtime| runtime.tools.len()).sum();
    assert_eq!(names, TOOLS.len());
    assert!(TOOLS.values().all(|tool| tool.effect != Deed::Mutates || !tool.writes.is_empty()));
    assert!(TOOLS.values().all(|tool| tool.lowers.is_none()));
}

#[test]
fn a_file_says_what_an_unknown_tool_does() {
    let registry = extended(&json!({"version": 1, "about": "our own", "tools": {
        "frobnicate": {"effect": "reads", "paths": ["where"], "content": true},
        "provision": {"effect": "external"},
        "run_step": {"effect": "shell", "command": "line"},
        "note": {"effect": "mutates", "writes": ["to"],
                 "when": {"how": {"peek": {"effect": "reads", "paths": ["to"]}}}},
    }}));
    assert_eq!(read(Registry::built_in(), "frobnicate", json!({"where": "/a"})).effect, Effect::Opaque);
    let looked = read(&registry, "mcp__ours__frobnicate", json!({"where": "/a"}));
    assert_eq!((looked.effect, looked.paths), (Effect::Reads, vec!["/a".to_owned()]));
    assert_eq!(read(&registry, "provision", json!({})).effect, Effect::External);
    assert_eq!(read(&registry, "run_step", json!({"line": "rm /x"})).writes, ["/x"]);
    assert_eq!(read(&registry, "note", json!({"to": "/n"})).effect, Effect::Mutates);
    assert_eq!(read(&registry, "note", json!({"to": "/n", "how": "peek"})).effect, Effect::Reads);
    assert_eq!(registry.lowered(), []);
}

#[test]
fn a_known_side_effect_is_lowered_only_with_a_reason_and_then_it_is_listed() {
    for (tool, known) in [
        ("Bash", "shell"),
        ("Write", "mutates"),
        ("send_email", "external"),
        ("delete_everything", "mutates"),
        ("Task", "opaque"),
        ("mcp__mail__send_email", "external"),
    ] {
        let file = json!({"version": 1, "tools": {"x": {"effect": "reads"}, tool: {"effect": "reads"}}});
        let error = refused(&serde_json::to_string_pretty(&file).unwrap());
        assert!(error.what.contains(&format!("`{tool}` is known as {known}")), "{error}");
    }
    let reasoned = json!({"version": 1, "tools": {
        "send_email": {"effect": "reads", "lowers": "goes to a sink in our tests"},
    }});
    let registry = extended(&reasoned);
    assert_eq!(read(&registry, "send_email", json!({})).effect, Effect::Reads);
    let [lowered] = registry.lowered() else { panic!("one tool is lowered") };
    assert_eq!((lowered.tool.as_str(), lowered.known, lowered.reads_as), ("send_email", "external", "reads"));
    assert_eq!(lowered.reason, "goes to a sink in our tests");
}

#[test]
fn a_reading_for_a_value_of_an_argument_lowers_as_much_as_an_entry_does() {
    let file = |reading: Value| json!({"version": 1, "tools": {"send_email": {"effect": "external", "when": {"mode": {"now": reading}}}}});
    let error = refused(&file(json!({"effect": "reads"})).to_string());
    assert!(error.what.contains("known as external and would read as reads"), "{error}");
    extended(&file(json!({"effect": "opaque"})));
    let view = json!({"version": 1, "tools": {"str_replace_editor": {"effect": "mutates", "writes": ["path"],
        "when": {"command": {"view": {"effect": "reads"}}}}}});
    extended(&view);
}

#[test]
fn a_known_tool_may_be_said_to_do_more() {
    let registry = extended(&json!({"version": 1, "tools": {"Read": {"effect": "external"}}}));
    assert_eq!(read(&registry, "Read", json!({"file_path": "/a"})).effect, Effect::External);
}

#[test]
fn hints_of_a_server_are_taken_and_never_lower_a_known_side_effect() {
    let registry = extended(&json!({"version": 1, "mcp": {"crm": {"tools": [
        {"name": "frob", "description": "…", "annotations": {"title": "Frob", "readOnlyHint": true}},
        {"name": "grok_it", "annotations": {"readOnlyHint": false, "destructiveHint": false}},
        {"name": "delete_account", "annotations": {"readOnlyHint": true}},
        {"name": "get_account", "annotations": {"destructiveHint": true}},
        {"name": "wibble"},
    ]}}}));
    let effect = |name: &str| read(&registry, &format!("mcp__crm__{name}"), json!({})).effect;
    assert_eq!(effect("frob"), Effect::Reads);
    assert_eq!(effect("grok_it"), Effect::External);
    assert_eq!(effect("delete_account"), Effect::External, "a hint is no reason");
    assert_eq!(effect("get_account"), Effect::External);
    assert_eq!(effect("wibble"), Effect::Opaque);
    assert_eq!(read(&registry, "frob", json!({})).effect, Effect::Opaque, "it is a tool of that server");
}

#[test]
fn an_error_names_the_line() {
    let text = |lines: &[&str]| lines.join("\n");
    let cases = [
        (text(&["{", "  \"version\": 2", "}"]), 2, "version 2 is not known"),
        (text(&["{", "  \"tools\": {}", "}"]), 3, "missing field `version`"),
        (text(&["{ \"version\": 1,", "", "  \"tool\": {} }"]), 3, "unknown field `tool`"),
        (
            text(&[
                "{ \"version\": 1, \"tools\": {",
                "  \"a\": { \"effect\": \"reads\" },",
                "  \"b\": { \"effect\": \"harmless\" } } }",
            ]),
            3,
            "unknown variant `harmless`",
        ),
        (
            text(&[
                "{ \"version\": 1, \"tools\": {",
                "  \"a\": { \"effect\": \"reads\" },",
                "  \"a\": { \"effect\": \"reads\" } } }",
            ]),
            3,
            "`a` stands here a second time",
        ),
        (
            text(&[
                "{ \"version\": 1, \"tools\": {",
                "  \"a\": { \"effect\": \"reads\" },",
                "  \"Write\": { \"effect\": \"reads\" } } }",
            ]),
            3,
            "`Write` is known as mutates",
        ),
        (
            text(&["{ \"version\": 1, \"tools\": {", "  \"a\": { \"effect\": \"mutates\" } } }"]),
            2,
            "names the arguments that it writes to",
        ),
        (
            text(&["{ \"version\": 1, \"tools\": {", "  \"a\": { \"effect\": \"shell\" } } }"]),
            2,
            "`command` stands beside shell",
        ),
        (
            text(&[
                "{ \"version\": 1, \"tools\": {",
                "  \"a\": { \"effect\": \"reads\", \"lowers\": \"so\" } } }",
            ]),
            2,
            "nothing is lowered",
        ),
        ("nonsense".to_owned(), 1, "expected"),
    ];
    for (text, line, what) in cases {
        let error = refused(&text);
        assert!(error.line == line && error.what.contains(what), "{text}\n{error}");
    }
}
