//! The help of the whole program, with the commands in the order in which a vault is lived with.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::failure::ErrorResponse;

/// Every command, in the group of what it is for.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Record and compact", &["ingest", "compact", "context", "checkpoint"]),
    ("Look", &["sessions", "spans", "show", "recover", "restore", "expand", "assess", "why"]),
    ("Ask", &["ask", "audit", "replay", "check", "executed"]),
    ("Keep and let go", &["demand", "hold", "retention", "policy", "tier", "reclaim"]),
    ("Account", &["refusals", "capacity", "stats", "health", "registry", "log"]),
    ("Look after", &["verify", "rebuild", "confirm-clock"]),
    ("This program", &["completions", "man", "help"]),
];

/// Gives a command line its help with groups.
pub(crate) fn grouped(command: Command) -> Command {
    let styles = command.get_styles().clone();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let heading = |text: &str| format!("\n{header}{text}:{header:#}");
    let row = |name: &str, about: &str| format!("  {literal}{name:<14}{literal:#} {about}");
    let mut lines = vec!["{about-with-newline}".to_owned(), "{usage-heading} {usage}".to_owned()];
    for (group, names) in GROUPS {
        lines.push(heading(group));
        lines.extend(names.iter().map(|name| {
            // "help" is made by clap, and not before the arguments are read.
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            row(name, about.as_deref().unwrap_or("Print the help of a command"))
        }));
    }
    lines.push(heading("Global options"));
    for argument in command.get_arguments() {
        let takes_value = argument.get_action().takes_values();
        let value = argument.get_value_names().filter(|_names| takes_value).and_then(<[_]>::first);
        let long = argument.get_long().unwrap_or_default();
        let name = value.map_or_else(|| format!("--{long}"), |value| format!("--{long} <{value}>"));
        lines.push(row(&name, &argument.get_help().map(ToString::to_string).unwrap_or_default()));
    }
    lines.push(heading("Exit codes"));
    lines.push(EXIT_CODES.to_owned());
    command.help_template(StyledStr::from(lines.join("\n")))
}

const EXIT_CODES: &str =
    "  0 ok, 1 failure, 2 usage, 3 not found, 4 refused, 5 insufficient evidence, 6 corrupt, 7 busy";

/// A usage error as programs read it.
pub(crate) fn usage_error(error: &clap::Error) -> ErrorResponse {
    let text = error.render().to_string();
    let said = text.split("\n\n").next().unwrap_or(&text);
    let said: Vec<&str> = said.trim_start_matches("error: ").lines().map(str::trim).collect();
    let tips = [
        ContextKind::Suggested,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::Usage,
    ]
    .into_iter()
    .filter_map(|kind| error.get(kind));
    let hint = tips.map(tip).find(|tip| !tip.is_empty());
    let hint = hint.or_else(|| Some("\"--help\" after a command explains it".to_owned()));
    ErrorResponse { error: said.join(" "), kind: "Invalid", hint, pid: None, tombstone: None }
}

fn tip(value: &ContextValue) -> String {
    match value {
        ContextValue::StyledStrs(tips) => tips.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        ContextValue::StyledStr(usage) => usage.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
        ContextValue::String(name) => format!("did you mean {name:?}?"),
        ContextValue::Strings(names) => format!("did you mean {}?", crate::output::joined(names, "nothing")),
        ContextValue::None | ContextValue::Bool(_) | ContextValue::Number(_) | _ => String::new(),
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
