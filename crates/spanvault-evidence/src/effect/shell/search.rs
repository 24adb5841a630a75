//! Commands that look for files or in them, and the names that they give to the next command.

use super::command::{self, Arg, Command, Input, Options, Part};
use super::reader::Reader;

/// The names that a listing of `roots` gives: all lie under them, or under the directory where none is named.
pub(super) fn names_under<'a>(reader: &Reader, roots: impl Iterator<Item = &'a Arg>) -> Input {
    let mut names = Vec::new();
    for root in roots {
        if !root.certain {
            return Input::Stream;
        }
        names.push(root.text.clone());
    }
    if names.is_empty() {
        names.push(".".into());
    }
    let resolved: Option<Vec<String>> = names.iter().map(|name| reader.path(name)).collect();
    resolved.map_or(Input::Stream, Input::Names)
}

/// `grep PATTERN FILE…`: with `-l` it gives names.
pub(super) fn grep(reader: &mut Reader, args: &[Arg]) -> Input {
    const VALUES: &[&str] = &[
        "-e",
        "-f",
        "-m",
        "-A",
        "-B",
        "-C",
        "-d",
        "-D",
        "-g",
        "-t",
        "-T",
        "-j",
        "-r",
        "--include",
        "--exclude",
        "--exclude-dir",
        "--regexp",
        "--file",
        "--glob",
        "--type",
        "--max-count",
        "--color",
        "--context",
        "--after-context",
        "--before-context",
    ];
    // `-r` takes a value in ripgrep only; elsewhere it means *recursive*.
    let values: Vec<&str> = VALUES.iter().copied().filter(|value| *value != "-r").collect();
    let mut pattern_given = false;
    let mut gives_names = false;
    let mut roots = Vec::new();
    for part in Options::new(args, &values) {
        match part {
            Part::Option("-e" | "-f" | "--regexp" | "--file", _) => pattern_given = true,
            Part::Option("--files", _) => {
                pattern_given = true;
                gives_names = true;
            }
            Part::Option("--files-with-matches" | "--files-without-match", _) => gives_names = true,
            Part::Option("--pre" | "--pager", _) => reader.tally.hide(),
            Part::Option(option, _) if option.starts_with("--") => {}
            Part::Option(option, _) => gives_names |= option.contains(['l', 'L']),
            Part::Operand(_) if !pattern_given => pattern_given = true,
            Part::Operand(operand) => {
                reader.touch(&operand.text);
                roots.push(operand);
            }
        }
    }
    if gives_names { names_under(reader, roots.into_iter()) } else { Input::Stream }
}

/// `find ROOT… EXPRESSION`: the names that it gives, and what its actions do under its roots.
pub(super) fn find(reader: &mut Reader, args: &[Arg]) -> Input {
    let expression = args
        .iter()
        .position(|arg| {
            arg.text.starts_with(['-', '(', '!']) && !matches!(arg.text.as_str(), "-H" | "-L" | "-P")
        })
        .unwrap_or(args.len());
    let (roots, actions) = args.split_at(expression);
    let mut roots: Vec<Arg> = roots.iter().filter(|arg| !arg.text.starts_with('-')).cloned().collect();
    if roots.is_empty() {
        roots.push(Arg::certain("."));
    }
    for root in &roots {
        reader.touch(&root.text);
    }
    let mut at = 0;
    while let Some(action) = actions.get(at) {
        at += 1;
        match action.text.as_str() {
            "-delete" => roots.iter().for_each(|root| reader.write(root)),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => match actions.get(at) {
                Some(file) => reader.write(file),
                None => reader.tally.hide(),
            },
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = actions.get(at..).unwrap_or_default();
                let end =
                    rest.iter().position(|arg| arg.text == ";" || arg.text == "+").unwrap_or(rest.len());
                let mut args = Vec::new();
                for arg in rest.get(..end).unwrap_or_default() {
                    if arg.text.contains("{}") {
                        let each = |root: &Arg| Arg {
                            text: arg.text.replace("{}", &root.text),
                            pattern: true,
                            ..root.clone()
                        };
                        args.extend(roots.iter().map(each));
                    } else {
                        args.push(arg.clone());
                    }
                }
                command::run(reader, &Command { args, input: Input::Nothing });
                at += end + 1;
            }
            _ => {}
        }
    }
    names_under(reader, roots.iter())
}

/// `fd PATTERN [ROOT…]`, whose `-x` runs a command.
pub(super) fn fd(reader: &mut Reader, args: &[Arg]) -> Input {
    const VALUES: &[&str] = &["-e", "-t", "-d", "-E", "--extension", "--type", "--max-depth", "--exclude"];
    let mut operands = Vec::new();
    for part in Options::new(args, VALUES) {
        match part {
            Part::Option("-x" | "-X" | "--exec" | "--exec-batch", _) => {
                reader.tally.hide();
                return Input::Stream;
            }
            Part::Option(..) => {}
            Part::Operand(operand) => operands.push(operand),
        }
    }
    let roots = operands.get(1..).unwrap_or_default();
    for root in roots {
        reader.touch(&root.text);
    }
    names_under(reader, roots.iter().copied())
}
