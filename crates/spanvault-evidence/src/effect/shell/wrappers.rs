//! Commands that run another command: `sudo`, `env`, `xargs`, `bash -c` …

use super::command::{self, Arg, Command, Input, Options, Part};
use super::reader::Reader;

/// Counts a wrapper and what it runs; `None` where `name` is no wrapper.
pub(super) fn run(reader: &mut Reader, name: &str, args: &[Arg], input: &Input) -> Option<Input> {
    match name {
        "sudo" => inner(reader, args, &["-u", "-g", "-h", "-p", "-C", "-T", "-D", "-R", "-U"], 0, input),
        "doas" => inner(reader, args, &["-u", "-C"], 0, input),
        "env" => inner(reader, args, &["-u", "--unset", "-C", "--chdir"], 0, input),
        "nohup" | "setsid" | "builtin" | "caffeinate" | "unbuffer" | "chronic" | "noglob" | "nocorrect" => {
            inner(reader, args, &[], 0, input)
        }
        "time" => inner(reader, args, &["-f", "--format"], 0, input),
        "exec" => inner(reader, args, &["-a"], 0, input),
        "nice" => inner(reader, args, &["-n", "--adjustment"], 0, input),
        "ionice" => inner(reader, args, &["-c", "-n", "-p"], 0, input),
        "chrt" | "taskset" => inner(reader, args, &[], 1, input),
        "stdbuf" => inner(reader, args, &["-i", "-o", "-e"], 0, input),
        "timeout" | "gtimeout" => inner(reader, args, &["-s", "--signal", "-k", "--kill-after"], 1, input),
        "flock" => {
            if let Some(lock) = args.iter().find(|arg| !arg.text.starts_with('-')) {
                reader.write(lock);
            }
            inner(reader, args, &["-w", "--timeout", "-E"], 1, input)
        }
        "command" if args.first().is_some_and(|arg| arg.text == "-v" || arg.text == "-V") => {
            Some(Input::Stream)
        }
        "command" => inner(reader, args, &[], 0, input),
        "xvfb-run" | "dbus-run-session" | "strace" | "ltrace" | "gdb" | "watch" | "parallel" | "script"
        | "chroot" | "unshare" | "nsenter" | "su" | "runuser" => {
            reader.tally.hide();
            Some(Input::Stream)
        }
        "xargs" => Some(xargs(reader, args, input)),
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" => Some(shell(reader, args, input)),
        "eval" => Some(eval(reader, args)),
        "trap" => {
            if let Some(script) = args.first().filter(|arg| !arg.text.starts_with('-')) {
                script_in(reader, script);
            }
            Some(Input::Stream)
        }
        "source" | "." => {
            source(reader, args);
            Some(Input::Stream)
        }
        _ => None,
    }
}

/// Runs what follows the options, `skip` operands and assignments of a wrapper.
fn inner(reader: &mut Reader, args: &[Arg], values: &[&str], skip: usize, input: &Input) -> Option<Input> {
    let mut options = Options::new(args, values);
    let mut operands = 0;
    loop {
        let before = options.rest();
        match options.next() {
            Some(Part::Operand(operand)) => {
                let assigns =
                    operand.text.split_once('=').is_some_and(|(name, _)| super::token::is_name(name));
                if operands < skip {
                    operands += 1;
                } else if assigns {
                    if operand.text.split_once('=').is_some_and(|(name, _)| command::loads_code(name)) {
                        reader.tally.hide();
                    }
                } else {
                    // `--` may stand before the command.
                    let from = before.iter().position(|arg| arg.text != "--").unwrap_or(0);
                    let args = before.get(from..).unwrap_or_default().to_vec();
                    return Some(command::run(reader, &Command { args, input: input.clone() }));
                }
            }
            Some(Part::Option("-S" | "--split-string", _)) => {
                reader.tally.hide();
                return Some(Input::Stream);
            }
            Some(Part::Option("-e" | "--edit", _)) if values.contains(&"-U") => {
                // `sudo -e file` edits.
                reader.tally.hide();
            }
            Some(Part::Option(..)) => {}
            None => return Some(Input::Stream),
        }
    }
}

/// `xargs COMMAND …`: the command gets names that the pipe holds.
fn xargs(reader: &mut Reader, args: &[Arg], input: &Input) -> Input {
    const VALUES: &[&str] = &[
        "-I",
        "-n",
        "-P",
        "-L",
        "-d",
        "-E",
        "-s",
        "-a",
        "--max-args",
        "--max-procs",
        "--delimiter",
        "--replace",
        "--arg-file",
    ];
    let mut options = Options::new(args, VALUES);
    let mut replaced: Option<String> = None;
    loop {
        let before = options.rest();
        match options.next() {
            Some(Part::Option("-I" | "--replace", value)) => replaced = value.map(|value| value.text),
            Some(Part::Option(..)) => {}
            Some(Part::Operand(_)) => {
                let names = names_from(input);
                let mut args = Vec::new();
                for arg in before {
                    match &replaced {
                        Some(mark) if arg.text.contains(mark.as_str()) => {
                            args.extend(names.iter().map(|name| Arg {
                                text: arg.text.replace(mark, &name.text),
                                ..name.clone()
                            }));
                        }
                        _ => args.push(arg.clone()),
                    }
                }
                if replaced.is_none() {
                    args.extend(names);
                }
                return command::run(reader, &Command { args, input: Input::Nothing });
            }
            None => return Input::Stream,
        }
    }
}

/// What stands for the names in a pipe: the paths that they lie under, or something unknown.
fn names_from(input: &Input) -> Vec<Arg> {
    match input {
        Input::Names(roots) => roots.iter().map(|root| Arg { pattern: true, ..Arg::certain(root) }).collect(),
        Input::Nothing | Input::Stream | Input::Text { .. } => {
            vec![Arg { text: "…".into(), certain: false, pattern: false }]
        }
    }
}

/// `bash -c SCRIPT`, `bash FILE`, or a script on standard input.
fn shell(reader: &mut Reader, args: &[Arg], input: &Input) -> Input {
    let mut takes_script = false;
    let mut only_checks = false;
    for part in Options::new(args, &["-o", "-O", "--rcfile", "--init-file"]) {
        match part {
            Part::Option(option, _) if !option.starts_with("--") => {
                takes_script |= option.contains('c');
                only_checks |= option.contains('n');
            }
            Part::Option(..) => {}
            Part::Operand(operand) => {
                if takes_script {
                    script_in(reader, operand);
                } else if only_checks {
                    reader.touch(&operand.text);
                    reader.tally.lint();
                } else {
                    super::code::run_file(reader, &operand.text);
                }
                return Input::Stream;
            }
        }
    }
    match input {
        Input::Text { text, literal: true } => reader.read_apart(text),
        Input::Nothing | Input::Stream | Input::Names(_) | Input::Text { .. } => reader.tally.hide(),
    }
    Input::Stream
}

/// A script in an argument.
fn script_in(reader: &mut Reader, arg: &Arg) {
    if arg.certain {
        reader.read_apart(&arg.text);
    } else {
        reader.tally.hide();
    }
}

fn eval(reader: &mut Reader, args: &[Arg]) -> Input {
    if args.iter().all(|arg| arg.certain) {
        let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        reader.read(&words.join(" "));
    } else {
        reader.tally.hide();
    }
    Input::Stream
}

/// Files that only set up an environment, by how they are named.
const SET_UP: &[&str] =
    &["/bin/activate", "nvm.sh", "conda.sh", "cargo/env", ".bashrc", ".zshrc", ".profile", ".bash_profile"];

fn source(reader: &mut Reader, args: &[Arg]) {
    let Some(file) = args.first() else { return };
    reader.touch(&file.text);
    if !file.certain || !SET_UP.iter().any(|end| file.text.ends_with(end)) {
        reader.tally.hide();
    }
}
