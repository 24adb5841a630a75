//! Every test that docs/INVARIANTS.md names exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory of the workspace") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_test_that_a_promise_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    rust_files(&root.join("crates"), &mut files);
    rust_files(&root.join("tests/it"), &mut files);
    let defined: BTreeSet<String> = files
        .iter()
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("a source file");
            text.lines()
                .filter_map(|line| {
                    line.trim_start().strip_prefix("fn ")?.split('(').next().map(str::to_owned)
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let page = include_str!("../../docs/INVARIANTS.md");
    let is_name = |word: &&str| {
        word.len() > 24 && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let named: Vec<&str> = page.split('`').filter(is_name).collect();
    assert!(named.len() > 80, "{}", named.len());
    for name in named {
        assert!(defined.contains(name), "docs/INVARIANTS.md names a test that does not exist: {name}");
    }
}
