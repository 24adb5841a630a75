//! Behaviour through the facade and the command line, in one test binary.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test makes its own files and keeps its own time")]

mod arrows;
mod cli_bad_input;
mod cli_compact;
mod cli_exit;
mod cli_follow;
mod cli_harness;
mod cli_help;
mod cli_human_keep;
mod cli_human_look;
mod cli_human_record;
mod cli_json;
mod cli_retention_story;
mod cli_story;
mod cli_terminal;
mod containers;
mod crashes;
mod databases;
mod durability;
mod file_system;
mod freeing_crashes;
mod full_disk;
mod histories;
mod imported_summaries;
mod ingest;
mod kill;
mod kill_freeing;
mod life_of_a_span;
mod old_vaults;
mod outside;
mod power_cuts;
mod promises;
mod recorded_disk;
mod recorded_states;
mod retention_story;
mod sealed_damage;
mod side_files;
mod small_world;
mod transcripts;
mod twin;
mod what_keeps;
mod words;
mod world;

#[test]
fn no_file_of_tests_is_forgotten() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("it");
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(
            main.lines().any(|line| line == format!("mod {module};")),
            "{name} is part of no test binary"
        );
    }
}
