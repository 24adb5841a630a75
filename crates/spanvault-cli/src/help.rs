//! The help of the whole program, with the commands in the order in which a vault is lived with.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::failure::ErrorResponse;

/// Every command, in the group of what it is for.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Record and compact", &["ingest", "compact", "context", "checkpoint"]),
    ("Look", &["sessions", "spans", "show", "recover", "restore", "expand", "why"]),
    ("Ask", &["ask", "audit", "replay", "check", "executed"]),
    ("Keep and let go", &["demand", "hold", "retention", "policy", "tier", "reclaim"]),
    ("Account", &["refusals", "capacity", "stats", "health", "log"]),
    ("Look after", &["verify", "rebuild", "confirm-clock"]),
    ("This program", &["completions", "man", "help"]),
];

/// Gives a command line its help with groups.
pub(crate) fn grouped(command: Command) -> Command {
    let styles = command.get_styles().clone();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, names) in GROUPS {
        text.push_str(&format!("\n{header}{group}:{header:#}\n"));
        for name in *names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None if *name == "help" => "Print the help of a command".to_owned(),
                None => continue,
            };
            text.push_str(&format!("  {literal}{name:<14}{literal:#} {about}\n"));
        }
    }
    text.push_str(&format!("\n{header}Global options:{header:#}\n"));
    for argument in command.get_arguments() {
        let long = argument.get_long().unwrap_or_default();
        let value = argument.get_value_names().and_then(<[_]>::first).map(|name| format!(" <{name}>"));
        let name = format!("--{long}{}", value.unwrap_or_default());
        let about = argument.get_help().map(ToString::to_string).unwrap_or_default();
        text.push_str(&format!("  {literal}{name:<14}{literal:#} {about}\n"));
    }
    text.push_str(&format!(
        "\n{header}Exit codes:{header:#}\n  \
         0 ok: 0 ok, 1 failure, 2 usage, 3 not found, 4 refused, 5 insufficient evidence, 6 corrupt, 7 busy"
    ));
    command.help_template(StyledStr::from(text))
}

/// A usage error as programs read it.
pub(crate) fn usage_error(error: &clap::Error) -> ErrorResponse {
    let text = error.render().to_string();
    let said = text.split("\n\n").next().unwrap_or(&text);
    let said: Vec<&str> = said.trim_start_matches("error: ").lines().map(str::trim).collect();
    let tips = [ContextKind::Suggested, ContextKind::Usage].into_iter().filter_map(|kind| error.get(kind));
    let hint = tips.map(tip).find(|tip| !tip.is_empty());
    ErrorResponse { error: said.join(" "), kind: "Invalid", hint, pid: None, tombstone: None }
}

fn tip(value: &ContextValue) -> String {
    match value {
        ContextValue::StyledStrs(tips) => tips.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        ContextValue::StyledStr(usage) => usage.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
        _other => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let command = crate::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_group, names)| *names).copied().collect();
        grouped.sort_unstable();
        let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn every_command_has_a_line_an_explanation_and_an_example() {
        fn check(command: &Command, name: &str) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && !about.ends_with('.') && about.len() <= 78, "{name}: {about:?}");
            let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                example.starts_with("Example") && example.contains("  spanvault "),
                "{name}: {example:?}"
            );
            for inner in command.get_subcommands() {
                check(inner, &format!("{name} {}", inner.get_name()));
            }
        }
        for command in crate::command().get_subcommands() {
            check(command, command.get_name());
        }
    }
}
