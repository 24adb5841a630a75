//! Interpreters and programs that run other people's code.

use super::command::{self, Arg, Command, Input, Options, Part};
use super::reader::Reader;
use crate::effect::python;

/// Counts an interpreter; `None` where `name` is none.
pub(super) fn run(reader: &mut Reader, name: &str, args: &[Arg], input: &Input) -> Option<Input> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match stem {
        "python" | "pypy" => return Some(run_python(reader, args, input)),
        "node" | "deno" | "bun" if is_flagged(args, &["-c", "--check"]) => reader.tally.lint(),
        "node" | "tsx" | "ts-node" | "ruby" | "php" | "perl" | "Rscript" | "lua" => {
            run_other(reader, stem, args);
        }
        "npx" | "bunx" | "uvx" => {
            return Some(run_tool(reader, args, &["-p", "--package", "--from", "--with"]));
        }
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" | "bundle" | "conda" | "mamba" | "rtx"
            if args.first().is_some_and(|arg| arg.text == "run" || arg.text == "exec") =>
        {
            let values = &[
                "-n",
                "--name",
                "-p",
                "--package",
                "--with",
                "--python",
                "--extra",
                "--group",
                "-e",
                "--env",
            ];
            return Some(run_tool(reader, args.get(1..).unwrap_or_default(), values));
        }
        _ => return None,
    }
    Some(Input::Stream)
}

fn is_flagged(args: &[Arg], flags: &[&str]) -> bool {
    args.iter().any(|arg| flags.contains(&arg.text.as_str()))
}

/// Runs the tool that a launcher starts.
fn run_tool(reader: &mut Reader, args: &[Arg], values: &[&str]) -> Input {
    let mut options = Options::new(args, values);
    loop {
        let before = options.rest();
        match options.next() {
            Some(Part::Operand(_)) => {
                let from = before.iter().position(|arg| arg.text != "--").unwrap_or(0);
                let mut args = before.get(from..).unwrap_or_default().to_vec();
                // `npx eslint@8`: the version does not change what it is.
                if let Some(first) = args.first_mut()
                    && let Some(at) = first.text.rfind('@').filter(|at| *at > 0)
                {
                    first.text.truncate(at);
                }
                return command::run(reader, &Command { args, input: Input::Nothing });
            }
            Some(Part::Option("-c" | "--call", _)) | None => {
                reader.tally.hide();
                return Input::Stream;
            }
            Some(Part::Option(..)) => {}
        }
    }
}

fn run_python(reader: &mut Reader, args: &[Arg], input: &Input) -> Input {
    let mut options = Options::new(args, &["-c", "-m", "-W", "-X"]);
    while let Some(part) = options.next() {
        match part {
            Part::Option("-c", Some(code)) => {
                if code.certain {
                    reader.tally.absorb(&python::tally(&code.text));
                } else {
                    reader.tally.hide();
                }
                return Input::Stream;
            }
            Part::Option("-m", Some(module)) => {
                let mut args = vec![module];
                args.extend_from_slice(options.rest());
                return run_module(reader, args);
            }
            Part::Option("--version" | "-V" | "--help" | "-h", _) => return Input::Stream,
            Part::Option(..) => {}
            Part::Operand(operand) if operand.text != "-" => {
                let rest = options.rest();
                let task = rest.first().map(|arg| arg.text.as_str());
                let file = operand.text.rsplit('/').next().unwrap_or_default();
                match (file, task) {
                    ("manage.py", Some("test" | "check"))
                    | ("setup.py", Some("test" | "check" | "build" | "build_ext")) => {
                        reader.touch(&operand.text);
                        reader.tally.test();
                    }
                    _ => run_file(reader, &operand.text),
                }
                return Input::Stream;
            }
            Part::Operand(_) => break,
        }
    }
    match input {
        Input::Text { text, literal: true } => reader.tally.absorb(&python::tally(text)),
        Input::Nothing | Input::Stream | Input::Names(_) | Input::Text { .. } => reader.tally.hide(),
    }
    Input::Stream
}

/// `python -m MODULE …`: a module that is also a command is that command.
fn run_module(reader: &mut Reader, args: Vec<Arg>) -> Input {
    match args.first().map(|arg| arg.text.as_str()) {
        Some("unittest" | "doctest" | "nose" | "compileall" | "py_compile" | "build" | "timeit") => {
            reader.tally.test();
            Input::Stream
        }
        Some("django") => {
            match args.get(1).map(|arg| arg.text.as_str()) {
                Some("test" | "check") => reader.tally.test(),
                Some("--version" | "version") => {}
                _ => reader.tally.hide(),
            }
            Input::Stream
        }
        Some("json.tool" | "tokenize" | "dis" | "ast" | "site" | "sysconfig" | "platform" | "this") => {
            // The second operand of `json.tool` is written.
            if let Some(output) = args.iter().skip(1).filter(|arg| !arg.text.starts_with('-')).nth(1) {
                reader.write(output);
            }
            Input::Stream
        }
        _ => command::run(reader, &Command { args, input: Input::Nothing }),
    }
}

fn run_other(reader: &mut Reader, name: &str, args: &[Arg]) {
    // In-place editing says which files it writes, though not what else the code does.
    let edits = |arg: &Arg| {
        name == "perl" && arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('i')
    };
    if args.iter().any(edits) {
        let operands = Options::new(args, &["-e", "-E"]).filter_map(|part| match part {
            Part::Operand(operand) => Some(operand),
            Part::Option(..) => None,
        });
        // In `-pi -e CODE FILE` the code belongs to `-e`; in `-pie CODE FILE` it is the first operand.
        let skip = usize::from(args.iter().any(|arg| edits(arg) && arg.text.ends_with('e')));
        operands.skip(skip).for_each(|file| reader.write(file));
        reader.tally.hide();
        return;
    }
    if is_flagged(args, &["-e", "-E", "-r", "--eval", "-p", "--print", "-pe", "-ne"]) {
        reader.tally.hide();
        return;
    }
    if name == "php" && is_flagged(args, &["-l"])
        || matches!(name, "ruby" | "perl") && is_flagged(args, &["-c", "-wc"])
    {
        reader.tally.lint();
        return;
    }
    match Options::new(args, &["-r", "--require", "--loader", "--import", "-I"]).find_map(|part| match part {
        Part::Operand(operand) => Some(operand.text.clone()),
        Part::Option(..) => None,
    }) {
        Some(file) => run_file(reader, &file),
        None => reader.tally.hide(),
    }
}

/// A script or program that lies in the work tree: opaque, and a check where it is named like a test.
pub(super) fn run_file(reader: &mut Reader, file: &str) {
    reader.touch(file);
    if is_named_like_a_test(file) {
        reader.tally.test();
    } else {
        reader.tally.hide();
    }
}

/// Whether a file is named as tests are: `test_x.py`, `x_test.go`, `x.spec.js`, `runtests.sh`.
fn is_named_like_a_test(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let kind = name.split('.').nth(1).unwrap_or_default();
    let words: Vec<&str> = stem.split(['_', '-']).collect();
    let tests = ["test", "tests", "runtests", "spec", "check", "lint"];
    words.first().is_some_and(|word| tests.contains(word))
        || words.last().is_some_and(|word| tests.contains(word))
        || (matches!(kind, "test" | "spec") && name.matches('.').count() > 1)
}
