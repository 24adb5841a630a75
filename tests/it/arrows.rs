//! The arrows between crates are those of docs/ARCHITECTURE.md, and no arrow turns back.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Each engine crate and every workspace crate that it may depend on outside of tests.
const ALLOWED: &[(&str, &[&str])] = &[
    ("spanvault-types", &[]),
    ("spanvault-env", &["spanvault-types"]),
    ("spanvault-evidence", &["spanvault-types"]),
    ("spanvault-gate", &["spanvault-types"]),
    ("spanvault-import", &["spanvault-types", "spanvault-evidence"]),
    ("spanvault-store", &["spanvault-types", "spanvault-env", "spanvault-gate"]),
    ("spanvault-index", &["spanvault-types", "spanvault-env"]),
    (
        "spanvault",
        &[
            "spanvault-types",
            "spanvault-env",
            "spanvault-evidence",
            "spanvault-gate",
            "spanvault-import",
            "spanvault-store",
            "spanvault-index",
        ],
    ),
];

#[test]
fn no_crate_depends_on_what_it_must_not_know() {
    let arrows = arrows();
    for (name, allowed) in ALLOWED {
        let found = arrows.get(*name).unwrap_or_else(|| panic!("{name} is a member of the workspace"));
        for target in found {
            assert!(allowed.contains(&target.as_str()), "{name} depends on {target}, which it must not know");
        }
    }
}

#[test]
fn every_crate_under_crates_has_its_row_here_or_is_an_edge() {
    let edges = ["spanvault-cli", "spanvault-testkit", "spanvault-tests", "spanvault-benches"];
    for name in arrows().keys() {
        let has_row = ALLOWED.iter().any(|(known, _targets)| known == name);
        assert!(has_row || edges.contains(&name.as_str()), "say which crates {name} may know");
    }
}

/// Workspace crate -> workspace crates that it depends on outside of tests.
fn arrows() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .output()
        .expect("cargo metadata runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned).expect("a string");
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let targets = dependencies
                .iter()
                .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
                .map(|dependency| text(&dependency["name"]))
                .filter(|name| name == "spanvault" || name.starts_with("spanvault-"))
                .collect();
            (text(&package["name"]), targets)
        })
        .collect()
}
