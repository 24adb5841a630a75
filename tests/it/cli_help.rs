//! What the program says about itself.

use snapbox::{Data, assert_data_eq};

use crate::cli_harness::{Sandbox, program};

/// Every command and what stands under it, by the words that name it.
fn commands() -> Vec<Vec<String>> {
    fn collect(command: &clap::Command, name: &[String], found: &mut Vec<Vec<String>>) {
        for inner in command.get_subcommands() {
            let name: Vec<String> = name.iter().cloned().chain([inner.get_name().to_owned()]).collect();
            collect(inner, &name, found);
            found.push(name);
        }
    }
    let mut found = vec![Vec::new()];
    collect(&spanvault_cli::command(), &[], &mut found);
    found
}

/// Writes the files anew where `SNAPSHOTS=overwrite` is set.
#[test]
fn the_help_of_every_command_is_as_it_was_read_last() {
    for name in commands() {
        let output = program().args(&name).arg("--help").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name:?}");
        let file = if name.is_empty() { "spanvault".to_owned() } else { name.join("-") };
        let path = format!("{}/it/help/{file}.txt", env!("CARGO_MANIFEST_DIR"));
        let known = Data::read_from(path.as_ref(), None);
        assert_data_eq!(String::from_utf8(output.stdout).unwrap(), known.raw());
    }
}

#[test]
fn no_help_is_left_of_a_command_that_is_gone() {
    let names: Vec<String> = commands().iter().map(|name| name.join("-")).collect();
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("it/help");
    for entry in std::fs::read_dir(dir).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.strip_suffix(".txt").unwrap_or(&file);
        assert!(name == "spanvault" || names.iter().any(|known| known == name), "{file}");
    }
}

#[test]
fn without_a_command_the_help_goes_to_the_errors() {
    let ran = Sandbox::new().run::<&str>(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("Record and compact:"), "{}", ran.err);
}

#[test]
fn every_shell_gets_completions_and_every_command_a_manual_page() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(sandbox.ok(&["completions", shell]).out.contains("ingest"), "{shell}");
    }
    for name in commands() {
        let args: Vec<String> = ["man".to_owned()].into_iter().chain(name.iter().cloned()).collect();
        let page = sandbox.ok(&args).out;
        assert!(page.contains(".TH spanvault"), "{name:?}");
    }
    assert_eq!(sandbox.run(&["man", "nonsense"]).code, 2);
}

#[test]
fn a_misspelt_command_is_answered_with_the_nearest_one() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["recovr", "s1"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("recover"), "{}", ran.err);
    let error = sandbox.run(&["--json", "recovr", "s1"]).error();
    assert_eq!(error["kind"], "Invalid");
    assert!(error["hint"].as_str().unwrap().contains("recover"), "{error}");
}
